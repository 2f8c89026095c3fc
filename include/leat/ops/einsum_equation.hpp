#pragma once
// The equation of an Einstein sum, as text: the labels of each operand and of the result. Typed expressions read it while the program is
// compiled, graphs with names when a node is made and run.

#include <leat/ops/array_plan.hpp>

#include <string_view>

namespace leat::detail {

/// An equation's labels: of the operands, and of the result.
struct einsum_labels {
  static constexpr int most = 8;                 // operands
  static constexpr std::int64_t ellipsis = '.';  // the label of all axes that have no letter
  std::string_view problem{};
  int operands = 0;
  bool has_arrow = false;
  number_list operand[most];
  number_list result;

  /// How many of the labels are letters.
  static constexpr int letters(const number_list& labels) { return labels.count - labels.contains(ellipsis); }
  /// How often the operands have a label.
  constexpr int times(std::int64_t label) const {
    int n = 0;
    for (const number_list& labels : operand)
      for (int i = 0; i < labels.count; ++i) n += labels[i] == label;
    return n;
  }
};

constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Reads an equation as NumPy does. Without an arrow, the result has the ellipsis and the labels that occur once, in alphabetical order,
// capitals first. A label may occur twice in the result, as TensorFlow's gradient of a diagonal needs it.
constexpr einsum_labels read_equation(std::string_view text) {
  einsum_labels made;
  made.operands = 1;
  const auto wrong = [&](std::string_view why) {
    made.problem = why;
    return made;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    number_list& labels = made.has_arrow ? made.result : made.operand[made.operands - 1];
    if (c == ',') {
      if (made.has_arrow) return wrong("a comma behind the arrow");
      if (++made.operands > einsum_labels::most) return wrong("more than 8 operands");
    } else if (c == '-') {
      if (i + 1 == text.size() || text[i + 1] != '>') return wrong("a '-' without a '>' behind it");
      if (made.has_arrow) return wrong("more than one arrow");
      made.has_arrow = true;
      ++i;
    } else if (is_letter(c)) {
      if (einsum_labels::letters(labels) == max_rank) return wrong("more than 8 letters for one array");
      labels.push(c);
    } else if (c == '.') {
      if (text.substr(i, 3) != "...") return wrong("an ellipsis has three points");
      if (labels.contains(einsum_labels::ellipsis)) return wrong("more than one ellipsis for one array");
      labels.push(einsum_labels::ellipsis);
      i += 2;
    } else {
      return wrong("a character that is no letter, comma, arrow, ellipsis or space");
    }
  }
  if (!made.has_arrow) {
    if (made.times(einsum_labels::ellipsis) > 0) made.result.push(einsum_labels::ellipsis);
    for (std::int64_t c = 'A'; c <= 'z'; ++c)
      if (is_letter(static_cast<char>(c)) && made.times(c) == 1) {
        if (einsum_labels::letters(made.result) == max_rank) return wrong("more than 8 dimensions");
        made.result.push(c);
      }
  }
  for (int i = 0; i < made.result.count; ++i)
    if (made.result[i] != einsum_labels::ellipsis && made.times(made.result[i]) == 0)
      return wrong("a letter of the result that no operand has");
  return made;
}

}  // namespace leat::detail
