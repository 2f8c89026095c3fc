// The largest elements along an axis whose size the compiler does not know.
// expect: TopKV2(3): the last dimension has a name, and the compiler does not know whether it has k elements
#include <leat/leat.hpp>

int main() {
  using namespace leat;
  auto x = placeholder<"x", float, 4, "n">();
#ifdef LEAT_FIXED
  auto y = top_k<3>(reshape<"n", 4>(x));
#else
  auto y = top_k<3>(x);  // ERROR HERE
#endif
  (void)y;
}
