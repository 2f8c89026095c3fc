// The Hessian of what is linear.
// expect: hessian: of the gradient: the first does not depend on the second
#include <leat/leat.hpp>

#include <leat/calculus.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, 4>();
#ifdef LEAT_FIXED
  auto h = hessian(reduce_sum(x * x), x);
#else
  auto h = hessian(reduce_sum(x), x);  // ERROR HERE
#endif
}
