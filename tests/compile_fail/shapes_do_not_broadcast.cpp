// Shapes that do not broadcast.
// expect: AddV2: shapes do not broadcast
// expect: float32 [batch, 64]
// expect: float32 [10]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 64>();
  auto b = variable<"b", float, 10>(zeros);
#ifdef LEAT_FIXED
  auto y = x + reduce_sum(b);
#else
  auto y = x + b;  // ERROR HERE
#endif
}
