#pragma once
// Operators of a program's own, as a program would define them: of several results, of lists of tensors, of texts, and kernels.

#include <leat/leat.hpp>

namespace own {

using namespace leat;

/// Two results: the radius and the angle of points x, y. Its gradient is that of its expansion.
struct polar_op {
  static constexpr std::string_view type = "OwnPolar";
  static constexpr op_kind kind = op_kind::composite;
  static constexpr int results = 2;
  static constexpr field form[]{{field_kind::operand, "x"}, {field_kind::operand, "y"}, {field_kind::type_of, "T"}};
  static constexpr inference infer(const operand_list& x) { return rule::broadcast_pair(x, rule::takes::floating); }
  template <class G>
  static constexpr output expand(G& g) {
    const output x = g.input(0), y = g.input(1);
    return g.result_number() == 0 ? sqrt(x * x + y * y) : atan2(y, x);
  }
};

/// As many results as an attribute says: the parts of x along its first axis. Its gradient uses one of its results.
struct parts_op {
  static constexpr std::string_view type = "OwnParts";
  static constexpr op_kind kind = op_kind::composite;
  static constexpr field form[]{{field_kind::operand, "x"}, {field_kind::integer, "count", 1}, {field_kind::type_of, "T"}};
  static constexpr int results(const operand_list& x) { return static_cast<int>(x.attribute(0)); }
  static constexpr inference infer(const operand_list& x) {
    const std::int64_t count = x.attribute(0);
    if (x.extent(0).rank < 1) return inference::wrong("takes at least rank 1");
    if (count < 1) return inference::wrong("count must be positive");
    inference got{x.type(0), x.extent(0)};
    std::int64_t& first = got.extent.dim[0];
    if (is_named(first)) return inference::wrong("the first dimension has a name, and its parts no size that the compiler knows");
    if (first >= 0 && first % count != 0) return inference::wrong("the first dimension is not a multiple of count");
    if (first >= 0) first /= count;
    return got;
  }
  template <class G>
  static constexpr output expand(G& g) {
    const shape& all = g.input(0).extent();
    std::int64_t numbers[2 * max_rank]{};
    numbers[0] = g.result_number() * (all[0] / g.attribute(0));
    for (int axis = 0; axis < all.rank; ++axis) numbers[all.rank + axis] = axis == 0 ? all[0] / g.attribute(0) : all[axis];
    return make_node<slice_op>({numbers, static_cast<std::size_t>(2 * all.rank)}, g.input(0));
  }
};

/// A list of tensors, and attributes of all kinds: a word, a flag, a real number, a text, a list of integers.
struct blend_op {
  static constexpr std::string_view type = "OwnBlend";
  static constexpr std::string_view modes[]{"sum", "product"};
  static constexpr op_kind kind = op_kind::composite;
  static constexpr field form[]{{field_kind::operands, "inputs"}, {field_kind::type_of, "T"},    {field_kind::word, "mode", 0, modes},
                                {field_kind::flag, "negate"},     {field_kind::real, "scale"},   {field_kind::text, "function"},
                                {field_kind::integers, "powers"}};
  static constexpr inference infer(const operand_list& x) {
    const attribute_text function = text_at(x, 3);
    if (function != "" && function != "exp") return inference::wrong("the function is \"exp\" or empty");
    if (x.attribute_count - 3 - function.attributes() != x.count) return inference::wrong("takes a power for each tensor");
    for (int k = 1; k < x.count; ++k)
      if (!may_equal(x.extent(k), x.extent(0))) return inference::wrong("shapes differ");
    return {x.type(0), x.extent(0)};
  }
  template <class G>
  static constexpr output expand(G& g) {
    const attribute_text function = text_at(g, 3);
    output all;
    for (int k = 0; k < g.input_count(); ++k) {
      output power = g.input(k);
      for (std::int64_t n = 1; n < g.attribute(3 + function.attributes() + k); ++n) power = power * g.input(k);
      all = k == 0 ? power : g.attribute(0) == 0 ? all + power : all * power;
    }
    if (function == "exp") all = exp(all);
    if (g.flag(1)) all = -all;
    return all * std::bit_cast<double>(g.attribute(2));
  }
};
inline constexpr std::int64_t half = std::bit_cast<std::int64_t>(0.5);

/// A kernel on a list of tensors: the largest of the elements in one place.
struct largest_op {
  static constexpr std::string_view type = "OwnLargest";
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr field form[]{{field_kind::operands, "inputs"}, {field_kind::type_of, "T"}};
  static constexpr inference infer(const operand_list& x) {
    for (int k = 1; k < x.count; ++k)
      if (!may_equal(x.extent(k), x.extent(0))) return inference::wrong("shapes differ");
    return {x.type(0), x.extent(0)};
  }
  template <class G>
  static constexpr void gradient(G& g) {
    for (int k = 0; k < g.input_count(); ++k)
      if (g.wants(k)) give(g, k, select(equal(g.input(k), g.result()), g.dy(), constant_like(g.dy(), 0)));
  }
};
template <class T>
struct largest_kernel {
  static constexpr bool may_refuse = false;
  const T* from[graph::max_operands];  // a copy of the kernel runs on a device, which has no pointer into the host's memory
  T* out;
  int inputs;
  std::int64_t count;
  largest_kernel(void* const* p, const kernels::step_numbers& n, int its_inputs)
      : out(static_cast<T*>(p[its_inputs])), inputs(its_inputs), count(n.product(0, 0, n.rank(0))) {
    for (int k = 0; k < inputs; ++k) from[k] = static_cast<const T*>(p[k]);
  }
  std::int64_t items() const { return count; }
  std::int64_t work() const { return inputs; }
  constexpr void operator()(std::int64_t i) const {
    T most = from[0][i];
    for (int k = 1; k < inputs; ++k)
      if (most < from[k][i]) most = from[k][i];
    out[i] = most;
  }
};

}  // namespace own
template <>
struct leat::kernels::kernel_of<own::largest_op> : kernel_without_indices<own::largest_kernel> {
  static constexpr leat::dtype takes[]{leat::dtype::float32, leat::dtype::float64};
};
