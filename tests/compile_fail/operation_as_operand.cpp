// A training step as an operand.
// expect: an operation, such as a training step, has no value: it is fetched, grouped or waited for
// expect-clang: has no value
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 2>();
  auto w = variable<"w", float, 2, 1>(zeros);
  auto loss = reduce_mean(square(matmul(x, w)));
#ifdef LEAT_FIXED
  auto train = gradient_descent(0.1f).minimize(loss);
  auto y = group(train, x);
#else
  auto train = gradient_descent(0.1f).minimize(loss);
  auto y = train + x;  // ERROR HERE
#endif
}
