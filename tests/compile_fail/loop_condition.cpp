// A condition of whole arrays.
// expect: while_loop: the condition is a scalar of bool, and not bool [3]
#include <leat/leat.hpp>

#include <leat/loops.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, 3>();
#ifdef LEAT_FIXED
  auto far = [](auto v) { return greater(reduce_max(v), 1.0_c); };
#else
  auto far = [](auto v) { return greater(v, 1.0_c); };
#endif
  auto last = while_loop<100>(far, [](auto v) { return v * 0.5_c; }, x);  // ERROR HERE
}
