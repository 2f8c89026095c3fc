#pragma once
// The dtypes that a node's attributes name, and the same attributes with other dtypes in their place: those in whose kernels a node with
// narrow or complex dtypes runs, or whose rules give its results.

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

/// The attributes with other dtypes: `other(d)` stands in place of a dtype d, unless it is `dtype::invalid`.
template <class Other>
attribute_map with_other_dtypes(attribute_map attributes, Other other) {
  const auto exchanged = [&](data_type type) {
    const dtype to = other(static_cast<dtype>(base_of(type)));
    if (to == dtype::invalid) return type;
    return is_reference(type) ? reference_to(to_data_type(to)) : to_data_type(to);
  };
  std::vector<std::pair<std::string, attribute_value>> changed;
  for (const attribute& its : attributes) {
    const attribute_value& value = its.value;
    if (const auto* type = value.get_if<data_type>(); type != nullptr && exchanged(*type) != *type)
      changed.emplace_back(its.name, exchanged(*type));
    if (const auto* list = value.get_list<data_type>()) {
      std::vector<data_type> types(*list);
      for (data_type& type : types) type = exchanged(type);
      if (types != *list) changed.emplace_back(its.name, std::move(types));
    }
  }
  for (auto& [name, value] : changed) attributes[name] = std::move(value);
  return attributes;
}
/// The attributes with `wide_dtype` in place of each narrow dtype.
inline attribute_map with_wide_dtypes(attribute_map attributes) { return with_other_dtypes(std::move(attributes), wide_dtype); }
/// The attributes with `stand_in_dtype` in place of each narrow or complex dtype.
inline attribute_map with_stand_ins(attribute_map attributes) { return with_other_dtypes(std::move(attributes), stand_in_dtype); }

}  // namespace leat
