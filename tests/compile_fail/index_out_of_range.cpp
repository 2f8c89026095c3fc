// A position behind the last one.
// expect: index: a position is out of range
#include <leat/leat.hpp>

int main() {
  using namespace leat;
  auto x = placeholder<"x", float, "batch", 6>();
#ifdef LEAT_FIXED
  auto y = index<along::all(), 5>(x);
#else
  auto y = index<along::all(), 6>(x);  // ERROR HERE
#endif
  (void)y;
}
