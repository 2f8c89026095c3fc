// An assignment of what each model has, within the function.
// expect: vmap: Assign in the function of a model: let it return the value, and assign that outside
#include <leat/leat.hpp>

#include <leat/vmap.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = variable<"x", float, 1000, 4>(zeros);
  auto last = variable<"last", float, 4>(zeros);
#ifdef LEAT_FIXED
  auto f = [&](auto state) { return state * last; };
#else
  auto f = [&](auto state) { return assign(last, state); };
#endif
  auto y = vmap(f)(x);  // ERROR HERE
}
