#pragma once
// Which axes of which arrays the labels of an `Einsum` node are, for its shape rule and its kernel: an ellipsis stands for as many axes as
// the ranks leave, counted from the last one, because these broadcast.

#include <leat/core/error.hpp>
#include <leat/core/shape.hpp>
#include <leat/core/sizes_text.hpp>
#include <leat/ops/einsum_equation.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

namespace leat::detail {

struct einsum_axes {
  static constexpr int broadcast = 256;  // the label of the last axis of an ellipsis; those before it count upwards
  std::array<std::vector<int>, 2> operand;
  std::vector<int> result;
  std::map<int, std::int64_t> sizes;  // by label; -1 where it is unknown

  static bool is_broadcast(int label) { return label >= broadcast; }
};

/// The labels of an equation with as many operands as the node has inputs. Errors: invalid_argument, in the words of TensorFlow where it
/// has some.
inline einsum_labels einsum_labels_of(const std::string& equation, int inputs) {
  const einsum_labels labels = read_equation(equation);
  if (!labels.problem.empty()) throw invalid_argument("the equation '" + equation + "': " + std::string(labels.problem));
  if (!labels.has_arrow) throw invalid_argument("Expecting exactly one '->' in einsum equation: " + equation);
  if (labels.operands > 2) throw invalid_argument("the equation '" + equation + "': more than two operands, which Einsum does not take");
  if (labels.operands != inputs)
    throw invalid_argument("Expected " + std::to_string(labels.operands) + " inputs but got: " + std::to_string(inputs));
  return labels;
}

/// The axes of arrays of known rank. Errors: invalid_argument for another rank or other sizes than the labels say; unimplemented for a
/// result of more than 8 dimensions.
inline einsum_axes einsum_axes_of(const einsum_labels& labels, const std::vector<shape>& extents) {
  einsum_axes made;
  int widest = 0;
  for (std::size_t k = 0; k < extents.size(); ++k) {
    const number_list& its = labels.operand[k];
    const shape& s = extents[k];
    const int letters = einsum_labels::letters(its), left = s.rank - letters;
    const bool has_more = its.contains(einsum_labels::ellipsis);
    if (left < 0 || (left > 0 && !has_more))
      throw invalid_argument("Expected input " + std::to_string(k) + " to have rank " + (has_more ? "at least " : "") +
                             std::to_string(letters) + " but got: " + std::to_string(s.rank));
    widest = std::max(widest, left);
    for (int i = 0; i < its.count; ++i)
      if (its[i] != einsum_labels::ellipsis) made.operand[k].push_back(static_cast<int>(its[i]));
      else
        for (int a = left; a-- > 0;) made.operand[k].push_back(einsum_axes::broadcast + a);
    for (int axis = 0; axis < s.rank; ++axis) {
      const int label = made.operand[k][static_cast<std::size_t>(axis)];
      const auto [known, is_new] = made.sizes.emplace(label, s[axis]);
      if (is_new || s[axis] < 0) continue;
      std::int64_t& size = known->second;
      const bool stretches = einsum_axes::is_broadcast(label) && (size == 1 || s[axis] == 1);
      if (size >= 0 && size != s[axis] && !stretches)
        throw invalid_argument("Expected dimension " + std::to_string(size) + " at axis " + std::to_string(axis) + " of the input shaped " +
                               sizes_text(s) + " but got dimension " + std::to_string(s[axis]));
      if (size < 0 ? !(einsum_axes::is_broadcast(label) && s[axis] == 1) : size == 1) size = s[axis];
    }
  }
  if (widest > 0 && !labels.result.contains(einsum_labels::ellipsis))
    throw invalid_argument("Output contains " + std::to_string(widest) +
                           " broadcasting dimension(s) but no ellipsis (...) was found in the output subscripts.");
  for (int i = 0; i < labels.result.count; ++i)
    if (labels.result[i] != einsum_labels::ellipsis) made.result.push_back(static_cast<int>(labels.result[i]));
    else
      for (int a = widest; a-- > 0;) made.result.push_back(einsum_axes::broadcast + a);
  if (made.result.size() > static_cast<std::size_t>(max_rank)) throw unimplemented("an einsum with a result of more than 8 dimensions");
  return made;
}

}  // namespace leat::detail
