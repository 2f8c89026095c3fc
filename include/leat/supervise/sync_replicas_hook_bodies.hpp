#pragma once
// Implementation of sync_replicas_hook.hpp.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/supervise/sync_replicas_hook.hpp>

#include <cstdint>
#include <memory>

namespace leat {

LEAT_FUNCTION queue_runner chief_queue_runner(const sync_replicas& sync) { return queue_runner(sync.token_queue(), {sync.sync_op()}); }

namespace detail {

class replicas_hook final : public session_run_hook {
 public:
  replicas_hook(sync_replicas& sync, bool is_chief, int num_tokens)
      : local_init_(is_chief ? sync.chief_init_op() : sync.local_step_init_op()), ready_(sync.ready_for_local_init_op()) {
    if (!is_chief) return;
    update_ = sync.sync_op();
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
    s->run(local_init_);
    if (static_cast<bool>(first_tokens_)) s->run(first_tokens_);
    // A replica may wait for an update whose gradients went with an earlier session.
    if (static_cast<bool>(renewed_tokens_) && watched.global_step() > 0) s->run(renewed_tokens_);
    if (update_) start_updates(*s, c);
  }
  // The others get out_of_range then, the end of the input. Not so when the chief's session is lost: it comes back.
  void end(watched_session& watched) override {
    if (close_) watched.of_graph()->run(close_);
  }

 private:
  void start_updates(graph_session& s, coordinator& c) {
    const auto stopped = std::make_shared<cancellation>();
    c.on_stop([stopped] { stopped->cancel(); });
    c.start(
        [&s, &c, op = update_, stopped] {
          // An update waits for as long as gradients are missing; the coordinator's stop ends it.
          constexpr std::int64_t ten_years_in_ms = std::int64_t{10} * 365 * 86'400'000;
          graph_callable update = s.prepare({op}, {}, {.timeout_in_ms = ten_years_in_ms, .cancel = stopped.get()});
          while (!c.should_stop()) {
            try {
              update();
            } catch (const cancelled&) {  // the stop, or the queue was closed
              return;
            } catch (...) {
              if (!c.should_stop()) stop_because(c, std::current_exception());
              return;
            }
          }
        },
        "SyncReplicas-" + update_.name());
  }

  graph_operation local_init_, first_tokens_, renewed_tokens_, update_, close_;
  output ready_;
};

}  // namespace detail

LEAT_FUNCTION std::shared_ptr<session_run_hook> sync_replicas_hook(sync_replicas& sync, bool is_chief, int num_tokens) {
  return std::make_shared<detail::replicas_hook>(sync, is_chief, num_tokens);
}

}  // namespace leat
