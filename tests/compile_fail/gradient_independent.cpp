// The gradient for what the expression does not depend on.
// expect: gradients: the first does not depend on the second
// expect: float32 []
// expect: float32 [64]
// expect: float32 [3]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto w = variable<"w", float, 64>(zeros);
  auto v = variable<"v", float, 3>(zeros);
#ifdef LEAT_FIXED
  auto g = gradients(reduce_sum(w) * reduce_sum(v), w, v);
#else
  auto g = gradients(reduce_sum(w), w, v);  // ERROR HERE
#endif
}
