// A system of 3 equations, of which 2 have a right-hand side.
// expect: MatrixSolve(0): Input matrix and rhs are incompatible.
// expect: float64 [3, 3]
// expect: float64 [2, 1]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto a = placeholder<"a", double, 3, 3>();
  auto b = placeholder<"b", double, 2, 1>();
#ifdef LEAT_FIXED
  auto x = solve(a, constant<1.0, 3, 1>());
#else
  auto x = solve(a, b);  // ERROR HERE
#endif
}
