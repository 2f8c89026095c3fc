// A feed of another rank.
// expect: feed of \"x\": the array has rank 1, the placeholder 2
// expect: float32 [batch, 4]
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
  xt::xtensor<float, 1> row({4}, 1.0f);
#ifdef LEAT_FIXED
  auto r = s.run(fetch(y), x = xs);
#else
  auto r = s.run(fetch(y), x = row);  // ERROR HERE
#endif
}
