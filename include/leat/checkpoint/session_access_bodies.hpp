#pragma once
// Implementation of session_access.hpp.

#include <leat/checkpoint/session_access.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/core/text.hpp>
#include <leat/io/binary.hpp>
#include <leat/io/collections.hpp>
#include <leat/named/exchange/export.hpp>
#include <leat/session/session_target.hpp>

namespace leat::detail {

LEAT_FUNCTION std::string fingerprint_text(std::uint64_t hash) {
  std::string text(16, '0');
  for (std::size_t i = 16; i-- > 0; hash >>= 4) text[i] = "0123456789abcdef"[hash & 15];
  return text;
}

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
  // Where arrays are counted they are copied, which is where a limit may be reached: then all is as it was.
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

LEAT_FUNCTION std::vector<written_shard> session_access::write_shards(const std::vector<shard_order>&) const {
  throw unimplemented("a session without a target has no tasks that write its variables");
}

LEAT_FUNCTION void session_access::read_shards(const std::vector<shard_reading>&) {
  throw unimplemented("a session without a target has no tasks that read its variables");
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
