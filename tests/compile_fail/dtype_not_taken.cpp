// A function of integers that takes fractions only.
// expect: Exp: takes floating-point dtypes only
// expect: int32 [8]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", std::int32_t, 8>();
#ifdef LEAT_FIXED
  auto y = exp(cast<float>(x));
#else
  auto y = exp(x);  // ERROR HERE
#endif
}
