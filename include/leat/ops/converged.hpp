#pragma once
// The check that a method which approaches its result has reached it.

#include <leat/ops/rules.hpp>

namespace leat {

/// Methods that say so where they do not come near enough.
enum class approach : std::int64_t { root, fixed_point, minimum, end_of_time };
constexpr std::string_view method_of(approach which) {
  constexpr std::string_view names[]{"solve_root", "fixed_point", "argmin", "solve_dormand_prince"};
  return names[static_cast<std::size_t>(which)];
}

/// Returns the first operand, if the second, the residual, a scalar, is at most a tolerance; fails with failed_precondition otherwise, and
/// where it is NaN, before anything is written. Attributes: the bits of the tolerance, the number of steps that led here, an `approach`.
struct check_converged_op {
  static constexpr std::string_view type = "leat.CheckConverged";
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr bool may_refuse = true;
  static constexpr inference infer(const operand_list& x) {
    if (!is_floating(x.type(0)) || x.type(1) != x.type(0)) return inference::wrong(rule::refusal(rule::takes::floating));
    return {x.type(0), x.extent(0)};
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, g.dy());
  }
};

}  // namespace leat
