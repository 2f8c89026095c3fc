// A product with the Hessian of what is linear.
// expect: hvp: of the gradient: the first does not depend on the second
#include <leat/leat.hpp>

#include <leat/calculus.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, 4>();
#ifdef LEAT_FIXED
  auto h = hvp(reduce_sum(x * x), x, x);
#else
  auto h = hvp(reduce_sum(x), x, x);  // ERROR HERE
#endif
}
