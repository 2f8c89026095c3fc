#pragma once
// Implementation of named_nodes.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/graph/graph.hpp>
#include <leat/named/graph/names.hpp>
#include <leat/named/graph/nodes.hpp>

namespace leat {

LEAT_FUNCTION named_nodes::named_nodes() = default;
LEAT_FUNCTION named_nodes::~named_nodes() = default;

LEAT_FUNCTION int named_nodes::find(std::string_view name) const {
  return names.find(name, [&](int index) { return record(index).name == name; });
}

LEAT_FUNCTION output named_nodes::input(graph& g, int index, int k) const {
  const auto edge = static_cast<std::size_t>(g.at(index).inputs + k);
  return {g, g.edges[edge], edge < ports_.size() ? ports_[edge] : 0};
}

LEAT_FUNCTION tensor_info named_nodes::further_result(int index, int port) const {
  const auto more = record(index).further();
  const auto at = static_cast<std::size_t>(port - 1);
  return at < more.size() ? more[at] : tensor_info{dtype::invalid, shape::unknown()};
}

LEAT_FUNCTION void named_nodes::add_control(graph& g, int index, int to) {
  node& n = g.at(index);
  for (int k = 0; k < n.control_count; ++k)
    if (g.control(n, k) == to) return;
  const int from = n.controls;
  n.controls = static_cast<int>(g.edges.size());
  for (int k = 0; k < n.control_count; ++k) g.edges.push_back(g.edges[static_cast<std::size_t>(from + k)]);
  g.edges.push_back(to);
  ++n.control_count;
}

LEAT_FUNCTION std::vector<int> named_nodes::waits_for(std::span<const output> inputs) const {
  std::vector<int> wanted;
  for (const control_frame& frame : controls) {
    bool waits_already = false;
    for (const output& o : inputs) waits_already = waits_already || frame.inside.contains(o.index());
    if (waits_already) continue;
    for (int c : frame.nodes) {
      bool is_input = false;
      for (const output& o : inputs) is_input = is_input || o.index() == c;
      if (!is_input) wanted.push_back(c);
    }
  }
  return wanted;
}

LEAT_FUNCTION int named_nodes::append(graph& g, node_request&& request) {
  if (finalized_) throw failed_precondition("Graph is finalized and cannot be modified.");
  if (runs.load(std::memory_order_acquire) > 0)
    throw failed_precondition("Graph is being run and cannot be modified until the run has ended.");
  if (request.stands_with >= 0) colocations.push_back(request.stands_with);
  const struct pop {
    std::vector<int>* from;
    ~pop() {
      if (from != nullptr) from->pop_back();
    }
  } popped{request.stands_with >= 0 ? &colocations : nullptr};
  const kept_text name = texts_.keep(request.name);
  request.name = name;
  const int first = g.size();
  if (!controls.empty())
    for (int c : waits_for(request.inputs)) request.controls.push_back(c);
  control_flow_context* const home = context == nullptr ? nullptr : context->home_of(request);
  std::vector<output> inside;
  if (!contexts_.empty()) {
    inside = brought_in(request, home);
    request.inputs = inside;
  }
  const int index = g.size();  // after the nodes that bring in its inputs
  // Rows are large: moving them costs as much as making them. Reserved memory that is not used is never touched.
  if (g.nodes.is_full() && index < (1 << 16)) g.nodes.reserve(index == 0 ? 16 : 4 * static_cast<std::size_t>(index));
  node& n = g.nodes.emplace_back();
  n.op = request.op;
  if (!request.results.empty()) n.result = request.results[0];
  n.inputs = static_cast<int>(g.edges.size());
  n.input_count = static_cast<int>(request.inputs.size()) - request.number_inputs;
  for (const output& o : request.inputs) {
    if (o.port() != 0) {
      ports_.resize(g.edges.size(), 0);
      ports_.push_back(static_cast<std::uint16_t>(o.port()));
    }
    g.edges.push_back(o.index());
  }
  put_controls(g, n, request);
  note_waiting(index);
  n.attributes = static_cast<int>(g.numbers.size());
  n.attribute_count = static_cast<int>(request.numbers.size());
  for (auto v : request.numbers) g.numbers.push_back(v);
  n.name = name;
  const std::uint64_t hash = request.name_hash != 0 ? request.name_hash : name_table::hash(name);
  n.id = id_of(hash, index);

  node_record& r = records_.emplace_back();
  r.name = name;
  r.attributes = std::move(request.attributes);
  if (!containers.empty())
    if (const auto* a = r.attributes.find("container");
        a != nullptr && a->get_if<std::string>() != nullptr && a->get_if<std::string>()->empty())
      r.attributes["container"] = containers.back();
  r.made_at = position;
  r.number_inputs = request.number_inputs;
  r.results = static_cast<int>(request.results.size());
  r.context = home;
  for (int k = first; k < index; ++k) ++record(k).order;  // in files these nodes come after the node that needed them
  r.order = first;
  r.complete = request.complete;
  if (request.results.size() > 1) {
    r.beyond_first.reset(new tensor_info[request.results.size() - 1]);
    std::copy(request.results.begin() + 1, request.results.end(), r.beyond_first.get());
  }
  if (!name.empty()) names.note(hash, index);
  if (!request.device.empty()) r.device = keep_device(request.device);
  if (!devices.empty() && colocations.empty()) apply_devices(g, index);
  if (!colocations.empty() || !initializer_classes.empty()) put_colocations(index);
  if (home != nullptr) home->note(index);
  return index;
}

LEAT_FUNCTION void named_nodes::return_to(graph& g, growth before) {
  g.nodes.resize(before.nodes);
  g.edges.resize(before.edges);
  g.numbers.resize(before.numbers);
  ports_.resize(before.ports);
  while (records_.size() > before.nodes) records_.pop_back();
  refusals.erase(refusals.lower_bound(static_cast<int>(before.nodes)), refusals.end());
  names = std::move(before.names);
  for (std::size_t k = 0; k < records_.size(); ++k)  // nodes that were named since the snapshot
    if (const std::string_view name = records_[k].name; !name.empty() && find(name) != static_cast<int>(k))
      names.note(name, static_cast<int>(k));
  std::erase_if(name_texts_, [&](const auto& known) { return static_cast<std::size_t>(known.first) >= before.nodes; });
  for (control_frame& frame : controls)
    std::erase_if(frame.inside, [&](int index) { return static_cast<std::size_t>(index) >= before.nodes; });
}

LEAT_FUNCTION void named_nodes::name_node(graph& g, int index, std::string_view name) {
  node_record& r = record(index);
  r.name = texts_.keep(name);
  r.unnamed = false;
  g.at(index).name = r.name;
  const std::uint64_t hash = name_table::hash(name);
  g.at(index).id = id_of(hash, index);
  names.note(hash, index);
  const std::lock_guard lock(naming_);
  if (const auto known = name_texts_.find(index); known != name_texts_.end()) known->second = name;
}

LEAT_FUNCTION const std::string& named_nodes::name_text(int index) const {
  const std::lock_guard lock(naming_);
  const auto [known, is_new] = name_texts_.try_emplace(index);
  if (is_new) known->second = record(index).name;
  return known->second;
}

LEAT_FUNCTION kept_text named_nodes::keep_device(std::string_view device) {
  if (const auto known = devices_.find(device); known != devices_.end()) return known->second;
  const kept_text kept = texts_.keep(device);
  devices_.emplace(kept.view(), kept);
  return kept;
}

LEAT_FUNCTION std::vector<std::string> named_nodes::classes_of(int index) const {
  const node_record& r = record(index);
  std::vector<std::string> groups;
  if (const auto* a = r.attributes.find("_class"))
    if (const auto* list = a->get_list<std::string>())
      for (const auto& text : *list)
        if (text.starts_with("loc:@")) groups.push_back(text);
  if (groups.empty()) groups.push_back("loc:@" + r.name);
  return groups;
}

LEAT_FUNCTION std::vector<output> named_nodes::brought_in(node_request& request, control_flow_context* home) {
  std::vector<output> inputs(request.inputs.begin(), request.inputs.end());
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (k < 64 && (request.open_inputs >> k & 1) != 0) continue;
    control_flow_context* const its = record(inputs[k].index()).context;
    if (its != nullptr && its != home) its->check_use(request, home, inputs[k]);
  }
  if (home != nullptr) home->admit(request, inputs, request.controls);
  return inputs;
}

LEAT_FUNCTION void named_nodes::put_controls(graph& g, node& n, const node_request& request) {
  n.controls = static_cast<int>(g.edges.size());
  if (request.controls.empty()) return;
  std::unordered_set<int> seen;  // avoids quadratic time
  for (int c : request.controls) {
    if (request.controls.size() > 16) {
      if (seen.insert(c).second) g.edges.push_back(c);
      continue;
    }
    bool known = false;
    for (int k = n.controls; k < static_cast<int>(g.edges.size()); ++k) known = known || g.edges[static_cast<std::size_t>(k)] == c;
    if (!known) g.edges.push_back(c);
  }
  n.control_count = static_cast<int>(g.edges.size()) - n.controls;
}

LEAT_FUNCTION void named_nodes::put_colocations(int index) {
  node_record& r = record(index);
  std::vector<std::string> groups;
  for (int with : colocations) {
    for (auto& group : classes_of(with)) groups.push_back(std::move(group));
    if (!record(with).device.empty()) r.device = record(with).device;
  }
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  if (groups.empty() && !initializer_classes.empty()) groups.push_back(initializer_classes.back());
  if (!groups.empty() && !r.attributes.contains("_class")) r.attributes["_class"] = std::move(groups);
}

LEAT_FUNCTION void named_nodes::set_input(graph& g, int index, int k, int to) {
  g.edges[static_cast<std::size_t>(g.at(index).inputs + k)] = to;
}

LEAT_FUNCTION named_nodes::growth named_nodes::reached(const graph& g) const {
  return {g.nodes.size(), g.edges.size(), g.numbers.size(), ports_.size(), names};
}

}  // namespace leat
