// Arrays joined whose other dimensions differ.
// expect: ConcatV2(1): shapes differ outside the axis
// expect: float32 [batch, 64]
// expect: float32 [10, 64]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 64>();
  auto y = placeholder<"y", float, 10, 64>();
#ifdef LEAT_FIXED
  auto z = concat<1>(x, x);
#else
  auto z = concat<1>(x, y);  // ERROR HERE
#endif
}
