// Labels of another shape than the predictions.
// expect: losses::huber_loss: labels and predictions differ in shape
// expect-clang: losses::huber_loss: labels and predictions differ in shape
#include <leat/leat.hpp>

using namespace leat;

int main() {
  auto x = placeholder<"x", float, "batch", 2>();
#ifdef LEAT_FIXED
  auto y = placeholder<"y", float, "batch", 2>();
#else
  auto y = placeholder<"y", float, "batch", 1>();
#endif
  auto loss = losses::huber_loss(y, x);  // ERROR HERE
}
