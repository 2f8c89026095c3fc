#pragma once
// The functions of a graph as messages, in the form of `messages.hpp`. A graph carries them in binary form.
// Source: TensorFlow function.proto, op_def.proto.

#include <leat/io/messages.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leat::io::detail {

/// An entry of a map with values that are not messages, or keys that are not strings.
template <class Key, class Value>
struct map_entry {
  Key key{};
  Value value{};
};
/// Sorts entries by their keys; returns whether a key occurs twice.
template <class Key, class Value>
bool sort_entries(std::vector<map_entry<Key, Value>>& entries) {
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  return std::adjacent_find(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.key == b.key; }) != entries.end();
}

struct operator_argument {
  std::string name{}, description{};
  data_type type = data_type::invalid;
  std::string type_attr{}, number_attr{}, type_list_attr{};
  struct dtype_and_shape {
    data_type dtype = data_type::invalid;
    std::optional<tensor_shape_proto> shape{};
  };
  std::vector<dtype_and_shape> handle_data{};
  bool is_ref = false;
};

struct operator_attribute {
  std::string name{}, type{};
  std::optional<attribute_value> default_value{};
  std::string description{};
  bool has_minimum = false;
  std::int64_t minimum = 0;
  std::optional<attribute_value> allowed_values{};
};

struct operator_deprecation {
  std::int32_t version = 0;
  std::string explanation{};
};

struct operator_signature {
  std::string name{};
  std::vector<operator_argument> input_arg{}, output_arg{};
  std::vector<operator_attribute> attr{};
  std::string summary{}, description{};
  std::optional<operator_deprecation> deprecation{};
  bool is_aggregate = false, is_stateful = false, is_commutative = false, allows_uninitialized_input = false;
  std::vector<std::string> control_output{};
  bool is_distributed_communication = false;
};

struct argument_attributes {
  attribute_map attr{};
  bool operator==(const argument_attributes&) const = default;
};

struct function_def {
  std::optional<operator_signature> signature{};
  std::vector<node_def> nodes{};
  std::vector<map_entry<std::string, std::string>> ret{};
  attribute_map attr{};
  std::vector<map_entry<std::string, std::string>> control_ret{};
  std::vector<map_entry<std::uint32_t, argument_attributes>> arg_attr{};
  std::vector<map_entry<std::uint32_t, std::uint32_t>> resource_arg_unique_id{};
};

struct function_gradient {
  std::string function_name{}, gradient_func{};
};
struct registered_gradient {
  std::string gradient_func{}, registered_op_type{};
};

struct function_library {
  std::vector<function_def> function{};
  std::vector<function_gradient> gradient{};
  std::vector<registered_gradient> registered_gradients{};
};

template <class Key, class Value>
struct message_fields<map_entry<Key, Value>> : plain_message {
  static constexpr std::string_view name = "map entry";
  template <class V, class M>
  static void fields(V& v, M& m) {
    if constexpr (std::is_same_v<Key, std::string>) v.text(1, "key", m.key);
    else v.value(1, "key", m.key);
    if constexpr (std::is_same_v<Value, std::string>) v.text(2, "value", m.value);
    else if constexpr (any_message<Value>) v.submessage(2, "value", m.value, true);
    else v.value(2, "value", m.value);
  }
};

template <>
struct message_fields<operator_argument::dtype_and_shape> : plain_message {
  static constexpr std::string_view name = "ResourceHandleProto.DtypeAndShape";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.value(1, "dtype", m.dtype);
    v.optional_message(2, "shape", m.shape);
  }
};

template <>
struct message_fields<operator_argument> : plain_message {
  static constexpr std::string_view name = "OpDef.ArgDef";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.text(1, "name", m.name);
    v.text(2, "description", m.description);
    v.value(3, "type", m.type);
    v.text(4, "type_attr", m.type_attr);
    v.text(5, "number_attr", m.number_attr);
    v.text(6, "type_list_attr", m.type_list_attr);
    v.submessages(7, "handle_data", m.handle_data);
    v.value(16, "is_ref", m.is_ref);
    v.dropped(17, "experimental_full_type");
  }
};

template <>
struct message_fields<operator_attribute> : plain_message {
  static constexpr std::string_view name = "OpDef.AttrDef";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.text(1, "name", m.name);
    v.text(2, "type", m.type);
    v.optional_message(3, "default_value", m.default_value);
    v.text(4, "description", m.description);
    v.value(5, "has_minimum", m.has_minimum);
    v.value(6, "minimum", m.minimum);
    v.optional_message(7, "allowed_values", m.allowed_values);
  }
};

template <>
struct message_fields<operator_deprecation> : plain_message {
  static constexpr std::string_view name = "OpDeprecation";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.value(1, "version", m.version);
    v.text(2, "explanation", m.explanation);
  }
};

template <>
struct message_fields<operator_signature> : plain_message {
  static constexpr std::string_view name = "OpDef";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.text(1, "name", m.name);
    v.submessages(2, "input_arg", m.input_arg);
    v.submessages(3, "output_arg", m.output_arg);
    v.submessages(4, "attr", m.attr);
    v.text(5, "summary", m.summary);
    v.text(6, "description", m.description);
    v.optional_message(8, "deprecation", m.deprecation);
    v.value(16, "is_aggregate", m.is_aggregate);
    v.value(17, "is_stateful", m.is_stateful);
    v.value(18, "is_commutative", m.is_commutative);
    v.value(19, "allows_uninitialized_input", m.allows_uninitialized_input);
    v.texts(20, "control_output", m.control_output);
    v.value(21, "is_distributed_communication", m.is_distributed_communication);
  }
};

template <>
struct message_fields<argument_attributes> {
  static constexpr std::string_view name = "FunctionDef.ArgAttrs";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.map(1, "attr", m.attr);
  }
  static std::string finish(argument_attributes& m) { return sort_attributes(m.attr); }
};

template <>
struct message_fields<function_def> {
  static constexpr std::string_view name = "FunctionDef";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.optional_message(1, "signature", m.signature);
    v.submessages(3, "node_def", m.nodes);
    v.submessages(4, "ret", m.ret);
    v.map(5, "attr", m.attr);
    v.submessages(6, "control_ret", m.control_ret);
    v.submessages(7, "arg_attr", m.arg_attr);
    v.submessages(8, "resource_arg_unique_id", m.resource_arg_unique_id);
  }
  static std::string finish(function_def& m) {
    if (sort_entries(m.ret)) return "a key of ret is there twice";
    if (sort_entries(m.control_ret)) return "a key of control_ret is there twice";
    if (sort_entries(m.arg_attr)) return "a key of arg_attr is there twice";
    if (sort_entries(m.resource_arg_unique_id)) return "a key of resource_arg_unique_id is there twice";
    return sort_attributes(m.attr);
  }
};

template <>
struct message_fields<function_gradient> : plain_message {
  static constexpr std::string_view name = "GradientDef";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.text(1, "function_name", m.function_name);
    v.text(2, "gradient_func", m.gradient_func);
  }
};

template <>
struct message_fields<registered_gradient> : plain_message {
  static constexpr std::string_view name = "RegisteredGradient";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.text(1, "gradient_func", m.gradient_func);
    v.text(2, "registered_op_type", m.registered_op_type);
  }
};

template <>
struct message_fields<function_library> : plain_message {
  static constexpr std::string_view name = "FunctionDefLibrary";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.submessages(1, "function", m.function);
    v.submessages(2, "gradient", m.gradient);
    v.submessages(3, "registered_gradients", m.registered_gradients);
  }
};

}  // namespace leat::io::detail
