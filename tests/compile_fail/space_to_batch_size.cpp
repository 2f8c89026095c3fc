// Blocks that do not cover the array.
// expect: SpaceToBatchND(3, 0, 0): a padded size is not divisible by that of the block
#include <leat/leat.hpp>

int main() {
  using namespace leat;
  auto x = placeholder<"x", float, 4, 4, 3>();
#ifdef LEAT_FIXED
  auto y = space_to_batch<sizes<3>, before<0>, behind<2>>(x);
#else
  auto y = space_to_batch<sizes<3>, before<0>, behind<0>>(x);  // ERROR HERE
#endif
  (void)y;
}
