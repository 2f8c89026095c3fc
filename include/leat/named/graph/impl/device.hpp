#pragma once
// Implementation of device.hpp.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/device.hpp>

namespace leat::detail {

LEAT_FUNCTION std::int64_t device_number(std::string_view digits, std::string_view whole) {
  constexpr std::string_view space = " \t\n\v\f\r";
  const auto begin = digits.find_first_not_of(space);
  std::string_view rest = begin == digits.npos ? std::string_view{} : digits.substr(begin, digits.find_last_not_of(space) + 1 - begin);
  const bool is_negative = rest.starts_with('-');
  if (is_negative || rest.starts_with('+')) rest.remove_prefix(1);
  std::int64_t value = 0;
  bool fits = !rest.empty() && rest.back() != '_';
  char before = '_';
  for (const char c : rest) {
    const bool is_digit = c >= '0' && c <= '9';
    fits = fits && (is_digit || (c == '_' && before != '_')) && value < 100'000'000'000'000'000;
    if (fits && is_digit) value = 10 * value + (c - '0');
    before = c;
  }
  if (!fits)
    throw invalid_argument("the device \"" + std::string(whole) + "\": invalid literal for a number with base 10: '" + std::string(digits) +
                           "'");
  return is_negative ? -value : value;
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION device_spec parse_device(std::string_view text) {
  device_spec spec;
  const auto set_type = [&](std::string type) {
    if (spec.type)
      throw invalid_argument("Multiple device types are not allowed while parsing the device spec: " + std::string(text) + ".");
    spec.type = std::move(type);
  };
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    rest = slash == rest.npos ? std::string_view{} : rest.substr(slash + 1);
    if (part.empty()) continue;
    const auto colon = part.find(':');
    const std::string_view key = part.substr(0, colon);
    const std::string_view value = colon == part.npos ? std::string_view{} : part.substr(colon + 1);
    const auto second = value.find(':');
    if (key == "job" && colon != part.npos && second == value.npos) {
      spec.job = std::string(value);
    } else if (key == "replica" && colon != part.npos && second == value.npos) {
      spec.replica = detail::device_number(value, text);
    } else if (key == "task" && colon != part.npos && second == value.npos) {
      spec.task = detail::device_number(value, text);
    } else if (key == "device" && second != value.npos && value.find(':', second + 1) == value.npos) {
      const std::string_view type = value.substr(0, second);
      set_type(type == "cpu" || type == "gpu" ? detail::upper_case(type) : std::string(type));
      if (value.substr(second + 1) != "*") spec.index = detail::device_number(value.substr(second + 1), text);
    } else if (const auto type = detail::upper_case(key); (type == "CPU" || type == "GPU" || type == "TPU") && second == value.npos) {
      set_type(type);
      if (colon != part.npos && value != "*") spec.index = detail::device_number(value, text);
    } else {
      throw invalid_argument("Unknown attribute '" + std::string(key) + "' is encountered while parsing the device spec: '" +
                             std::string(text) + "'.");
    }
  }
  return spec;
}

}  // namespace leat

namespace leat::detail {

LEAT_FUNCTION std::string upper_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

LEAT_FUNCTION bool all_digits(std::string_view text) {
  for (char c : text)
    if (c < '0' || c > '9') return false;
  return !text.empty();
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION std::string merge_devices(std::string_view outer, std::string_view inner) {
  device_spec spec = parse_device(outer);
  spec.merge_from(parse_device(inner));
  return spec.text();
}

}  // namespace leat
