// A gradient through a comparison.
// expect: gradients: no gradient passes Greater
// expect: float32 []
// expect: float32 [64]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto w = variable<"w", float, 64>(zeros);
  auto y = reduce_sum(cast<float>(greater(w, 0_c)));
#ifdef LEAT_FIXED
  auto g = gradients(reduce_sum(select(greater(w, 0_c), w, -w)), w);
#else
  auto g = gradients(y, w);  // ERROR HERE
#endif
}
