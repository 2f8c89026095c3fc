// An array where a tensor of labels belongs.
// expect: losses::log_loss(labels, predictions, weights) takes two tensors
// expect-clang: takes two tensors
#include <leat/leat.hpp>

using namespace leat;

int main() {
  auto x = placeholder<"x", float, 3>();
  const std::vector<float> ys{0, 1, 0};
#ifdef LEAT_FIXED
  auto y = constant<float, 3>(ys);
#else
  const auto& y = ys;
#endif
  auto loss = losses::log_loss(y, x);  // ERROR HERE
}
