#pragma once
// What an error says.

#include <leat/core/error.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace leat_test {

/// The message of the error of this class that `f` throws; others pass through.
template <class Error = leat::error, class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}
/// Whether a message has these words; a failing check shows the message. No words ask for any error.
template <class... More>
bool says(const std::string& message, std::string_view words, const More&... more) {
  INFO(message);
  if (words.empty() && message == "nothing was thrown") return false;
  return message.find(words) != std::string::npos && ((message.find(more) != std::string::npos) && ...);
}

}  // namespace leat_test
