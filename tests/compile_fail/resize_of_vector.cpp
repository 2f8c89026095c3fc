// Images that have no batch.
// expect: ResizeBilinear(0, 0, 8, 8): takes rank 4: images [batch, height, width, channels]
#include <leat/leat.hpp>

int main() {
  using namespace leat;
  auto x = placeholder<"x", float, 4, 4, 3>();
#ifdef LEAT_FIXED
  auto y = resize_bilinear<8, 8>(reshape<1, 4, 4, 3>(x));
#else
  auto y = resize_bilinear<8, 8>(x);  // ERROR HERE
#endif
  (void)y;
}
