#pragma once
// Kernels of texts with summaries of arrays, of runs of words (n-grams), and of strings that are joined by segments. Source: TensorFlow
// `StringFormat`, `StringNGrams`, `UnsortedSegmentJoin`.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/counted_memory.hpp>
#include <leat/runtime/kernels/text_parts.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace leat::runtime {

// ---- summaries --------------------------------------------------------------------------------------------------------

/// A string in quotes, with escapes for what a terminal would not show; bytes beyond ASCII stay.
inline std::string quoted_text(std::string_view text) {
  std::string made = "\"";
  for (const char c : text) {
    constexpr std::string_view letters = "\n\r\t\"'\\", escapes = "nrt\"'\\";
    if (const std::size_t at = letters.find(c); at != letters.npos) {
      made += '\\';
      made += escapes[at];
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      char octal[8];
      std::snprintf(octal, sizeof octal, "\\%03o", static_cast<unsigned>(static_cast<unsigned char>(c)));
      made += octal;
    } else {
      made += c;
    }
  }
  return made + '"';
}
/// The shortest of two lengths of digits that reads as the same number.
template <class T>
std::string digits_of(T v) {
  if (std::isnan(v)) return "nan";
  char text[40];
  constexpr bool is_single = std::is_same_v<T, float>;
  std::snprintf(text, sizeof text, "%.*g", is_single ? 6 : 15, static_cast<double>(v));
  const bool is_same =
      is_single ? std::strtof(text, nullptr) == static_cast<float>(v) : std::strtod(text, nullptr) == static_cast<double>(v);
  if (!is_same) std::snprintf(text, sizeof text, "%.*g", is_single ? 9 : 17, static_cast<double>(v));
  return text;
}
inline std::string summarized_element(const tensor_value& v, std::int64_t at) {
  const auto k = static_cast<std::size_t>(at);
  if (v.type() == text_dtype) return quoted_text(v.texts()[k]);
  return with_dtype(v.type(), [&]<class T>(T) -> std::string {
    const T x = v.values<T>()[k];
    if constexpr (std::is_floating_point_v<T>) return digits_of(x);
    else return std::to_string(static_cast<long long>(x));
  });
}
/// Appends an array with the first and last `ends` elements of each axis, in TensorFlow's second way of printing.
class array_summary {
 public:
  array_summary(kernel_context& c, const tensor_value& v, std::int64_t most, std::string& to)
      : c_(c), v_(v), ends_(most < 0 ? v.elements() : std::min(most, v.elements())), to_(to) {}
  void write() {
    if (v_.extent().rank > 0) axis(0, 0);
    else to_ += ends_ > 0 ? summarized_element(v_, 0) : "...";
    counted_.add(to_.size());
  }

 private:
  void axis(int at, std::int64_t first) {
    const shape& s = v_.extent();
    if (at == s.rank) {
      if (++written_ % 4096 == 0) {
        c_.step.check();
        counted_.add(to_.size() - counted_to_);
        counted_to_ = to_.size();
      }
      to_ += summarized_element(v_, first);
      return;
    }
    const auto spaced = [&] {
      if (at == s.rank - 1) {
        to_ += ' ';
        return;
      }
      to_.append(static_cast<std::size_t>(s.rank - at - 1), '\n');
      to_.append(static_cast<std::size_t>(at + 1), ' ');
    };
    const std::int64_t count = s[at], width = product(s, at + 1, s.rank);
    to_ += '[';
    for (std::int64_t i = 0; i < ends_ && i < count; ++i) {
      if (i > 0) spaced();
      axis(at + 1, first + i * width);
    }
    if (count / 2 > ends_ || count > 2 * ends_) {
      spaced();
      to_ += "...";
    }
    for (std::int64_t i = std::max(ends_, count - ends_); i < count; ++i) {
      spaced();
      axis(at + 1, first + i * width);
    }
    to_ += ']';
  }

  kernel_context& c_;
  const tensor_value& v_;
  std::int64_t ends_, written_ = 0;
  std::string& to_;
  std::size_t counted_to_ = 0;
  counted_memory counted_;
};

inline void run_format(kernel_context& c) {
  const auto pattern = c.node.attribute<std::string>("template", "%s"), placeholder = c.node.attribute<std::string>("placeholder", "%s");
  const std::int64_t most = c.node.integer("summarize", 3);
  std::vector<std::string_view> parts;
  std::string_view rest = pattern;
  for (std::size_t at = 0; !placeholder.empty() && (at = rest.find(placeholder)) != rest.npos; rest.remove_prefix(at + placeholder.size()))
    parts.push_back(rest.substr(0, at));
  if (static_cast<int>(parts.size()) != c.input_count())
    throw invalid_argument("num placeholders in template and num inputs must match: " + std::to_string(parts.size()) + " vs. " +
                           std::to_string(c.input_count()));
  std::string made;
  for (int k = 0; k < c.input_count(); ++k) {
    made += parts[static_cast<std::size_t>(k)];
    const tensor_value v = c.input(k);
    array_summary(c, v, most, made).write();
  }
  made += rest;
  tensor_value result(std::move(made));
  result.count_texts(outer_bytes(result));
  c.set(0, std::move(result));
}

// ---- runs of words ----------------------------------------------------------------------------------------------------

/// Runs of so many words, with pads before and behind those of each row.
class word_runs {
 public:
  explicit word_runs(const kernel_node& n)
      : widths(n.list<std::int64_t>("ngram_widths")),
        keeps_short(n.flag("preserve_short_sequences")),
        separator_(n.text("separator")),
        left_(n.text("left_pad")),
        right_(n.text("right_pad")),
        pad_(n.integer("pad_width")) {
    for (const std::int64_t width : widths)
      if (width <= 0 || width > INT32_MAX) throw invalid_argument("ngram_widths must contain positive values");
  }
  const std::vector<std::int64_t> widths;
  const bool keeps_short;

  std::int64_t pads(std::int64_t width) const { return pad_ < 0 ? width - 1 : std::min(pad_, width - 1); }
  std::int64_t count(std::int64_t words, std::int64_t width) const {
    return std::max<std::int64_t>(words + 2 * pads(width) - width + 1, 0);
  }
  /// The width of the only run of a row that is shorter than all widths. Errors: invalid_argument without a number of pads.
  std::int64_t short_width(std::int64_t words) const {
    if (pad_ < 0)
      throw invalid_argument("Pad width should be >= 0 when preserve_short_sequences is True and ngram_widths are not provided, got " +
                             std::to_string(pad_));
    if (pad_ > INT32_MAX) throw invalid_argument("pad_width " + std::to_string(pad_) + " is too large");
    return words + 2 * pad_;
  }
  /// Run `at` of `all` of a row of words.
  void write(kernel_context& c, counted_memory& counted, std::span<const std::string> words, std::int64_t width, std::int64_t all,
             std::int64_t at, std::string& to) const {
    const std::int64_t pad = pads(width), before = std::max<std::int64_t>(pad - at, 0),
                       behind = std::max<std::int64_t>(pad - (all - at - 1), 0);
    const std::int64_t own = width - before - behind, first = before > 0 ? 0 : at - pad;
    std::int64_t parts = 0;
    const auto add = [&](std::string_view part) {
      if (parts > 0) to += separator_;
      to += part;
      if (++parts % 1024 == 0) c.step.check();
      counted.add(separator_.size() + part.size());
    };
    for (std::int64_t k = 0; k < before; ++k) add(left_);
    for (std::int64_t k = 0; k < own; ++k) add(words[static_cast<std::size_t>(first + k)]);
    for (std::int64_t k = 0; k < behind; ++k) add(right_);
    if (own <= 0 && behind <= 0) add(right_);  // as TensorFlow writes a run of pads alone
  }

 private:
  std::string separator_, left_, right_;
  std::int64_t pad_;
};

inline void run_ngrams(kernel_context& c) {
  const word_runs runs(c.node);
  const tensor_value data = c.input(0);
  const auto& words = data.texts();
  const auto splits = c.numbers(1);
  if (splits.empty()) {
    c.set(0, tensor_value(text_dtype, data.extent()));
    return c.set(1, c.input(1));
  }
  if (splits[0] != 0) throw invalid_argument("First split value must be 0, got " + std::to_string(splits[0]));
  for (std::size_t k = 1; k < splits.size(); ++k)
    if (splits[k] < splits[k - 1] || splits[k] > data.elements())
      throw invalid_argument("Invalid split value " + std::to_string(splits[k]) + ", must be in [" + std::to_string(splits[k - 1]) + ", " +
                             std::to_string(data.elements()) + "]");
  if (splits.back() != data.elements())
    throw invalid_argument("Last split value must be data size. Expected " + std::to_string(data.elements()) + ", got " +
                           std::to_string(splits.back()));
  std::vector<std::int64_t> ends{0};
  for (std::size_t row = 0; row + 1 < splits.size(); ++row) {
    const std::int64_t count = splits[row + 1] - splits[row];
    std::int64_t made = 0;
    for (const std::int64_t width : runs.widths) made += runs.count(count, width);
    if (runs.keeps_short && made == 0 && count > 0) {
      runs.short_width(count);
      made = 1;
    }
    ends.push_back(ends.back() + made);
  }
  tensor_value made(text_dtype, {ends.back()});
  counted_memory counted;
  std::size_t at = 0;
  for (std::size_t row = 0; row + 1 < splits.size(); ++row) {
    const std::int64_t count = splits[row + 1] - splits[row];
    const std::span its(words.data() + splits[row], static_cast<std::size_t>(count));
    const auto write = [&](std::int64_t width, std::int64_t all) {
      for (std::int64_t k = 0; k < all; ++k) {
        if (k % 1024 == 0) c.step.check();
        runs.write(c, counted, its, width, all, k, made.texts()[at++]);
      }
    };
    for (const std::int64_t width : runs.widths) write(width, runs.count(count, width));
    if (at < static_cast<std::size_t>(ends[row + 1])) write(runs.short_width(count), 1);
  }
  counted.give_back();
  made.count_texts(outer_bytes(made));
  c.set(0, std::move(made));
  c.set(1, integer_tensor(c.type(1), ends));
}

// ---- joined by segments -----------------------------------------------------------------------------------------------

inline void run_segment_join(kernel_context& c) {
  const tensor_value given = c.input(0);
  const shape &s = given.extent(), &of = c.extent(1);
  const std::string separator = c.node.text("separator");
  if (c.extent(2).rank != 0) throw invalid_argument("Number of segments must be a scalar, got shape " + brackets(c.extent(2)));
  const std::int64_t count = c.number(2);
  if (count < 0) throw invalid_argument("Number of segments must be non-negative but got " + std::to_string(count));
  if (of.rank == 0) throw invalid_argument("Segment_id cannot have rank 0");
  if (of.rank > s.rank)
    throw out_of_range("Invalid segment_id rank " + std::to_string(of.rank) + " for input with " + std::to_string(s.rank) +
                       " dimension(s)");
  for (int k = 0; k < of.rank; ++k)
    if (of[k] != s[k])
      throw invalid_argument("Segment dimension is " + std::to_string(of[k]) + " while input dimension is " + std::to_string(s[k]) +
                             " in rank " + std::to_string(k));
  const auto segments = c.numbers(1);
  for (const std::int64_t segment : segments)
    if (segment < 0 || segment >= count)
      throw invalid_argument("segment_ids are not allowed to exceed num_segments or to have negative values.");
  shape extent;
  extent.push(count);
  for (int k = of.rank; k < s.rank; ++k) extent.push(s[k]);
  tensor_value made(text_dtype, extent);
  const auto width = static_cast<std::size_t>(product(s, of.rank, s.rank));
  std::vector<bool> has_begun(static_cast<std::size_t>(count), false);
  counted_memory counted;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (i % 1024 == 0) c.step.check();
    const auto segment = static_cast<std::size_t>(segments[i]);
    for (std::size_t k = 0; k < width; ++k) {
      const std::string& text = given.texts()[i * width + k];
      std::string& to = made.texts()[segment * width + k];
      counted.add(separator.size() + text.size());
      if (has_begun[segment]) to += separator;
      to += text;
    }
    has_begun[segment] = true;
  }
  counted.give_back();
  made.count_texts(outer_bytes(made));
  c.set(0, std::move(made));
}

LEAT_FILL(fill_text_format_kernels) {
  register_kernel("StringFormat", run_format);
  register_kernel("StringNGrams", run_ngrams);
  register_kernel("UnsortedSegmentJoin", run_segment_join);
}

}  // namespace leat::runtime
