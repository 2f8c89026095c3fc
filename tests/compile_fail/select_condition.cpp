// A condition that is not bool.
// expect: SelectV2: the condition is not bool
// expect: float32 [4]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, 4>();
#ifdef LEAT_FIXED
  auto y = select(greater(x, 0_c), x, -x);
#else
  auto y = select(x, x, -x);  // ERROR HERE
#endif
}
