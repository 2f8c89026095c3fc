// A loop that might never end.
// expect: while_loop<maximum>(condition, f, state) has the greatest number of steps as template argument
#include <leat/leat.hpp>

#include <leat/loops.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float>();
  auto far = [](auto v) { return greater(v, 1.0_c); };
  auto halve = [](auto v) { return v * 0.5_c; };
#ifdef LEAT_FIXED
  auto last = while_loop<100>(far, halve, x);
#else
  auto last = while_loop(far, halve, x);  // ERROR HERE
#endif
}
