#pragma once
// Implementation of stage.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/data/stage.hpp>
#include <leat/io/crc32c.hpp>
#include <leat/io/encoding.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>

namespace leat::data {

namespace detail {

LEAT_FUNCTION std::string setting_text(double value) {
  char text[400];  // the longest value has 309 digits before the decimal point
  double same = 0;
  auto end = std::to_chars(text, std::end(text), value, std::chars_format::fixed, 6).ptr;
  std::from_chars(text, end, same);
  if (same != value) end = std::to_chars(text, std::end(text), value).ptr;
  return {text, end};
}

// JSON is UTF-8, so other bytes are escaped. UTF-8 text is unchanged, which keeps earlier states valid.
LEAT_FUNCTION std::string in_utf8(std::string_view text) {
  std::string made;
  while (!text.empty()) {
    std::size_t bytes = 1;
    while (bytes <= std::min<std::size_t>(4, text.size()) && !io::is_utf8(text.substr(0, bytes))) ++bytes;
    if (bytes > std::min<std::size_t>(4, text.size())) {
      const auto byte = static_cast<unsigned char>(text[0]);
      made += {'\\', 'x', "0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
      bytes = 1;
    } else {
      made += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return made;
}

LEAT_FUNCTION std::string state_checksum(std::string_view description, const state_numbers& numbers) {
  return io::checksum_text(io::crc32c(std::as_bytes(std::span(numbers)), io::crc32c(description)));
}

}  // namespace detail

LEAT_FUNCTION std::string write_state(std::string_view description, const state_numbers& numbers) {
  const std::string pipeline = detail::in_utf8(description);
  nlohmann::ordered_json text;
  text["format"] = "leat.pipeline";
  text["version"] = 1;
  text["pipeline"] = pipeline;
  text["state"] = numbers;
  text["checksum"] = detail::state_checksum(pipeline, numbers);
  return text.dump();
}

LEAT_FUNCTION state_numbers read_state(std::string_view text, std::string_view description) {
  const auto read = nlohmann::json::parse(text, nullptr, false);
  const auto has = [&](const char* key, auto is) { return read.is_object() && read.contains(key) && (read[key].*is)(); };
  using json = nlohmann::json;
  if (!has("format", &json::is_string) || read["format"] != "leat.pipeline" || !has("pipeline", &json::is_string) ||
      !has("state", &json::is_array) || !has("checksum", &json::is_string))
    throw data_loss("no state of a pipeline: {\"format\": \"leat.pipeline\", \"pipeline\", \"state\", \"checksum\"} is expected");
  if (!has("version", &json::is_number_unsigned) || read["version"] != 1)
    throw unimplemented("the state of a pipeline has another version than 1: it was written by a later version of the library");
  state_numbers numbers;
  for (const auto& number : read["state"]) {
    if (!number.is_number_unsigned()) throw data_loss("the state of a pipeline has an entry that is no number from 0 on");
    numbers.push_back(number.get<std::uint64_t>());
  }
  const auto& other = read["pipeline"].get_ref<const std::string&>();
  if (read["checksum"] != detail::state_checksum(other, numbers))
    throw data_loss("the state of a pipeline is damaged: its checksum is another");
  if (other != detail::in_utf8(description))
    throw invalid_argument("the state of another pipeline:\n  the state's: " + other + "\n  this one:    " + std::string(description));
  return numbers;
}

}  // namespace leat::data
