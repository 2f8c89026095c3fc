#include <leat/passes/named_gradient.hpp>

#include "support/reference_json.hpp"

#include <leat/graph/export.hpp>
#include <leat/graph/import.hpp>
#include <leat/graph/lookup.hpp>
#include <leat/io/binary.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>

using namespace leat;
using leat_test::reference_folder;

namespace {

std::string node_of(std::string input) {
  if (input.starts_with("^")) input.erase(0, 1);
  return input.substr(0, input.find(':'));
}
bool is_gradient(const std::string& name) { return name.starts_with("gradients/"); }

// What a recorded graph says of its first gradient: the forward part, what was differentiated, and for what.
struct recorded {
  graph_def forward;
  std::map<std::string, std::string> made;  // nodes in "gradients/": their types
  std::string y;
  std::vector<std::string> xs;
};
recorded read(const std::filesystem::path& file) {
  const graph_def def = io::read_binary_file(file);
  recorded r;
  r.forward.versions = def.versions;
  std::set<std::string> later;  // what depends on gradients
  for (const auto& n : def.nodes) {
    bool depends = is_gradient(n.name);
    for (const auto& in : n.inputs) depends = depends || later.contains(node_of(in));
    if (depends) later.insert(n.name);
    else r.forward.nodes.push_back(n);
    if (is_gradient(n.name)) {
      r.made[n.name] = n.op;
      for (const auto& in : n.inputs)
        if (node_of(in) == "gradients/grad_ys_0" && r.y.empty())
          if (const auto end = n.name.find("_grad/"); end != std::string::npos) r.y = n.name.substr(10, end - 10);
    }
    if (n.op.starts_with("Apply") && !n.inputs.empty() && depends) r.xs.push_back(n.inputs[0]);
  }
  // without an optimizer: for the variables, or the first constant
  for (const auto& n : r.forward.nodes)
    if (r.xs.empty() && !r.y.empty() && n.op == "VariableV2") r.xs.push_back(n.name);
  for (const auto& n : r.forward.nodes)
    if (r.xs.empty() && !r.y.empty() && n.name == "Const") r.xs.push_back(n.name);
  return r;
}

}  // namespace

TEST_CASE("gradients of recorded models are called as TensorFlow calls them") {
  const std::filesystem::path folder = reference_folder() + "/graphs";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: " << folder.string() << " is missing");
    return;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".pb") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  int differentiated = 0;
  int same = 0;
  int all = 0;
  for (const auto& file : files) {
    const recorded r = read(file);
    if (r.y.empty() || r.xs.empty()) continue;
    INFO(file.filename().string());
    graph g;
    import_graph(g, r.forward, {.name = ""});
    std::vector<output> xs;
    for (const auto& x : r.xs) xs.push_back(get_tensor_by_name(g, x + ":0"));
    const int before = g.size();
    try {
      for (const auto& dx : gradients({get_tensor_by_name(g, r.y + ":0")}, xs)) CHECK(static_cast<bool>(dx));
    } catch (const unimplemented& e) {
      MESSAGE(file.filename().string() << ": " << std::string(e.what()));
      continue;
    }
    ++differentiated;
    int here = 0;
    std::string others;
    for (const auto& op : get_operations(g)) {
      if (op.index() < before) continue;
      CHECK(is_gradient(op.name()));
      const auto known = r.made.find(op.name());
      if (known != r.made.end() && known->second == op.type()) ++here;
      else others += " " + op.name();
    }
    // the scopes are TensorFlow's, and the seed is
    for (const auto& op : get_operations(g)) {
      if (op.index() < before) continue;
      const auto end = op.name().find("_grad/");
      if (end == std::string::npos) continue;
      const std::string its = op.name().substr(0, end + 6);
      CHECK_MESSAGE(std::any_of(r.made.begin(), r.made.end(), [&](const auto& n) { return n.first.starts_with(its); }), its);
    }
    CHECK(get_operation_by_name(g, "gradients/grad_ys_0").type() == "Fill");
    MESSAGE(file.filename().string() << ": " << here << " of " << g.size() - before << " nodes have TensorFlow's name and type;" << others);
    same += here;
    all += g.size() - before;
  }
  MESSAGE(differentiated << " graphs; " << same << " of " << all << " nodes");
  CHECK(differentiated > 0);
  CHECK(2 * same > all);
}
