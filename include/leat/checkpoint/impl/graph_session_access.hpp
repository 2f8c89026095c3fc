#pragma once
// Implementation of graph_session_access.hpp, and the parts of savers that need graphs.

#include <leat/checkpoint/graph_session_access.hpp>
#include <leat/checkpoint/kernels_saver.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/core/text.hpp>
#include <leat/io/binary.hpp>
#include <leat/io/collections.hpp>
#include <leat/named/exchange/export.hpp>
#include <leat/named/graph/default_graph.hpp>
#include <leat/named/variables/partitioned_variables.hpp>
#include <leat/session/session_target.hpp>

namespace leat {

LEAT_FUNCTION saved_variable::saved_variable(const output& v) : name_in_checkpoint(v.operation().name()), variable(name_in_checkpoint) {}
LEAT_FUNCTION saved_variable::saved_variable(const partitioned_variable& v) : saved_variable(v.name()) {}

}  // namespace leat

namespace leat::detail {

LEAT_FILL(fill_graph_capture) {
  capture_of_graphs() = [](graph* of, std::vector<saved_variable>& list) {
    graph& g = of != nullptr ? *of : default_graph();
    for (const auto& [name, variable] : saved_variables(g)) list.emplace_back(name);
    return g.named().serial();
  };
}

LEAT_FUNCTION std::uint64_t graph_session_access::serial() const { return session_->owner().named().serial(); }

LEAT_FUNCTION std::string fingerprint_of(graph& g) {
  std::uint64_t hash = 0;
  for (const node_def& node : export_graph(g).nodes) {
    hash = mix(hash, hash_text(node.name));
    hash = mix(hash, hash_text(node.op));
    for (const std::string& input : node.inputs) hash = mix(hash, hash_text(input));
  }
  return fingerprint_text(hash);
}

LEAT_FUNCTION std::vector<session_variable> graph_session_access::variables() const {
  std::vector<session_variable> list;
  const auto& slices = session_->owner().named().partitioned.slices;
  for (const auto& [name, variable] : saved_variables(session_->owner())) {
    list.push_back({name, variable.type(), variable.extent(), session_->is_initialized(variable), {}});
    if (const auto slice = slices.find(variable.index()); slice != slices.end()) list.back().slice = slice->second;
  }
  return list;
}

LEAT_FUNCTION void graph_session_access::with_values(const std::vector<std::string>& names,
                                                     const std::function<void(std::vector<tensor_value>)>& use) const {
  const auto variables = saved_variables(session_->owner());
  std::vector<tensor_value> values;
  for (const std::string& name : names) values.push_back(session_->value(variables.find(name)->second));
  use(std::move(values));
}

LEAT_FUNCTION void graph_session_access::assign(const std::vector<std::string>& names, const std::vector<tensor_value>& values,
                                                bool adopt) {
  const auto variables = saved_variables(session_->owner());
  // With a memory limit, arrays are copied and counted. If the limit is reached while copying, all variables get their earlier values
  // again.
  const bool shares = adopt || session_->options().memory_limit_in_bytes == 0;
  std::vector<std::pair<const output*, tensor_value>> before;
  try {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const output& variable = variables.find(names[i])->second;
      const bool has_value = session_->is_initialized(variable);
      before.emplace_back(&variable, has_value ? session_->value(variable) : tensor_value());
      if (shares) session_->adopt(variable, values[i]);
      else session_->assign(variable, values[i]);
    }
  } catch (...) {
    for (auto& [variable, value] : before) session_->adopt(*variable, value);
    throw;
  }
}

LEAT_FUNCTION std::map<std::string, std::string> graph_session_access::tasks_of_variables() const {
  std::map<std::string, std::string> tasks;
  remote_session* const target = session_->at_target();
  if (target == nullptr) return tasks;
  const auto variables = saved_variables(session_->owner());
  for (auto& [node, device] : target->placement())
    if (variables.contains(node)) tasks.emplace(node, std::move(device));
  return tasks;
}

LEAT_FUNCTION std::vector<written_shard> graph_session_access::write_shards(const std::vector<shard_order>& orders) const {
  remote_session* const target = session_->at_target();
  return target == nullptr ? session_access::write_shards(orders) : target->write_shards(orders);
}

LEAT_FUNCTION void graph_session_access::read_shards(const std::vector<shard_reading>& orders) {
  remote_session* const target = session_->at_target();
  if (target == nullptr) session_access::read_shards(orders);
  else target->read_shards(orders);
}

LEAT_FUNCTION std::string graph_session_access::fingerprint() const { return fingerprint_of(session_->owner()); }

LEAT_FUNCTION std::string graph_session_access::meta_graph() const {
  meta_graph_def meta;
  meta.graph = export_graph(session_->owner());
  meta.collections = io::export_collections(session_->owner());
  return io::write_binary(meta);
}

}  // namespace leat::detail
