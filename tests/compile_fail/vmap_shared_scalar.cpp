// A number for all models is given as if each model had one.
// expect: vmap: operand 2 has no such axis, along which models lie: shared(x) is one for all of them
// expect: float32 [1000, 4]
// expect: float32 []
#include <leat/leat.hpp>

#include <leat/vmap.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = variable<"x", float, 1000, 4>(zeros);
  auto scale = placeholder<"scale", float>();
  auto f = [](auto state, auto factor) { return state * factor; };
#ifdef LEAT_FIXED
  auto y = vmap(f)(x, shared(scale));
#else
  auto y = vmap(f)(x, scale);  // ERROR HERE
#endif
}
