#pragma once
// Values and errors as the recorded data have them, and how they are compared.

#include <leat/runtime/state/tensor_value.hpp>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

namespace leat_test {

inline double number_of_json(const nlohmann::json& v) {
  if (v.is_string()) return v == "NaN" ? std::nan("") : v == "-Infinity" || v == "-inf" ? -HUGE_VAL : HUGE_VAL;
  if (v.is_boolean()) return v.get<bool>() ? 1 : 0;
  return v.get<double>();
}

inline leat::dtype dtype_named(const std::string& name) {
  using namespace leat;
  for (const dtype d : {dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8, dtype::boolean})
    if (name_of_dtype(d) == name) return d;
  return name == "string" ? text_dtype : dtype::invalid;
}

inline leat::tensor_value value_of_json(const nlohmann::json& j) {
  using namespace leat;
  shape extent;
  for (const auto& n : j.at("shape")) extent.push(n.get<std::int64_t>());
  const dtype type = dtype_named(j.at("dtype"));
  tensor_value made(type, extent);
  const auto& data = j.at("data");
  if (type == text_dtype) {
    for (std::size_t i = 0; i < data.size(); ++i) made.texts()[i] = data[i].get<std::string>();
    return made;
  }
  with_dtype(type, [&]<class T>(T) {
    for (std::size_t i = 0; i < data.size(); ++i)
      made.values<T>()[i] = std::is_integral_v<T> && data[i].is_number_integer() ? static_cast<T>(data[i].get<std::int64_t>())
                                                                                 : static_cast<T>(number_of_json(data[i]));
  });
  return made;
}

// What differs, or nothing.
inline std::string difference(const leat::tensor_value& is, const nlohmann::json& expected, double relative = 1e-4,
                              double absolute = 1e-5) {
  using namespace leat;
  if (!is) return "no value";
  const tensor_value wanted = value_of_json(expected);
  if (is.type() != wanted.type()) return "dtype " + dtype_name(is.type()) + " for " + dtype_name(wanted.type());
  if (!(is.extent() == wanted.extent())) return "shape " + brackets(is.extent()) + " for " + brackets(wanted.extent());
  if (is.type() == text_dtype) return is.texts() == wanted.texts() ? "" : "another text";
  return with_dtype(is.type(), [&]<class T>(T) -> std::string {
    const auto a = is.values<T>(), b = wanted.values<T>();
    for (std::size_t i = 0; i < a.size(); ++i) {
      const auto x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
      const bool same = a[i] == b[i] || (std::isnan(x) && std::isnan(y)) ||
                        (std::is_floating_point_v<T> && std::abs(x - y) <= absolute + relative * std::abs(y));
      if (!same) return "element " + std::to_string(i) + " is " + std::to_string(x) + " for " + std::to_string(y);
    }
    return {};
  });
}

inline std::string class_of(const leat::error& e) {
  using namespace leat;
  if (dynamic_cast<const invalid_argument*>(&e) != nullptr) return "InvalidArgumentError";
  if (dynamic_cast<const failed_precondition*>(&e) != nullptr) return "FailedPreconditionError";
  if (dynamic_cast<const out_of_range*>(&e) != nullptr) return "OutOfRangeError";
  if (dynamic_cast<const cancelled*>(&e) != nullptr) return "CancelledError";
  if (dynamic_cast<const deadline_exceeded*>(&e) != nullptr) return "DeadlineExceededError";
  if (dynamic_cast<const not_found*>(&e) != nullptr) return "NotFoundError";
  return "another error";
}

}  // namespace leat_test
