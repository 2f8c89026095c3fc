#pragma once
// The steps in which a task takes part, and the tensors that have arrived for them. A tensor may arrive before the task has received its
// step, or after the step has ended here: early tensors are kept, within bounds, and late ones are dropped.

#include <leat/cluster/step_statistics.hpp>
#include <leat/cluster/task_network.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/state/tensor_exchange.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace leat::cluster {

/// A step as one task runs it: what its nodes send and receive.
class task_step final : public tensor_exchange {
 public:
  /// `to`: the receiving task of each edge.
  task_step(task_network& network, std::uint64_t number, const std::map<std::int64_t, int>& to, const cancellation* cancel,
            bool is_traced = false, steady_time deadline = steady_time::max())
      : network_(network), number_(number), to_(to), is_traced_(is_traced), deadline_(deadline), cancel_(cancel) {}

  std::uint64_t number() const { return number_; }

  /// Waits while more bytes are in flight to the task than the connection accepts. Errors: the error that ended the step;
  /// deadline_exceeded, cancelled.
  LEAT_INLINE void send(std::int64_t edge, tensor_value value) override;
  LEAT_INLINE void flush() override;
  /// Holds a tensor back until `flush` or `try_flush`, whatever its size.
  void keep_back(std::int64_t edge, tensor_value value);
  /// Flushes without waiting; returns whether everything was sent. The rest is sent by the next `flush`.
  bool try_flush();
  LEAT_INLINE bool take(std::int64_t edge, tensor_value& value) override;
  LEAT_INLINE void wait(const step_state& step) override;

  /// Called when tensors have arrived for these edges; `at`: the time, if the step is traced.
  void arrive(const std::vector<std::int64_t>& edges, std::vector<tensor_value> values, std::int64_t at = 0);
  /// For a traced step: moves the records of what it has sent and received to `to`.
  void tell(part_statistics& to);
  /// Ends the step with an error, which waiting threads get.
  void fail(std::exception_ptr why);
  /// Calls `then` once, when tensors have arrived for this many edges or the step has failed: at once, or on the thread that delivers the
  /// last of them. It must not throw or block. At most one `then` may be pending.
  void when_arrived(std::size_t count, std::function<void()> then);
  const cancellation& cancel() const { return cancel_; }
  /// The error that ended it, if any.
  std::exception_ptr failure() const {
    const std::lock_guard lock(guard_);
    return failure_;
  }

 private:
  task_network& network_;
  const std::uint64_t number_;
  const std::map<std::int64_t, int>& to_;
  const bool is_traced_;
  const steady_time deadline_;
  // Tensors that are held back for a task.
  struct gathered {
    std::vector<std::uint64_t> edges;
    std::vector<tensor_value> values;
    std::size_t bytes = 0;
    std::int64_t message = 0;
  };
  // Messages that a connection did not accept at once; used by one thread at a time.
  struct unsent {
    int task;
    method what;
    transport::message m;
  };
  gathered& gather(int task, std::int64_t edge, tensor_value value);
  int task_of(std::int64_t edge) const;
  unsent packed(int task, gathered what) const;
  void send_waiting(unsent what);
  void check() const;
  // Returns and clears the function to call now, if any; called under the lock.
  std::function<void()> take_then();

  mutable std::mutex guard_;
  std::map<int, gathered> gathered_;
  std::vector<unsent> unsent_;
  std::map<std::int64_t, tensor_value> arrived_;
  std::int64_t messages_ = 0;
  std::vector<passed_tensor> sent_, received_;  // of a traced step
  std::exception_ptr failure_;
  std::size_t awaited_ = 0;
  std::function<void()> then_;
  cancellation cancel_;
  std::atomic<bool> news_{false};
};

/// The steps of a task. Thread-safe.
class step_table {
 public:
  /// Errors: invalid_argument if a step with this number exists or existed; the error passed to `close`.
  std::shared_ptr<task_step> begin(task_network& network, std::uint64_t number, const std::map<std::int64_t, int>& to,
                                   const cancellation* cancel = nullptr, bool is_traced = false, steady_time deadline = steady_time::max());
  void end(std::uint64_t number);
  /// Delivers tensors for a step that runs, is to come, or has ended. If too many wait for steps to come, those of the oldest step are
  /// dropped, and that step fails when it begins.
  /// `peer`: their sender; `at`: as in task_step::arrive.
  /// `credit`: of the message that brought them; held as long as they wait for a step to come. A running step takes them at once.
  void arrive(std::uint64_t number, const std::vector<std::int64_t>& edges, std::vector<tensor_value> values, std::uint64_t peer = 0,
              std::int64_t at = 0, std::shared_ptr<const void> credit = nullptr);
  /// Called when a peer has gone: tensors that it sent for steps to come are dropped, and those steps fail when they begin.
  void forget_from(std::uint64_t peer);
  /// Ends a step with an error; a step that is still to come fails as soon as it begins.
  void fail(std::uint64_t number, std::exception_ptr why);
  /// Ends all steps with an error, and permits no new ones.
  void close(const std::exception_ptr& why);

 private:
  static constexpr std::size_t most_early = 4096;                        // steps to come
  static constexpr std::size_t most_early_bytes = std::size_t{4} << 30;  // of all steps but the last
  static constexpr std::size_t most_ended = 65536;
  struct early {
    struct waiting {
      tensor_value value;
      std::int64_t at = 0;  // when it arrived, if the step is traced
      std::shared_ptr<const void> credit;
    };
    std::map<std::int64_t, waiting> values;  // by edge
    std::uint64_t peer = 0;
    std::exception_ptr failure;
    std::size_t bytes = 0;
  };
  early& early_of(std::uint64_t number);
  void forget_early();
  bool has_ended(std::uint64_t number) const { return ended_.contains(number); }

  std::mutex guard_;
  std::exception_ptr closed_;
  std::unordered_map<std::uint64_t, std::shared_ptr<task_step>> running_;
  std::unordered_map<std::uint64_t, early> early_;
  std::deque<std::uint64_t> early_order_;
  std::size_t early_bytes_ = 0;
  std::unordered_set<std::uint64_t> ended_;
  std::deque<std::uint64_t> ended_order_;
  std::unordered_set<std::uint64_t> dropped_;  // steps to come that had too many tensors
  std::deque<std::uint64_t> dropped_order_;
};

}  // namespace leat::cluster

#if LEAT_WITH_BODIES
#include <leat/cluster/impl/step_table.hpp>
#endif
