#include "check.hpp"

#include <leat/graphs.hpp>
#include <leat/io/collections.hpp>
#include <leat/io/functions.hpp>
#include <leat/io/saved_model.hpp>

#include "show.hpp"
#include "trial.hpp"
#include "values.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace tool {

using namespace leat;

namespace {

// Whether the operator has no kernel, asked by a node that has nothing but it.
bool is_unknown(const std::string& type) {
  graph g;
  g.named();
  try {
    graph_def def;
    def.nodes.push_back({.name = "asked", .op = type});
    import_graph(g, def, {.name = ""});
  } catch (const error&) {
    return false;  // it knows what it takes
  }
  return !graph_session(g).refusal_of(graph_operation(g, 0)).empty();
}

// The nodes that TensorFlow's saver needs, itself among them.
std::set<int> nodes_of_saver(graph& g, const std::optional<saver_def>& saver) {
  std::set<int> found;
  if (!saver) return found;
  std::vector<int> open;
  for (const std::string* text : {&saver->filename_tensor_name, &saver->save_tensor_name, &saver->restore_op_name})
    if (const int index = g.named().find(std::string_view(*text).substr(0, text->find(':'))); index >= 0) open.push_back(index);
  while (!open.empty()) {
    const int index = open.back();
    open.pop_back();
    if (!found.insert(index).second) continue;
    for (int k = 0; k < g.named().input_count(g, index); ++k) open.push_back(g.named().input(g, index, k).index());
    for (int k = 0; k < g.at(index).control_count; ++k) open.push_back(g.control(g.at(index), k));
  }
  return found;
}

// Nodes that are refused for one reason.
struct refused_nodes {
  std::string first;
  int count = 0;
};

void check_nodes(graph& g, graph_session& session, const std::optional<saver_def>& saver, const std::set<std::string, std::less<>>& unknown,
                 check_report& report) {
  const std::set<int> saver_nodes = nodes_of_saver(g, saver);
  std::map<std::pair<std::string, std::string>, refused_nodes> refused;  // by operator and reason
  node_trials trials(session);
  for (const graph_operation& node : get_operations(g)) {
    const std::string type(node.type());
    if (unknown.contains(type)) {
      if (saver_nodes.contains(node.index())) ++report.saver_operators[type];
      report.refused.emplace(node.name(), "its operator is not known");
      continue;
    }
    std::string reason = trials.refusal_of(node);
    if (reason.empty()) continue;
    report.refused.emplace(node.name(), reason);
    const std::string place = "the node '" + node.name() + "' (" + type + "): ";
    if (reason.starts_with(place)) reason.erase(0, place.size());
    refused_nodes& its = refused[{type, reason}];
    if (its.count++ == 0) its.first = node.name();
  }
  for (const auto& [what, nodes] : refused)
    report.lacking.push_back("the node '" + nodes.first + "' (" + what.first + ")" +
                             (nodes.count > 1 ? " and " + std::to_string(nodes.count - 1) + " more" : std::string()) + ": " + what.second);
}

void check_signatures(graph& g, const std::map<std::string, signature_def>& signatures, check_report& report) {
  for (const auto& [name, s] : signatures)
    for (const auto* side : {&s.inputs, &s.outputs})
      for (const auto& [key, tensor] : *side) try {
          const std::string where = io::detail::place_in_signature(name, key);
          const graph_element element = io::detail::signature_element(g, tensor, where);
          if (std::holds_alternative<output>(element)) io::detail::signature_output(g, tensor, where);
        } catch (const error& e) {
          report.problems.emplace_back(e.what());
        }
}

}  // namespace

std::string counted(const std::map<std::string, int, std::less<>>& operators) {
  std::string list;
  for (const auto& [op, count] : operators) list += (list.empty() ? "" : ", ") + op + " (" + std::to_string(count) + ")";
  return list;
}

check_report check(const graph_file& file, const std::filesystem::path& path, const std::vector<std::string>& tags, bool on_any_device) {
  check_report report;
  for (const auto& f : proto::findings(file.meta.graph)) report.problems.push_back(to_text(f));
  graph_def def;  // with the bodies of functions in place of their calls
  try {
    def = io::inline_functions(file.meta.graph);
  } catch (const error& e) {
    report.problems.emplace_back(e.what());
    def = file.meta.graph;
  }
  std::set<std::string, std::less<>> unknown;
  std::map<std::string, int, std::less<>> counts;
  for (const node_def& node : def.nodes) ++counts[node.op];
  for (const auto& [op, count] : counts)
    if (is_unknown(op)) unknown.insert(op);
  if (report.problems.empty() && !def.nodes.empty()) try {
      graph g;
      g.named();
      if (on_any_device) {
        graph_def here = def;
        for (node_def& node : here.nodes) node.device.clear();
        import_graph(g, here, {.name = ""});
      } else {
        import_graph(g, def, {.name = ""});
      }
      graph_session session(g);
      session.prepare(std::vector<output>{}, std::vector<output>{});  // places the nodes
      check_nodes(g, session, file.meta.saver, unknown, report);
      check_signatures(g, file.meta.signatures, report);
      if (file.is_saved_model) {
        const io::saved_model loaded = io::load_model(path, {.tags = tags});
        for (const std::string& text : loaded.left_out()) report.lacking.push_back("left out: " + text);
      } else {
        for (const auto& [name, collection] : file.meta.collections) try {
            io::import_collections(g, {{name, collection}});
          } catch (const error& e) {
            report.lacking.push_back("left out: " + std::string(e.what()));
          }
        // After the collections, which tell of slices.
        if (file.checkpoint != nullptr)
          for (const std::string& text : restore_fitting(session, file.checkpoint)) report.lacking.push_back("left out: " + text);
      }
    } catch (const error& e) {
      report.problems.emplace_back(e.what());
    }
  for (const auto& [op, count] : report.saver_operators) counts[op] -= count;
  std::erase_if(counts, [&](const auto& entry) { return entry.second == 0 || !unknown.contains(entry.first); });
  if (!counts.empty()) report.lacking.insert(report.lacking.begin(), "operators that leat does not know: " + counted(counts));
  return report;
}

}  // namespace tool
