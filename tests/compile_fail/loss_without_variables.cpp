// A loss without variables.
// expect: minimize: no gradient reaches a trainable variable
// expect: float32 []
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, 4>();
  auto w = variable<"w", float, 4>(zeros);
#ifdef LEAT_FIXED
  auto train = gradient_descent(0.1f).minimize(reduce_sum(x * w));
#else
  auto train = gradient_descent(0.1f).minimize(reduce_sum(x));  // ERROR HERE
#endif
}
