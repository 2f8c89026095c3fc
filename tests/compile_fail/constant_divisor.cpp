// Integers divided by a constant 0.
// expect: TruncateDiv: integer division by zero: the divisor is a constant 0
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto i = placeholder<"i", std::int32_t, 4>();
#ifdef LEAT_FIXED
  auto halves = i / 2_c;
#else
  auto halves = i / 0_c;
#endif
  session s{halves};
  auto r = s.run(fetch(halves), i = std::vector<std::int32_t>{1, 2, 3, 4});  // ERROR HERE
}
