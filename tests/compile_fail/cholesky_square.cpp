// A Cholesky decomposition of a matrix that is not square.
// expect: Cholesky: Input matrix must be square.
// expect: float64 [3, 2]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto w = variable<"w", double, 3, 2>(zeros);
#ifdef LEAT_FIXED
  auto l = cholesky(matmul<false, true>(w, w));
#else
  auto l = cholesky(w);  // ERROR HERE
#endif
}
