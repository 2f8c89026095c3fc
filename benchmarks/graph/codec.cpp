// bench_codec [--json FILE] [--nodes N] [--repeat R]: how long graphs take to be read and written, in all three forms. The graph is
// generated: layers of constants, products and sums with shapes and small tensors. JSON is compared with nlohmann::json on
// the same text (which ends with a document, not with a graph), the text format with JSON, the binary form with a copy of the graph in
// memory, and the largest graph with ten times the time of one a tenth as large. Both sides must agree before they are timed.

#include <leat/io/binary.hpp>
#include <leat/io/json.hpp>
#include <leat/io/text.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace leat;

/// Nodes in groups of four: a weight, a bias, a product with the layer before, a sum.
graph_def generated(std::size_t nodes) {
  graph_def graph;
  graph.versions.producer = 1087;
  graph.nodes.reserve(nodes);
  const auto add = [&](std::string name, std::string op) -> node_def& {
    node_def& node = graph.nodes.emplace_back();
    node.name = std::move(name);
    node.op = std::move(op);
    return node;
  };
  const auto constant = [&](std::string name, std::size_t salt, tensor_shape_proto shape) {
    std::vector<float> values(static_cast<std::size_t>(*element_count(shape)));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((salt + i * 37) % 1000) / 997.0f;
    auto& node = add(std::move(name), "Const");
    node.attributes["dtype"] = data_type::float32;
    node.attributes["value"] = make_tensor_proto(values, shape);
    node.attributes["_output_shapes"] = std::vector<tensor_shape_proto>{std::move(shape)};
  };
  constant("input", 1, {1, 4});
  std::string last = "input";
  for (std::size_t layer = 0; graph.nodes.size() < nodes; ++layer) {
    const std::string scope = "network/layer_" + std::to_string(layer);
    constant(scope + "/kernel", layer, {4, 4});
    constant(scope + "/bias", layer, {});
    auto& product = add(scope + "/MatMul", "MatMul");
    product.inputs = {last, scope + "/kernel"};
    product.device = "/job:localhost/replica:0/task:0/device:CPU:0";
    product.attributes = {{"T", data_type::float32}, {"transpose_a", false}, {"transpose_b", false}};
    product.attributes["_output_shapes"] = std::vector<tensor_shape_proto>{{1, 4}};
    auto& sum = add(scope + "/add", "AddV2");
    sum.inputs = {scope + "/MatMul", scope + "/bias"};
    sum.attributes = {{"T", data_type::float32}};
    sum.attributes["_output_shapes"] = std::vector<tensor_shape_proto>{{1, 4}};
    last = scope + "/add";
  }
  return graph;
}

/// The best of some calls, in seconds. What a call makes is destroyed outside of the time.
template <class F>
double best_of(int repeat, F call) {
  using clock = std::chrono::steady_clock;
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < repeat; ++i) {
    const auto start = clock::now();
    [[maybe_unused]] const auto kept = call();
    best = std::min(best, std::chrono::duration<double>(clock::now() - start).count());
  }
  return best;
}

struct times {
  std::size_t nodes = 0, json_bytes = 0, text_bytes = 0, binary_bytes = 0;
  double read_json = 0, write_json = 0, read_text = 0, write_text = 0, read_binary = 0, write_binary = 0;
  double parse = 0, dump = 0, copy = 0;
};

times measure(std::size_t nodes, int repeat, bool rivals) {
  const graph_def graph = generated(nodes);
  const std::string text = io::write_json(graph), plain = io::write_text(graph), bytes = io::write_binary(graph);
  times t{.nodes = graph.nodes.size(), .json_bytes = text.size(), .text_bytes = plain.size(), .binary_bytes = bytes.size()};
  if (io::read_json(text) != graph || io::read_text(plain) != graph || io::read_binary(bytes) != graph)
    throw std::runtime_error("a graph comes back changed");
  t.read_json = best_of(repeat, [&] { return io::read_json(text); });
  t.write_json = best_of(repeat, [&] { return io::write_json(graph); });
  t.read_text = best_of(repeat, [&] { return io::read_text(plain); });
  t.write_text = best_of(repeat, [&] { return io::write_text(graph); });
  t.read_binary = best_of(repeat, [&] { return io::read_binary(bytes); });
  t.write_binary = best_of(repeat, [&] { return io::write_binary(graph); });
  t.copy = best_of(repeat, [&] { return graph; });
  if (rivals) {
    const auto document = nlohmann::json::parse(text);
    if (document["node"].size() != graph.nodes.size()) throw std::runtime_error("the rival sees another graph");
    t.parse = best_of(repeat, [&] { return nlohmann::json::parse(text); });
    t.dump = best_of(repeat, [&] { return document.dump(); });
  }
  return t;
}

class report {
 public:
  void add(const std::string& name, const std::string& rival, double ours, double theirs) {
    std::printf("%-22s %-28s %10.2f ms %10.2f ms %6.2f\n", name.c_str(), rival.c_str(), ours * 1e3, theirs * 1e3,
                ours / theirs);
    rows_.push_back({{"case", name},
                     {"rival", rival},
                     {"leat", ours * 1e3},
                     {"rival_value", theirs * 1e3},
                     {"unit", "ms"},
                     {"ratio", ours / theirs}});
  }
  void write(const std::string& path) const {
    std::ofstream out(path);
    out << rows_.dump(1) << '\n';
    if (!out.flush()) throw std::runtime_error(path + ": cannot be written");
  }

 private:
  nlohmann::json rows_ = nlohmann::json::array();
};

}  // namespace

int main(int count, char** arguments) try {
  std::string json;
  std::size_t nodes = 100000;
  int repeat = 5;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view option = arguments[i];
    if (option == "--json") json = arguments[i + 1];
    else if (option == "--nodes") nodes = std::strtoull(arguments[i + 1], nullptr, 10);
    else if (option == "--repeat") repeat = std::max(1, std::atoi(arguments[i + 1]));
    else throw std::runtime_error("bench_codec [--json FILE] [--nodes N] [--repeat R]");
  }

  const times tenth = measure(nodes / 10, 3 * repeat, false), whole = measure(nodes, repeat, true);
  const times ten = measure(nodes * 10, std::max(1, repeat / 2), false);
  std::printf("%zu nodes: %zu bytes of JSON, %zu of text, %zu of binary\n\n", whole.nodes, whole.json_bytes, whole.text_bytes,
              whole.binary_bytes);
  std::printf("%-22s %-28s %13s %13s %6s\n", "case", "rival", "leat", "rival", "ratio");
  report r;
  const std::string n = std::to_string(nodes);
  r.add("read_json_" + n, "nlohmann::json::parse", whole.read_json, whole.parse);
  r.add("write_json_" + n, "nlohmann::json::dump", whole.write_json, whole.dump);
  r.add("read_text_" + n, "the same in JSON", whole.read_text, whole.read_json);
  r.add("write_text_" + n, "the same in JSON", whole.write_text, whole.write_json);
  r.add("read_binary_" + n, "copy of the graph", whole.read_binary, whole.copy);
  r.add("write_binary_" + n, "copy of the graph", whole.write_binary, whole.copy);
  const auto growth = [&](const times& more, const times& fewer) {
    const std::string m = std::to_string(more.nodes / 1000) + "k", rival = "10 x a tenth of the nodes";
    r.add("growth_read_json_" + m, rival, more.read_json, 10 * fewer.read_json);
    r.add("growth_write_json_" + m, rival, more.write_json, 10 * fewer.write_json);
    r.add("growth_read_text_" + m, rival, more.read_text, 10 * fewer.read_text);
    r.add("growth_write_text_" + m, rival, more.write_text, 10 * fewer.write_text);
    r.add("growth_read_binary_" + m, rival, more.read_binary, 10 * fewer.read_binary);
    r.add("growth_write_binary_" + m, rival, more.write_binary, 10 * fewer.write_binary);
    r.add("growth_copy_" + m, rival, more.copy, 10 * fewer.copy);
  };
  growth(whole, tenth);
  growth(ten, whole);
  if (!json.empty()) r.write(json);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "bench_codec: %s\n", e.what());
  return 1;
}
