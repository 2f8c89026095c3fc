// A product of a vector.
// expect: MatMul(0, 0): takes matrices, rank 2
// expect: float32 [batch, 64]
// expect: float32 [64]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 64>();
  auto w = variable<"w", float, 64>(zeros);
#ifdef LEAT_FIXED
  auto y = matmul(x, expand_dims<1>(w));
#else
  auto y = matmul(x, w);  // ERROR HERE
#endif
}
