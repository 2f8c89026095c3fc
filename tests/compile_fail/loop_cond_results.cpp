// Two functions with results of different shapes.
// expect: cond: the two functions give different results: one is float32 [3], and float32 []
#include <leat/leat.hpp>

#include <leat/loops.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, 3>();
  auto p = placeholder<"p", bool>();
#ifdef LEAT_FIXED
  auto g = [](auto v) { return v * reduce_sum(v); };
#else
  auto g = [](auto v) { return reduce_sum(v); };
#endif
  auto y = cond(p, [](auto v) { return v + 1_c; }, g, x);  // ERROR HERE
}
