// Two dtypes in one operator.
// expect: Mul: dtypes differ (cast<T>(x) converts)
// expect: float32 [batch, 64]
// expect: float64 [64]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 64>();
  auto w = variable<"w", double, 64>(zeros);
#ifdef LEAT_FIXED
  auto y = x * cast<float>(w);
#else
  auto y = x * w;  // ERROR HERE
#endif
}
