// The list of functions for graphs at run time, docs/functions.md, from the headers: `document_functions REPOSITORY` compares it
// with the file, `document_functions REPOSITORY --write` writes it. A function is in it that is declared in a header of the list
// below outside of `detail`, with the first sentence of its docstring; one without a docstring takes that of the one above it.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct header_family {
  std::string title;
  std::vector<std::string> headers;
};

const std::vector<header_family> families{
    {"Leaves, and operators on them",
     {"named/functions/operand.hpp", "named/functions/math.hpp", "named/functions/array.hpp",
      "named/functions/shape.hpp", "named/functions/slice.hpp", "ops/axis_index.hpp"}},
    {"Complex numbers and Fourier transforms", {"named/functions/complex.hpp", "named/functions/fourier.hpp"}},
    {"Random numbers", {"named/functions/random.hpp"}},
    {"Neural networks", {"named/functions/nn.hpp", "named/functions/convolution.hpp", "named/functions/embedding.hpp", "named/functions/candidates.hpp", "train/layers.hpp",
      "named/recurrent/cells.hpp", "named/recurrent/recurrent.hpp"}},
    {"Variables",
     {"named/variables/variables.hpp", "named/variables/variable_scope.hpp", "named/variables/partitioned_variables.hpp",
      "named/variables/initial_value.hpp", "named/variables/uninitialized.hpp", "named/functions/handle.hpp", "session/graph_variables.hpp"}},
    {"Control flow",
     {"named/control/control.hpp", "named/control/branch.hpp", "named/control/case.hpp", "named/control/loop.hpp",
      "named/control/check.hpp", "named/functions/print.hpp", "named/functions/host_function.hpp"}},
    {"Queues", {"named/functions/queue.hpp", "named/functions/accumulator.hpp", "named/functions/tensor_array.hpp"}},
    {"Gradients and training",
     {"named/gradients/gradient.hpp", "named/gradients/derivatives.hpp", "train/named/optimizer.hpp", "train/named/optimizers.hpp",
      "train/named/clip.hpp", "train/named/global_step.hpp", "train/named/schedules.hpp", "train/named/moving_average.hpp",
      "train/named/normalization.hpp", "train/named/accumulate.hpp", "train/named/sync_replicas.hpp"}},
    {"Summaries", {"summary/named_summary.hpp"}},
    {"Losses, metrics, layers",
     {"train/named/losses.hpp", "train/named/regularizers.hpp", "train/regularizers.hpp", "train/named/weights.hpp",
      "train/named/metrics.hpp", "train/named/layers.hpp", "train/named/convolutions.hpp", "train/layer_summary.hpp", "expr/scaled_initializers.hpp"}},
    {"Checkpoints", {"checkpoint/saver.hpp", "checkpoint/checkpoint_state.hpp", "checkpoint/checkpoint_reader.hpp"}},
    {"Clusters", {"cluster/cluster_role.hpp", "cluster/server.hpp"}},
    {"Collectives", {"collective/named_collective.hpp", "collective/named_data_parallel.hpp"}},
    {"Graphs",
     {"named/graph/default_graph.hpp", "named/graph/lookup.hpp", "named/scopes/scopes.hpp", "named/graph/device.hpp",
      "named/scopes/replica_device_setter.hpp", "named/graph/call.hpp", "named/exchange/import.hpp", "named/exchange/export.hpp",
      "io/text.hpp", "io/describe.hpp", "proto/freeze.hpp", "named/exchange/to_graph.hpp"}},
    {"Running", {"session/interactive_session.hpp", "session/typed/evaluate.hpp", "session/gradient_of.hpp", "runtime/kernels/kernel.hpp",
      "cpu/use_operator.hpp"}},
};

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The first sentence of a docstring, on one line.
std::string first_sentence(const std::string& doc) {
  static const std::regex source(" *(Source|Errors|Shapes|Dtypes):.*");
  std::string text = std::regex_replace(doc, source, "");
  static const std::regex end("\\.( [A-Z`]|$)");
  std::smatch m;
  if (std::regex_search(text, m, end)) text = text.substr(0, static_cast<std::size_t>(m.position(0)));
  std::string row;
  for (const char c : text) row += c == '|' ? std::string("\\|") : std::string(1, c);
  while (!row.empty() && (row.back() == '.' || row.back() == ' ' || row.back() == ':')) row.pop_back();
  return row;
}

// Functions of namespace leat in the order in which they are declared, with their docs.
std::vector<std::pair<std::string, std::string>> functions_of(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> found;
  std::istringstream lines(text);
  std::string line, doc, declared;
  bool in_detail = false, doc_ends = true;
  static const std::regex name("(^|[ >*&])([a-z][a-z0-9_]*)\\(");
  static const std::regex symbol("(^|[^_a-z])operator[^_a-z]|LEAT_FUNCTION");
  static const std::regex begins("^(template|inline|constexpr|\\[\\[nodiscard\\]\\]|(const )?[a-z_:]+(<[^()]*>)?[&*]? [a-z0-9_]+\\()");
  static const std::regex by_macro("^LEAT_NAMED_([A-Z]+)\\(([a-z0-9_]+)[^\"]*(\"([A-Za-z]+)\")?");
  static const std::map<std::string, std::string> said_of_macro{{"PAIR", "Of two tensors, element by element; they broadcast"},
                                                                {"SINGLE", "Of each element"},
                                                                {"REDUCTION", "Over axes, which may be kept as 1"},
                                                                {"SCATTER", "Rows of a variable, at indices"}};
  while (std::getline(lines, line)) {
    if (line.starts_with("namespace detail") || line.starts_with("namespace runtime"))
      in_detail = line.find("{}") == line.npos && line.back() == '{';
    if (line.starts_with("}  // namespace detail") || line.starts_with("}  // namespace runtime")) in_detail = false;
    if (in_detail) continue;
    if (std::smatch made; std::regex_search(line, made, by_macro)) {
      found.emplace_back(made[2], said_of_macro.at(made[1]) + (made[4].matched ? "; `" + std::string(made[4]) + "`" : std::string{}));
      continue;
    }
    if (line.starts_with("///")) {
      if (doc_ends) doc.clear();
      doc_ends = false;
      doc += (doc.empty() ? "" : " ") + line.substr(std::min<std::size_t>(4, line.size()));
      continue;
    }
    doc_ends = true;
    if (line.starts_with("class ") || line.starts_with("struct ") || line.starts_with("enum ") || line.empty()) {
      if (line.empty()) doc.clear();
      continue;
    }
    if (!std::regex_search(line, begins) || line.starts_with("template") || std::regex_search(line, symbol)) continue;
    if (line.find(" = ") < line.find('(') || line.ends_with("= delete;")) continue;
    std::smatch m;
    if (!std::regex_search(line, m, name) || doc.empty()) continue;
    const std::string function = m[2];
    if (function == "decltype" || function == "requires") continue;
    if (std::none_of(found.begin(), found.end(), [&](const auto& f) { return f.first == function; }))
      found.emplace_back(function, first_sentence(doc));
  }
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::filesystem::path root = argv[1];
  std::string page =
      "# Functions for graphs at run time\n\n"
      "Generated from the headers by `tests/docs/functions.cpp`, and compared with them by the test `docs.functions`. To write it anew, "
      "run the\nprogram `document_functions . --write` in the repository's root. The headers say shapes, dtypes, errors and sources;\n"
      "[operators.md](operators.md) lists the operators of typed expressions, whose functions take handles of graphs, too; kernels and "
      "limits are in\n[sessions.md](sessions.md).\n";
  int count = 0;
  std::set<std::string> listed;
  for (const auto& family : families) {
    page += "\n## " + family.title + "\n\n| function | what it does | header |\n|---|---|---|\n";
    for (const std::string& header : family.headers) {
      const std::string text = text_of(root / "include" / "leat" / header);
      if (text.empty()) {
        std::cerr << "no header include/leat/" << header << "\n";
        return 1;
      }
      listed.insert(header);
      for (const auto& [name, doc] : functions_of(text)) {
        page += "| `" + name + "` | " + doc + " | `" + header + "` |\n";
        ++count;
      }
    }
  }
  int failed = 0;
  for (const char* room : {"functions", "variables"}) {
    const auto folder = std::filesystem::path("named") / room;
    for (const auto& file : std::filesystem::directory_iterator(root / "include" / "leat" / folder)) {
      const std::string name = file.path().filename().string(), header = (folder / name).generic_string();
      if (name != "impl" && name != "size_arguments.hpp" && name != "guarded_first_value.hpp" && !listed.contains(header)) {
        std::cerr << "include/leat/" << header << " is in no family of tests/docs/functions.cpp\n";
        failed = 1;
      }
    }
  }
  const auto path = root / "docs" / "functions.md";
  if (argc > 2 && std::string(argv[2]) == "--write") {
    std::ofstream(path) << page;
  } else if (text_of(path) != page) {
    std::cerr << "docs/functions.md is not what the headers say: document_functions . --write writes it anew\n";
    failed = 1;
  }
  std::cout << count << " functions\n";
  return failed;
}
