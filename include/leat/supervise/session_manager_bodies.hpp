#pragma once
// Implementation of session_manager.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/text.hpp>
#include <leat/supervise/session_manager.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

namespace leat {

LEAT_FUNCTION std::string detail::node_text(const graph_operation& op) { return op ? describe(op) : "None"; }

LEAT_FUNCTION std::string detail::why_not_ready(graph_session& s, const output& ready_op) {
  if (!static_cast<bool>(ready_op)) return {};
  std::string names;
  for (const std::string& name : s.run<std::vector<std::string>>(ready_op)) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "" : "Variables not initialized: " + names;
}

namespace detail {

inline std::string initialized_by(const session_preparation& how) {
  return "Init op: " + (how.init_op ? how.init_op.name() : std::string("None")) + ", init fn: " + (how.init_fn ? "given" : "None");
}

}  // namespace detail

LEAT_FUNCTION std::unique_ptr<graph_session> prepare_session(graph& g, const session_options& options, const session_preparation& how) {
  auto s = std::make_unique<graph_session>(g, options);
  if (!how.restore || !how.restore(*s)) {
    if (!how.init_op && !how.init_fn && !how.local_init_op)
      throw failed_precondition("Model is not initialized and no init_op or init_fn or local_init_op was given");
    if (how.init_op) s->run(how.init_op, how.init_feeds);
    if (how.init_fn) how.init_fn(*s);
  }
  if (const std::string why = detail::why_not_ready(*s, how.ready_for_local_init_op); !why.empty())
    throw failed_precondition("Init operations did not make model ready for local_init.  " + detail::initialized_by(how) +
                              ", error: " + why);
  if (how.local_init_op) s->run(how.local_init_op);
  if (const std::string why = detail::why_not_ready(*s, how.ready_op); !why.empty())
    throw failed_precondition("Init operations did not make model ready.  " + detail::initialized_by(how) +
                              ", local_init_op: " + detail::node_text(how.local_init_op) + ", error: " + why);
  return s;
}

LEAT_FUNCTION std::unique_ptr<graph_session> wait_for_session(graph& g, const session_options& options, const session_preparation& how,
                                                              seconds max_wait, seconds poll) {
  const auto start = std::chrono::steady_clock::now();
  auto s = std::make_unique<graph_session>(g, options);
  for (;;) {
    if (detail::why_not_ready(*s, how.ready_for_local_init_op).empty()) {
      if (how.local_init_op) s->run(how.local_init_op);
      if (detail::why_not_ready(*s, how.ready_op).empty()) return s;
    }
    const seconds waited = std::chrono::steady_clock::now() - start;
    if (waited >= max_wait) {
      std::string text = std::to_string(max_wait.count());
      text.erase(text.find_last_not_of('0') + 1);
      if (text.ends_with('.')) text.pop_back();
      throw deadline_exceeded("Session was not ready after waiting " + text + " secs.");
    }
    std::this_thread::sleep_for(std::min({poll, max_wait - waited, seconds(30)}));
  }
}

}  // namespace leat
