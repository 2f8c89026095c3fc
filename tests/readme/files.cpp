// Graphs in files: made, written, read, refused.

// [listing files_includes]
#include <leat/io/binary.hpp>
#include <leat/io/json.hpp>
#include <leat/io/npy.hpp>
#include <leat/proto/freeze.hpp>
#include <leat/proto/tensor_contents.hpp>

#include <iostream>
// [end]

using namespace leat;

graph_def make() {
  // [listing files_make]
  graph_def model;
  model.nodes.push_back({.name = "x",
                         .op = "Placeholder",
                         .attributes = {{"dtype", data_type::float32}, {"shape", tensor_shape_proto{-1, 2}}}});
  model.nodes.push_back({.name = "w",
                         .op = "Const",
                         .attributes = {{"dtype", data_type::float32},
                                        {"value", make_tensor_proto(std::vector<float>{0.5f, 2}, {2, 1})}}});
  model.nodes.push_back({.name = "y", .op = "MatMul", .inputs = {"x", "w"}, .attributes = {{"T", data_type::float32}}});

  io::write_json_file(model, "model.json");
  io::write_binary_file(model, "model.pb");
  // [end]
  return model;
}

int main() {
  const graph_def made = make();
  if (made != io::read_json_file("model.json") || made != io::read_binary_file("model.pb")) return 1;
  // [listing files_read]
  const graph_def model = io::read_binary_file("model.pb");
  for (const node_def& node : model.nodes)
    if (const attribute_value* value = node.attributes.find("value"))
      for (float v : contents<float>(*value->get_if<tensor_proto>())) std::cout << node.name << " holds " << v << '\n';
  std::cout << io::write_json(model);
  // [end]

  graph_def trained = model;
  trained.nodes[1] = {.name = "w",
                      .op = "VariableV2",
                      .attributes = {{"dtype", data_type::float32}, {"shape", tensor_shape_proto{2, 1}}}};
  io::write_npy_file(make_tensor_proto(std::vector<float>{0.5f, 2}, {2, 1}), "w.npy");
  // [listing files_freeze]
  const variable_values values{{"w", io::read_npy_file("w.npy")}};
  io::write_binary_file(freeze(trained, values, {"y"}), "frozen.pb");
  // [end]
  if (io::read_binary_file("frozen.pb") != model) return 1;

  // [listing files_refused]
  try {
    io::read_json(R"({"node": [{"name": "y", "op": "MatMul", "attr": {"transpose_a": {"b": "yes"}}}]})");
  } catch (const invalid_argument& e) {
    std::cout << e.what() << '\n';
  }
  // [end]
}
