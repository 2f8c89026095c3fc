// An array in place of a tensor.
// expect: vmap(f)(x, ...) takes tensors, one for each parameter of f; shared(x) is one for all models
#include <leat/leat.hpp>

#include <leat/vmap.hpp>

#include <vector>

using namespace leat;
using namespace leat::literals;

int main() {
  std::vector<float> values(1000);
  auto x = placeholder<"x", float, 1000>();
  auto f = [](auto state) { return state * 2_c; };
#ifdef LEAT_FIXED
  auto y = vmap(f)(x);
#else
  auto y = vmap(f)(values);  // ERROR HERE
#endif
}
