#pragma once
// The dtypes that a node's attributes name, and the same attributes with wide dtypes in place of the narrow ones, for which no operator has
// a kernel (`wide_dtype`).

#include <leat/proto/attribute_value.hpp>

#include <string>
#include <utility>
#include <vector>

namespace leat {

/// Calls `f` with each dtype that attributes name; for a reference type, with its element type.
template <class F>
void for_each_dtype(const attribute_map& attributes, F f) {
  for (const attribute& its : attributes) {
    const attribute_value& value = its.value;
    if (const auto* type = value.get_if<data_type>()) f(static_cast<dtype>(base_of(*type)));
    if (const auto* list = value.get_list<data_type>())
      for (const data_type type : *list) f(static_cast<dtype>(base_of(type)));
  }
}

/// The attributes with `wide_dtype` in place of each narrow dtype.
inline attribute_map with_wide_dtypes(attribute_map attributes) {
  const auto wide = [](data_type type) {
    const dtype other = wide_dtype(static_cast<dtype>(base_of(type)));
    if (other == dtype::invalid) return type;
    return is_reference(type) ? reference_to(to_data_type(other)) : to_data_type(other);
  };
  std::vector<std::pair<std::string, attribute_value>> changed;
  for (const attribute& its : attributes) {
    const attribute_value& value = its.value;
    if (const auto* type = value.get_if<data_type>(); type != nullptr && wide(*type) != *type) changed.emplace_back(its.name, wide(*type));
    if (const auto* list = value.get_list<data_type>()) {
      std::vector<data_type> types(*list);
      for (data_type& type : types) type = wide(type);
      if (types != *list) changed.emplace_back(its.name, std::move(types));
    }
  }
  for (auto& [name, value] : changed) attributes[name] = std::move(value);
  return attributes;
}

}  // namespace leat
