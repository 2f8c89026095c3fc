// A gradient through arg max.
// expect: gradients: no gradient passes ArgMax
// expect: float32 []
// expect: float32 [64]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto w = variable<"w", float, 64>(zeros);
  auto y = cast<float>(argmax<0>(w * 2_c));
#ifdef LEAT_FIXED
  auto g = gradients(y * reduce_sum(w), w);
#else
  auto g = gradients(y, w);  // ERROR HERE
#endif
}
