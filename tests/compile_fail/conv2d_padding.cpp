// Explicit padding that is negative.
// expect: explicit_paddings must be 0 or more, and 0 for the batch and for the channels
#include <leat/leat.hpp>

int main() {
  using namespace leat;
  auto x = placeholder<"x", float, 1, 4, 4, 3>();
  auto w = placeholder<"w", float, 2, 2, 3, 4>();
#ifdef LEAT_FIXED
  auto y = conv2d<1, pads{0, 1, 0, 0}>(x, w);
#else
  auto y = conv2d<1, pads{0, -1, 0, 0}>(x, w);  // ERROR HERE
#endif
  (void)y;
}
