// A number among what is printed.
// expect: print<message>(x, data...) takes the tensor that it gives back, then those to print
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, 3>();
#ifdef LEAT_FIXED
  auto y = print<"x: ">(x, x, constant<0.5f>());
#else
  auto y = print<"x: ">(x, x, 0.5f);  // ERROR HERE
#endif
}
