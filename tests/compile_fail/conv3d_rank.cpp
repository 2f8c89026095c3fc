// Images where volumes are expected.
// expect: takes rank 5: volumes [batch, depth, height, width, channels]
#include <leat/leat.hpp>

int main() {
  using namespace leat;
  auto x = placeholder<"x", float, 1, 4, 4, 3>();
  auto w = placeholder<"w", float, 2, 2, 3, 4>();
#ifdef LEAT_FIXED
  auto y = conv3d(reshape<1, 1, 4, 4, 3>(x), reshape<1, 2, 2, 3, 4>(w));
#else
  auto y = conv3d(x, w);  // ERROR HERE
#endif
  (void)y;
}
