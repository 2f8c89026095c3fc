// Template arguments in another order.
// expect: argmax<axis>(x) takes one tensor; axis and dtype are template arguments: argmax<1, std::int32_t>(x)
// expect-clang: axis and dtype are template arguments
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 2>();
#ifdef LEAT_FIXED
  auto y = argmax<1, std::int32_t>(x);
#else
  auto y = argmax<std::int32_t, 1>(x);  // ERROR HERE
#endif
}
