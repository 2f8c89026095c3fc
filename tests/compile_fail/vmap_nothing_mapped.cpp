// All operands are shared: there are no models.
// expect: vmap: no operand has models of its own: all are shared
#include <leat/leat.hpp>

#include <leat/vmap.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = variable<"x", float, 1000, 4>(zeros);
  auto f = [](auto state) { return state * 2_c; };
#ifdef LEAT_FIXED
  auto y = vmap(f)(x);
#else
  auto y = vmap(f)(shared(x));  // ERROR HERE
#endif
}
