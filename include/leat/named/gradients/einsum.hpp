#pragma once
// The gradient of Einstein's sums in graphs with names, node for node as TensorFlow makes it: einsums of the gradient with the other
// operand, and copies along the labels that only one operand has. Source: TensorFlow's gradient of `Einsum`.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/einsum_axes.hpp>
#include <leat/named/functions/slice.hpp>
#include <leat/named/gradients/array.hpp>
#include <leat/named/graph/call.hpp>

#include <optional>

namespace leat::detail {

inline constexpr std::string_view einsum_ellipsis = "...";

inline output einsum_node(const gradient_call& c, const std::vector<output>& operands, const std::string& equation) {
  const std::vector<number_argument> inputs(operands.begin(), operands.end());
  return call_operator(c.owner(), "Einsum", inputs, {{"equation", equation}}).result();
}
/// The first axis with a label, counted from the end behind an ellipsis; nullopt if there is none.
inline std::optional<int> einsum_axis(std::string_view labels, char label) {
  const auto rest = labels.find(einsum_ellipsis);
  const std::string_view before = labels.substr(0, rest);
  if (const auto at = before.find(label); at != before.npos) return static_cast<int>(at);
  if (rest == labels.npos) return std::nullopt;
  const std::string_view behind = labels.substr(rest + einsum_ellipsis.size());
  const auto at = behind.find(label);
  return at == behind.npos ? std::nullopt : std::optional(static_cast<int>(at) - static_cast<int>(behind.size()));
}
/// Those characters of `labels`, each once, that `others` lacks; dots do not count.
inline std::string labels_beside(std::string_view labels, std::string_view others) {
  std::string some;
  for (const char label : labels)
    if (label != '.' && others.find(label) == others.npos && some.find(label) == some.npos) some += label;
  return some;
}
inline std::string labels_without(std::string_view labels, std::string_view gone) {
  std::string some;
  for (const char label : labels)
    if (gone.find(label) == gone.npos) some += label;
  return some;
}
inline bool has_repeated_label(std::string_view labels) {
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] != '.' && labels.find(labels[i], i + 1) != labels.npos) return true;
  return false;
}

/// The gradient of a sum along `gone`, labels that only the input has: `dy` copied along their axes.
inline output einsum_copies(const gradient_call& c, const output& dy, const std::string& result, const std::string& input,
                            const output& its_shape, const std::string& gone) {
  std::vector<std::int32_t> axes;
  for (const char label : gone) axes.push_back(*einsum_axis(input, label));
  // TensorFlow counts the three dots of an ellipsis as a repeated label.
  const bool repeats = has_repeated_label(input) || has_repeated_label(result) || input.find('.') != input.npos;
  if (!repeats && labels_without(input, gone) == result)
    return broadcast_to(reshape(dy, computed_kept_shape(its_shape, constant(axes))), its_shape, {});
  std::vector<output> sizes;
  for (const std::int32_t axis : axes) sizes.push_back(index(its_shape, {axis_index(axis)}));
  const output wide = concat({stack(sizes), shape_of(dy)}, 0);
  const output narrow = concat({constant(std::vector<std::int32_t>(gone.size(), 1)), shape_of(dy)}, 0);
  const output copied = broadcast_to(reshape(dy, narrow), wide, {});
  return einsum_node(c, {copied}, gone + result + "->" + input);
}
/// The gradient of one of two operands, before it is summed along the axes along which that operand broadcasts.
inline output einsum_gradient_by(const gradient_call& c, const output& dy, const output& other, const output& its_shape,
                                 const std::string& input, const std::string& others, const std::string& result) {
  const std::string gone = labels_beside(input, result + others);
  const std::string left = labels_without(input, gone);
  const output reduced = einsum_node(c, {dy, other}, result + "," + others + "->" + left);
  return gone.empty() ? reduced : einsum_copies(c, reduced, left, input, its_shape, gone);
}

/// The axes of an ellipsis: from the first one to before the last, which counts from the end; 0 there is the end itself.
struct ellipsis_axes {
  std::int32_t begin = 0, end = 0;
  explicit ellipsis_axes(std::string_view labels)
      : begin(static_cast<std::int32_t>(labels.find(einsum_ellipsis))),
        end(begin + static_cast<std::int32_t>(einsum_ellipsis.size()) - static_cast<std::int32_t>(labels.size())) {}
  output part_of(const output& sizes) const { return index(sizes, {end == 0 ? along::from(begin) : along::between(begin, end)}); }
  /// The sizes in a known shape.
  std::vector<std::int64_t> part_of(const shape& s) const {
    std::vector<std::int64_t> sizes;
    for (int axis = begin; axis < s.rank + end; ++axis) sizes.push_back(s[axis]);
    return sizes;
  }
};

inline gradient_list gradient_of_einsum(const gradient_call& c) {
  const output dy = c.dy();
  const auto* given = c.operation().attributes().find("equation");
  const auto* text = given != nullptr ? given->get_if<std::string>() : nullptr;
  const std::string equation = text != nullptr ? labels_without(*text, " ") : std::string{};
  static_cast<void>(einsum_labels_of(equation, c.input_count()));  // checks it
  const auto arrow = equation.find("->");
  const std::string inputs = equation.substr(0, arrow), result = equation.substr(arrow + 2);
  if (c.input_count() == 1) {
    const output its_shape = shape_of(c.input(0));
    const std::string gone = labels_beside(inputs, result);
    if (gone.empty()) return {einsum_node(c, {dy}, result + "->" + inputs)};
    return {einsum_copies(c, dy, result, inputs, its_shape, gone)};
  }
  const auto comma = inputs.find(',');
  std::string x_labels = inputs.substr(0, comma), y_labels = inputs.substr(comma + 1);
  const bool has_ellipsis = result.find(einsum_ellipsis) != result.npos;
  for (std::string* labels : {&x_labels, &y_labels})
    if (has_ellipsis && labels->find(einsum_ellipsis) == labels->npos) *labels += einsum_ellipsis;
  const output x = c.input(0), y = c.input(1);
  const output x_shape = shape_of(x);
  const output y_shape = shape_of(y);
  const output by_x = einsum_gradient_by(c, dy, y, x_shape, x_labels, y_labels, result);
  const output by_y = einsum_gradient_by(c, dy, x, y_shape, y_labels, x_labels, result);
  if (!has_ellipsis) return {by_x, by_y};
  const ellipsis_axes x_axes(x_labels), y_axes(y_labels);
  if (x.extent().is_static() && y.extent().is_static() && x_axes.part_of(x.extent()) == y_axes.part_of(y.extent())) return {by_x, by_y};
  const output x_part = x_axes.part_of(x_shape);
  const auto axes = broadcast_gradient_args(x_part, y_axes.part_of(y_shape));
  const output first = reshape(reduce_sum(by_x, axes[0] + x_axes.begin), x_shape);
  return {first, reshape(reduce_sum(by_y, axes[1] + y_axes.begin), y_shape)};
}

LEAT_FILL(fill_einsum_gradients) { enter_gradients({{"Einsum", gradient_of_einsum}}); }

}  // namespace leat::detail
