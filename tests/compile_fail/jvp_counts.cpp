// Two operands, and a direction for one of them.
// expect: jvp: 2 operands to move along 1 tensors
#include <leat/leat.hpp>

#include <leat/calculus.hpp>

#include <tuple>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, 4>();
  auto w = placeholder<"w", float, 4>();
#ifdef LEAT_FIXED
  auto t = jvp(x * w, std::tuple(x, w), std::tuple(x, w));
#else
  auto t = jvp(x * w, std::tuple(x, w), x);  // ERROR HERE
#endif
}
