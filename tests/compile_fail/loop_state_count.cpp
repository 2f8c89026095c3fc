// A step that forgets one of two states.
// expect: fold: 2 states, but a step gives 1 next ones
#include <leat/leat.hpp>

#include <leat/loops.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto xs = placeholder<"xs", float, 10>();
  auto a = placeholder<"a", float>();
  auto b = placeholder<"b", float>();
#ifdef LEAT_FIXED
  auto f = [](auto s, auto x) { return std::tuple(std::get<1>(s), std::get<0>(s) + x); };
#else
  auto f = [](auto s, auto x) { return std::get<0>(s) + x; };
#endif
  auto last = fold(f, std::tuple(a, b), xs);  // ERROR HERE
}
