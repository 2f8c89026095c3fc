// An array where a tensor belongs.
// expect: relu(x) takes one tensor
// expect: a tensor is an expression: an array is fed to a placeholder, a number is constant<0.5f>()
// expect-clang: relu(x) takes one tensor
#include <leat/leat.hpp>

#include "linear_model.hpp"

int main() {
  xt::xtensor<float, 2> xs({3, 2}, 1.0f);
#ifdef LEAT_FIXED
  auto y = relu(x);
#else
  auto y = relu(xs);  // ERROR HERE
#endif
}
