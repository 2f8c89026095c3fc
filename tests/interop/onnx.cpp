// interop_onnx FOLDER [--random N] [--seed S] [--digits FILE]   random graphs and a trained network as ONNX models, and what a session
//   makes of the same inputs
//
// Leaves NAME.onnx for each graph, and NAME.json: inputs and outputs, each {"dtype", "shape", "values"}. What a random graph has that
// ONNX lacks is left out and counted. Nothing is compared here, onnx_models.py does that; the exit code tells whether all could be written.

#include <leat/io/file.hpp>
#include <leat/io/onnx.hpp>
#include <leat/session/graph_session.hpp>

#include "random_graph.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace {

using namespace interop;
namespace files = std::filesystem;
using arrays = std::map<std::string, leat::tensor_value>;

nlohmann::json to_json(const leat::tensor_value& v) {
  nlohmann::json sizes = nlohmann::json::array(), values = nlohmann::json::array();
  for (int i = 0; i < v.extent().rank; ++i) sizes.push_back(v.extent()[i]);
  leat::with_dtype(v.type(), [&]<class T>(T) {
    for (const T x : v.values<T>()) {
      if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(x)) values.push_back("nan");
        else if (std::isinf(x)) values.push_back(x > 0 ? "inf" : "-inf");
        else values.push_back(static_cast<double>(x));
      } else if constexpr (std::is_same_v<T, bool>) {
        values.push_back(static_cast<bool>(x));
      } else {
        values.push_back(static_cast<std::int64_t>(x));
      }
    }
  });
  return {{"dtype", leat::dtype_name(v.type())}, {"shape", sizes}, {"values", values}};
}

/// The model with these inputs and outputs, by names of tensors in the graph, and what the session makes of them.
void save(const files::path& folder, const std::string& name, leat::graph_session& s, const arrays& inputs,
          const std::vector<std::string>& outputs, int opset) {
  leat::io::model_signature model;
  nlohmann::json document{{"inputs", nlohmann::json::object()}, {"outputs", nlohmann::json::object()}};
  for (const auto& [tensor, value] : inputs) {
    model.inputs.emplace(tensor, tensor);
    document["inputs"][tensor] = to_json(value);
  }
  const auto results = s.run(outputs, inputs);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    model.outputs.emplace("out/" + outputs[k], outputs[k]);
    document["outputs"]["out/" + outputs[k]] = to_json(results[k]);
  }
  leat::io::write_onnx_file(s, model, folder / (name + ".onnx"), {.opset = opset});
  leat::io::write_file(folder / (name + ".json"), document.dump());
}

arrays arrays_of(const run_plan& plan) {
  arrays all;
  for (const feed& f : plan.feeds) all.emplace(f.tensor, leat::tensor_value(pool::literal(f.type, f.sizes, f.values)));
  return all;
}

/// Of the fetches those that ONNX can express; counts why others are not.
std::vector<std::string> expressible(leat::graph_session& s, const arrays& inputs, const std::vector<std::string>& fetches,
                                     std::map<std::string, int>& refused) {
  std::vector<std::string> found;
  for (const auto& fetch : fetches) try {
      leat::io::model_signature model{.inputs = {}, .outputs = {{"out", fetch}}};
      for (const auto& [tensor, value] : inputs) model.inputs.emplace(tensor, tensor);
      leat::io::write_onnx(s, model);
      found.push_back(fetch);
    } catch (const leat::unimplemented& e) {
      const std::string text = e.what();
      const auto from = text.find('('), to = text.find(')');
      ++refused[text.substr(from + 1, to - from - 1)];
    } catch (const leat::invalid_argument& e) {
      if (std::string(e.what()).find("unknown rank") == std::string::npos) throw;
      ++refused["unknown rank"];
    }
  return found;
}

/// A network of two layers that learns the digits of a CSV file: 64 cells of 0 to 16, and the digit.
void save_digits(const files::path& folder, const std::string& path) {
  std::vector<float> cells;
  std::vector<std::int64_t> digits;
  std::istringstream rows(leat::io::read_file(path));
  std::string row, cell;
  std::getline(rows, row);  // names
  while (std::getline(rows, row)) {
    std::istringstream of(row);
    for (int i = 0; std::getline(of, cell, ','); ++i)
      if (i < 64) cells.push_back(std::stof(cell) / 16);
      else digits.push_back(std::stoll(cell));
  }
  const auto n = static_cast<std::int64_t>(digits.size());
  const leat::tensor_value pictures(shape_of({n, 64}), cells), labels(digits);
  leat::graph g;
  const auto scope = g.as_default();
  const auto x = leat::placeholder(leat::dtype::float32, {-1, 64}, "pictures");
  const auto y = leat::placeholder(leat::dtype::int64, {-1}, "labels");
  const auto w1 = leat::get_variable("hidden/kernel", {64, 32}), b1 = leat::get_variable("hidden/bias", {32}, {.initializer = leat::zeros});
  const auto w2 = leat::get_variable("output/kernel", {32, 10}), b2 = leat::get_variable("output/bias", {10}, {.initializer = leat::zeros});
  const auto logits = leat::bias_add(leat::matmul(leat::relu(leat::bias_add(leat::matmul(x, w1), b1)), w2), b2);
  const auto loss = leat::reduce_mean(leat::sparse_softmax_cross_entropy_with_logits(y, logits));
  const auto chances = leat::softmax(logits, "probabilities");
  const auto read = leat::argmax(logits, {1}, "digit");
  const auto train = leat::adam(0.01f).minimize(loss);
  const auto init = leat::global_variables_initializer();
  leat::graph_session s(g);
  s.run(init);
  for (int step = 0; step < 100; ++step) s.run(train, {{x, pictures}, {y, labels}});
  std::printf("digits: loss %.3f after 100 steps\n", static_cast<double>(s.run<float>(loss, {{x, pictures}, {y, labels}})));
  save(folder, "digits", s, {{x.name(), pictures}}, std::vector<std::string>{chances.name(), read.name()}, 17);
}

/// What random graphs do not have: slices with strides, products of batches, indices, and numbers that the graph computes.
void save_others(const files::path& folder, int opset) {
  using leat::dtype;
  leat::graph_def def{.versions = {.producer = leat::graph_def_producer}};
  arrays inputs;
  std::vector<std::string> outputs;
  const auto add = [&](std::string op, std::vector<std::string> from, leat::attribute_map attributes = {}, int results = 1) {
    const std::string name = op + "_" + std::to_string(def.nodes.size());
    def.nodes.push_back({.name = name, .op = std::move(op), .inputs = std::move(from), .attributes = std::move(attributes)});
    for (int k = 0; k < results; ++k) outputs.push_back(name + ":" + std::to_string(k));
    return name;
  };
  const auto constant = [&](const auto& values, leat::tensor_shape_proto extent) {
    const auto t = leat::make_tensor_proto(values, std::move(extent));
    const std::string name = "c_" + std::to_string(def.nodes.size());
    def.nodes.push_back({.name = name, .op = "Const", .attributes = {{"dtype", t.dtype}, {"value", t}}});
    return name;
  };
  const auto numbers = [&](std::vector<std::int32_t> list) {
    return constant(list, leat::tensor_shape_proto{static_cast<std::int64_t>(list.size())});
  };
  const auto number = [&](std::int32_t n) { return constant(std::vector<std::int32_t>{n}, leat::tensor_shape_proto{}); };
  const auto input = [&](const std::string& name, leat::tensor_shape_proto known, const leat::tensor_value& value) {
    def.nodes.push_back({.name = name, .op = "Placeholder", .attributes = {{"dtype", value.type()}, {"shape", std::move(known)}}});
    inputs.emplace(name + ":0", value);
    return name;
  };
  std::vector<float> elements;
  for (int i = 0; i < 24; ++i) elements.push_back(static_cast<float>((i * 7) % 13) - 6);
  const auto x = input("x", {-1, 3, 4}, leat::tensor_value(shape_of({2, 3, 4}), elements));
  const auto y = input("y", {-1, 4, 3}, leat::tensor_value(shape_of({2, 4, 3}), elements));
  const auto m = input("m", {3, 4}, leat::tensor_value(shape_of({3, 4}), std::vector<float>(elements.begin(), elements.begin() + 12)));
  const auto v = input("v", {-1}, leat::tensor_value(std::vector<float>{0, 2, -1, 0.5f}));
  const auto whole = input("whole", {-1}, leat::tensor_value(std::vector<std::int32_t>{7, -7, 7, -7, 6}));
  const auto by = input("by", {-1}, leat::tensor_value(std::vector<std::int32_t>{3, 3, -3, -3, 3}));
  const auto begin = input("begin", {3}, leat::tensor_value(std::vector<std::int32_t>{0, -1, 1}));
  const auto end = input("end", {3}, leat::tensor_value(std::vector<std::int32_t>{1, 5, 3}));
  const auto count = input("count", {3}, leat::tensor_value(std::vector<std::int32_t>{-1, 1, 2}));
  const auto start = input("start", {3}, leat::tensor_value(std::vector<std::int32_t>{0, 1, 1}));
  const auto pads = input("pads", {2, 2}, leat::tensor_value(shape_of({2, 2}), std::vector<std::int32_t>{1, 0, 2, 1}));
  const auto masks = [](int from, int to, int ellipsis, int made, int shrinks) {
    return leat::attribute_map{
        {"begin_mask", from}, {"end_mask", to}, {"ellipsis_mask", ellipsis}, {"new_axis_mask", made}, {"shrink_axis_mask", shrinks}};
  };
  add("StridedSlice", {x, numbers({0, -1, 3}), numbers({2, 0, 0}), numbers({1, -1, -2})}, masks(0, 0, 0, 0, 0));
  add("StridedSlice", {x, numbers({0, 0, 0}), numbers({0, 0, 0}), numbers({1, -1, -2})}, masks(7, 7, 0, 0, 0));
  add("StridedSlice", {x, numbers({-1, 0, 1}), numbers({0, 0, 3}), numbers({1, 1, 1})}, masks(0, 0, 2, 0, 1));
  add("StridedSlice", {x, numbers({0, 0, 0, -1}), numbers({0, 0, 0, 0}), numbers({1, 1, 1, 1})}, masks(0, 0, 1, 2, 8));
  add("StridedSlice", {x, numbers({1}), numbers({2}), numbers({1})}, masks(0, 0, 0, 0, 1));
  add("StridedSlice", {x, begin, end, numbers({1, 1, 1})}, masks(0, 1, 0, 0, 2));
  add("StridedSlice", {x, numbers({0, -1, 1}), end, numbers({1, 1, 1})}, masks(0, 0, 0, 0, 2));
  add("StridedSlice", {x, begin, numbers({1, 3, 4}), numbers({1, 1, 1})}, masks(4, 0, 0, 0, 1));
  add("Slice", {x, numbers({0, 1, 1}), numbers({-1, 2, -1})});
  add("Slice", {x, start, count});
  add("BatchMatMulV2", {x, y});
  add("BatchMatMulV2", {x, x}, {{"adj_y", true}});
  add("BatchMatMul", {y, y}, {{"adj_x", true}});
  add("BatchMatMulV2", {x, m}, {{"adj_y", true}});
  add("MatMul", {m, m}, {{"transpose_a", true}});
  const auto bias = constant(std::vector<float>{1, 2, 3}, {3});
  add("BiasAdd", {y, bias});
  add("BiasAdd", {x, bias}, {{"data_format", "NCHW"}});
  add("TopKV2", {x, number(2)}, {{"sorted", true}}, 2);
  add("Cumsum", {x, number(-1)}, {{"exclusive", true}});
  add("Cumsum", {x, number(1)}, {{"reverse", true}});
  add("ReverseV2", {x, numbers({0, -1})});
  add("SplitV", {x, numbers({1, -1}), number(2)}, {{"num_split", 2}}, 2);
  add("Split", {number(1), x}, {{"num_split", 3}}, 3);
  add("Unpack", {x}, {{"num", 4}, {"axis", -1}}, 4);
  add("Pack", {m, m}, {{"N", 2}, {"axis", -1}});
  add("Concat", {number(1), m, m}, {{"N", 2}});
  add("GatherNd", {x, constant(std::vector<std::int32_t>{0, 1, 1, 2}, {2, 2})});
  add("GatherV2", {x, constant(std::vector<std::int32_t>{2, 0}, {2}), number(-1)});
  add("ScatterNd", {constant(std::vector<std::int32_t>{1, 3, 1}, {3, 1}), constant(std::vector<float>{1, 2, 4}, {3}), numbers({5})});
  add("Where", {add("Greater", {m, constant(std::vector<float>{0}, {})})});
  add("Select", {constant(std::vector<bool>{true, false, true}, {3}), m, add("Neg", {m})});
  add("DivNoNan", {v, add("Floor", {v})});
  add("Xlogy", {add("Abs", {v}), add("Abs", {v})});
  add("Xdivy", {v, add("Abs", {v})});
  for (const char* op : {"FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod", "Mod"}) add(op, {whole, by});
  for (const char* op : {"Softsign", "Selu", "Elu", "OnesLike", "ZerosLike", "Rsqrt", "Rank", "Size", "Shape"}) add(op, {v});
  add("OneHot", {add("FloorMod", {whole, number(4)}), number(3), number(1), number(0)}, {{"axis", -1}, {"T", leat::data_type::int32}});
  add("OneHot", {constant(std::vector<std::int64_t>{-1, 0, 2, 5}, {2, 2}), number(3), number(1), number(0)},
      {{"axis", -1}, {"T", leat::data_type::int32}});
  add("Pad", {m, pads});
  add("Pad", {m, constant(std::vector<std::int32_t>{0, 1, 2, 0}, {2, 2})});
  add("Tile", {m, numbers({2, 1})});
  add("Range", {number(9), number(0), number(-2)});
  add("Fill", {add("Shape", {m}), number(3)});
  add("BroadcastTo", {v, numbers({2, 4})});
  add("Reshape", {x, numbers({-1, 6})});
  add("ExpandDims", {m, number(-1)});
  add("Squeeze", {add("ExpandDims", {m, number(1)})}, {{"squeeze_dims", leat::attribute_list{std::vector<std::int64_t>{-2}}}});
  for (const char* op : {"Sum", "Mean", "Max", "Min", "Prod"}) add(op, {m, numbers({-1})}, {{"keep_dims", true}});
  add("Sum", {m, constant(std::vector<std::int32_t>{}, {0})});
  add("Sum", {whole, numbers({0})});
  for (const char* op : {"All", "Any"}) add(op, {add("Less", {m, constant(std::vector<float>{3}, {})}), numbers({0})});
  add("ArgMax", {m, number(1)}, {{"output_type", leat::data_type::int32}});
  add("LeakyRelu", {v}, {{"alpha", 0.3f}});
  add("SoftmaxCrossEntropyWithLogits", {m, m}, {}, 2);
  leat::graph g;
  const auto scope = g.as_default();
  leat::import_graph(g, def, {.name = ""});
  const auto results = leat::graph_session(g).run(outputs, inputs);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    leat::shape any = results[k].extent();  // of some the rank is not inferred
    for (int i = 0; i < any.rank; ++i) any.dim[i] = leat::unknown_dimension;
    leat::set_shape(leat::get_tensor_by_name(g, outputs[k]), any);
  }
  leat::graph_session s(g);
  save(folder, "others_" + std::to_string(opset), s, inputs, outputs, opset);
}

int write(const files::path& folder, std::uint64_t count, std::uint64_t seed, const std::string& digits) {
  files::create_directories(folder);
  int failures = 0;
  std::map<std::string, int> refused, used;
  std::size_t outputs = 0;
  for (std::uint64_t k = seed; k < seed + count; ++k) try {
      const auto made = make_random_graph(k);
      const arrays inputs = arrays_of(made.plan);
      leat::graph_def def = leat::export_graph(*made.graph);
      for (auto& node : def.nodes) node.device.clear();  // of machines that are not there
      leat::graph g;
      const auto scope = g.as_default();
      leat::import_graph(g, def, {.name = ""});
      for (const auto& [tensor, value] : inputs) {
        const auto o = leat::get_tensor_by_name(g, tensor);
        leat::shape any = value.extent();
        for (int i = 0; i < any.rank; ++i) any.dim[i] = leat::unknown_dimension;
        if (!o.extent().has_rank()) leat::set_shape(o, any);
      }
      leat::graph_session s(g);
      s.run(made.plan.runs.at(0));
      const auto fetches = expressible(s, inputs, made.plan.runs.at(1), refused);
      outputs += fetches.size();
      if (!fetches.empty()) save(folder, "random_" + std::to_string(k), s, inputs, fetches, 17 + static_cast<int>(k % 5));
    } catch (const std::exception& e) {
      std::printf("FAILED graph of seed %llu: %s\n", static_cast<unsigned long long>(k), e.what());
      ++failures;
    }
  std::string list;
  for (const auto& [what, n] : refused) list += " " + what + " (" + std::to_string(n) + ")";
  std::printf("random graphs: %zu outputs as ONNX; not written:%s\n", outputs, list.empty() ? " none" : list.c_str());
  for (int opset = 17; opset <= 21; ++opset) save_others(folder, opset);
  if (!digits.empty()) save_digits(folder, digits);
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) try {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  if (words.empty()) {
    std::fprintf(stderr, "interop_onnx FOLDER [--random N] [--seed S] [--digits FILE]\n");
    return 2;
  }
  std::uint64_t random = 300, seed = 1;
  std::string digits;
  for (std::size_t i = 1; i + 1 < words.size(); i += 2) {
    if (words[i] == "--random") random = std::strtoull(words[i + 1].c_str(), nullptr, 10);
    else if (words[i] == "--seed") seed = std::strtoull(words[i + 1].c_str(), nullptr, 10);
    else if (words[i] == "--digits") digits = words[i + 1];
    else throw leat::invalid_argument(words[i] + " is no option");
  }
  return write(words[0], random, seed, digits);
} catch (const std::exception& e) {
  std::fprintf(stderr, "interop_onnx: %s\n", e.what());
  return 2;
}
