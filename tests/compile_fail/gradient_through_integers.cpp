// A gradient through integers.
// expect: gradients: no gradient passes Cast
// expect: float32 []
// expect: float32 [64]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto w = variable<"w", float, 64>(zeros);
  auto y = reduce_sum(cast<float>(cast<std::int32_t>(w)));
#ifdef LEAT_FIXED
  auto g = gradients(reduce_sum(cast<double>(w)), w);
#else
  auto g = gradients(y, w);  // ERROR HERE
#endif
}
