// The least value of what is no scalar.
// expect: argmin(f, start) takes a function that returns a scalar
#include <leat/leat.hpp>

#include <leat/calculus.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto start = placeholder<"start", double, 4>();
#ifdef LEAT_FIXED
  auto x = argmin([](auto u) { return reduce_sum(square(u - 1_c)); }, start);
#else
  auto x = argmin([](auto u) { return square(u - 1_c); }, start);  // ERROR HERE
#endif
}
