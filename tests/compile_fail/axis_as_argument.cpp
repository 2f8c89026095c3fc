// An axis as an argument of the call.
// expect: reduce_sum<axes...>(x) takes one tensor; axes are template arguments
// expect-clang: axes are template arguments
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 2>();
#ifdef LEAT_FIXED
  auto y = reduce_sum<1>(x);
#else
  auto y = reduce_sum(x, 1);  // ERROR HERE
#endif
}
