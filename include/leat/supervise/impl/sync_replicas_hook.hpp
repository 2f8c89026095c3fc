#pragma once
// Implementation of sync_replicas_hook.hpp.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/supervise/sync_replicas_hook.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <variant>

namespace leat {

LEAT_FUNCTION queue_runner chief_queue_runner(const sync_replicas& sync) { return queue_runner(sync.token_queue(), {sync.sync_op()}); }

namespace detail {

class replicas_hook final : public session_run_hook {
 public:
  replicas_hook(sync_replicas& sync, bool is_chief, int num_tokens, std::ostream* log)
      : local_init_(is_chief ? sync.chief_init_op() : sync.local_step_init_op()),
        ready_(sync.ready_for_local_init_op()),
        its_(sync.membership()),
        is_chief_(is_chief),
        log_(log != nullptr ? log : &std::cerr) {
    if (!is_chief) return;
    std::vector<graph_operation> closes;
    for (const graph_queue& q : sync.token_queues()) closes.push_back(close_on_its_device(q, true));
    close_ = closes.size() == 1 ? closes[0] : group(closes);
    if (num_tokens != 0) first_tokens_ = sync.init_tokens_op(num_tokens);
    else renewed_tokens_ = sync.init_tokens_op(sync.token_queues().size() > 1 ? 1 : -1);
  }

  void after_create_session(watched_session& watched, coordinator& c) override {
    graph_session* const s = watched.of_graph();
    if (s == nullptr) throw failed_precondition("sync_replicas_hook: typed sessions have no replicas");
    if (const tensor_value missing = s->run(ready_); missing.elements() > 0)
      throw failed_precondition("Init operations did not make model ready for local_init: " + summary_text(missing, 16));
    threads_ = &c;
    has_joined_ = false;
    // The replica begins at the global step: with tokens of earlier steps it would send gradients twice. They are dropped before the step
    // is read, so that the token of a later update is kept.
    if (its_.drop_tokens) s->run(its_.drop_tokens);
    endings_before_ = integers(s->run(its_.state))[endings_at];
    // Joins before the step is read: from then on no update is made without a token for this replica.
    if (!is_chief_) join(*s);
    s->run(local_init_);
    if (is_chief_) restore_roster(*s);
    if (static_cast<bool>(first_tokens_)) s->run(first_tokens_);
    // A replica may wait for an update whose gradients were lost with an earlier session.
    if (static_cast<bool>(renewed_tokens_) && watched.global_step() > 0) s->run(renewed_tokens_);
    if (is_chief_) start_updates(*s, c);
  }
  // A chief joins with its first training step, because a chief that only makes the updates is not a replica.
  session_run_args before_run(session_run_context& context) override {
    if (!trains(context)) return {};
    if (!has_joined_) join(*context.session().of_graph());
    return {.fetches = {its_.gave, its_.took}};
  }
  void before_end(watched_session& watched, bool is_stopped) override {
    graph_session& s = *watched.of_graph();
    if (!is_chief_) {
      try {
        s.run(its_.leave);
      } catch (const error& e) {  // the servers have ended, too
        if (!is_loss_of_task(std::current_exception())) throw;
        *log_ << its_.who + " could not give its share back: " + e.what() + "\n";
      }
      return;
    }
    std::vector<std::int64_t> left = integers(s.run(its_.state));
    if (has_joined_ || left[endings_at] == endings_before_) left = integers(s.run(its_.leave));
    if (is_stopped || threads_->should_stop() || left[endings_at] > endings_before_) return;
    try {
      serve_others(s, left);
    } catch (...) {
      s.run(close_);
      throw;
    }
  }
  // The other replicas then get out_of_range, the end of the input. This is not done when the chief's session is lost, because the chief
  // comes back.
  void end(watched_session& watched) override {
    if (close_) watched.of_graph()->run(close_);
  }
  std::string explain_wait(watched_session& watched) override {
    graph_session* const s = watched.of_graph();
    return s == nullptr ? std::string() : s->run({its_.missing}, {}, soon())[0].as<std::string>();
  }

 private:
  // Indices of the elements of a state.
  static constexpr std::size_t version_at = 0, awaited_at = 1, required_at = 2, endings_at = 3;
  static run_options soon() { return {.timeout_in_ms = 5000}; }

  // A restarted server does not know which replicas have ended; the chief does, as of its last check. The accumulators, whose step was set,
  // receive the state in any case.
  void restore_roster(graph_session& s) {
    std::string left;
    std::int64_t version = 0;
    {
      const std::lock_guard lock(guard_);
      left = known_left_;
      version = known_version_;
    }
    s.run(its_.restored, {{its_.since, version}, {its_.known_left, tensor_value(left)}});
  }
  void note_left(std::int64_t version, const tensor_value& left) {
    const std::lock_guard lock(guard_);
    if (version < known_version_) return;
    known_version_ = version;
    known_left_ = left.as<std::string>();
  }

  void join(graph_session& s) {
    s.run(its_.join);
    has_joined_ = true;
  }
  // Whether a run's fetches need the training step: only such runs contribute gradients.
  bool trains(const session_run_context& context) {
    for (const fetch_item& f : context.original_fetches()) {
      const graph_element e = f.resolve(its_.join.owner());
      const auto* tensor = std::get_if<output>(&e);
      const graph_operation from = tensor != nullptr ? tensor->operation() : std::get<graph_operation>(e);
      if (needs_token(from)) return true;
    }
    return false;
  }
  bool needs_token(const graph_operation& from) {
    const auto [known, is_new] = needs_token_.try_emplace(from.index(), false);
    if (!is_new) return known->second;
    const int token = its_.token_taken.index();
    std::vector<graph_operation> open{from};
    std::set<int> seen;
    bool found = false;
    while (!open.empty() && !found) {
      const graph_operation at = open.back();
      open.pop_back();
      if (!seen.insert(at.index()).second) continue;
      found = at.index() == token;
      for (const output& in : at.inputs()) open.push_back(in.operation());
      for (const graph_operation& in : at.control_inputs()) open.push_back(in);
    }
    return needs_token_[from.index()] = found;
  }

  // Called when the chief has no more data: it makes the updates of the others until they have ended.
  void serve_others(graph_session& s, std::vector<std::int64_t> state) {
    using clock = std::chrono::steady_clock;
    *log_ << its_.who + " has no more data; it makes the updates of " + std::to_string(state[awaited_at]) +
                 (state[awaited_at] == 1 ? " other replica" : " other replicas") + " until they have ended\n";
    const std::chrono::milliseconds patience(s.options().operation_timeout_in_ms);
    std::int64_t updates = updates_, version = state[version_at];
    for (auto last = clock::now(); !threads_->wait_for_stop(seconds(0.05));) {
      state = integers(s.run(its_.state));
      if (state[endings_at] > endings_before_) return;
      if (updates != updates_ || version != state[version_at]) {
        updates = updates_, version = state[version_at];
        last = clock::now();
      } else if (clock::now() - last > patience) {
        throw deadline_exceeded("the chief has no more data and waits for replicas that neither train nor end: " +
                                s.run({its_.missing}, {}, soon())[0].as<std::string>());
      }
    }
  }

  void start_updates(graph_session& s, coordinator& c) {
    const auto stopped = std::make_shared<cancellation>();
    c.on_stop([stopped] { stopped->cancel(); });
    c.start(
        [this, &s, &c, stopped] {
          // An update waits for as long as gradients are missing; only a stop of the coordinator ends the wait.
          constexpr std::int64_t ten_years_in_ms = std::int64_t{10} * 365 * 86'400'000;
          const run_options how{.timeout_in_ms = ten_years_in_ms, .cancel = stopped.get()};
          try {
            std::int64_t version = 0;  // changes of membership since the training began are logged
            graph_callable update = s.prepare({its_.updated}, {}, how);
            while (!c.should_stop()) {
              const auto state = integers(update()[0]);
              ++updates_;
              if (state[version_at] == version) continue;
              note_left(state[version_at], s.run({its_.left}, {}, how)[0]);
              tell_news(s, std::exchange(version, state[version_at]), how);
            }
          } catch (const cancelled&) {  // the coordinator stopped, or the queue was closed
          } catch (...) {
            if (!c.should_stop()) stop_because(c, std::current_exception());
          }
        },
        "SyncReplicas-" + its_.updated.operation().name());
    c.start([this, &s, &c, stopped] { watch(s, c, *stopped); }, "SyncReplicas-watch");
  }
  void tell_news(graph_session& s, std::int64_t since, const run_options& how) {
    *log_ << s.run({its_.news}, {{its_.since, since}}, how)[0].as<std::string>() << std::flush;
  }
  // Checks once a second whether a late update can still be made. It cannot if every awaited replica waits for a token, no token is left,
  // and an accumulator has too few gradients. Two equal observations in a row stand for one consistent view of all tasks.
  void watch(graph_session& s, coordinator& c, const cancellation& stopped) {
    std::vector<fetch_item> all{its_.missing, its_.all_wait, its_.state, its_.left};
    const std::size_t first = all.size();
    all.insert(all.end(), its_.counts.begin(), its_.counts.end());
    all.insert(all.end(), its_.tokens.begin(), its_.tokens.end());
    std::vector<std::int64_t> seen;
    for (std::int64_t updates = updates_; !c.wait_for_stop(seconds(1));) {
      if (std::exchange(updates, updates_) != updates_) {
        seen.clear();
        continue;
      }
      std::vector<tensor_value> now;
      try {
        now = s.run(all, {}, {.timeout_in_ms = 10'000, .cancel = &stopped});
      } catch (const error&) {  // the run that waits for an update reports it
        continue;
      }
      std::vector<std::int64_t> numbers = integers(now[2]);
      const std::int64_t required = numbers[required_at];
      bool is_short = false, has_tokens = false;
      note_left(numbers[version_at], now[3]);
      for (std::size_t k = first; k < now.size(); ++k) {
        numbers.push_back(integer(now[k]));
        if (k < first + its_.counts.size()) is_short = is_short || numbers.back() < required;
        else has_tokens = has_tokens || numbers.back() > 0;
      }
      if (numbers[endings_at] > endings_before_) {
        stop_because(c, std::make_exception_ptr(out_of_range("all replicas have ended: nobody is left who could give gradients")));
        return;
      }
      const bool cannot_end = now[1].as<bool>() && is_short && !has_tokens;
      if (cannot_end && seen == numbers) {
        std::string text =
            "a synchronous update cannot be made: it needs " + std::to_string(required) + " gradients of each variable; there are";
        for (std::size_t k = 0; k < its_.counts.size(); ++k) text += (k == 0 ? " " : ", ") + std::to_string(integer(now[first + k]));
        text +=
            ", and each of the " + std::to_string(numbers[awaited_at]) +
            " replicas that remain has given its own and waits for a token, of which none is left; give more first tokens, or more "
            "replicas";
        stop_because(c, std::make_exception_ptr(failed_precondition(text)));
        return;
      }
      seen = cannot_end ? numbers : std::vector<std::int64_t>{};
    }
  }

  graph_operation local_init_, first_tokens_, renewed_tokens_, close_;
  output ready_;
  const sync_membership its_;
  const bool is_chief_;
  std::ostream* const log_;
  coordinator* threads_ = nullptr;
  std::map<int, bool> needs_token_;
  std::mutex guard_;
  std::string known_left_;          // guarded by guard_
  std::int64_t known_version_ = 0;  // guarded by guard_
  std::atomic<std::int64_t> updates_{0};
  std::atomic<std::int64_t> endings_before_{0};
  bool has_joined_ = false;
};

}  // namespace detail

LEAT_FUNCTION std::shared_ptr<session_run_hook> sync_replicas_hook(sync_replicas& sync, bool is_chief, int num_tokens, std::ostream* log) {
  return std::make_shared<detail::replicas_hook>(sync, is_chief, num_tokens, log);
}

}  // namespace leat
