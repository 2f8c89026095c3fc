#pragma once
// The gradient of an operator's class in a graph with names. It is the same code that computes gradients in tables (graph/build.hpp); here
// its nodes are those that TensorFlow 1.x makes, under the same names. The gradient of an operand that was broadcast is summed: over axes
// known from the shapes, or over axes computed at run time (`BroadcastGradientArgs`), so that the rank may be unknown. Source: TensorFlow's
// gradients of the operators of the same names.

#include <leat/named/functions/array.hpp>
#include <leat/named/functions/complex.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/gradients/nodes.hpp>

#include <algorithm>

namespace leat::detail {

// ---- broadcast operands ----------------------------------------------------------------------------------------------

/// The axes of the result along which each of two operands was broadcast, if the shapes determine them.
struct repeated_axes {
  bool known = false;
  std::vector<std::int32_t> x;
  std::vector<std::int32_t> y;
};
inline repeated_axes axes_repeated(const shape& x, const shape& y) {
  repeated_axes axes;
  if (!x.has_rank() || !y.has_rank()) return axes;
  const int rank = std::max(x.rank, y.rank);
  for (int i = 0; i < rank; ++i) {
    const std::int64_t a = i < rank - x.rank ? 1 : x[i - (rank - x.rank)];
    const std::int64_t b = i < rank - y.rank ? 1 : y[i - (rank - y.rank)];
    if (a == 1 && b != 1) axes.x.push_back(i);
    else if (b == 1 && a != 1) axes.y.push_back(i);
    else if (a < 0 || b < 0) return {};
  }
  axes.known = true;
  return axes;
}

inline std::array<output, 2> broadcast_gradient_args(const output& x_shape, const output& y_shape) {
  graph& g = x_shape.owner();
  shape any;
  any.push(unknown_dimension);
  const graph_operation axes = g.named().raw(g, "BroadcastGradientArgs", std::array{x_shape, y_shape}, {{"T", x_shape.type()}},
                                             {{x_shape.type(), any}, {x_shape.type(), any}});
  return {axes.result(0), axes.result(1)};
}
/// A gradient summed over axes, in the operand's shape.
inline output reduced_to(const output& gradient, const index_list& axes, const output& its_shape) {
  return reshape(reduce_sum(gradient, axes, keep_dims::yes), its_shape);
}
/// The gradients of two operands, each reduced to its operand's shape.
inline gradient_list reduced(const gradient_call& c, const output& gx, const output& gy) {
  const output x = c.input(0);
  const output y = c.input(1);
  const output x_shape = shape_of(x);
  const output y_shape = shape_of(y);
  const repeated_axes axes = axes_repeated(x.extent(), y.extent());
  if (!axes.known) {
    const auto both = broadcast_gradient_args(x_shape, y_shape);
    const output first = reduced_to(gx, both[0], x_shape);
    return {first, reduced_to(gy, both[1], y_shape)};
  }
  const bool x_must = !axes.x.empty() || x.extent().rank < y.extent().rank;
  const bool y_must = !axes.y.empty() || y.extent().rank < x.extent().rank;
  const output first = x_must ? reduced_to(gx, axes.x, x_shape) : gx;
  return {first, y_must ? reduced_to(gy, axes.y, y_shape) : gy};
}
inline bool same_static(const output& a, const output& b, const output& c) {
  return a.extent().is_static() && a.extent() == b.extent() && a.extent() == c.extent();
}

// ---- gradients by class ----------------------------------------------------------------------------------------------

/// What the gradient of an operator's class is for complex numbers: unknown; the same, for operators that are linear or whose gradients'
/// operators conjugate in their kernels; or that of the conjugates of operands and result. Source: the calls of `conj` in TensorFlow's
/// gradients.
enum class complex_slopes { unknown, same, of_conjugates };

/// The argument of a class's gradient in a graph with names; see `gradient_scope`. With `conjugates`, complex operands and results are their
/// conjugates.
class named_gradient_scope {
 public:
  explicit named_gradient_scope(const gradient_call& call, bool conjugates = false)
      : call_(call),
        dy_(call.dy()),
        given_(static_cast<std::size_t>(call.input_count())),
        conjugates_(conjugates ? static_cast<std::size_t>(call.input_count()) + 1 : 0) {}

  const gradient_call& call() const { return call_; }
  output input(int k) const { return conjugates_.empty() ? call_.input(k) : conjugate(static_cast<std::size_t>(k), call_.input(k)); }
  output result() const {
    return conjugates_.empty() ? call_.result() : conjugate(static_cast<std::size_t>(call_.input_count()), call_.result());
  }
  const output& dy() const { return dy_; }
  int input_count() const { return call_.input_count(); }
  std::int64_t attribute(int k) const { return owner().attribute(owner().at(call_.operation().index()), k); }
  graph& owner() const { return call_.owner(); }
  /// All gradients are made, as in TensorFlow; those that are not used do not run.
  bool wants(int) const { return true; }

  control_dependencies after_dy() const { return control_dependencies({dy_}); }
  template <class Op, class... Inputs>
  output node(const output& first, const Inputs&... rest) const {
    const output all[]{first, rest...};
    return owner().named().build(owner(), info_of<Op>, all, {}, Op::type);
  }
  bool flag(int k) const {
    const field* f = flag_at(k);
    return f != nullptr && call_.flag(f->name, f->value != 0);
  }
  /// The inputs that hold attributes, an axis for one, are this node's own.
  template <class Op>
  output node_with_flag(int k, bool value, const output& x) const {
    std::vector<number_argument> inputs{x};
    for (int i = 1; i < input_count(); ++i) inputs.emplace_back(input(i));
    attribute_map attributes;
    int number = 0;
    for (const field& f : Op::form) {
      if (f.kind == field_kind::flag) attributes[f.name] = number == k ? value : call_.flag(f.name);
      if (f.kind == field_kind::flag || f.kind == field_kind::scalar) ++number;
    }
    return call_operator(owner(), Op::type, inputs, std::move(attributes)).result();
  }
  bool is_simple_product() const { return dy_.type() == dtype::float32 && same_static(input(0), input(1), dy_); }
  using one_size = gradient_scope::one_size;
  output dy_in_shape_of(const output& x, one_size open = one_size::is_computed) const {
    std::vector<std::int32_t> sizes;
    const shape to = x.extent();
    for (int i = 0; i < to.rank; ++i) sizes.push_back(static_cast<std::int32_t>(to[i]));
    const bool has_one = open == one_size::may_be_open && to.has_rank() && std::ranges::count_if(sizes, [](auto n) { return n < 0; }) == 1;
    return has_one ? reshape(dy_, sizes) : reshape(dy_, shape_of(x));
  }
  output number(double value, std::string_view name = "Const") const {
    return owner().named().make_constant(owner(), {dy_.type(), {}, value}, name);
  }
  output zero_of(const output& x) const {
    const name_scope scope(owner(), "Cast");
    return cast(owner().named().make_constant(owner(), 0.0f, "x"), x.type(), scope.text());
  }
  output second_power(const output& x) const { return pow(x, 2); }
  output zeros_like(const output& x) const { return leat::zeros_like(x); }
  output ones_like(const output& x) const { return ones_like_nodes(x); }
  output zeros_in_shape_of(const output& x) const { return detail::zeros_in_shape_of(x); }
  void give_zeros(int k) { given_[static_cast<std::size_t>(k)] = zeros_in_shape_of(input(k)); }
  output choose(const output& condition, const output& a, const output& b) const { return select_rows(condition, a, b); }

  friend void give(named_gradient_scope& g, int k, const output& value) { g.given_[static_cast<std::size_t>(k)] = value; }
  friend output sum_kept(named_gradient_scope&, const output& x, int) { return reduce_sum(x, index_list(-1), keep_dims::yes); }
  const std::vector<output>& given() const { return given_; }

 private:
  const field* flag_at(int k) const {
    for (const field& f : owner().at(call_.operation().index()).op->form) {
      if (f.kind != field_kind::flag && f.kind != field_kind::scalar) continue;
      if (k-- == 0) return &f;
    }
    return nullptr;
  }

  // A node is made at the first use.
  output conjugate(std::size_t k, const output& x) const {
    if (!static_cast<bool>(conjugates_[k])) conjugates_[k] = conj(x);
    return conjugates_[k];
  }

  const gradient_call& call_;
  output dy_;
  std::vector<output> given_;
  mutable std::vector<output> conjugates_;  // of the inputs and the result; empty if none are taken
};

/// How the gradients of two operands are reduced to the operands' shapes. If both shapes are known to be equal to the result's, TensorFlow
/// leaves the sums out, for some operators only if the dtype is float32; for others it still makes the nodes of the shapes, which nothing
/// uses. `over_computed_axes`: it always sums over the axes that the graph computes, without keeping them.
enum class sums { with_shapes, left_out_if_equal, left_out_if_simple, over_computed_axes };

/// The gradients of two operands, each summed over the axes that the graph computes, without keeping them.
inline gradient_list summed(const output& x_shape, const output& y_shape, const std::array<output, 2>& axes, const output& gx,
                            const output& gy) {
  const output first = reshape(reduce_sum(gx, axes[0]), x_shape);
  return {first, reshape(reduce_sum(gy, axes[1]), y_shape)};
}

template <class Op, sums How, complex_slopes Complex = complex_slopes::unknown>
gradient_list run_class_gradient(const gradient_call& c) {
  // An operator that forwards its input forwards the gradient, too, rows of a sparse one among them.
  if constexpr (Op::kind == op_kind::identity) return {c.slices()};
  const bool is_of_complex = is_complex(c.slices().values.type());
  if (is_of_complex && Complex == complex_slopes::unknown)
    refuse_gradient(c.owner(), c.operation().index(), "its gradient is not known for complex numbers");
  named_gradient_scope g(c, is_of_complex && Complex == complex_slopes::of_conjugates);
  if constexpr (How == sums::over_computed_axes) {
    const output x_shape = shape_of(c.input(0));
    const output y_shape = shape_of(c.input(1));
    const auto axes = broadcast_gradient_args(x_shape, y_shape);
    Op::gradient(g);
    return summed(x_shape, y_shape, axes, g.given()[0], g.given()[1]);
  }
  Op::gradient(g);
  const std::vector<output>& given = g.given();
  const field* const its_form = Op::form;
  if (its_form == leat::form::pair || its_form == leat::form::angle) {
    const bool may_be_equal = How == sums::left_out_if_equal || (How == sums::left_out_if_simple && g.dy().type() == dtype::float32);
    if (may_be_equal && same_static(c.input(0), c.input(1), g.dy())) return {given[0], given[1]};
    return reduced(c, given[0], given[1]);
  }
  return {given.begin(), given.end()};
}
/// The gradient of an operator by its class, for `enter_gradients`.
template <class Op, sums How = sums::with_shapes>
inline constexpr library_gradient class_gradient{
    run_class_gradient<Op, How, Op::kind == op_kind::view ? complex_slopes::same : complex_slopes::unknown>, true};
/// The same, for operators whose gradient is the same for complex numbers.
template <class Op, sums How = sums::with_shapes>
inline constexpr library_gradient linear_gradient{run_class_gradient<Op, How, complex_slopes::same>, true};
/// The same, for operators whose gradient for complex numbers is that of conjugates.
template <class Op, sums How = sums::with_shapes>
inline constexpr library_gradient conjugate_gradient{run_class_gradient<Op, How, complex_slopes::of_conjugates>, true};

}  // namespace leat::detail
