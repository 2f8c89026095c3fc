// Feeding what the session does not have.
// expect: feed of \"z\": the session has no such placeholder or parameter
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
  auto z = placeholder<"z", float, 4>();
  xt::xtensor<float, 1> zs({4}, 1.0f);
#ifdef LEAT_FIXED
  auto r = s.run(fetch(y), x = xs), q = r; static_cast<void>(z);
#else
  auto r = s.run(fetch(y), x = xs, z = zs);  // ERROR HERE
#endif
}
