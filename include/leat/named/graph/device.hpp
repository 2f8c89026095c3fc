#pragma once
// Device names: "/job:ps/task:0/device:GPU:1". Each part (job, replica, task, device type, device index) may be absent; inner scopes
// override outer ones part by part. Source: TensorFlow `DeviceSpec`, `device`.

#include <cctype>
#include <cstdint>
#include <leat/core/error.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace leat {

/// The parts of a device's name; absent ones are left to the placer.
struct device_spec {
  std::optional<std::string> job;
  std::optional<std::int64_t> replica;
  std::optional<std::int64_t> task;
  std::optional<std::string> type;  // "CPU", "GPU", ...
  std::optional<std::int64_t> index;

  bool operator==(const device_spec&) const = default;
  /// Whether all parts are absent.
  bool empty() const { return !job && !replica && !task && !type && !index; }
  /// The name in TensorFlow's form: "/cpu:0" becomes "/device:CPU:0".
  std::string text() const;
  /// Overrides the parts that `inner` has.
  void merge_from(const device_spec& inner);
};

namespace detail {

inline std::string upper_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

inline std::int64_t device_number(std::string_view digits, std::string_view whole) {
  std::int64_t value = 0;
  bool fits = !digits.empty();
  for (char c : digits) {
    fits = fits && c >= '0' && c <= '9' && value < 100'000'000;
    if (fits) value = 10 * value + (c - '0');
  }
  if (!fits)
    throw invalid_argument("the device \"" + std::string(whole) + "\": invalid literal for a number with base 10: '" + std::string(digits) +
                           "'");
  return value;
}

inline bool all_digits(std::string_view text) {
  for (char c : text)
    if (c < '0' || c > '9') return false;
  return !text.empty();
}

}  // namespace detail

/// Parses a device's name; of a repeated part, the last counts.
/// Errors: invalid_argument for an unknown part, two device types, or a malformed number.
inline device_spec parse_device(std::string_view text) {
  device_spec spec;
  const auto set_type = [&](std::string_view type) {
    if (spec.type)
      throw invalid_argument("Multiple device types are not allowed while parsing the device spec: " + std::string(text) + ".");
    spec.type = detail::upper_case(type);
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
      set_type(value.substr(0, second));
      if (value.substr(second + 1) != "*") spec.index = detail::device_number(value.substr(second + 1), text);
    } else if (const auto type = detail::upper_case(key); (type == "CPU" || type == "GPU" || type == "TPU") && second == value.npos) {
      set_type(key);
      if (colon != part.npos && value != "*") spec.index = detail::device_number(value, text);
    } else {
      throw invalid_argument("Unknown attribute '" + std::string(key) + "' is encountered while parsing the device spec: '" +
                             std::string(text) + "'.");
    }
  }
  return spec;
}

inline std::string device_spec::text() const {
  std::string result;
  if (job) result += "/job:" + *job;
  if (replica) result += "/replica:" + std::to_string(*replica);
  if (task) result += "/task:" + std::to_string(*task);
  if (type) result += "/device:" + *type + ":" + (index ? std::to_string(*index) : "*");
  return result;
}

inline void device_spec::merge_from(const device_spec& inner) {
  if (inner.job) job = inner.job;
  if (inner.replica) replica = inner.replica;
  if (inner.task) task = inner.task;
  if (inner.type) type = inner.type;
  if (inner.index) index = inner.index;
}

/// The device of a node that asks for `inner` within a scope of `outer`, in TensorFlow's form.
inline std::string merge_devices(std::string_view outer, std::string_view inner) {
  device_spec spec = parse_device(outer);
  spec.merge_from(parse_device(inner));
  return spec.text();
}

}  // namespace leat
