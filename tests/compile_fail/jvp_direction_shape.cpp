// A direction of another shape than what moves along it.
// expect: jvp: a direction is float32 [3], but it goes with float32 [4]
#include <leat/leat.hpp>

#include <leat/calculus.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, 4>();
#ifdef LEAT_FIXED
  auto v = placeholder<"v", float, 4>();
#else
  auto v = placeholder<"v", float, 3>();
#endif
  auto t = jvp(square(x), x, v);  // ERROR HERE
}
