// A slice beyond the end.
// expect: Slice(0, 60, -1, 5): out of range
// expect: float32 [batch, 64]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 64>();
#ifdef LEAT_FIXED
  auto y = slice<begins<0, 60>, sizes<-1, 4>>(x);
#else
  auto y = slice<begins<0, 60>, sizes<-1, 5>>(x);  // ERROR HERE
#endif
}
