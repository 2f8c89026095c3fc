#pragma once
// An endpoint is the end of all connections of a process (or server). It listens at one address, dials others, and chooses the transport
// for each connection: by reference within the process, through shared memory on the same host, and ZeroMQ over TCP elsewhere. Sending
// never blocks: `send` puts a message into the connection's queue, which has a limit in bytes, and the peer grants credit for bytes in
// flight. Messages that arrive are passed to a handler by the endpoint's own thread, or by a thread that waits for an answer in `wait`.

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

/// The events of an endpoint. Calls are made one at a time. A handler may use the endpoint, but must not block: neither on answers nor on
/// locks that are held for long.
class endpoint_handler {
 public:
  virtual ~endpoint_handler() = default;
  /// A connection has been made: dialed, or accepted from a peer.
  virtual void opened(link_id link, bool accepted) = 0;
  virtual void received(link_id link, message m) = 0;
  /// The connection has ended, other than by `close_link`, or could not be made.
  virtual void closed(link_id link, const closing& why) = 0;
};

class endpoint final : private reactor_client, private carrier_events {
 public:
  /// Errors: invalid_argument for a malformed address, or for one that other hosts can reach if neither keys nor `insecure_network` are
  /// given; failed_precondition if the address is in use or not an address of this host; resource_exhausted.
  endpoint(endpoint_options options, endpoint_handler& handler);
  endpoint(const endpoint&) = delete;
  endpoint& operator=(const endpoint&) = delete;
  /// Closes the endpoint. A handler must not call it.
  LEAT_INLINE ~endpoint();

  /// Begins to pass events to the handler.
  void start();

  /// "host:port" with the bound port; empty if the endpoint does not listen.
  const std::string& address() const { return listening_; }

  /// Begins to connect; the handler receives the outcome, for which there is no deadline. A name is looked up first, until the deadline.
  /// Errors: invalid_argument, unavailable (no such name), deadline_exceeded.
  link_id dial(const std::string& where, steady_time deadline);
  /// Sends or queues a message. Never blocks. Failures, and messages without parts, are accepted even if the queue is full.
  /// Errors: unavailable if the connection has ended; resource_exhausted if its queue is full; those of `encode`.
  void send(link_id link, const message& m);
  /// As `send`, but returns false if the queue is full.
  bool try_send(link_id link, const message& m);
  /// Waits until the queue has room again. Returns false at the deadline, or if the connection has ended.
  bool wait_for_room(link_id link, steady_time deadline);
  /// Whether this thread runs a handler, which must not block.
  bool is_in_handler() const { return reactor_.is_inside(); }
  /// Allocates memory for a part of a message to this peer, which its transport can send without a copy; plain memory if there is none.
  writable_frame allocate(link_id link, std::size_t bytes);
  /// Allocates such memory to be kept over many messages: shared memory, of which half is reserved for other uses; empty if there is none.
  writable_frame lend(link_id link, std::size_t bytes);
  /// Ends a connection, after queued messages have left if `orderly`. The handler gets no event.
  void close_link(link_id link, bool orderly);
  /// Accepts messages of full size from a peer; before this call its messages must be short, and arrive within `stranger_time`.
  void trust(link_id link);

  /// `queued`: bytes queued for a peer and not yet sent. `under_way`: bytes sent that the peer has not taken yet, as far as known.
  std::size_t queued(link_id link) const;
  std::size_t under_way(link_id link) const;
  std::optional<way> way_of(link_id link) const;
  /// When the last bytes from a peer arrived.
  steady_time heard(link_id link) const;
  /// Totals of messages sent or queued, and received, since the start.
  traffic its_traffic() const;
  /// The peer's public key, if keys are in use.
  std::string key_of(link_id link) const;

  /// Replaces the list of peers that may connect; connections of other peers end. For endpoints with keys.
  void set_allowed(std::vector<std::string> keys);

  /// A scheduled call; a default-constructed timer refers to none.
  struct timer {
    steady_time when{};
    std::uint64_t number = 0;
    auto operator<=>(const timer&) const = default;
  };
  /// Schedules `f` to be called as handlers are, at this time or soon after.
  timer at(steady_time when, std::function<void()> f);
  /// Cancels a scheduled call, if it has not begun.
  void forget(const timer& t);
  /// The number of scheduled calls.
  std::size_t timers() const;

  /// Waits until `done`, which a handler sets before it calls `wake`. Returns whether it was set before the deadline.
  /// Errors: failed_precondition if called from a handler, which would wait for itself.
  bool wait(const std::atomic<bool>& done, steady_time deadline);
  void wake() { reactor_.wake(); }

  /// Ends all connections, after queued messages have left or the deadline has passed. Idempotent.
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
  /// How many bytes a receiver takes before it returns credit for them.
  std::size_t credit_step() const { return std::max<std::size_t>(options_.credit / 4, 1); }
  void drop_strangers(steady_time now);
  void drop_oldest_stranger();

  endpoint_options options_;
  endpoint_handler& handler_;
  std::uint64_t generation_;
  std::string listening_;

  mutable std::mutex mutex_;
  reactor reactor_;
  std::array<std::unique_ptr<carrier>, 3> carriers_;  // indexed by `way`
  std::unordered_map<link_id, std::unique_ptr<link_state>> links_;
  link_id last_link_ = 0;
  std::vector<link_id> broken_;
  std::vector<delivery> deliveries_;
  // Kept to reuse their memory: the deliveries that `run` passes to the handler, and the packets that `try_send` encodes.
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

/// The only function that decides which transport serves a peer, from the peer's address. A process of this host that offers no shared
/// memory is still reached over the network.
way choose_way(const transport::address& where, const endpoint_options& options);

}  // namespace leat::transport

#if LEAT_WITH_BODIES
#include <leat/cluster/transport/impl/endpoint.hpp>
#endif
