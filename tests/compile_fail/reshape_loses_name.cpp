// A reshape that would lose a named dimension.
// expect: Reshape(640): the number of elements differs
// expect: float32 [batch, 64]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 64>();
#ifdef LEAT_FIXED
  auto y = reshape<"batch", 8, 8>(x);
#else
  auto y = reshape<640>(x);  // ERROR HERE
#endif
}
