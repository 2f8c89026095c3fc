// A fraction beside integers.
// expect: a fraction beside an expression that is not floating-point
// expect: int32 [10]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", std::int32_t, 10>();
#ifdef LEAT_FIXED
  auto y = x * 2;
#else
  auto y = x * 0.5f;  // ERROR HERE
#endif
}
