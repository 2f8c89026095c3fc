// Softmax along an axis that is not there.
// expect: Softmax(3): axis out of range
// expect: float32 [batch, 64]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 64>();
#ifdef LEAT_FIXED
  auto y = softmax<1>(x);
#else
  auto y = softmax<3>(x);  // ERROR HERE
#endif
}
