#pragma once
// Kernels of operators on strings. Source: TensorFlow `StringJoin`, `RegexFullMatch`, `StaticRegexFullMatch`, `ShardedFilename`,
// `ShardedFilespec`.

#include <leat/core/fill.hpp>
#include <leat/core/text_pattern.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/moved_texts.hpp>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <vector>

namespace leat::runtime {

/// The only string of an input. Errors: invalid_argument, with the input's name, if it is no scalar.
inline std::string single_text(kernel_context& c, int k, std::string_view name) {
  if (c.extent(k).rank != 0) throw invalid_argument(std::string(name) + " must be a scalar, not " + brackets(c.extent(k)));
  return c.input(k).as<std::string>();
}

inline void run_string_join(kernel_context& c) {
  const std::string separator = c.node.text("separator");
  std::optional<shape> extent;
  for (int k = 0; k < c.input_count(); ++k) {
    const shape& s = c.extent(k);
    if (s.rank == 0) continue;
    if (extent && !(*extent == s))
      throw invalid_argument("Input shapes do not match: " + brackets(*extent) + " vs. " + brackets(s));
    extent = s;
  }
  tensor_value made(text_dtype, extent.value_or(shape{}));
  std::vector<std::string>& to = made.texts();
  std::vector<std::size_t> lengths(to.size(), separator.size() * static_cast<std::size_t>(std::max(c.input_count() - 1, 0)));
  for (int k = 0; k < c.input_count(); ++k) {
    const std::vector<std::string>& from = c.input(k).texts();
    for (std::size_t i = 0; i < to.size(); ++i) lengths[i] += from[from.size() == 1 ? 0 : i].size();
  }
  std::size_t bytes = 0;
  for (const std::size_t length : lengths) bytes += outer_bytes(length);
  text_room room;
  room.take(bytes);
  for (int k = 0; k < c.input_count(); ++k) {
    const std::vector<std::string>& from = c.input(k).texts();
    const bool same = c.extent(k).rank == 0;  // one string beside every element
    for (std::size_t i = 0; i < to.size(); ++i) {
      if (k > 0) to[i] += separator;
      to[i] += from[same ? 0 : i];
    }
  }
  room.give(made);
  c.set(0, std::move(made));
}

inline void match_texts(kernel_context& c, const std::string& pattern) {
  const leat::detail::text_pattern wanted(pattern);
  const tensor_value texts = c.input(0);
  tensor_value made(dtype::boolean, texts.extent());
  const auto to = made.values<bool>();
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = wanted.matches(texts.texts()[i]);
  c.set(0, std::move(made));
}

/// A number of five digits or more, as in the names of a checkpoint's parts.
inline std::string five_digits(std::int64_t n) {
  char text[32];
  std::snprintf(text, sizeof text, "%05lld", static_cast<long long>(n));
  return text;
}

LEAT_FILL(fill_text_kernels) {
  register_kernel("StringJoin", run_string_join);
  register_kernel("RegexFullMatch", [](kernel_context& c) { match_texts(c, single_text(c, 1, "pattern")); });
  register_kernel("StaticRegexFullMatch", [](kernel_context& c) { match_texts(c, c.node.text("pattern")); });
  register_kernel("ShardedFilename", [](kernel_context& c) {
    const std::string base = single_text(c, 0, "basename");
    c.set(0, tensor_value(base + "-" + five_digits(c.number(1)) + "-of-" + five_digits(c.number(2))));
  });
  register_kernel("ShardedFilespec", [](kernel_context& c) {
    const std::string base = single_text(c, 0, "basename");
    c.set(0, tensor_value(base + "-" + std::string(5, '?') + "-of-" + five_digits(c.number(1))));
  });
}

}  // namespace leat::runtime
