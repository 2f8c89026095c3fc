// && of tensors that are not bool.
// expect: LogicalAnd: takes bool only
// expect: float32 [batch, 2]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 2>();
#ifdef LEAT_FIXED
  auto y = x > 0.0f && x < 1.0f;
#else
  auto y = x && x;  // ERROR HERE
#endif
}
