// bench_building [--json FILE] [--nodes N] [--repeat R]: what building a graph with names costs: time and memory per node, for
// graphs of 1,000 nodes to N, ten times as many each, and how both grow. The graph is that of scripts/interop --bench, which
// builds it by TensorFlow's C API, too: in each layer a placeholder, a constant, their product with the layer before, a sum.
// Time is the processor's, so that other programs disturb it little.
// Beside it, in the same process: the nodes as plain structures in a std::vector, and, if it was found (CMake's LEAT_GGML), ggml, which
// keeps neither names nor attributes nor where a node was made.
// bench_building --write FILE.pb --nodes N leaves the graph in a file; --read FILE.pb reads one into a graph.

#include <leat/graphs.hpp>
#include <leat/io/binary.hpp>

#include "../support/memory.hpp"

#include <nlohmann/json.hpp>

#ifdef BENCH_GGML
#include <ggml.h>
#endif

#include <algorithm>
#include <ctime>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace leat;


std::unique_ptr<graph> built(std::size_t nodes) {
  auto made = std::make_unique<graph>();
  const auto scope = made->as_default();
  std::vector<float> values(16);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 16;
  const tensor_literal kernel_values = tensor_literal(values).shaped([] {
    shape s;
    s.push(4);
    s.push(4);
    return s;
  }());
  output last = placeholder(dtype::float32, {4, 4}, "input");
  for (std::size_t layer = 0; static_cast<std::size_t>(made->size()) < nodes; ++layer) {
    const std::string name = "layer_" + std::to_string(layer) + "/";
    const output x = placeholder(dtype::float32, {4, 4}, name + "x");
    const output kernel = constant(kernel_values, name + "kernel");
    const output product = matmul(last, kernel, name + "MatMul");
    last = add(product, x, name + "add");
  }
  return made;
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct cost {
  std::size_t nodes = 0;
  double nanoseconds = 0, bytes = 0;  // per node
};

// Memory first, in a process that has not held more yet: sizes are measured in growing order.
cost measure(std::size_t nodes, int repeat) {
  const std::size_t before = bench::process_bytes("VmRSS");
  auto start = cpu_seconds();
  auto made = built(nodes);
  double best = cpu_seconds() - start;
  const std::size_t after = bench::process_bytes("VmHWM");
  const auto count = static_cast<std::size_t>(made->size());
  made.reset();
  for (int i = 1; i < repeat; ++i) {
    start = cpu_seconds();
    made = built(nodes);
    best = std::min(best, cpu_seconds() - start);
    made.reset();
  }
  const auto per_node = static_cast<double>(count);
  return {count, best * 1e9 / per_node, after > before ? static_cast<double>(after - before) / per_node : 0};
}

// ---- rivals: the same graph, in so many nanoseconds a node at best ----

// What a node cannot do without.
struct bare_node {
  const void* op;
  int inputs[2];
  dtype type;
  shape extent;
};
std::size_t in_a_vector(std::size_t nodes) {
  std::vector<bare_node> made;
  shape square;
  square.push(4);
  square.push(4);
  static const char kinds[4]{};
  made.push_back({&kinds[0], {-1, -1}, dtype::float32, square});
  while (made.size() < nodes) {
    const int last = static_cast<int>(made.size()) - 1;
    made.push_back({&kinds[0], {-1, -1}, dtype::float32, square});
    made.push_back({&kinds[1], {-1, -1}, dtype::float32, square});
    made.push_back({&kinds[2], {last, last + 2}, dtype::float32, square});
    made.push_back({&kinds[3], {last + 3, last + 1}, dtype::float32, square});
  }
  return made.size();
}
#ifdef BENCH_GGML
std::size_t with_ggml(std::size_t nodes) {
  const std::size_t most = nodes + 8;
  ggml_context* const memory = ggml_init({most * ggml_tensor_overhead() + ggml_graph_overhead_custom(most, false), nullptr, true});
  ggml_cgraph* const made = ggml_new_graph_custom(memory, most, false);
  ggml_tensor* last = ggml_new_tensor_2d(memory, GGML_TYPE_F32, 4, 4);
  std::size_t count = 1;
  for (; count < nodes; count += 4) {
    ggml_tensor* const x = ggml_new_tensor_2d(memory, GGML_TYPE_F32, 4, 4);
    ggml_tensor* const kernel = ggml_new_tensor_2d(memory, GGML_TYPE_F32, 4, 4);
    last = ggml_add(memory, ggml_mul_mat(memory, kernel, last), x);
  }
  ggml_build_forward_expand(made, last);
  ggml_free(memory);
  return count;
}
#endif
template <class Build>
double best_of(Build build, std::size_t nodes, int repeat) {
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < repeat; ++i) {
    const auto start = cpu_seconds();
    const std::size_t count = build(nodes);
    best = std::min(best, (cpu_seconds() - start) * 1e9 / static_cast<double>(count));
  }
  return best;
}
void compare(nlohmann::json& rows, std::size_t nodes, int repeat) {
  const double ours = best_of(
      [](std::size_t n) {
        auto made = built(n);
        const auto count = static_cast<std::size_t>(made->size());
        made.reset();  // rivals' times have it, too
        return count;
      },
      nodes, repeat);
  const auto row = [&](const std::string& name, double theirs) {
    std::printf("%-22s %12.0f %14.0f %26.2f\n", name.c_str(), ours, theirs, ours / theirs);
    rows.push_back({{"case", name}, {"nodes", nodes}, {"nanoseconds", ours}, {"rival", theirs}, {"ratio", ours / theirs}});
  };
  std::printf("%-22s %12s %14s %26s\n", "built and freed", "ns a node", "rival's", "ratio");
  row("vector_" + std::to_string(nodes), best_of(in_a_vector, nodes, repeat));
#ifdef BENCH_GGML
  row("ggml_" + std::to_string(nodes), best_of(with_ggml, nodes, repeat));
#endif
}

int read(const std::string& path, int repeat) {
  const std::size_t before = bench::process_bytes("VmRSS");
  double best = std::numeric_limits<double>::max();
  std::size_t count = 0, after = 0;
  const std::string bytes = io::read_file(path);
  for (int i = 0; i < repeat; ++i) {
    const auto start = cpu_seconds();
    graph g;
    import_graph(g, io::read_binary(bytes), {.name = ""});
    best = std::min(best, cpu_seconds() - start);
    count = static_cast<std::size_t>(g.size());
    if (i == 0) after = bench::process_bytes("VmHWM");
  }
  const auto per_node = static_cast<double>(count);
  std::printf("{\"nodes\": %zu, \"nanoseconds\": %.1f, \"bytes\": %.1f}\n", count, best * 1e9 / per_node,
              static_cast<double>(after - before - bytes.size()) / per_node);
  return 0;
}

}  // namespace

int main(int count, char** arguments) try {
  std::string json, to, from, only;
  std::size_t nodes = 1000000;
  int repeat = 3;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view option = arguments[i];
    if (option == "--json") json = arguments[i + 1];
    else if (option == "--nodes") nodes = std::strtoull(arguments[i + 1], nullptr, 10);
    else if (option == "--only") only = arguments[i + 1];
    else if (option == "--repeat") repeat = std::max(1, std::atoi(arguments[i + 1]));
    else if (option == "--write") to = arguments[i + 1];
    else if (option == "--read") from = arguments[i + 1];
    else throw std::runtime_error("bench_building [--json FILE] [--nodes N] [--only N] [--repeat R] [--write FILE.pb] [--read FILE.pb]");
  }
  if (!from.empty()) return read(from, repeat);
  if (!to.empty()) {
    io::write_binary_file(export_graph(*built(nodes)), to);
    return 0;
  }
  if (!only.empty()) {
    const cost c = measure(std::strtoull(only.c_str(), nullptr, 10), repeat);
    std::printf("{\"nodes\": %zu, \"nanoseconds\": %.1f, \"bytes\": %.1f}\n", c.nodes, c.nanoseconds, c.bytes);
    return 0;
  }

  std::printf("%-22s %12s %14s %26s\n", "case", "ns a node", "bytes a node", "time / (10 x a tenth)");
  auto rows = nlohmann::json::array();
  double before = 0;
  for (std::size_t n = 1000; n <= nodes; n *= 10) {
    const cost c = measure(n, n >= 100000 ? repeat : 10 * repeat);
    std::printf("%-22s %12.0f %14.0f", ("build_" + std::to_string(n)).c_str(), c.nanoseconds, c.bytes);
    if (before > 0) std::printf(" %26.2f", c.nanoseconds / before);
    std::printf("\n");
    rows.push_back({{"case", "build_" + std::to_string(n)},
                    {"nodes", c.nodes},
                    {"nanoseconds", c.nanoseconds},
                    {"bytes", c.bytes},
                    {"ratio", before > 0 ? c.nanoseconds / before : 1}});
    before = c.nanoseconds;
  }
  compare(rows, 10000, 10 * repeat);
  if (!json.empty()) {
    std::ofstream out(json);
    out << rows.dump(1) << '\n';
    if (!out.flush()) throw std::runtime_error(json + ": cannot be written");
  }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "bench_building: %s\n", e.what());
  return 1;
}
