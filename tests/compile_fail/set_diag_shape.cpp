// A diagonal that is longer than the matrices' own.
// expect: MatrixSetDiag: the diagonal has another shape than the main diagonals of the matrices
#include <leat/leat.hpp>

int main() {
  using namespace leat;
  auto x = placeholder<"x", float, "batch", 2, 3>();
  auto d = placeholder<"d", float, "batch", 3>();
#ifdef LEAT_FIXED
  auto y = matrix_set_diag(transpose<0, 2, 1>(x), slice<begins<0, 0>, sizes<-1, 2>>(d));
#else
  auto y = matrix_set_diag(x, d);  // ERROR HERE
#endif
  (void)y;
}
