// A reshape to another number of elements.
// expect: Reshape(3, 7): the number of elements differs
// expect: float32 [4, 5]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, 4, 5>();
#ifdef LEAT_FIXED
  auto y = reshape<2, 10>(x);
#else
  auto y = reshape<3, 7>(x);  // ERROR HERE
#endif
}
