// The value of a variable that the session does not have.
// expect: the session has no such variable
// expect: float32 [3]
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
  auto v = variable<"v", float, 3>(zeros);
#ifdef LEAT_FIXED
  auto r = s.value(w); static_cast<void>(v);
#else
  auto r = s.value(v);  // ERROR HERE
#endif
}
