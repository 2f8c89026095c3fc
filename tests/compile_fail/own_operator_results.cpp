// All results of an operator whose class has one.
// expect: OwnSame: its class has no `results`; make<Op>(x) returns its result
#include <leat/leat.hpp>

using namespace leat;

struct same_op : rule::unary<rule::takes::number> {
  static constexpr std::string_view type = "OwnSame";
  template <class M, class V>
  static constexpr auto apply(V x) {
    return x;
  }
};

int main() {
  auto x = placeholder<"x", float>();
#ifdef LEAT_FIXED
  auto y = make<same_op>(x);
#else
  auto y = make_results<same_op>(x);  // ERROR HERE
#endif
}
