// An array beside a tensor: xtensor has an operator for that, and it would hold the tensor as a number.
// expect: an array beside a tensor: feed it to a placeholder
// expect: float32 [batch, 2]
// expect-clang: beside a tensor stands a tensor or a number
#include <leat/leat.hpp>

#include "linear_model.hpp"

int main() {
  xt::xtensor<float, 2> xs({3, 2}, 1.0f);
#ifdef LEAT_FIXED
  auto y = x + 1.0f;
#else
  auto y = x + xs;  // ERROR HERE
#endif
}
