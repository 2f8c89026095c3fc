#pragma once
// Implementation of session_target.hpp.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/session/session_target.hpp>

#include <map>
#include <mutex>

namespace leat::detail {

struct session_targets {
  std::mutex guard;
  std::map<std::string, session_connector, std::less<>> by_scheme;
};
inline session_targets& all_session_targets() {
  static auto& table = *new session_targets;
  static constinit table_fills fills;
  fills.run({LEAT_FILLS(cluster::fill_cluster_targets)});
  return table;
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION void register_session_target(std::string_view scheme, session_connector connector) {
  auto& table = detail::all_session_targets();
  const std::lock_guard lock(table.guard);
  table.by_scheme.try_emplace(std::string(scheme), std::move(connector));
}

LEAT_FUNCTION std::unique_ptr<remote_session> connect_session(graph& g, const session_options& options) {
  session_connector connector;
  std::string known;
  {
    auto& table = detail::all_session_targets();
    const std::lock_guard lock(table.guard);
    for (const auto& [scheme, its] : table.by_scheme) {
      known += (known.empty() ? "" : ", ") + scheme + "...";
      if (options.target.starts_with(scheme)) connector = its;
    }
  }
  if (connector) return connector(g, options);
  throw not_found("the session's target '" + options.target + "' is of no kind that is known here" +
                         (known.empty() ? "; include <leat/cluster.hpp> for \"tcp://host:port\"" : "; there are: " + known));
}

}  // namespace leat
