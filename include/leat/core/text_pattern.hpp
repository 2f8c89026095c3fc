#pragma once
// Regular expressions as TensorFlow's operators use them (the syntax of RE2 without case folding, captures by name, Unicode classes and
// word boundaries). Matching takes time in proportion to the text's length times the pattern's, whatever the pattern, and does not recurse;
// std::regex does neither, so a pattern from a file could stop the program.

#include <leat/core/function_bodies.hpp>

#include <array>
#include <bitset>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leat::detail {

/// A regular expression over text in UTF-8.
class text_pattern {
 public:
  /// Errors: invalid_argument for a malformed pattern, unimplemented for syntax that is not known, resource_exhausted for a pattern of more
  /// than 10,000 steps; each names the pattern and the position.
  explicit text_pattern(std::string_view pattern);
  /// Whether the whole text matches.
  bool matches(std::string_view text) const;
  /// The places of a match and of its groups: begin and end, or `none` for a group that takes no part. Groups beyond the ninth have none.
  static constexpr std::size_t none = static_cast<std::size_t>(-1), most_places = 20;
  using places = std::array<std::size_t, most_places>;
  /// The first match that begins at `from` or later. Of several that begin there, the one that the pattern prefers: the first alternative,
  /// as much as possible, as little as possible behind `?`. Errors of `check`, which is called from time to time.
  std::optional<places> find(std::string_view text, std::size_t from, const std::function<void()>& check = {}) const;
  int groups() const { return groups_; }
  /// The text with its first match, or each, replaced by `rewrite`, in which `\0` is the match and `\1` the first group. A text whose
  /// groups the pattern does not have replaces nothing, as in TensorFlow. Errors: invalid_argument for another use of the backslash.
  std::string replace(std::string_view text, std::string_view rewrite, bool is_global, const std::function<void()>& check = {}) const;

 private:
  friend class text_pattern_parser;
  enum class kind : unsigned char { bytes, split, begin, end, save, match };
  struct step {
    kind what = kind::match;
    int set = -1;               // of `bytes`: which of `sets_`; of `save`: which place
    int next = -1, other = -1;  // the preferred way, and the other one of `split`
  };
  std::vector<step> steps_;
  std::vector<std::bitset<256>> sets_;
  int start_ = 0, groups_ = 0;
};

}  // namespace leat::detail

#if LEAT_WITH_BODIES
#include <leat/core/impl/text_pattern.hpp>
#endif
