// A mirror image that is larger than the array.
// expect: MirrorPad(0, 4, 0, 0, 0, 0, 0): paddings must be no greater than the dimension size minus 1
#include <leat/leat.hpp>

int main() {
  using namespace leat;
  auto x = placeholder<"x", float, 4, 4, 3>();
#ifdef LEAT_FIXED
  auto y = mirror_pad<mirror::reflect, before<3, 0, 0>, behind<0, 0, 0>>(x);
#else
  auto y = mirror_pad<mirror::reflect, before<4, 0, 0>, behind<0, 0, 0>>(x);  // ERROR HERE
#endif
  (void)y;
}
