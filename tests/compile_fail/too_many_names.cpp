// More named dimensions in one step than a program can tell apart.
// expect: more than 15 named dimensions in one step
// bytes: 3000
#include <leat/leat.hpp>

using namespace leat;

#ifdef LEAT_FIXED
#define LAST "d14"
#else
#define LAST "d15"
#endif

int main() {
  auto x = placeholder<"x", float, "d0", "d1", "d2", "d3", "d4", "d5", "d6">();
  auto y = placeholder<"y", float, "d7", "d8", "d9", "d10", "d11", "d12", "d13">();
  auto z = placeholder<"z", float, "d14", LAST>();
  auto sum = reduce_sum(x) + reduce_sum(y) + reduce_sum(z);
  session s{sum};
  const xt::xtensor<float, 7> seven({2, 2, 2, 2, 2, 2, 2}, 1.0f);
  const xt::xtensor<float, 2> two({2, 2}, 1.0f);
  auto r = s.run(fetch(sum), x = seven, y = seven, z = two);  // ERROR HERE
}
