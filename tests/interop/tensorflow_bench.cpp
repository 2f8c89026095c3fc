// tensorflow_bench WHAT [N|FILE] [REPEAT] [CONFIG]: what TensorFlow's C API needs, as one line of JSON.
//   build N         the graph of benchmarks/graph/building.cpp, node by node: nanoseconds and bytes a node
//   write N FILE    that graph as .pb
//   import FILE     TF_GraphImportGraphDef of a .pb, the parsing included
//   run chain|independent|single    a step of TF_SessionRun: 1,000 scalar additions one after the other, the same beside each
//                   other, one addition; a scalar fed, a scalar fetched (independent: an operation). CONFIG is a ConfigProto in hex
//   first FILE      the first TF_SessionRun of a .pb: the scalar "a" fed, "root" fetched; by default grappler is on: CONFIG
// It is built against the headers and libraries of the Python package tensorflow, by scripts/interop.

#include <tensorflow/c/c_api.h>

#include "../../benchmarks/support/memory.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using steady = std::chrono::steady_clock;
double seconds_since(steady::time_point start) { return std::chrono::duration<double>(steady::now() - start).count(); }

struct status {
  TF_Status* held = TF_NewStatus();
  status() = default;
  status(const status&) = delete;
  status& operator=(const status&) = delete;
  ~status() { TF_DeleteStatus(held); }
  operator TF_Status*() const { return held; }
  void check() const {
    if (TF_GetCode(held) != TF_OK) throw std::runtime_error(TF_Message(held));
  }
};
using graph_owner = std::unique_ptr<TF_Graph, decltype(&TF_DeleteGraph)>;
graph_owner new_graph() { return {TF_NewGraph(), &TF_DeleteGraph}; }

TF_Output finish(TF_OperationDescription* description, const status& s) {
  TF_Operation* made = TF_FinishOperation(description, s);
  s.check();
  return {made, 0};
}
TF_Output placeholder(TF_Graph* g, const std::string& name, const std::vector<std::int64_t>& sizes, const status& s) {
  auto* d = TF_NewOperation(g, "Placeholder", name.c_str());
  TF_SetAttrType(d, "dtype", TF_FLOAT);
  TF_SetAttrShape(d, "shape", sizes.data(), static_cast<int>(sizes.size()));
  return finish(d, s);
}
TF_Output constant(TF_Graph* g, const std::string& name, TF_Tensor* tensor, const status& s) {
  auto* d = TF_NewOperation(g, "Const", name.c_str());
  TF_SetAttrType(d, "dtype", TF_FLOAT);
  TF_SetAttrTensor(d, "value", tensor, s);
  s.check();
  return finish(d, s);
}
TF_Output add(TF_Graph* g, const std::string& name, TF_Output x, TF_Output y, const status& s) {
  auto* d = TF_NewOperation(g, "AddV2", name.c_str());
  TF_AddInput(d, x);
  TF_AddInput(d, y);
  TF_SetAttrType(d, "T", TF_FLOAT);
  return finish(d, s);
}
TF_Output matmul(TF_Graph* g, const std::string& name, TF_Output x, TF_Output y, const status& s) {
  auto* d = TF_NewOperation(g, "MatMul", name.c_str());
  TF_AddInput(d, x);
  TF_AddInput(d, y);
  TF_SetAttrType(d, "T", TF_FLOAT);
  TF_SetAttrBool(d, "transpose_a", 0);
  TF_SetAttrBool(d, "transpose_b", 0);
  return finish(d, s);
}

std::size_t build(TF_Graph* g, std::size_t nodes) {
  const status s;
  const std::int64_t sizes[]{4, 4};
  TF_Tensor* values = TF_AllocateTensor(TF_FLOAT, sizes, 2, 16 * sizeof(float));
  for (int i = 0; i < 16; ++i) static_cast<float*>(TF_TensorData(values))[i] = static_cast<float>(i) / 16;
  TF_Output last = placeholder(g, "input", {4, 4}, s);
  std::size_t count = 1;
  for (std::size_t layer = 0; count < nodes; ++layer, count += 4) {
    const std::string name = "layer_" + std::to_string(layer) + "/";
    const TF_Output x = placeholder(g, name + "x", {4, 4}, s);
    const TF_Output kernel = constant(g, name + "kernel", values, s);
    const TF_Output product = matmul(g, name + "MatMul", last, kernel, s);
    last = add(g, name + "add", product, x, s);
  }
  TF_DeleteTensor(values);
  return count;
}

void print(std::size_t nodes, double seconds, std::size_t bytes) {
  const auto n = static_cast<double>(nodes);
  std::printf("{\"nodes\": %zu, \"nanoseconds\": %.1f, \"bytes\": %.1f}\n", nodes, seconds * 1e9 / n, static_cast<double>(bytes) / n);
}

// Memory is that of the first time. What TensorFlow sets up once, a small graph has set up before.
template <class F>
void measure(int repeat, F once) {
  {
    const auto warm = new_graph();
    build(warm.get(), 100);
  }
  const std::size_t before = bench::process_bytes("VmRSS");
  std::size_t after = 0, nodes = 0;
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < repeat; ++i) {
    const auto g = new_graph();
    const auto start = std::clock();  // the processor's time, of all threads
    nodes = once(g.get());
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    if (i == 0) after = bench::process_bytes("VmHWM");
  }
  print(nodes, best, after - before);
}

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path + ": cannot be opened");
  return {std::istreambuf_iterator<char>(in), {}};
}
std::size_t import(TF_Graph* g, const std::string& bytes) {
  const status s;
  TF_Buffer* buffer = TF_NewBufferFromString(bytes.data(), bytes.size());
  TF_ImportGraphDefOptions* options = TF_NewImportGraphDefOptions();
  TF_GraphImportGraphDef(g, buffer, options, s);
  s.check();
  TF_DeleteImportGraphDefOptions(options);
  TF_DeleteBuffer(buffer);
  std::size_t count = 0, at = 0;
  while (TF_GraphNextOperation(g, &at) != nullptr) ++count;
  return count;
}

std::string from_hex(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes += static_cast<char>(std::strtol(std::string(text.substr(i, 2)).c_str(), nullptr, 16));
  return bytes;
}

int run(const std::string& what, int repeat, const std::string& config) {
  const status s;
  const auto g = new_graph();
  const TF_Output x = placeholder(g.get(), "x", {}, s), y = placeholder(g.get(), "y", {}, s);
  const int nodes = what == "single" ? 1 : 1000;
  TF_Output last = x;
  std::vector<TF_Operation*> all;
  for (int i = 0; i < nodes; ++i) {
    const TF_Output made = add(g.get(), "add_" + std::to_string(i), what == "independent" ? x : last, y, s);
    all.push_back(made.oper);
    last = made;
  }
  TF_Operation* together = nullptr;
  if (what == "independent") {
    auto* d = TF_NewOperation(g.get(), "NoOp", "together");
    for (auto* o : all) TF_AddControlInput(d, o);
    together = finish(d, s).oper;
  }
  TF_SessionOptions* options = TF_NewSessionOptions();
  if (!config.empty()) TF_SetConfig(options, config.data(), config.size(), s);
  s.check();
  TF_Session* session = TF_NewSession(g.get(), options, s);
  s.check();
  const float one = 1;
  double best = std::numeric_limits<double>::max();
  const TF_Output feeds[]{x, y};
  for (int i = 0; i < repeat; ++i) {
    const int steps = what == "single" ? 2000 : 20;
    const auto start = steady::now();
    for (int k = 0; k < steps; ++k) {
      TF_Tensor* in[]{TF_AllocateTensor(TF_FLOAT, nullptr, 0, 4), TF_AllocateTensor(TF_FLOAT, nullptr, 0, 4)};
      for (auto* t : in) std::memcpy(TF_TensorData(t), &one, 4);
      TF_Tensor* out[]{nullptr};
      const TF_Operation* target = together;
      TF_SessionRun(session, nullptr, feeds, in, 2, &last, out, together == nullptr ? 1 : 0, &target, together == nullptr ? 0 : 1, nullptr,
                    s);
      s.check();
      if (together == nullptr) {
        const float got = *static_cast<const float*>(TF_TensorData(out[0]));
        if (got != static_cast<float>(nodes + 1)) throw std::runtime_error("a wrong sum: " + std::to_string(got));
        TF_DeleteTensor(out[0]);
      }
      for (auto* t : in) TF_DeleteTensor(t);
    }
    best = std::min(best, seconds_since(start) / steps);
  }
  print(static_cast<std::size_t>(nodes), best, 0);
  TF_CloseSession(session, s);
  TF_DeleteSession(session, s);
  TF_DeleteSessionOptions(options);
  return 0;
}

int first(const std::string& file, const std::string& config) {
  const status s;
  const auto g = new_graph();
  const std::size_t nodes = import(g.get(), read(file));
  TF_SessionOptions* options = TF_NewSessionOptions();
  if (!config.empty()) TF_SetConfig(options, config.data(), config.size(), s);
  s.check();
  TF_Session* session = TF_NewSession(g.get(), options, s);
  s.check();
  const float one = 1;
  const TF_Output feed{TF_GraphOperationByName(g.get(), "a"), 0}, fetch{TF_GraphOperationByName(g.get(), "root"), 0};
  TF_Tensor* in[]{TF_AllocateTensor(TF_FLOAT, nullptr, 0, 4)};
  std::memcpy(TF_TensorData(in[0]), &one, 4);
  TF_Tensor* out[]{nullptr};
  const std::size_t before = bench::process_bytes("VmRSS");
  const auto start = steady::now();
  TF_SessionRun(session, nullptr, &feed, in, 1, &fetch, out, 1, nullptr, 0, nullptr, s);
  const double seconds = seconds_since(start);
  s.check();
  const std::size_t after = bench::process_bytes("VmHWM");
  std::printf("{\"nodes\": %zu, \"nanoseconds\": %.1f, \"bytes\": %.1f, \"value\": %.9g}\n", nodes,
              seconds * 1e9 / static_cast<double>(nodes),
              after > before ? static_cast<double>(after - before) / static_cast<double>(nodes) : 0.0,
              static_cast<double>(*static_cast<const float*>(TF_TensorData(out[0]))));
  TF_CloseSession(session, s);
  TF_DeleteSession(session, s);
  TF_DeleteSessionOptions(options);
  return 0;
}

}  // namespace

int main(int count, char** arguments) try {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  if (words.size() < 2)
    throw std::runtime_error("tensorflow_bench build N | write N FILE | import FILE | run NAME [REPEAT] [CONFIG] | first FILE [CONFIG]");
  const int repeat = words.size() > 2 && words[0] != "first" ? std::max(1, std::atoi(words[2].c_str())) : 3;
  if (words[0] == "build") {
    const auto nodes = std::strtoull(words[1].c_str(), nullptr, 10);
    measure(repeat, [&](TF_Graph* g) { return build(g, nodes); });
  } else if (words[0] == "import") {
    const std::string bytes = read(words[1]);
    measure(repeat, [&](TF_Graph* g) { return import(g, bytes); });
  } else if (words[0] == "first") {
    return first(words[1], words.size() > 2 ? from_hex(words[2]) : std::string{});
  } else if (words[0] == "run") {
    return run(words[1], repeat, words.size() > 3 ? from_hex(words[3]) : std::string{});
  } else if (words[0] == "write" && words.size() == 3) {
    const status s;
    const auto g = new_graph();
    build(g.get(), std::strtoull(words[1].c_str(), nullptr, 10));
    TF_Buffer* buffer = TF_NewBuffer();
    TF_GraphToGraphDef(g.get(), buffer, s);
    s.check();
    std::ofstream(words[2], std::ios::binary).write(static_cast<const char*>(buffer->data), static_cast<std::streamsize>(buffer->length));
    TF_DeleteBuffer(buffer);
  }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "tensorflow_bench: %s\n", e.what());
  return 1;
}
