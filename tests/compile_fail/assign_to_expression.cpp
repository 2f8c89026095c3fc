// Assignment to what is no variable.
// expect: only a variable can be assigned to
// expect: float32 [10]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, 10>();
#ifdef LEAT_FIXED
  auto y = assign(variable<"v", float, 10>(zeros), x);
#else
  auto y = assign(x * 2_c, x);  // ERROR HERE
#endif
}
