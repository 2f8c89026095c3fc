// As many measurements as there are tracks, but for one.
// expect: vmap: operand 1 has 1000 models, operand 2 has 999; models_along<-1>(x) says another axis
// expect: float32 [1000, 4]
// expect: float32 [999]
#include <leat/leat.hpp>

#include <leat/vmap.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = variable<"x", float, 1000, 4>(zeros);
#ifdef LEAT_FIXED
  auto z = placeholder<"z", float, 1000>();
#else
  auto z = placeholder<"z", float, 999>();
#endif
  auto y = vmap([](auto state, auto measured) { return state - measured; })(x, z);  // ERROR HERE
}
