#pragma once
// Implementation of watched_graph_session.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/supervise/watched_graph_session.hpp>
#include <leat/train/named/global_step.hpp>

namespace leat::detail {

LEAT_FUNCTION watched_graph_session::watched_graph_session(graph_session& s, const scaffold* its, output step)
    : session_(s), scaffold_(its), step_(static_cast<bool>(step) ? step : get_global_step(s.owner())) {}

LEAT_FUNCTION std::int64_t watched_graph_session::global_step() {
  require_global_step(has_global_step(), "the session's global_step()");
  return integer(session_.value(step_));
}

LEAT_FUNCTION session_values watched_graph_session::variables() {
  if (variables_.empty()) variables_ = saved_variables(session_.owner());  // fixed, because the graph is finalized
  session_values values;
  for (const auto& [name, v] : variables_)
    if (session_.is_initialized(v)) values.emplace(name, session_.value(v));
  return values;
}

LEAT_FUNCTION std::vector<tensor_value> watched_graph_session::evaluate(std::span<const fetch_item> fetches, const feed_list& feeds) {
  return session_.run(std::vector<fetch_item>(fetches.begin(), fetches.end()), feeds);
}

LEAT_FUNCTION std::string watched_graph_session::save(saver& to, const std::string& prefix, std::int64_t step, const save_options& how) {
  return to.save(session_, prefix, step, how);
}

LEAT_FUNCTION void watched_graph_session::restore(const saver& from, const checkpoint_path& path) { from.restore(session_, path); }

}  // namespace leat::detail
