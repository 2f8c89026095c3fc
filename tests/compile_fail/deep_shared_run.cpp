// A placeholder not fed below 200 shared levels.
// expect: placeholder \"x\" is not fed: float32 [64, 10] is needed
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

template <int N, class H>
auto levels(const H& h) {
  if constexpr (N == 0)
    return h;
  else
    return levels<N - 1>(h * h + h);
}

int main() {
  auto x = placeholder<"x", float, 64, 10>();
  auto y = levels<200>(x);
  session s{y};
  xt::xtensor<float, 2> xs({64, 10}, 0.0f);
#ifdef LEAT_FIXED
  auto r = s.run(fetch(y), x = xs);
#else
  auto r = s.run(fetch(y));  // ERROR HERE
#endif
}
