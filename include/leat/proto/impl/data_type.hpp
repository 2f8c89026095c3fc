#pragma once
// Implementation of data_type.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/proto/data_type.hpp>

namespace leat {

LEAT_FUNCTION std::string name_of_data_type(data_type d) {
  if (!is_known(d)) return std::to_string(static_cast<int>(d));
  std::string text = "DT_";
  text += detail::data_types[static_cast<int>(base_of(d))].name;
  if (is_reference(d)) text += "_REF";
  return text;
}

LEAT_FUNCTION std::string lower_name_of_data_type(data_type d) {
  if (!is_known(d)) return "dtype " + std::to_string(static_cast<int>(d));
  std::string text = name_of_data_type(d).substr(3);
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

}  // namespace leat
