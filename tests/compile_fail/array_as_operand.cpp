// An array where a tensor belongs.
// expect: relu(x) takes one tensor
// expect: a tensor is an expression: an array is fed to a placeholder, a number is constant<0.5f>()
// expect-clang: relu(x) takes one tensor
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 2>();
  xt::xtensor<float, 2> xs({3, 2}, 1.0f);
#ifdef LEAT_FIXED
  auto y = relu(x);
#else
  auto y = relu(xs);  // ERROR HERE
#endif
}
