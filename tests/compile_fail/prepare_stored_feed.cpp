// A feed that owns what it was given, an expression of xtensor here: a prepared run would compute it at each call.
// expect: prepare: the feed of \"x\" is an array without a name
#include <leat/leat.hpp>

using namespace leat;

int main() {
  auto x = placeholder<"x", float, "batch", 4>();
  auto y = x * x;
  session s{y};
  xt::xtensor<float, 2> xs({3, 4}, 1.0f);
#ifdef LEAT_FIXED
  const auto doubled = xs + xs;
  const auto fed = x = doubled;
  auto r = s.prepare(fetch(y), fed);
#else
  const auto fed = x = xs + xs;
  auto r = s.prepare(fetch(y), fed);  // ERROR HERE
#endif
}
