// A counter that becomes a fraction.
// expect: fold: state 2 is int32 [], and float32 [] after a step
#include <leat/leat.hpp>

#include <leat/loops.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto xs = placeholder<"xs", float, 10>();
  auto sum = placeholder<"sum", float>();
  auto count = placeholder<"count", std::int32_t>();
#ifdef LEAT_FIXED
  auto f = [](auto s, auto x) { return std::tuple(std::get<0>(s) + x, std::get<1>(s) + 1_c); };
#else
  auto f = [](auto s, auto x) { return std::tuple(std::get<0>(s) + x, cast<float>(std::get<1>(s)) + x); };
#endif
  auto last = fold(f, std::tuple(sum, count), xs);  // ERROR HERE
}
