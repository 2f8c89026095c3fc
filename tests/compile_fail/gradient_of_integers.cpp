// The gradient of an expression of integers.
// expect: gradients: only of floating-point expressions
// expect: int32 []
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto w = variable<"w", std::int32_t, 64>(zeros);
#ifdef LEAT_FIXED
  auto g = reduce_sum(w);
#else
  auto g = gradients(reduce_sum(w), w);  // ERROR HERE
#endif
}
