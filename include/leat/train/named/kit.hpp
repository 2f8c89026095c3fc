#pragma once
// Lets formulas that are written once for both kinds of operands (train/loss_formulas.hpp) make nodes of graphs with names, with the names
// and in the forms of TensorFlow 1.x. Included by bodies only.

#include <leat/named/functions/array.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/functions/shape.hpp>
#include <leat/named/functions/slice.hpp>
#include <leat/train/named/weights.hpp>

namespace leat::detail {

/// x / y, and 0 where y is 0.
inline output divide_no_nan_node(const output& x, const output& y, std::string_view name) {
  return div_no_nan(x, y, name);
}

/// The sum of several tensors; a single tensor only gets the name.
inline output sum_of_tensors(const std::vector<output>& all, std::string_view name, const std::source_location& where) {
  return all.size() == 1 ? identity(all[0], name, where) : add_n(all, name, where);
}

struct named_kit {
  output subtract(const operand_value& a, const operand_value& b) const { return leat::subtract(a, b); }
  output multiply(const operand_value& a, const operand_value& b) const { return leat::multiply(a, b); }
  output divide(const operand_value& a, const operand_value& b) const { return leat::divide(a, b); }
  output add(const operand_value& a, const operand_value& b) const { return leat::add(a, b, "Add"); }
  output minimum(const operand_value& a, const operand_value& b) const { return leat::minimum(a, b); }
  output maximum(const operand_value& a, const operand_value& b) const { return leat::maximum(a, b); }
  output greater(const operand_value& a, const operand_value& b) const { return leat::greater(a, b); }
  output squared_difference(const output& a, const output& b) const { return leat::squared_difference(a, b); }
  output abs(const output& x) const { return leat::abs(x, {}); }
  output negative(const output& x) const { return leat::negative(x); }
  output square(const output& x) const { return leat::square(x, {}); }
  output log(const output& x) const { return leat::log(x, {}); }
  output log1p(const output& x) const { return leat::log1p(x, {}); }
  output exp(const output& x) const { return leat::exp(x, {}); }
  output relu(const output& x) const { return leat::relu(x, {}); }

  // Constants that an operator takes as its operand and names; `half` is a node of its own.
  float zero(const output&) const { return 0; }
  float one(const output&) const { return 1; }
  float two(const output&) const { return 2; }
  output half(const output& like) const { return like.owner().named().make_constant(like.owner(), {like.type(), {}, 0.5}, "Const"); }
  output ones_like(const output& x) const { return leat::ones_like(x); }
  /// The size of the last axis, in x's dtype.
  output class_count(const output& x) const {
    const output sizes = shape_of(x);
    return cast(index(sizes, {std::int64_t{-1}}), x.type());
  }
  output divide_no_nan(const output& x, const output& y, std::string_view name) const { return divide_no_nan_node(x, y, name); }
  output choose_or_zero(const output& condition, const output& x, std::string_view name) const {
    return choose(condition, x, zeros_like(x), name);
  }
  /// Operations that end a function: they have the name of its scope.
  output add_last(const output& a, const output& b) const { return leat::add(a, b, a.owner().named().names.scope() + "/"); }
  output multiply_last(const output& a, const output& b) const { return leat::multiply(a, b, a.owner().named().names.scope() + "/"); }
  output l2_loss(const output& x) const { return leat::l2_loss(x, {}); }

  output sum(const output& x) const { return sum_of_all(x); }
  output sum_keep(const output& x, const index_list& axes) const { return reduce_sum(x, axes, keep_dims::yes); }
  output axes_of_samples(const output& x) const { return axes_from(x, 1); }

  output element_count(const output& x) const {
    const name_scope scope(x.owner(), "num_elements");
    return cast(element_count_of(x, scope.text()), x.type());
  }
  output is_present(const output& weights) const {
    const output none = equal(weights, 0.0f);
    const output zeros = zeros_like(weights);
    return choose(none, zeros, leat::ones_like(weights));
  }
  /// The sum of the weights, broadcast to x.
  output sum_of_weights(const output& x, const output& weights) const {
    const output ones = leat::ones_like(x);
    const output broadcast = ones * weights;
    return sum(broadcast);
  }
  /// The number of elements of x with a weight that is not 0.
  output present(const output& x, const output& weights) const {
    const name_scope scope(x.owner(), "num_present");
    return sum_of_all(broadcast_weights(is_present(weights), x), scope.text());
  }
  /// The number of elements with a weight that is not 0, for each sample.
  output present_of_samples(const output& x, const output& weights) const {
    const name_scope scope(x.owner(), "num_present");
    const output broadcast = broadcast_weights(is_present(weights), x);
    return reduce_sum(broadcast, axes_from(broadcast, 1), keep_dims::yes, scope.text());
  }
};

}  // namespace leat::detail
