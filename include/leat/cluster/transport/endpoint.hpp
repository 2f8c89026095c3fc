#pragma once
// An endpoint is a process's (or server's) end of all its connections. It listens at one address, dials others, and chooses for each the
// transport: within the process by reference, on the same host through shared memory, otherwise ZeroMQ over TCP. Nothing here waits:
// `send` puts a message into a queue of the connection, whose bytes are bounded, and the peer grants credit for what may be under way. What
// arrives is handed to a handler by the endpoint's own thread, or by a thread that waits for an answer in `wait`.

#include <leat/cluster/transport/carrier.hpp>
#include <leat/cluster/transport/endpoint_options.hpp>
#include <leat/cluster/transport/traffic.hpp>
#include <leat/cluster/transport/wire.hpp>
#include <leat/core/function_bodies.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <compare>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace leat::transport {

/// What an endpoint tells its owner. Calls come one at a time. A handler may use the endpoint, and must not wait: not for answers, not
/// for locks that are held for long.
class endpoint_handler {
 public:
  virtual ~endpoint_handler() = default;
  /// A connection is there: dialed, or accepted from another.
  virtual void opened(link_id link, bool accepted) = 0;
  virtual void received(link_id link, message m) = 0;
  /// It has ended, other than by `close_link`, or could not be made.
  virtual void closed(link_id link, const closing& why) = 0;
};

class endpoint final : private reactor_client, private carrier_events {
 public:
  /// Errors: invalid_argument for an address that is none, or that others can reach and neither keys nor `insecure_network` are given;
  /// failed_precondition if the address is in use or no address of this host; resource_exhausted.
  endpoint(endpoint_options options, endpoint_handler& handler);
  endpoint(const endpoint&) = delete;
  endpoint& operator=(const endpoint&) = delete;
  /// Closes. Not to be called by a handler.
  LEAT_INLINE ~endpoint();

  /// Begins to hand events to the handler.
  void start();

  /// "host:port" with the port that was bound; empty if it does not listen.
  const std::string& address() const { return listening_; }

  /// Begins to connect; the handler learns of the outcome, which has no deadline of its own. A name is looked up before, until the
  /// deadline. Errors: invalid_argument, unavailable (no such name), deadline_exceeded.
  link_id dial(const std::string& where, steady_time deadline);
  /// Sends, or queues, a message. Never waits. Failures, and messages without parts, find room in a full queue, too.
  /// Errors: unavailable if the connection has ended; resource_exhausted if its queue is full; those of `encode`.
  void send(link_id link, const message& m);
  /// The same; false if the queue is full.
  bool try_send(link_id link, const message& m);
  /// Whether there is room in the queue again, waiting until the deadline; false too if the connection has ended.
  bool wait_for_room(link_id link, steady_time deadline);
  /// Whether this thread runs a handler, which must not wait.
  bool is_in_handler() const { return reactor_.is_inside(); }
  /// Memory for a part of a message to this peer, which its transport need not copy. Plain memory if that is not to be had.
  writable_frame allocate(link_id link, std::size_t bytes);
  /// The same for memory that is kept over many messages: shared memory, of which others leave half for what is not; empty if there is none.
  writable_frame lend(link_id link, std::size_t bytes);
  /// Ends a connection, after what is queued has left if `orderly`. The handler is not told.
  void close_link(link_id link, bool orderly);
  /// Accepts messages of full size from a peer; until then they must be short, and come within `stranger_time`.
  void trust(link_id link);

  /// Bytes queued for a peer and not yet sent; bytes sent that it has not taken yet, as far as is known.
  std::size_t queued(link_id link) const;
  std::size_t under_way(link_id link) const;
  std::optional<way> way_of(link_id link) const;
  /// When the last bytes of a peer came.
  steady_time heard(link_id link) const;
  /// What it has sent, or queued, and received since its start.
  traffic its_traffic() const;
  /// The peer's public key, if keys are in use.
  std::string key_of(link_id link) const;

  /// Replaces the list of those who may connect; connections of others end. For endpoints with keys.
  void set_allowed(std::vector<std::string> keys);

  /// A call that is to be made at a time; a default one is none.
  struct timer {
    steady_time when{};
    std::uint64_t number = 0;
    auto operator<=>(const timer&) const = default;
  };
  /// Has `f` called as handlers are, at a time or soon after.
  timer at(steady_time when, std::function<void()> f);
  /// Takes that back, if it has not begun.
  void forget(const timer& t);
  /// How many are to come.
  std::size_t timers() const;

  /// Waits until `done`, which a handler sets before it calls `wake`. Whether it is done.
  /// Errors: failed_precondition from a handler, which would wait for itself.
  bool wait(const std::atomic<bool>& done, steady_time deadline);
  void wake() { reactor_.wake(); }

  /// Ends all connections, after what is queued has left or the deadline has passed. Idempotent.
  void close(steady_time deadline);

  /// Errors: failed_precondition in the child of a fork.
  void check_process() const;

 private:
  struct account;
  struct lent_credit;
  struct due_list;
  struct link_state;
  struct delivery;
  struct timer_call;

  LEAT_INLINE bool run(const std::vector<std::uint64_t>& tokens) override;
  LEAT_INLINE steady_time next_timer() override;
  LEAT_INLINE void accepted(std::shared_ptr<channel> c) override;
  LEAT_INLINE void opened(channel& c) override;
  LEAT_INLINE void received(channel& c, packet p) override;
  LEAT_INLINE void writable(channel& c) override;
  LEAT_INLINE void closed(channel& c, closing why) override;
  LEAT_INLINE void fall_back(channel& c, const transport::address& where) override;

  link_state& add_link(std::shared_ptr<channel> c, bool is_accepted);
  link_state* find(link_id link);
  const link_state* find(link_id link) const;
  void flush(link_state& l);
  void end(link_id link, closing why, bool orderly = false);
  void send_credit();
  /// How much a peer takes before it says so.
  std::size_t credit_step() const { return std::max<std::size_t>(options_.credit / 4, 1); }
  void drop_strangers(steady_time now);
  void drop_oldest_stranger();

  endpoint_options options_;
  endpoint_handler& handler_;
  std::uint64_t generation_;
  std::string listening_;

  mutable std::mutex mutex_;
  reactor reactor_;
  std::array<std::unique_ptr<carrier>, 3> carriers_;  // by way
  std::unordered_map<link_id, std::unique_ptr<link_state>> links_;
  link_id last_link_ = 0;
  std::vector<link_id> broken_;
  std::vector<delivery> deliveries_;
  // Kept for their memory: what `run` hands to the handler, and what `try_send` encodes.
  std::vector<delivery> delivering_;
  std::vector<packet> encoded_;
  std::map<timer, std::function<void()>> timers_;
  std::uint64_t last_timer_ = 0;
  std::atomic<steady_time::rep> timer_{no_deadline.time_since_epoch().count()};
  std::shared_ptr<due_list> due_;
  traffic counted_;
  int strangers_ = 0;
  bool started_ = false;
  bool closed_ = false;
};

/// Which transport serves a peer, by where it listens: the one function that decides it. A process of this host that offers no shared
/// memory is reached over the network nevertheless.
way choose_way(const transport::address& where, const endpoint_options& options);

}  // namespace leat::transport

#if LEAT_WITH_BODIES
#include <leat/cluster/transport/endpoint_bodies.hpp>
#endif
