// An array without a name in a prepared run; numbers and views without one become part of it.
// expect: prepare: the feed of \"x\" is an array without a name, which nobody could fill anew: give it a name, and feed that
// expect: float32 [batch, 4]
#include <leat/leat.hpp>
#include <xtensor/xview.hpp>

using namespace leat;

int main() {
  auto x = placeholder<"x", float, "batch", 4>();
  auto scale = parameter<"scale">(1.0f);
  auto y = scale * x;
  session s{y};
  xt::xtensor<float, 2> xs({3, 4}, 1.0f);
#ifdef LEAT_FIXED
  auto r = s.prepare(fetch(y), x = xt::view(xs, xt::range(0, 2)), scale = 2.0f);
#else
  auto r = s.prepare(fetch(y), scale = 2.0f, x = xt::xtensor<float, 2>({3, 4}, 1.0f));  // ERROR HERE
#endif
}
