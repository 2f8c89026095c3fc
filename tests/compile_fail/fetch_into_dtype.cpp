// A fetch into an array of another dtype.
// expect: the array holds float64, the expression float32
// expect: float32 [batch, 1]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 4>();
  auto w = variable<"w", float, 4, 1>(zeros);
  auto y = matmul(x, w);
  session s{y};
  s.initialize();
  xt::xtensor<float, 2> xs({3, 4}, 1.0f);
  xt::xtensor<double, 2> to;
  xt::xtensor<float, 2> right;
#ifdef LEAT_FIXED
  s.run(fetch(into(y, right)), x = xs);
#else
  s.run(fetch(into(y, to)), x = xs);  // ERROR HERE
#endif
}
