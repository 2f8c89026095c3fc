// Two writes to one variable that nothing orders.
// expect: two writes to variable \"w\" in one step without an order: AssignAdd and Assign
// expect: order them with after(second, first)
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto w = variable<"w", float, 4>(zeros);
  auto x = placeholder<"x", float, 4>();
  auto first = assign_add(w, x);
  auto second = assign(w, x * 2_c);
  session s{first, second, after(second, first)};
  xt::xtensor<float, 1> xs({4}, 1.0f);
#ifdef LEAT_FIXED
  s.run(fetch(first, after(second, first)), x = xs);
#else
  s.run(fetch(first, second), x = xs);  // ERROR HERE
#endif
}
