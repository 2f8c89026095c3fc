// A product whose inner dimensions differ.
// expect: MatMul(0, 0): inner dimensions differ
// expect: float32 [batch, 64]
// expect: float32 [10, 64]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 64>();
  auto w = variable<"w", float, 10, 64>(zeros);
#ifdef LEAT_FIXED
  auto y = matmul<false, true>(x, w);
#else
  auto y = matmul(x, w);  // ERROR HERE
#endif
}
