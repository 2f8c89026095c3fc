// Two names for dimensions that meet.
// expect: Sub: shapes do not broadcast
// expect: float32 [batch, 64]
// expect: float32 [rows, 64]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 64>();
  auto y = placeholder<"y", float, "rows", 64>();
#ifdef LEAT_FIXED
  auto z = x - reduce_sum<0>(y);
#else
  auto z = x - y;  // ERROR HERE
#endif
}
