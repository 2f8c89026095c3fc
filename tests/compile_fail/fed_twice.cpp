// One placeholder fed twice in one run.
// expect: \"x\" is fed twice in one run
#include <leat/leat.hpp>

using namespace leat;

int main() {
  auto x = placeholder<"x", float, 2>();
  auto y = x * x;
  session s{y};
  const std::vector<float> a{1, 2}, b{3, 4};
#ifdef LEAT_FIXED
  auto r = s.run(fetch(y), x = b);
#else
  auto r = s.run(fetch(y), x = a, x = b);  // ERROR HERE
#endif
}
