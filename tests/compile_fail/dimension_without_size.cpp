// A named dimension of what is fetched that no feed gives a size.
// expect: dimension \"n\" has no size: no placeholder that has it is fed
#include <leat/leat.hpp>

using namespace leat;

int main() {
  auto x = placeholder<"x", float, "n">();
  auto [slope] = gradients(reduce_sum(x * 2.0f), x);
  session s{slope};
  const xt::xtensor<float, 1> xs{1, 2};
#ifdef LEAT_FIXED
  auto r = s.run(fetch(slope), x = xs);
#else
  auto r = s.run(fetch(slope));  // ERROR HERE
#endif
}
