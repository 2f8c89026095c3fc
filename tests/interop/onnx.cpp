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
