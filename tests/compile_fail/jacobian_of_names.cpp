// A Jacobian with as many passes as a named dimension says.
// expect: jacobian: in reverse mode there is a pass for each element of the first tensor, so the compiler must know their number
// expect: float32 [n]
#include <leat/leat.hpp>

#include <leat/calculus.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "n">();
#ifdef LEAT_FIXED
  auto j = jacobian(square(x), x);
#else
  auto j = jacobian(softmax<0>(x), x);  // ERROR HERE
#endif
}
