// A loss that is not a scalar.
// expect: minimize: the loss is not a scalar
// expect: float32 [batch]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 4>();
  auto w = variable<"w", float, 4, 1>(zeros);
  auto loss = square(squeeze<1>(matmul(x, w)));
#ifdef LEAT_FIXED
  auto train = gradient_descent(0.1f).minimize(reduce_mean(loss));
#else
  auto train = gradient_descent(0.1f).minimize(loss);  // ERROR HERE
#endif
}
