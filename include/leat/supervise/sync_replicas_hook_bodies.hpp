#pragma once
// Implementation of sync_replicas_hook.hpp.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/supervise/sync_replicas_hook.hpp>

#include <optional>

namespace leat {

LEAT_FUNCTION queue_runner chief_queue_runner(const sync_replicas& sync) { return queue_runner(sync.token_queue(), {sync.sync_op()}); }

namespace detail {

class replicas_hook final : public session_run_hook {
 public:
  replicas_hook(sync_replicas& sync, bool is_chief, int num_tokens)
      : local_init_(is_chief ? sync.chief_init_op() : sync.local_step_init_op()), ready_(sync.ready_for_local_init_op()) {
    if (!is_chief) return;
    runner_.emplace(chief_queue_runner(sync));
    if (num_tokens != 0) first_tokens_ = sync.init_tokens_op(num_tokens);
  }

  void after_create_session(watched_session& watched, coordinator& c) override {
    graph_session* const s = watched.of_graph();
    if (s == nullptr) throw failed_precondition("sync_replicas_hook: typed sessions have no replicas");
    if (const tensor_value missing = s->run(ready_); missing.elements() > 0)
      throw failed_precondition("Init operations did not make model ready for local_init: " + summary_text(missing, 16));
    s->run(local_init_);
    if (static_cast<bool>(first_tokens_)) s->run(first_tokens_);
    if (runner_) runner_->start(*s, c);
  }

 private:
  graph_operation local_init_, first_tokens_;
  output ready_;
  std::optional<queue_runner> runner_;
};

}  // namespace detail

LEAT_FUNCTION std::shared_ptr<session_run_hook> sync_replicas_hook(sync_replicas& sync, bool is_chief, int num_tokens) {
  return std::make_shared<detail::replicas_hook>(sync, is_chief, num_tokens);
}

}  // namespace leat
