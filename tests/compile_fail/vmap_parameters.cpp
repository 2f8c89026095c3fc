// A function of one parameter, and two operands.
// expect: vmap(f)(x, ...): f is called with what one model has of each operand, and does not take these
// expect: float32 [4]
// expect: float32 []
#include <leat/leat.hpp>

#include <leat/vmap.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = variable<"x", float, 1000, 4>(zeros);
  auto z = placeholder<"z", float, 1000>();
#ifdef LEAT_FIXED
  auto f = [](auto state, auto measured) { return state * measured; };
#else
  auto f = [](auto state) { return state * 2_c; };
#endif
  auto y = vmap(f)(x, z);  // ERROR HERE
}
