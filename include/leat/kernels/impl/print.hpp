#pragma once
// Implementation of print.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/core/summary_text.hpp>
#include <leat/kernels/print.hpp>

#include <iostream>
#include <mutex>

namespace leat {

namespace detail {
inline thread_local std::ostream* log_of_thread = nullptr;  // null for standard error
}  // namespace detail

LEAT_FUNCTION print_log::print_log(std::ostream& to) : before_(detail::log_of_thread) { detail::log_of_thread = &to; }
LEAT_FUNCTION print_log::~print_log() { detail::log_of_thread = before_; }

namespace kernels {

LEAT_FUNCTION void print_operands(void* const* operands, const step_numbers& numbers) {
  const auto count = static_cast<int>(numbers.attribute(1));
  std::vector<std::int64_t> words;
  for (std::int64_t k = 2 + count; k < numbers.attributes(); ++k) words.push_back(numbers.attribute(static_cast<int>(k)));
  const auto message = leat::detail::text_in(words.data());
  std::string text(message.begin(), message.end());
  for (int k = 1; k < count; ++k) {
    shape extent;
    for (int a = 0; a < numbers.rank(k); ++a) extent.push(numbers.size(k, a));
    const auto type = static_cast<dtype>(numbers.attribute(2 + k));
    const std::string part = summary_text(extent, numbers.attribute(0), [&](std::int64_t i) { return element_text(type, operands[k], i); });
    text += extent.rank == 0 ? "[" + part + "]" : part;
  }
  text += "\n";
  static std::mutex guard;
  const std::lock_guard lock(guard);
  (leat::detail::log_of_thread != nullptr ? *leat::detail::log_of_thread : std::cerr) << text << std::flush;
}

}  // namespace kernels

}  // namespace leat
