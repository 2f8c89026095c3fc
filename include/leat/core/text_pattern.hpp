#pragma once
// Regular expressions as TensorFlow's operators use them (the syntax of RE2 without case folding, captures by name, Unicode classes and
// word boundaries). Matching takes time in proportion to the text's length times the pattern's, whatever the pattern, and does not recurse;
// std::regex does neither, so a pattern from a file could stop the program.

#include <leat/core/function_bodies.hpp>

#include <bitset>
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

 private:
  friend class text_pattern_parser;
  enum class kind : unsigned char { bytes, split, begin, end, match };
  struct step {
    kind what = kind::match;
    int set = -1;          // of `bytes`: which of `sets_`
    int next = -1, other = -1;
  };
  std::vector<step> steps_;
  std::vector<std::bitset<256>> sets_;
  int start_ = 0;
};

}  // namespace leat::detail

#if LEAT_WITH_BODIES
#include <leat/core/impl/text_pattern.hpp>
#endif
