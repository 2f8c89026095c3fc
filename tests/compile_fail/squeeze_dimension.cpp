// A dimension dropped that is not 1.
// expect: Squeeze(1): the dimension at the axis is not 1
// expect: float32 [batch, 64]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 64>();
#ifdef LEAT_FIXED
  auto y = squeeze<1>(reduce_sum_keep<1>(x));
#else
  auto y = squeeze<1>(x);  // ERROR HERE
#endif
}
