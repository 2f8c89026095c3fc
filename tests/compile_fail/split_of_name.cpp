// A named dimension is not split.
// expect: split: the dimension along the axis has a name, and a part of it no size that the compiler knows
// expect: float32
#include <leat/leat.hpp>

int main() {
  using namespace leat;
  auto x = placeholder<"x", float, "batch", 6>();
#ifdef LEAT_FIXED
  auto [a, b] = split<1, 2>(x);
#else
  auto [a, b] = split<0, 2>(x);  // ERROR HERE
#endif
  (void)a;
  (void)b;
}
