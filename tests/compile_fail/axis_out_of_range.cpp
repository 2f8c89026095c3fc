// A reduction over an axis that is not there.
// expect: Sum(0, 2): axis out of range or named twice
// expect: float32 [batch, 64]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 64>();
#ifdef LEAT_FIXED
  auto y = reduce_sum<1>(x);
#else
  auto y = reduce_sum<2>(x);  // ERROR HERE
#endif
}
