// Arrays of two dtypes joined.
// expect: ConcatV2(0): dtypes differ
// expect: float32 [3, 4]
// expect: int32 [5, 4]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, 3, 4>();
  auto y = placeholder<"y", std::int32_t, 5, 4>();
#ifdef LEAT_FIXED
  auto z = concat<0>(x, cast<float>(y));
#else
  auto z = concat<0>(x, y);  // ERROR HERE
#endif
}
