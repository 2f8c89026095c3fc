#pragma once
// Device names: "/job:ps/task:0/device:GPU:1". Each part (job, replica, task, device type, device index) may be absent; inner scopes
// override outer ones part by part. Source: TensorFlow `DeviceSpec`, `device`.

#include <leat/core/function_bodies.hpp>

#include <cctype>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace leat {

/// The parts of a device's name; absent parts are left to the placer.
struct device_spec {
  std::optional<std::string> job;       // such as "worker"
  std::optional<std::int64_t> replica;  // of a job, 0 in clusters
  std::optional<std::int64_t> task;     // number of a process in its job
  std::optional<std::string> type;      // "CPU", "GPU", ...
  std::optional<std::int64_t> index;

  bool operator==(const device_spec&) const = default;
  /// Whether all parts are absent.
  bool empty() const { return !job && !replica && !task && !type && !index; }
  /// The name in TensorFlow's form: "/device:CPU:0" for "/cpu:0".
  std::string text() const;
  /// Replaces the parts that `inner` has by those of `inner`.
  void merge_from(const device_spec& inner);
};

namespace detail {

std::string upper_case(std::string_view text);

std::int64_t device_number(std::string_view digits, std::string_view whole);

bool all_digits(std::string_view text);

}  // namespace detail

/// Parses a device's name; of a part that occurs several times, the last one counts. Numbers are parsed as by Python's `int` ("-1", "007",
/// " 2"). A negative number is accepted here, but names no existing device, so that placing a node on it fails.
/// Errors: invalid_argument for an unknown part, two device types, or a malformed number or one of more than 18 digits.
device_spec parse_device(std::string_view text);

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

/// The device, in TensorFlow's form, of a node that asks for `inner` in a scope of `outer`.
std::string merge_devices(std::string_view outer, std::string_view inner);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/graph/impl/device.hpp>
#endif
