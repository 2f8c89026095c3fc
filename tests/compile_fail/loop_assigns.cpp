// An assignment in a step.
// expect: fold: AssignAdd in a step: let it return the value as a state, and assign that outside
#include <leat/leat.hpp>

#include <leat/loops.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto xs = placeholder<"xs", float, 10>();
  auto total = variable<"total", float>(0.0f);
  auto start = constant<0.0f>();
#ifdef LEAT_FIXED
  auto f = [&](auto s, auto x) { return s + x * total; };
#else
  auto f = [&](auto s, auto x) { return s + assign_add(total, x); };
#endif
  auto last = fold(f, start, xs);  // ERROR HERE
}
