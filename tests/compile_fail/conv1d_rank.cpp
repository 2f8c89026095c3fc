// Sequences with filters of images.
// expect: conv1d: takes rank 3: sequences [batch, width, in] and filters [width, in, out]
#include <leat/leat.hpp>

int main() {
  using namespace leat;
  auto x = placeholder<"x", float, 1, 4, 4, 3>();
  auto w = placeholder<"w", float, 2, 2, 3, 4>();
#ifdef LEAT_FIXED
  auto y = conv1d(reshape<4, 4, 3>(x), reshape<4, 3, 4>(w));
#else
  auto y = conv1d(x, w);  // ERROR HERE
#endif
  (void)y;
}
