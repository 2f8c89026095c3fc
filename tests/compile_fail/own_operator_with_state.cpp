// An operator of one's own that writes one of its operands.
// expect: OwnCounter: an operator of a program has no state and no effects.
// expect: assign(v, next)
#include <leat/leat.hpp>

#include <leat/cpu/use_operator.hpp>

using namespace leat;

struct counter_op : rule::unary<rule::takes::number> {
  static constexpr std::string_view type = "OwnCounter";
#ifndef LEAT_FIXED
  static constexpr facts what{.is = nature::effect, .written = {1}};
#endif
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::add(x, V(1));
  }
};

int main() {
  use_operator<counter_op>();  // ERROR HERE
}
