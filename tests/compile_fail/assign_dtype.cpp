// Giving a variable values of another dtype.
// expect: the array holds float64, the variable float32
// expect: float32 [4, 1]
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
#ifdef LEAT_FIXED
  s.assign(w, xt::xtensor<float, 2>({4, 1}, 1.0f));
#else
  s.assign(w, xt::xtensor<double, 2>({4, 1}, 1.0));  // ERROR HERE
#endif
}
