#pragma once
// The fields of each message in files: number, name, and the member that holds it. The readers and writers of all forms (binary, JSON and
// text) traverse this one description. A reader or writer is a class with the members below; the function `fields` of a message calls one
// of them for every field. A message's member is passed by reference, const if the message is const. Fields are in the order of their
// numbers, in which protobuf writes them.
//
//   text, bytes, value             one string (UTF-8), bytes or number; absent means empty or 0
//   texts, byte_strings, values    the same repeated
//   submessage, optional_message   a message; an absent message means an empty one, or none
//   submessages, map               repeated messages; messages by name
//   choice, choice_text            one alternative of a oneof
//   named                          an enumeration with its own names
//   elements, element_bytes, element_texts   one of the fields that may hold a tensor's elements
//   opaque, opaque_messages        messages carried in binary form, not in JSON; as text by their own description, the template argument
//   dropped                        known, and not kept
//   refused                        known, and too important to be dropped silently

#include <leat/proto/graph_def.hpp>

#include <array>
#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace leat::io::detail {

/// The description of a message M: `name`; `fields(visitor, message)`; `finish(message)`, which completes the message after reading and
/// returns the problem with it, if any.
template <class M>
struct message_fields;

template <class M>
concept any_message = requires { message_fields<M>::name; };

/// The messages that are carried in binary form (`text/opaque.hpp`).
struct function_library;
struct any_message_def;

/// `finish` of messages that need none.
struct plain_message {
  template <class M>
  static std::string finish(M&) {
    return {};
  }
};

/// Writes a list as repeated messages, strings or numbers.
template <class Writer, class T>
void write_list(Writer& to, unsigned number, std::string_view name, const std::vector<T>& list) {
  if constexpr (any_message<T>) to.submessages(number, name, list);
  else if constexpr (std::is_same_v<T, std::string>) to.byte_strings(number, name, list);
  else to.values(number, name, list);
}

inline std::string sort_attributes(attribute_map& attributes) {
  const std::string* twice = attributes.restore_order();
  return twice != nullptr ? "attr \"" + *twice + "\" is there twice" : std::string{};
}

template <>
struct message_fields<tensor_shape_proto::dimension> : plain_message {
  static constexpr std::string_view name = "TensorShapeProto.Dim";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.value(1, "size", m.size);
    v.text(2, "name", m.name);
  }
};

template <>
struct message_fields<tensor_shape_proto> : plain_message {
  static constexpr std::string_view name = "TensorShapeProto";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.submessages(2, "dim", m.dims);
    v.value(3, "unknown_rank", m.unknown_rank);
  }
};

template <>
struct message_fields<tensor_proto> {
  static constexpr std::string_view name = "TensorProto";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.value(1, "dtype", m.dtype);
    v.submessage(2, "tensor_shape", m.shape, true);
    v.value(3, "version_number", m.version_number);
    v.element_bytes(4, "tensor_content", tensor_field::tensor_content, m);
    v.template elements<std::int32_t>(13, "half_val", tensor_field::half_val, m);
    v.template elements<float>(5, "float_val", tensor_field::float_val, m);
    v.template elements<double>(6, "double_val", tensor_field::double_val, m);
    v.template elements<std::int32_t>(7, "int_val", tensor_field::int_val, m);
    v.element_texts(8, "string_val", m);
    v.template elements<float>(9, "scomplex_val", tensor_field::scomplex_val, m);
    v.template elements<std::int64_t>(10, "int64_val", tensor_field::int64_val, m);
    v.template elements<bool>(11, "bool_val", tensor_field::bool_val, m);
    v.template elements<double>(12, "dcomplex_val", tensor_field::dcomplex_val, m);
    v.refused(14, "resource_handle_val");
    v.refused(15, "variant_val");
    v.template elements<std::uint32_t>(16, "uint32_val", tensor_field::uint32_val, m);
    v.template elements<std::uint64_t>(17, "uint64_val", tensor_field::uint64_val, m);
    v.element_bytes(18, "float8_val", tensor_field::float8_val, m);
  }
  static std::string finish(tensor_proto& m) {
    if (m.bytes.empty() && m.strings.empty()) m.field = tensor_field::none;
    return {};
  }
};

template <>
struct message_fields<function_value> {
  static constexpr std::string_view name = "NameAttrList";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.text(1, "name", m.name);
    v.map(2, "attr", m.attributes);
  }
  static std::string finish(function_value& m) { return sort_attributes(m.attributes); }
};

template <>
struct message_fields<attribute_list> {
  static constexpr std::string_view name = "AttrValue.ListValue";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.template choice<std::vector<std::string>>(2, "s", m.values);
    v.template choice<std::vector<std::int64_t>>(3, "i", m.values);
    v.template choice<std::vector<float>>(4, "f", m.values);
    v.template choice<std::vector<bool>>(5, "b", m.values);
    v.template choice<std::vector<data_type>>(6, "type", m.values);
    v.template choice<std::vector<tensor_shape_proto>>(7, "shape", m.values);
    v.template choice<std::vector<tensor_proto>>(8, "tensor", m.values);
    v.template choice<std::vector<function_value>>(9, "func", m.values);
  }
  static std::string finish(attribute_list& m) {
    if (m.size() == 0) m.values = std::monostate{};
    return {};
  }
};

template <>
struct message_fields<attribute_value> : plain_message {
  static constexpr std::string_view name = "AttrValue";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.template choice<box<attribute_list>>(1, "list", m.value);
    v.template choice<std::string>(2, "s", m.value);
    v.template choice<std::int64_t>(3, "i", m.value);
    v.template choice<float>(4, "f", m.value);
    v.template choice<bool>(5, "b", m.value);
    v.template choice<data_type>(6, "type", m.value);
    v.template choice<tensor_shape_proto>(7, "shape", m.value);
    v.template choice<box<tensor_proto>>(8, "tensor", m.value);
    v.template choice_text<attribute_placeholder>(9, "placeholder", m.value);
    v.template choice<box<function_value>>(10, "func", m.value);
  }
};

template <>
struct message_fields<node_def> {
  static constexpr std::string_view name = "NodeDef";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.text(1, "name", m.name);
    v.text(2, "op", m.op);
    v.texts(3, "input", m.inputs);
    v.text(4, "device", m.device);
    v.map(5, "attr", m.attributes);
    v.dropped(6, "experimental_debug_info");
    v.dropped(7, "experimental_type");
  }
  static std::string finish(node_def& m) { return sort_attributes(m.attributes); }
};

template <>
struct message_fields<version_def> : plain_message {
  static constexpr std::string_view name = "VersionDef";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.value(1, "producer", m.producer);
    v.value(2, "min_consumer", m.min_consumer);
    v.values(3, "bad_consumers", m.bad_consumers);
  }
};

/// JSON has the library of functions, which graphs carry in binary form, as bytes under a name of its own.
inline constexpr std::string_view library_in_json = "library_bytes";

template <>
struct message_fields<graph_def> : plain_message {
  static constexpr std::string_view name = "GraphDef";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.submessages(1, "node", m.nodes);
    v.template opaque<function_library>(2, "library", m.library);
    v.dropped(3, "version");
    v.submessage(4, "versions", m.versions);
    v.dropped(5, "debug_info");
  }
};

template <>
struct message_fields<meta_info_def> : plain_message {
  static constexpr std::string_view name = "MetaInfoDef";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.text(1, "meta_graph_version", m.meta_graph_version);
    v.dropped(2, "stripped_op_list");
    v.dropped(3, "any_info");
    v.texts(4, "tags", m.tags);
    v.text(5, "tensorflow_version", m.tensorflow_version);
    v.text(6, "tensorflow_git_version", m.tensorflow_git_version);
    v.value(7, "stripped_default_attrs", m.stripped_default_attrs);
    v.dropped(8, "function_aliases");
  }
};

inline constexpr std::array<std::string_view, 3> saver_versions{"LEGACY", "V1", "V2"};

template <>
struct message_fields<saver_def> : plain_message {
  static constexpr std::string_view name = "SaverDef";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.text(1, "filename_tensor_name", m.filename_tensor_name);
    v.text(2, "save_tensor_name", m.save_tensor_name);
    v.text(3, "restore_op_name", m.restore_op_name);
    v.value(4, "max_to_keep", m.max_to_keep);
    v.value(5, "sharded", m.sharded);
    v.value(6, "keep_checkpoint_every_n_hours", m.keep_checkpoint_every_n_hours);
    v.named(7, "version", m.version, saver_versions);
  }
};

template <>
struct message_fields<collection_def::node_list> : plain_message {
  static constexpr std::string_view name = "CollectionDef.NodeList";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.texts(1, "value", m.value);
  }
};
template <>
struct message_fields<collection_def::bytes_list> : plain_message {
  static constexpr std::string_view name = "CollectionDef.BytesList";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.byte_strings(1, "value", m.value);
  }
};
template <>
struct message_fields<collection_def::int64_list> : plain_message {
  static constexpr std::string_view name = "CollectionDef.Int64List";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.values(1, "value", m.value);
  }
};
template <>
struct message_fields<collection_def::float_list> : plain_message {
  static constexpr std::string_view name = "CollectionDef.FloatList";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.values(1, "value", m.value);
  }
};
template <>
struct message_fields<collection_def::any_list> : plain_message {
  static constexpr std::string_view name = "CollectionDef.AnyList";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.template opaque_messages<any_message_def>(1, "value", m.value);
  }
};

template <>
struct message_fields<collection_def> : plain_message {
  static constexpr std::string_view name = "CollectionDef";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.template choice<collection_def::node_list>(1, "node_list", m.kind);
    v.template choice<collection_def::bytes_list>(2, "bytes_list", m.kind);
    v.template choice<collection_def::int64_list>(3, "int64_list", m.kind);
    v.template choice<collection_def::float_list>(4, "float_list", m.kind);
    v.template choice<collection_def::any_list>(5, "any_list", m.kind);
  }
};

template <>
struct message_fields<signature_tensor::sparse> : plain_message {
  static constexpr std::string_view name = "TensorInfo.CooSparse";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.text(1, "values_tensor_name", m.values_tensor_name);
    v.text(2, "indices_tensor_name", m.indices_tensor_name);
    v.text(3, "dense_shape_tensor_name", m.dense_shape_tensor_name);
  }
};

template <>
struct message_fields<signature_tensor> : plain_message {
  static constexpr std::string_view name = "TensorInfo";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.template choice_text<std::string>(1, "name", m.encoding);
    v.value(2, "dtype", m.dtype);
    v.optional_message(3, "tensor_shape", m.tensor_shape);
    v.template choice<signature_tensor::sparse>(4, "coo_sparse", m.encoding);
    v.refused(5, "composite_tensor");
  }
};

template <>
struct message_fields<signature_def> : plain_message {
  static constexpr std::string_view name = "SignatureDef";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.map(1, "inputs", m.inputs);
    v.map(2, "outputs", m.outputs);
    v.text(3, "method_name", m.method_name);
    v.dropped(4, "defaults");
  }
};

template <>
struct message_fields<asset_file_def> : plain_message {
  static constexpr std::string_view name = "AssetFileDef";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.optional_message(1, "tensor_info", m.tensor_info);
    v.text(2, "filename", m.filename);
  }
};

template <>
struct message_fields<meta_graph_def> : plain_message {
  static constexpr std::string_view name = "MetaGraphDef";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.submessage(1, "meta_info_def", m.meta_info);
    v.submessage(2, "graph_def", m.graph);
    v.optional_message(3, "saver_def", m.saver);
    v.map(4, "collection_def", m.collections);
    v.map(5, "signature_def", m.signatures);
    v.submessages(6, "asset_file_def", m.asset_files);
    v.dropped(7, "object_graph_def");
  }
};

/// The graphs of a saved_model.pb, which differ in their tags.
struct saved_model_def {
  std::int64_t schema_version = 0;
  std::vector<meta_graph_def> meta_graphs{};
};

template <>
struct message_fields<saved_model_def> : plain_message {
  static constexpr std::string_view name = "SavedModel";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.value(1, "saved_model_schema_version", m.schema_version);
    v.submessages(2, "meta_graphs", m.meta_graphs);
  }
};

/// The value type of a map in these messages.
template <class Map>
struct map_value {
  using type = typename Map::mapped_type;
};
template <>
struct map_value<attribute_map> {
  using type = attribute_value;
};

/// The message itself, whether boxed or not.
template <class T>
T& unboxed(T& value) {
  return value;
}
template <class T>
T& unboxed(box<T>& value) {
  return *value;
}
template <class T>
const T& unboxed(const box<T>& value) {
  return *value;
}

/// The text of a choice that is a string.
inline std::string& text_of(std::string& text) { return text; }
inline std::string& text_of(attribute_placeholder& open) { return open.name; }
inline const std::string& text_of(const std::string& text) { return text; }
inline const std::string& text_of(const attribute_placeholder& open) { return open.name; }

template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;

}  // namespace leat::io::detail

namespace leat::io {

/// The messages that a file may consist of.
template <class M>
concept file_message = std::same_as<M, graph_def> || std::same_as<M, meta_graph_def>;

}  // namespace leat::io
