// A function that returns no tensor.
// expect: vmap(f)(x, ...): f returns the result for one model: a tensor, or several as std::tuple(y, z)
#include <leat/leat.hpp>

#include <leat/vmap.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = variable<"x", float, 1000, 4>(zeros);
#ifdef LEAT_FIXED
  auto f = [](auto state) { return state * 2_c; };
#else
  auto f = [](auto state) { return state.rank; };
#endif
  auto y = vmap(f)(x);  // ERROR HERE
}
