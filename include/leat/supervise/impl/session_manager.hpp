#pragma once
// Implementation of session_manager.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/describe.hpp>
#include <leat/supervise/session_manager.hpp>

#include <algorithm>
#include <chrono>
#include <iostream>
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

LEAT_FUNCTION bool is_loss_of_task(const std::exception_ptr& e) {
  if (e == nullptr) return false;
  try {
    std::rethrow_exception(e);
  } catch (const aborted&) {
    return true;
  } catch (const unavailable&) {
    return true;
  } catch (...) {
    return false;
  }
}

LEAT_FUNCTION bool goes_on_from_servers(watched_session& s, const std::string& folder) {
  if (folder.empty() || !s.has_global_step()) return false;
  const checkpoint_path latest = latest_checkpoint(folder);
  if (!latest) return false;
  const auto step = latest.open()->manifest().step;
  return step && *step <= s.global_step();
}

LEAT_FUNCTION void growing_pause::wait() {
  std::this_thread::sleep_for(next_);
  next_ = std::min(std::chrono::milliseconds(1000), std::max(std::chrono::milliseconds(10), 2 * next_));
}

inline bool has_all_values(graph_session& s) {
  for (const output& v : get_tensors(s.owner(), collection::global_variables))
    if (!s.is_initialized(v)) return false;
  return true;
}

inline std::string initialized_by(const session_preparation& how) {
  return "Init op: " + (how.init_op ? how.init_op.name() : std::string("None")) + ", init fn: " + (how.init_fn ? "given" : "None");
}

}  // namespace detail

LEAT_FUNCTION std::unique_ptr<graph_session> prepare_session(graph& g, const session_options& options, const session_preparation& how) {
  auto s = std::make_unique<graph_session>(g, options);
  const bool kept = how.keep && !options.target.empty() && detail::has_all_values(*s) && how.keep(*s);
  if (!kept && (!how.restore || !how.restore(*s))) {
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
  using clock = std::chrono::steady_clock;
  const auto start = clock::now();
  auto told_at = start;
  std::string told;
  std::unique_ptr<graph_session> s;
  for (seconds pause = std::min(poll, seconds(0.02));; pause = std::min(poll, 2 * pause)) {
    std::string why;
    try {
      if (s == nullptr) s = std::make_unique<graph_session>(g, options);
      why = detail::why_not_ready(*s, how.ready_for_local_init_op);
      if (why.empty()) {
        if (how.local_init_op) s->run(how.local_init_op);
        why = detail::why_not_ready(*s, how.ready_op);
        if (why.empty()) return s;
      }
    } catch (const error& e) {
      if (options.target.empty() || !detail::is_loss_of_task(std::current_exception())) throw;
      why = e.what();
      s.reset();
    }
    const auto now = clock::now();
    const seconds waited = now - start;
    if (waited >= max_wait) {
      std::string text = std::to_string(max_wait.count());
      text.erase(text.find_last_not_of('0') + 1);
      if (text.ends_with('.')) text.pop_back();
      throw deadline_exceeded("Session was not ready after waiting " + text + " secs." + (options.target.empty() ? "" : " " + why));
    }
    if (!options.target.empty() && (why != told || now - told_at > std::chrono::seconds(10))) {
      (how.log != nullptr ? *how.log : std::cerr) << "Waiting for the chief to make the model ready. " << why << "\n";
      told = why;
      told_at = now;
    }
    std::this_thread::sleep_for(std::min({pause, max_wait - waited, seconds(30)}));
  }
}

}  // namespace leat
