#pragma once
// Kernels that take strings apart and join them. Source: TensorFlow `StringSplit`, `StringSplitV2`, `StringLength`, `Substr`,
// `StringLower`, `StringUpper`, `StringStrip`, `ReduceJoin`, `RegexReplace`, `StaticRegexReplace`.

#include <leat/core/fill.hpp>
#include <leat/core/text_pattern.hpp>
#include <leat/runtime/kernels/counted_memory.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/moved_texts.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <algorithm>
#include <string_view>

namespace leat::runtime {

/// The space that texts are split and stripped at: ASCII's.
inline bool is_text_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
/// The only string of an input. Errors: invalid_argument, in TensorFlow's words.
inline std::string scalar_text(kernel_context& c, int k, const std::string& name) {
  if (c.extent(k).rank != 0) throw invalid_argument(name + " must be a scalar, got shape: " + brackets(c.extent(k)));
  return c.input(k).as<std::string>();
}
/// Applies a function to each string.
template <class F>
void each_text(kernel_context& c, F f) {
  const tensor_value given = c.input(0);
  tensor_value made(text_dtype, given.extent());
  counted_memory counted;
  for (std::size_t i = 0; i < made.texts().size(); ++i) {
    if (i % 1024 == 0) c.step.check();
    made.texts()[i] = f(given.texts()[i]);
    counted.add(made.texts()[i].size());
  }
  counted.give_back();
  made.count_texts(outer_bytes(made));
  c.set(0, std::move(made));
}

// ---- apart ------------------------------------------------------------------------------------------------------------

using text_parts = std::vector<std::string_view>;

/// Splits at each of several characters; without any, into single bytes.
inline text_parts split_at_characters(std::string_view text, std::string_view delimiters, bool skip_empty) {
  text_parts parts;
  if (delimiters.empty()) {
    for (std::size_t i = 0; i < text.size(); ++i) parts.push_back(text.substr(i, 1));
    return parts;
  }
  if (text.empty()) return parts;
  for (std::size_t at = 0;;) {
    const std::size_t end = std::min(text.find_first_of(delimiters, at), text.size());
    if (end > at || !skip_empty) parts.push_back(text.substr(at, end - at));
    if (end == text.size()) return parts;
    at = end + 1;
  }
}
/// Splits at a separator, or at any run of spaces if that is empty, at most `most` times; a negative number is no limit.
inline text_parts split_at_separator(std::string_view text, std::string_view separator, std::int64_t most) {
  text_parts parts;
  if (most == 0) {
    parts.push_back(text);
    return parts;
  }
  const auto is_full = [&] { return most > 0 && static_cast<std::int64_t>(parts.size()) == most; };
  if (!separator.empty()) {
    while (true) {
      const std::size_t end = is_full() ? text.npos : text.find(separator);
      parts.push_back(text.substr(0, end));
      if (end == text.npos) return parts;
      text.remove_prefix(end + separator.size());
    }
  }
  while (true) {
    while (!text.empty() && is_text_space(text.front())) text.remove_prefix(1);
    if (text.empty()) return parts;
    const auto end =
        is_full() ? text.size() : static_cast<std::size_t>(std::find_if(text.begin(), text.end(), is_text_space) - text.begin());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}
/// The parts of all strings of a vector, as a sparse tensor: indices, values, shape.
template <class Split>
void run_text_split(kernel_context& c, Split split) {
  if (c.extent(0).rank != 1) throw invalid_argument("input must be a vector, got shape: " + brackets(c.extent(0)));
  const tensor_value given = c.input(0);
  std::vector<std::string> values;
  std::vector<std::int64_t> indices;
  std::int64_t widest = 0;
  for (std::size_t row = 0; row < given.texts().size(); ++row) {
    if (row % 1024 == 0) c.step.check();
    const text_parts parts = split(given.texts()[row]);
    widest = std::max(widest, static_cast<std::int64_t>(parts.size()));
    for (std::size_t k = 0; k < parts.size(); ++k) {
      values.emplace_back(parts[k]);
      indices.push_back(static_cast<std::int64_t>(row));
      indices.push_back(static_cast<std::int64_t>(k));
    }
  }
  const auto count = static_cast<std::int64_t>(values.size());
  c.set(0, tensor_value({count, 2}, indices));
  c.set(1, tensor_value(std::move(values)));
  c.set(2, tensor_value(std::vector<std::int64_t>{given.elements(), widest}));
}

/// Whether lengths and positions count characters of UTF-8 rather than bytes.
inline bool counts_characters(const kernel_context& c) {
  const std::string unit = c.node.text("unit");
  if (unit == "UTF8_CHAR") return true;
  if (!unit.empty() && unit != "BYTE")
    throw invalid_argument("Value for attr 'unit' of \"" + unit + "\" is not in the list of allowed values: \"BYTE\", \"UTF8_CHAR\"");
  return false;
}
inline bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }
inline void run_text_length(kernel_context& c) {
  const tensor_value given = c.input(0);
  const bool characters = counts_characters(c);
  tensor_value made(dtype::int32, given.extent());
  for (std::size_t i = 0; i < given.texts().size(); ++i) {
    const std::string& text = given.texts()[i];
    made.values<std::int32_t>()[i] = static_cast<std::int32_t>(characters ? std::count_if(text.begin(), text.end(), begins_character)
                                                                          : static_cast<std::ptrdiff_t>(text.size()));
  }
  c.set(0, std::move(made));
}

/// `length` characters or bytes from a position, which counts from the end if it is negative; nullopt for a position outside the text. As
/// in TensorFlow, a negative length is the rest of the bytes, and no characters.
inline std::optional<std::string_view> text_range(std::string_view text, std::int64_t position, std::int64_t length, bool characters) {
  std::vector<std::size_t> begins;
  if (characters)
    for (std::size_t i = 0; i < text.size(); ++i)
      if (begins_character(text[i])) begins.push_back(i);
  const auto count = static_cast<std::int64_t>(characters ? begins.size() : text.size());
  if (position < -count || position > count) return std::nullopt;
  const std::int64_t first = position < 0 ? position + count : position;
  const std::int64_t taken = length < 0 ? (characters ? 0 : count - first) : std::min(length, count - first);
  const auto byte_of = [&](std::int64_t at) {
    return !characters ? static_cast<std::size_t>(at) : at == count ? text.size() : begins[static_cast<std::size_t>(at)];
  };
  return text.substr(byte_of(first), byte_of(first + taken) - byte_of(first));
}
inline void run_substring(kernel_context& c) {
  const tensor_value given = c.input(0);
  const shape &positions = c.extent(1), &lengths = c.extent(2);
  if (!(positions == lengths))
    throw invalid_argument("pos and len should have the same shape, got: " + brackets(positions) + " vs. " + brackets(lengths));
  const auto all = broadcast(given.extent(), positions);
  if (!all.ok) throw invalid_argument("Incompatible shapes: " + brackets(given.extent()) + " vs. " + brackets(positions));
  const bool characters = counts_characters(c);
  const auto from = c.numbers(1), count = c.numbers(2);
  // The steps of an operand along the axes of the result, 0 where it broadcasts.
  const auto steps_of = [&](const shape& s) {
    std::vector<std::int64_t> steps(static_cast<std::size_t>(all.extent.rank), 0);
    std::int64_t step = 1;
    for (int i = 1; i <= s.rank; ++i) {
      if (s[s.rank - i] != 1) steps[static_cast<std::size_t>(all.extent.rank - i)] = step;
      step *= s[s.rank - i];
    }
    return steps;
  };
  tensor_value made(text_dtype, all.extent);
  if (made.elements() == 0) return c.set(0, std::move(made));
  const auto text_steps = steps_of(given.extent()), place_steps = steps_of(positions);
  for (std::int64_t i = 0; i < made.elements(); ++i) {
    std::int64_t rest = i, text_at = 0, place_at = 0;
    for (int axis = all.extent.rank; axis-- > 0;) {
      const auto a = static_cast<std::size_t>(axis);
      text_at += rest % all.extent[axis] * text_steps[a];
      place_at += rest % all.extent[axis] * place_steps[a];
      rest /= all.extent[axis];
    }
    const std::string& text = given.texts()[static_cast<std::size_t>(text_at)];
    const std::int64_t position = from[static_cast<std::size_t>(place_at)];
    const auto part = text_range(text, position, count[static_cast<std::size_t>(place_at)], characters);
    if (!part)
      throw invalid_argument("pos " + std::to_string(position) + " out of range for string" + (characters ? "" : " b'" + text + "'") +
                             " at index " + std::to_string(i));
    made.texts()[static_cast<std::size_t>(i)] = *part;
  }
  c.set(0, std::move(made));
}

// ---- other letters ----------------------------------------------------------------------------------------------------

inline char lower_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }
inline char upper_letter(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c; }
/// ASCII letters in the other case. Errors: unimplemented for other letters if the encoding is UTF-8, whose tables the library lacks.
template <char (*Letter)(char)>
void run_letter_case(kernel_context& c) {
  const std::string encoding = c.node.text("encoding");
  if (!encoding.empty() && encoding != "utf-8") throw invalid_argument("only utf-8 or '' (no encoding) is supported, received " + encoding);
  each_text(c, [&](std::string text) {
    for (char& letter : text) {
      if (!encoding.empty() && static_cast<unsigned char>(letter) >= 0x80)
        throw unimplemented("upper and lower case of letters beyond ASCII: only the encoding '' is known, which leaves them as they are");
      letter = Letter(letter);
    }
    return text;
  });
}
inline std::string stripped(std::string_view text) {
  while (!text.empty() && is_text_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_text_space(text.back())) text.remove_suffix(1);
  return std::string(text);
}
inline void replace_pattern(kernel_context& c, const std::string& pattern, const std::string& rewrite) {
  const leat::detail::text_pattern wanted(pattern);
  const bool is_global = c.node.flag("replace_global", true);
  each_text(c, [&](const std::string& text) { return wanted.replace(text, rewrite, is_global, [&] { c.step.check(); }); });
}

// ---- joined -----------------------------------------------------------------------------------------------------------

inline void run_reduce_join(kernel_context& c) {
  const tensor_value given = c.input(0);
  const shape& s = given.extent();
  const std::string separator = c.node.text("separator");
  std::vector<int> along;
  std::vector<bool> is_joined(static_cast<std::size_t>(s.rank), false);
  for (const std::int64_t axis : c.numbers(1)) {
    if (axis < -s.rank || axis >= s.rank)
      throw out_of_range("Invalid reduction dimension " + std::to_string(axis) + " for input with " + std::to_string(s.rank) +
                         " dimension(s)");
    const int at = static_cast<int>(axis < 0 ? axis + s.rank : axis);
    if (is_joined[static_cast<std::size_t>(at)]) throw invalid_argument("Duplicate reduction dimension " + std::to_string(axis));
    is_joined[static_cast<std::size_t>(at)] = true;
    along.push_back(at);
  }
  shape extent;
  std::vector<std::int64_t> kept_counts, kept_steps, joined_counts, joined_steps;
  const auto strides = strides_of(s);
  for (int axis = 0; axis < s.rank; ++axis) {
    if (is_joined[static_cast<std::size_t>(axis)]) {
      if (c.node.flag("keep_dims")) extent.push(1);
      continue;
    }
    extent.push(s[axis]);
    kept_counts.push_back(s[axis]);
    kept_steps.push_back(strides[static_cast<std::size_t>(axis)]);
  }
  // The axis that is named first is joined first, so it is the innermost one.
  std::ranges::reverse(along);
  std::int64_t width = 1;
  for (const int axis : along) {
    joined_counts.push_back(s[axis]);
    joined_steps.push_back(strides[static_cast<std::size_t>(axis)]);
    width *= s[axis];
  }
  const auto place = [](std::int64_t index, const std::vector<std::int64_t>& counts, const std::vector<std::int64_t>& steps) {
    std::int64_t at = 0;
    for (std::size_t k = counts.size(); k-- > 0; index /= counts[k]) at += index % counts[k] * steps[k];
    return at;
  };
  tensor_value made(text_dtype, extent);
  counted_memory counted;
  for (std::int64_t i = 0; i < made.elements(); ++i) {
    if (i % 1024 == 0) c.step.check();
    std::string& to = made.texts()[static_cast<std::size_t>(i)];
    const std::int64_t first = width > 0 ? place(i, kept_counts, kept_steps) : 0;
    for (std::int64_t k = 0; k < width; ++k) {
      if (k > 0) {
        counted.add(separator.size());
        to += separator;
      }
      to += given.texts()[static_cast<std::size_t>(first + place(k, joined_counts, joined_steps))];
    }
  }
  counted.give_back();
  made.count_texts(outer_bytes(made));
  c.set(0, std::move(made));
}

LEAT_FILL(fill_text_part_kernels) {
  register_kernel("StringSplit", [](kernel_context& c) {
    const std::string delimiters = scalar_text(c, 1, "delimiter");
    const bool skip_empty = c.node.flag("skip_empty", true);
    run_text_split(c, [&](std::string_view text) { return split_at_characters(text, delimiters, skip_empty); });
  });
  register_kernel("StringSplitV2", [](kernel_context& c) {
    const std::string separator = scalar_text(c, 1, "sep");
    const std::int64_t most = c.node.integer("maxsplit", -1);
    run_text_split(c, [&](std::string_view text) { return split_at_separator(text, separator, most); });
  });
  register_kernel("StringLength", run_text_length);
  register_kernel("Substr", run_substring);
  register_kernel("StringLower", run_letter_case<lower_letter>);
  register_kernel("StringUpper", run_letter_case<upper_letter>);
  register_kernel("StringStrip", [](kernel_context& c) { each_text(c, [](const std::string& text) { return stripped(text); }); });
  register_kernel("ReduceJoin", run_reduce_join);
  register_kernel("RegexReplace", [](kernel_context& c) {
    for (int k = 1; k < 3; ++k)
      if (c.extent(k).rank != 0)
        throw invalid_argument((k == 1 ? "Pattern" : "Rewrite") + (" must be scalar, but received " + brackets(c.extent(k))));
    replace_pattern(c, c.input(1).as<std::string>(), c.input(2).as<std::string>());
  });
  register_kernel("StaticRegexReplace", [](kernel_context& c) { replace_pattern(c, c.node.text("pattern"), c.node.text("rewrite")); });
}

}  // namespace leat::runtime
