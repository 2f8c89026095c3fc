// A number in the type that the dtype beside it does not hold: it would become infinite.
// expect: a number that the dtype of the expression beside it does not hold
// expect: float32 [4]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, 4>();
  auto i = placeholder<"i", std::uint8_t, 4>();
#ifdef LEAT_FIXED
  auto y = 1e30_c * x;
  auto z = i + 255_c;
#else
  auto y = 1e300_c * x;  // ERROR HERE
  auto z = i + 256_c;
#endif
}
