#pragma once
// Implementation of run_snapshot.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/supervise/run_snapshot.hpp>

namespace leat::detail {

LEAT_FUNCTION run_snapshot_of_session::run_snapshot_of_session(graph_session& s)
    : session_(&s), variables_(graph_session_access(s).variables()) {
  for (const auto& [name, v] : saved_variables(s.owner()))
    if (s.is_initialized(v)) values_.emplace(name, s.value(v).kept());
}

LEAT_FUNCTION void snapshot_access::with_values(const std::vector<std::string>& names,
                                                const std::function<void(std::vector<tensor_value>)>& use) const {
  std::vector<tensor_value> values;
  for (const std::string& name : names) values.push_back(snapshot_->values_.at(name));
  use(std::move(values));
}

LEAT_FUNCTION void snapshot_access::assign(const std::vector<std::string>&, const std::vector<tensor_value>&, bool) {
  throw failed_precondition("a snapshot of a session is saved, not restored");
}

}  // namespace leat::detail
