// Dimensions in braces as an argument of the call.
// expect: reshape<dimensions...>(x) takes one tensor; dimensions are template arguments: reshape<64, -1>(x)
// expect-clang: dimensions are template arguments
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 2>();
#ifdef LEAT_FIXED
  auto y = reshape<"batch", 2, 1>(x);
#else
  auto y = reshape(x, {-1, 1});  // ERROR HERE
#endif
}
