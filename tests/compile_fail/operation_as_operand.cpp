// A training step as an operand.
// expect: an operation, such as a training step, has no value: it is fetched, grouped or waited for
// expect-clang: has no value
#include <leat/leat.hpp>

#include "linear_model.hpp"

int main() {
#ifdef LEAT_FIXED
  auto train = gradient_descent(0.1f).minimize(loss);
  auto y = group(train, x);
#else
  auto train = gradient_descent(0.1f).minimize(loss);
  auto y = train + x;  // ERROR HERE
#endif
}
