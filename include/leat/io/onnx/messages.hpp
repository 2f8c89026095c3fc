#pragma once
// ONNX's messages as plain data, as far as models of tensors need them, and the numbers of their fields, in the form of io/messages.hpp.
// Source: onnx.proto3 of ONNX, IR version 8.

#include <leat/io/messages.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace leat::io::onnx {

/// Element types. Source: TensorProto.DataType.
enum class element_type : std::int32_t {
  undefined = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  string = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
  complex64 = 14,
  complex128 = 15,
  bfloat16 = 16
};

/// A tensor. Its elements are row-major, little endian; strings are in `strings`. Source: TensorProto.
struct tensor_proto {
  std::vector<std::int64_t> dims{};
  element_type type = element_type::undefined;
  std::vector<std::string> strings{};
  std::string name{};
  std::string elements{};
  bool operator==(const tensor_proto&) const = default;
};

/// The kind of an attribute's value. Source: AttributeProto.AttributeType.
enum class attribute_kind : std::int32_t { undefined = 0, number = 1, integer = 2, text = 3, tensor = 4, numbers = 6, integers = 7 };

/// An attribute; its value is in the member that belongs to `kind`. Source: AttributeProto.
struct attribute_proto {
  std::string name{};
  attribute_kind kind = attribute_kind::undefined;
  float number = 0;
  std::int64_t integer = 0;
  std::string text{};
  std::optional<tensor_proto> tensor{};
  std::vector<float> numbers{};
  std::vector<std::int64_t> integers{};
  bool operator==(const attribute_proto&) const = default;
};

/// A node. Inputs and outputs are names of tensors; an optional input that is left out is "". Source: NodeProto.
struct node_proto {
  std::vector<std::string> inputs{};
  std::vector<std::string> outputs{};
  std::string name{};
  std::string op{};
  std::vector<attribute_proto> attributes{};
  bool operator==(const node_proto&) const = default;
};

/// A dimension: a size, a name, or unknown. Source: TensorShapeProto.Dimension.
struct dimension {
  std::variant<std::monostate, std::int64_t, std::string> size{};
  bool operator==(const dimension&) const = default;
};
/// A shape. Source: TensorShapeProto.
struct shape_proto {
  std::vector<dimension> dims{};
  bool operator==(const shape_proto&) const = default;
};
/// Element type and shape of a tensor. Source: TypeProto.Tensor.
struct tensor_type {
  element_type type = element_type::undefined;
  std::optional<shape_proto> shape{};
  bool operator==(const tensor_type&) const = default;
};
/// The type of a value; only tensors are used. Source: TypeProto.
struct type_proto {
  std::optional<tensor_type> tensor{};
  bool operator==(const type_proto&) const = default;
};
/// Name and type of an input or output of a graph. Source: ValueInfoProto.
struct value_info {
  std::string name{};
  type_proto type{};
  bool operator==(const value_info&) const = default;
};

/// A graph. Its nodes are in topological order. Source: GraphProto.
struct graph_proto {
  std::vector<node_proto> nodes{};
  std::string name{};
  std::vector<tensor_proto> initializers{};
  std::vector<value_info> inputs{};
  std::vector<value_info> outputs{};
  bool operator==(const graph_proto&) const = default;
};

/// A set of operators, in a version. Source: OperatorSetIdProto.
struct operator_set {
  std::string domain{};
  std::int64_t version = 0;
  bool operator==(const operator_set&) const = default;
};

/// A whole file. Source: ModelProto.
struct model_proto {
  std::int64_t ir_version = 0;
  std::string producer{};
  std::string producer_version{};
  graph_proto graph{};
  std::vector<operator_set> operator_sets{};
  bool operator==(const model_proto&) const = default;
};

}  // namespace leat::io::onnx

namespace leat::io::detail {

template <>
struct message_fields<onnx::tensor_proto> : plain_message {
  static constexpr std::string_view name = "onnx.TensorProto";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.values(1, "dims", m.dims);
    v.value(2, "data_type", m.type);
    v.byte_strings(6, "string_data", m.strings);
    v.text(8, "name", m.name);
    v.bytes(9, "raw_data", m.elements);
  }
};

template <>
struct message_fields<onnx::attribute_proto> : plain_message {
  static constexpr std::string_view name = "onnx.AttributeProto";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.text(1, "name", m.name);
    v.value(2, "f", m.number);
    v.value(3, "i", m.integer);
    v.bytes(4, "s", m.text);
    v.optional_message(5, "t", m.tensor);
    v.values(7, "floats", m.numbers);
    v.values(8, "ints", m.integers);
    v.value(20, "type", m.kind);
  }
};

template <>
struct message_fields<onnx::node_proto> : plain_message {
  static constexpr std::string_view name = "onnx.NodeProto";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.texts(1, "input", m.inputs);
    v.texts(2, "output", m.outputs);
    v.text(3, "name", m.name);
    v.text(4, "op_type", m.op);
    v.submessages(5, "attribute", m.attributes);
  }
};

template <>
struct message_fields<onnx::dimension> : plain_message {
  static constexpr std::string_view name = "onnx.TensorShapeProto.Dimension";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.template choice<std::int64_t>(1, "dim_value", m.size);
    v.template choice<std::string>(2, "dim_param", m.size);
  }
};

template <>
struct message_fields<onnx::shape_proto> : plain_message {
  static constexpr std::string_view name = "onnx.TensorShapeProto";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.submessages(1, "dim", m.dims);
  }
};

template <>
struct message_fields<onnx::tensor_type> : plain_message {
  static constexpr std::string_view name = "onnx.TypeProto.Tensor";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.value(1, "elem_type", m.type);
    v.optional_message(2, "shape", m.shape);
  }
};

template <>
struct message_fields<onnx::type_proto> : plain_message {
  static constexpr std::string_view name = "onnx.TypeProto";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.optional_message(1, "tensor_type", m.tensor);
  }
};

template <>
struct message_fields<onnx::value_info> : plain_message {
  static constexpr std::string_view name = "onnx.ValueInfoProto";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.text(1, "name", m.name);
    v.submessage(2, "type", m.type);
  }
};

template <>
struct message_fields<onnx::graph_proto> : plain_message {
  static constexpr std::string_view name = "onnx.GraphProto";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.submessages(1, "node", m.nodes);
    v.text(2, "name", m.name);
    v.submessages(5, "initializer", m.initializers);
    v.submessages(11, "input", m.inputs);
    v.submessages(12, "output", m.outputs);
  }
};

template <>
struct message_fields<onnx::operator_set> : plain_message {
  static constexpr std::string_view name = "onnx.OperatorSetIdProto";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.text(1, "domain", m.domain);
    v.value(2, "version", m.version);
  }
};

template <>
struct message_fields<onnx::model_proto> : plain_message {
  static constexpr std::string_view name = "onnx.ModelProto";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.value(1, "ir_version", m.ir_version);
    v.text(2, "producer_name", m.producer);
    v.text(3, "producer_version", m.producer_version);
    v.submessage(7, "graph", m.graph, true);
    v.submessages(8, "opset_import", m.operator_sets);
  }
};

}  // namespace leat::io::detail
