// A product within the function, of shapes of one model that do not fit. What follows from it is told, too.
// lines: 23
// bytes: 3000
// expect: MatMul(0, 0): inner dimensions differ
// expect: float32 [4, 1]
#include <leat/leat.hpp>

#include <leat/vmap.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = variable<"x", float, 1000, 4, 1>(zeros);
  auto f = variable<"f", float, 4, 4>(zeros);
  auto product = [&](auto state) {
#ifdef LEAT_FIXED
    return matmul(f, state);
#else
    return matmul(state, f);  // ERROR HERE
#endif
  };
  auto y = vmap(product)(x);
}
