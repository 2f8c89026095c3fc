// A session of what is no expression.
// expect: session s{a, b, ...} takes expressions
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  xt::xtensor<float, 2> xs({3, 2}, 1.0f);
  auto x = placeholder<"x", float, "batch", 2>();
#ifdef LEAT_FIXED
  session s{x};
#else
  session s{xs};  // ERROR HERE
#endif
}
