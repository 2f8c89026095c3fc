#pragma once
// Graphs for the tests of files: one that has an attribute of every kind and a tensor of every field, and one with everything
// a MetaGraphDef can have.

#include <leat/proto/graph_def.hpp>
#include <leat/proto/tensor_contents.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace leat_test {

inline leat::node_def node(std::string name, std::string op, std::vector<std::string> inputs = {},
                           leat::attribute_map attributes = {}) {
  return {.name = std::move(name),
          .op = std::move(op),
          .inputs = std::move(inputs),
          .device = {},
          .attributes = std::move(attributes)};
}

template <class T>
std::string raw(std::vector<T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// A graph of one node whose attribute has so many functions, each in an attribute of the one before.
inline leat::graph_def nested_functions(int levels) {
  leat::attribute_value v = leat::function_value{"leaf", {}};
  for (int i = 1; i < levels; ++i) v = leat::function_value{"f", {{"g", v}}};
  leat::graph_def g;
  g.nodes.push_back(node("n", "O", {}, {{"a", v}}));
  return g;
}

/// Values at the ends of their ranges, names beyond ASCII, bytes that are no text.
inline leat::graph_def every_kind_of_graph() {
  using namespace leat;
  const auto tensor = [](data_type type, tensor_field field, std::string bytes) {
    const int size = field == tensor_field::tensor_content ? content_size_of(type) : field_size_of(field);
    const auto count = static_cast<std::int64_t>(bytes.size()) / size;
    return tensor_proto{.dtype = type, .field = field, .shape = {count}, .bytes = std::move(bytes)};
  };
  constexpr auto inf = std::numeric_limits<float>::infinity();
  constexpr auto nan = std::numeric_limits<float>::quiet_NaN();
  constexpr auto inf64 = std::numeric_limits<double>::infinity();
  constexpr auto nan64 = std::numeric_limits<double>::quiet_NaN();
  const std::string bytes("\0\xff\"\\\n", 5);

  tensor_shape_proto unknown, named;
  unknown.unknown_rank = true;
  named.dims = {{-1, "batch \xc3\xa9"}, {10, ""}};
  tensor_proto texts{.dtype = data_type::string,
                     .field = tensor_field::string_val,
                     .version_number = 3,
                     .shape = {4},
                     .strings = {"", bytes, "c"}};

  const std::vector<std::int64_t> ends{0, -1, std::numeric_limits<std::int64_t>::min(),
                                       std::numeric_limits<std::int64_t>::max()};
  const std::vector<float> floats{0.1f, -0.0f, 1e-45f, 3.4028235e38f, 16777216, inf, -inf, nan};
  const attribute_map inner{
      {"T", data_type::float32}, {"open", attribute_placeholder{"T"}}, {"deep", function_value{"g", {{"n", 1}}}}};

  graph_def g;
  g.versions = {.producer = 1087, .min_consumer = 12, .bad_consumers = {3, -4}};
  g.nodes.push_back(node("plain", "Placeholder", {},
                         {{"none", {}},
                          {"bytes", bytes},
                          {"empty", ""},
                          {"int", ends[2]},
                          {"zero", 0},
                          {"float", 0.1f},
                          {"nan", nan},
                          {"no", false},
                          {"yes", true},
                          {"type", reference_to(data_type::resource)},
                          {"new type", static_cast<data_type>(77)},
                          {"no type", data_type::invalid},
                          {"scalar", tensor_shape_proto{}},
                          {"unknown", unknown},
                          {"named", named},
                          {"open", attribute_placeholder{"\xe2\x82\xac"}},
                          {"", "an empty name"},
                          {"func", function_value{"f", inner}}}));
  g.nodes.push_back(
      node("lists", "Const", {"plain:0", "plain:3", "^plain"},
           {{"empty", attribute_list{}},
            {"s", std::vector<std::string>{"", bytes, "c"}},
            {"i", ends},
            {"f", floats},
            {"b", std::vector<bool>{true, false}},
            {"type", std::vector<data_type>{data_type::half, data_type::invalid, reference_to(data_type::int2)}},
            {"shape", std::vector<tensor_shape_proto>{{}, unknown, named, {0, 2}}},
            {"tensor", std::vector<tensor_proto>{texts, make_tensor_proto(1.5)}},
            {"func", std::vector<function_value>{{"f", inner}, {"", {}}}}}));
  node_def tensors = node("scope/tensors", "Const", {"lists"});
  tensors.device = "/job:worker/task:3/device:GPU:0";
  auto& a = tensors.attributes;
  a["empty"] = tensor_proto{.dtype = data_type::float32, .shape = {0, 3}};
  a["content"] = tensor(data_type::complex64, tensor_field::tensor_content, raw<float>({1, nan, 3, 4}));
  a["float"] = tensor(data_type::float32, tensor_field::float_val, raw(floats));
  a["double"] = tensor(data_type::float64, tensor_field::double_val,
                       raw<double>({0.1, -0.0, 5e-324, 1.7976931348623157e308, inf64, -inf64, nan64}));
  a["int"] = tensor(
      data_type::int32, tensor_field::int_val,
      raw<std::int32_t>({0, -1, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()}));
  a["uint8"] = tensor(data_type::uint8, tensor_field::int_val, raw<std::int32_t>({0, 255}));
  a["int64"] = tensor(data_type::int64, tensor_field::int64_val, raw(ends));
  a["bool"] = tensor(data_type::boolean, tensor_field::bool_val, std::string("\1\0\1", 3));
  a["half"] = tensor(data_type::half, tensor_field::half_val, raw<std::int32_t>({0, 15360, 65535}));
  a["uint32"] = tensor(data_type::uint32, tensor_field::uint32_val, raw<std::uint32_t>({0, 0xffffffffu}));
  a["uint64"] = tensor(data_type::uint64, tensor_field::uint64_val, raw<std::uint64_t>({0, 0xffffffffffffffffu}));
  a["complex64"] = tensor(data_type::complex64, tensor_field::scomplex_val, raw<float>({1, -2}));
  a["complex128"] = tensor(data_type::complex128, tensor_field::dcomplex_val, raw<double>({1, -2}));
  a["float8"] = tensor(data_type::float8_e5m2, tensor_field::float8_val, bytes);
  a["texts"] = texts;
  g.nodes.push_back(std::move(tensors));
  return g;
}

inline leat::meta_graph_def every_kind_of_meta_graph() {
  using namespace leat;
  meta_graph_def m;
  m.meta_info = {.meta_graph_version = "7",
                 .tags = {"serve", "gpu"},
                 .tensorflow_version = "1.15.0",
                 .tensorflow_git_version = "v1.15",
                 .stripped_default_attrs = true};
  m.graph = every_kind_of_graph();
  m.saver = saver_def{.filename_tensor_name = "save/Const:0",
                      .save_tensor_name = "save/control_dependency:0",
                      .restore_op_name = "save/restore_all",
                      .max_to_keep = 5,
                      .sharded = true,
                      .keep_checkpoint_every_n_hours = 10000,
                      .version = 2};
  m.collections["nodes"].kind = collection_def::node_list{{"plain:0", "lists"}};
  m.collections["bytes"].kind = collection_def::bytes_list{{std::string("\0\xfe", 2), ""}};
  m.collections["ints"].kind = collection_def::int64_list{{-1, 0, 1LL << 40}};
  m.collections["floats"].kind = collection_def::float_list{{0.5f, 3e-9f}};
  m.collections["empty nodes"].kind = collection_def::node_list{};
  m.collections["nothing"] = {};
  auto& s = m.signatures["serving_default"];
  s.method_name = "tensorflow/serving/predict";
  s.inputs["x"] = {
      .encoding = std::string("plain:0"), .dtype = data_type::float32, .tensor_shape = tensor_shape_proto{-1, 10}};
  s.inputs["sparse"] = {
      .encoding = signature_tensor::sparse{"v:0", "i:0", "d:0"}, .dtype = data_type::int64, .tensor_shape = {}};
  s.outputs["y"] = {.encoding = {}, .dtype = data_type::string, .tensor_shape = tensor_shape_proto{}};
  m.asset_files.push_back(
      {.tensor_info =
           signature_tensor{.encoding = std::string("asset:0"), .dtype = data_type::string, .tensor_shape = {}},
       .filename = "vocabulary.txt"});
  m.asset_files.push_back({});
  return m;
}

}  // namespace leat_test
