// Operands that an operator of one's own with several results refuses.
// expect: OwnHalves: takes floating-point dtypes only
#include <leat/leat.hpp>

using namespace leat;

struct halves_op {
  static constexpr std::string_view type = "OwnHalves";
  static constexpr op_kind kind = op_kind::composite;
  static constexpr int results = 2;
  static constexpr inference infer(const operand_list& x) { return rule::unary<rule::takes::floating>::infer(x); }
  template <class G>
  static constexpr output expand(G& g) {
    return g.input(0) * (g.result_number() == 0 ? 0.5 : -0.5);
  }
};

int main() {
#ifdef LEAT_FIXED
  auto x = placeholder<"x", float>();
#else
  auto x = placeholder<"x", int>();
#endif
  auto [a, b] = make_results<halves_op>(x);  // ERROR HERE
}
