// Rows of different shapes to be stitched.
// expect: DynamicStitch(5, 2): the arrays differ in shape behind that of their indices
#include <leat/leat.hpp>

int main() {
  using namespace leat;
  auto i = placeholder<"i", std::int32_t, 2>();
  auto x = placeholder<"x", float, 2, 3>();
  auto y = placeholder<"y", float, 2, 4>();
#ifdef LEAT_FIXED
  auto z = dynamic_stitch<5>(std::tuple(i, i), std::tuple(x, x));
#else
  auto z = dynamic_stitch<5>(std::tuple(i, i), std::tuple(x, y));  // ERROR HERE
#endif
  (void)y;
  (void)z;
}
