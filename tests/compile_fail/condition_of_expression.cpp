// An expression as a condition of C++.
// expect: an expression has a value in a session only
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 2>();
#ifdef LEAT_FIXED
  auto y = select(x > 0.0f, x, -x);
#else
  if (reduce_sum(x) > 0.0f) return 1;  // ERROR HERE
#endif
}
