// The Jacobian of integers.
// expect: jacobian: only of floating-point expressions
// expect: int32 [4]
#include <leat/leat.hpp>

#include <leat/calculus.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
#ifdef LEAT_FIXED
  auto x = placeholder<"x", float, 4>();
#else
  auto x = placeholder<"x", std::int32_t, 4>();
#endif
  auto j = jacobian(square(x), x);  // ERROR HERE
}
