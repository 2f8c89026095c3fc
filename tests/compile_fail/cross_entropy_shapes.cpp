// Labels of another shape than the logits.
// expect: SoftmaxCrossEntropyWithLogits: logits and labels differ in shape
// expect: float32 [batch, 64]
// expect: float32 [batch, 10]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 64>();
  auto l = placeholder<"l", float, "batch", 10>();
#ifdef LEAT_FIXED
  auto y = softmax_cross_entropy_with_logits(x, x);
#else
  auto y = softmax_cross_entropy_with_logits(l, x);  // ERROR HERE
#endif
}
