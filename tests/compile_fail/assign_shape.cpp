// A value of another shape assigned.
// expect: Assign: the value
// expect: float32 [64]
// expect: float32 [10]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto v = variable<"v", float, 64>(zeros);
  auto x = placeholder<"x", float, 10>();
#ifdef LEAT_FIXED
  auto y = assign(v, broadcast_to<64>(reduce_sum(x)));
#else
  auto y = assign(v, x);  // ERROR HERE
#endif
}
