// A loss that is no tensor.
// expect: minimize(loss) takes a scalar tensor
// expect-clang: minimize(loss) takes a scalar tensor
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 2>();
  auto w = variable<"w", float, 2, 1>(zeros);
  auto loss = reduce_mean(square(matmul(x, w)));
#ifdef LEAT_FIXED
  auto t = adam(0.1f).minimize(loss);
#else
  auto t = adam(0.1f).minimize(0.5f);  // ERROR HERE
#endif
}
