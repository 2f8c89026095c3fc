#pragma once
// A task_network for the tasks of a cluster, over a messenger: connects to a task when the first message for it is sent, uses the
// connection that the other side made if there is one, and queues messages until the other side has introduced itself.

#include <leat/cluster/task_network.hpp>
#include <leat/cluster/transport/messenger.hpp>
#include <leat/core/function_bodies.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace leat::cluster {

/// A task of a cluster, and its address.
struct task_address {
  std::string job;
  int index = 0;
  std::string address;  // "host:port"
  std::string name() const { return "/job:" + job + "/task:" + std::to_string(index); }
};

class messenger_network final : public task_network {
 public:
  /// Sets the messenger's handlers for peers that connect and leave, and starts it. `options.self` is the identity of this process.
  messenger_network(transport::messenger_options options, std::vector<task_address> tasks);
  LEAT_INLINE ~messenger_network() override;

  transport::messenger& its_messenger() { return messenger_; }
  const std::vector<task_address>& tasks() const { return tasks_; }

  /// Handlers, to be set before `start`: for a note that could not be sent, with its number; for a peer that has introduced itself; and for
  /// a peer that has gone.
  std::function<void(std::uint64_t number, std::exception_ptr)> on_lost_note;
  std::function<void(transport::peer_id, const transport::peer_info&)> on_found_peer;
  /// Whether a peer that has introduced itself may stay.
  std::function<bool(const transport::peer_info&)> admits;
  std::function<void(transport::peer_id, const transport::departure&)> on_lost_peer;
  void start();

  LEAT_INLINE void call(int task, method what, transport::message m, steady_time deadline, answer_handler done) override;
  LEAT_INLINE void note(int task, method what, transport::message m) override;
  LEAT_INLINE bool note_with_room(int task, method what, transport::message& m, steady_time until) override;
  bool wait(const std::atomic<bool>& done, steady_time until) override { return messenger_.transport().wait(done, until); }
  void wake() override { messenger_.transport().wake(); }
  std::uint64_t losses() const override { return losses_.load(); }
  LEAT_INLINE std::exception_ptr loss_of(int task, std::uint64_t before) override;
  LEAT_INLINE std::string describe(int task) override;
  LEAT_INLINE transport::writable_frame memory_for_task(int task, std::size_t bytes) override;
  transport::writable_frame memory_for_peer(std::uint64_t peer, std::size_t bytes) override {
    return messenger_.transport().lend(peer, bytes);
  }
  LEAT_INLINE std::vector<std::pair<int, std::chrono::milliseconds>> ended() const override;
  transport::traffic its_traffic() const override { return messenger_.its_traffic(); }

 private:
  struct waiting {
    std::uint64_t ticket = 0;
    transport::message m;
    steady_time deadline;
    answer_handler done;  // empty for a note
  };
  struct link {
    transport::peer_id peer = 0;
    bool is_ready = false;
    std::vector<waiting> queue;
    std::string problem;     // result of the last attempt
    std::uint64_t loss = 0;  // the number, among all losses, of this task's last one
  };
  /// Connects unless that has begun. Called with the lock held, which is released in between. Errors: those of dialing.
  void dial(std::unique_lock<std::mutex>& lock, int task);
  void send(transport::peer_id peer, waiting w);
  /// Returns the task's connection if it is ready; if not, keeps the note until it is, and returns 0.
  transport::peer_id ready_for_note(int task, transport::message& m);
  void expire(int task, std::uint64_t ticket, bool is_lost);
  void came(transport::peer_id peer, const transport::peer_info& info);
  void left(transport::peer_id peer, const transport::departure& why);

  const std::vector<task_address> tasks_;
  mutable std::mutex guard_;
  std::vector<link> links_;
  std::map<transport::peer_id, int> task_of_;
  std::map<int, steady_time> ended_;  // tasks that have said goodbye, and have not come back
  std::uint64_t last_ticket_ = 0;
  std::atomic<std::uint64_t> losses_{0};
  transport::messenger messenger_;
};

}  // namespace leat::cluster

#if LEAT_WITH_BODIES
#include <leat/cluster/impl/messenger_network.hpp>
#endif
