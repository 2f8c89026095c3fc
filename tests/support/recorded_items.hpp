#pragma once
// The items of a recorded set, as a test goes through them: each is run or left out for a reason, and something is run. What an item is, its
// text says apart from the numbers, so that other sets of the same form are run, too.

#include <doctest/doctest.h>

#include <cctype>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace leat_test {

/// "StopAtStepHook(last_step=4)" as "StopAtStepHook(last_step=#)".
inline std::string form_of(std::string_view text) {
  std::string form;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(text[k])) != 0;
    if (!is_digit) form += text[k];
    else if (form.empty() || form.back() != '#') form += '#';
  }
  return form;
}

/// The numbers of a text, in their order: 4.
inline std::vector<std::int64_t> numbers_in(std::string_view text) {
  std::vector<std::int64_t> all;
  bool inside = false;
  for (const char c : text) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (is_digit && !inside) all.push_back(0);
    if (is_digit) all.back() = 10 * all.back() + (c - '0');
    inside = is_digit;
  }
  return all;
}

/// Counts what a test ran of a kind of items, and lists the others by the reason.
class recorded_items {
 public:
  explicit recorded_items(std::string kind) : kind_(std::move(kind)) {}
  void ran() { ++ran_; }
  void left_out(const std::string& item, const std::string& reason) { others_[reason] += "\n    " + item; }
  /// Says what was left out. Errors: a failed check where there were items and none was run.
  void finish() const {
    std::string text;
    for (const auto& [reason, items] : others_) text += "\n  " + reason + ":" + items;
    const std::string rest = text.empty() ? text : "; not run here:" + text;
    MESSAGE(ran_ << " " << kind_ << rest);
    CHECK_MESSAGE((ran_ > 0 || others_.empty()), "none of the " << kind_ << " was run");
  }

 private:
  std::string kind_;
  int ran_ = 0;
  std::map<std::string, std::string> others_;
};

}  // namespace leat_test
