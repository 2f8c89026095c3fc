// A gradient through what stops it.
// expect: gradients: no gradient passes StopGradient
// expect: float32 []
// expect: float32 [64]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto w = variable<"w", float, 64>(zeros);
#ifdef LEAT_FIXED
  auto g = gradients(reduce_sum(stop_gradient(w) * w), w);
#else
  auto g = gradients(reduce_sum(stop_gradient(w)), w);  // ERROR HERE
#endif
}
