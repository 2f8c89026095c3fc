// Channels of images that are no images.
// expect: LRN(
#include <leat/leat.hpp>

int main() {
  using namespace leat;
  auto x = placeholder<"x", float, 4, 4, 3>();
#ifdef LEAT_FIXED
  auto y = local_response_normalization<2>(reshape<1, 4, 4, 3>(x));
#else
  auto y = local_response_normalization<2>(x);  // ERROR HERE
#endif
  (void)y;
}
