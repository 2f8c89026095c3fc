// A static session of a step with a size that only a run knows.
// expect: Placeholder \"x\", float32 [batch, 10]: a static session needs all sizes as numbers
#include <leat/static.hpp>

using namespace leat;

int main() {
#ifdef LEAT_FIXED
  auto x = placeholder<"x", float, 16, 10>();
#else
  auto x = placeholder<"x", float, "batch", 10>();
#endif
  auto w = variable<"w", float, 10, 1>(zeros);
  auto loss = reduce_mean(square(matmul(x, w)));
  auto train = gradient_descent(0.1f).minimize(loss);
  static_session s{fetch(loss, train)};  // ERROR HERE
  static_cast<void>(s);
}
