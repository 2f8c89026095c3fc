// == between expressions.
// expect: a == b of expressions is written equal(a, b)
// expect-clang: a == b of expressions is written equal(a, b)
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 2>();
#ifdef LEAT_FIXED
  auto y = equal(x, x);
#else
  auto y = x == x;  // ERROR HERE
#endif
}
