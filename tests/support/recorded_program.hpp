#pragma once
// What a recorded program of TensorFlow was made with: the contents of its constants and the shapes of its leaves. A test that writes
// the program again takes them from here, so that it runs on every set of the same form.

#include "support/reference_json.hpp"

#include <leat/io/binary.hpp>
#include <leat/named/graph/convert.hpp>

#include <filesystem>
#include <map>

namespace leat_test {

class recorded_program {
 public:
  /// The graph `name`; nothing where it was not recorded.
  explicit recorded_program(const std::string& name) {
    const std::filesystem::path file = reference_folder() + "/graphs/" + name + ".pb";
    if (!std::filesystem::exists(file)) return;
    const auto def = leat::io::read_binary_file(file);
    for (const auto& n : def.nodes) nodes_.emplace(n.name, n);
  }
  /// The contents of a constant; `otherwise` where there is none.
  leat::tensor_literal literal(const std::string& name, const leat::tensor_literal& otherwise) const {
    const auto* value = attribute(name, "value");
    const auto* tensor = value != nullptr ? value->get_if<leat::tensor_proto>() : nullptr;
    if (tensor == nullptr) return otherwise;
    const leat::shape extent = leat::to_shape(tensor->shape);
    switch (tensor->dtype) {
      case leat::data_type::float32: return {extent, leat::contents<float>(*tensor)};
      case leat::data_type::float64: return {extent, leat::contents<double>(*tensor)};
      case leat::data_type::int32: return {extent, leat::contents<std::int32_t>(*tensor)};
      case leat::data_type::int64: return {extent, leat::contents<std::int64_t>(*tensor)};
      default: return otherwise;
    }
  }
  /// The one number of a constant.
  template <class T>
  T number(const std::string& name, T otherwise) const {
    return static_cast<T>(literal(name, otherwise).number(0));
  }
  /// The shape of a placeholder or variable, or of a constant's contents.
  leat::shape extent(const std::string& name, const leat::shape& otherwise) const {
    const auto* said = attribute(name, "shape");
    if (said != nullptr && said->get_if<leat::tensor_shape_proto>() != nullptr)
      return leat::to_shape(*said->get_if<leat::tensor_shape_proto>());
    const auto* value = attribute(name, "value");
    if (value != nullptr && value->get_if<leat::tensor_proto>() != nullptr)
      return leat::to_shape(value->get_if<leat::tensor_proto>()->shape);
    return otherwise;
  }
  std::string device(const std::string& name, const std::string& otherwise) const {
    const auto at = nodes_.find(name);
    return at == nodes_.end() ? otherwise : at->second.device;
  }

 private:
  const leat::attribute_value* attribute(const std::string& node, std::string_view name) const {
    const auto at = nodes_.find(node);
    return at == nodes_.end() ? nullptr : at->second.attributes.find(name);
  }
  std::map<std::string, leat::node_def> nodes_;
};

}  // namespace leat_test
