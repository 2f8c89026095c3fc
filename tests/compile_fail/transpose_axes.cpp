// A transposition that is no permutation.
// expect: Transpose(0, 0): not a permutation of the axes
// expect: float32 [batch, 64]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 64>();
#ifdef LEAT_FIXED
  auto y = transpose<1, 0>(x);
#else
  auto y = transpose<0, 0>(x);  // ERROR HERE
#endif
}
