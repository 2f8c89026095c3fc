// A function of std: an expression is no number.
// expect: an expression has a value in a session only
// expect: functions of it are leat\'s: leat::exp(x)
#include <leat/leat.hpp>

#include <cmath>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 2>();
#ifdef LEAT_FIXED
  auto y = leat::exp(x);
#else
  auto y = std::exp(x);  // ERROR HERE
#endif
}
