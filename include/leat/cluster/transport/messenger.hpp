#pragma once
// Requests and answers between processes that have introduced themselves. A messenger owns an endpoint; each connection begins with a
// greeting, and peers that do not match are refused with a reason. A request has a number and gets one answer, or the error that the other
// side threw. Watched peers must send heartbeats: a peer without them is given up within a bounded time, and all requests that wait for it
// fail.

#include <leat/cluster/transport/endpoint.hpp>
#include <leat/cluster/transport/identity.hpp>
#include <leat/core/function_bodies.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace leat::transport {

struct messenger_options {
  identity self;  ///< the messenger fills in incarnation, address and process
  endpoint_options endpoint;
  /// A peer is given up as hung if its step makes no progress for this long; 0: never.
  std::chrono::milliseconds stalled{0};
  /// Limit in bytes of the answers to repeatable requests that are kept for a repetition.
  std::size_t kept_bytes = std::size_t{16} << 20;
};

/// Identifies a connection to a peer, for as long as it lasts; 0 means none.
using peer_id = link_id;

struct peer_info {
  identity who;         ///< empty until the peer has introduced itself
  std::string address;  ///< the address that was dialed, or at which the peer says it listens
  way by = way::network;
  std::string key;  ///< its public key, if keys are in use
  bool is_ready = false;
  bool is_accepted = false;
  steady_time heard{};
  std::uint64_t progress = 0;
  std::int64_t clock_offset = 0;  ///< its steady clock minus ours, in nanoseconds, for dialed peers
  std::int64_t clock_error = 0;   ///< bound of the error of clock_offset
};

/// How a peer left.
struct departure {
  bool is_orderly = false;  ///< the peer said goodbye
  status code = status::unavailable;
  std::string text;  ///< names the peer and its address
};

/// A received request that waits for an answer.
struct request {
  peer_id from = 0;
  identity who;
  std::uint64_t number = 0;
  bool is_repeatable = false;
  steady_time deadline = no_deadline;
  message m;
};

struct call_options {
  steady_time deadline = no_deadline;
  /// The other side keeps the answer, so that the request may be repeated over another connection with the same number.
  bool is_repeatable = false;
  /// The number of the request that is repeated; 0 for a new one.
  std::uint64_t number = 0;
};

/// The outcome of a request: an answer or an error.
struct outcome {
  message answer;
  std::exception_ptr problem;
};

class messenger final : private endpoint_handler {
 public:
  explicit messenger(messenger_options options);
  messenger(const messenger&) = delete;
  messenger& operator=(const messenger&) = delete;
  /// Says goodbye, waiting at most 200 ms.
  LEAT_INLINE ~messenger();

  // Handlers, to be set before `start`. They are called one at a time and must not block: long work belongs on another thread, which
  // answers when it is done.
  std::function<void(request)> on_request;
  std::function<void(peer_id, message)> on_note;
  std::function<void(peer_id, std::uint64_t number)> on_cancel;  ///< the requesting side no longer waits
  std::function<void(peer_id, const peer_info&)> on_ready;
  std::function<void(peer_id, const peer_info&, const departure&)> on_gone;
  std::function<void(peer_id, const departure&)> on_refused;  ///< a dialed peer that went away before it was ready
  std::function<std::optional<std::pair<status, std::string>>(const identity&)> admit;  ///< further reasons to refuse a peer

  void start();
  const identity& self() const { return self_; }
  endpoint& transport() { return *endpoint_; }
  traffic its_traffic() const { return endpoint_->its_traffic(); }

  /// Begins to connect. Errors: invalid_argument; unavailable if there is no such name.
  peer_id dial(const std::string& address, expectation wants = {},
               steady_time name_deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5));
  /// Waits until the peer has introduced itself. After the deadline the attempts continue until `hang_up`.
  /// Errors: unavailable, naming task, address and the result of the last attempt; failed_precondition (another cluster, version or task);
  /// aborted (another incarnation or run); unauthenticated.
  void await(peer_id p, steady_time deadline);
  /// Describes how far a connection has come, for messages to users: probes the network once more, for at most 100 ms.
  std::string describe(peer_id p);
  /// The peer that serves a task, if it is ready.
  std::optional<peer_id> find(const std::string& job, int task) const;
  std::optional<peer_info> info(peer_id p) const;
  std::vector<peer_id> peers() const;
  /// Ends a connection, with a goodbye if orderly.
  void hang_up(peer_id p, bool orderly = true);

  /// Sends a request and waits for its answer. The request carries the deadline of `options` or, if it is earlier, `m.deadline`.
  /// Errors: the error of the other side; unavailable if the connection ended; deadline_exceeded; resource_exhausted if the queue is full.
  message call(peer_id p, std::uint16_t method, std::vector<frame> parts, call_options options);
  message call(peer_id p, message m, call_options options);
  /// Sends a request without waiting: `then` is called as handlers are, or by the thread that cancels. Returns the request's number.
  std::uint64_t begin(peer_id p, message m, call_options options, std::function<void(outcome)> then);
  /// A new number for a request that may be repeated.
  std::uint64_t new_number() { return ++last_number_; }
  /// Gives up a request that `begin` made: the other side is notified, and `then` gets `cancelled`.
  void cancel(std::uint64_t number);

  /// Answers a request, once. Thread-safe. An answer to a peer that is gone is dropped.
  void answer(const request& r, message m);
  void answer(const request& r, std::vector<frame> parts);
  void fail(const request& r, const std::exception& e);
  void fail(const request& r, status code, const std::string& text);

  /// Sends a message that gets no answer. Errors: unavailable, resource_exhausted.
  void note(peer_id p, message m);
  /// As above, but waits for room in the queue; returns false if there is none before `until`. `m` may then be passed again.
  bool note(peer_id p, message& m, steady_time until);

  /// Requests heartbeats from the peer, and gives it up if they stop. Calls are counted. A peer with pending requests is watched in any
  /// case.
  void watch(peer_id p);
  void unwatch(peer_id p);
  /// Reports that a step makes progress; peers see it in heartbeats while there were more calls of `begin_step` than of `end_step`.
  void advance() { progress_.fetch_add(1, std::memory_order_relaxed); }
  void begin_step() { steps_.fetch_add(1), advance(); }
  void end_step() { steps_.fetch_sub(1), advance(); }

  /// Says goodbye to all peers, and ends. Pending requests get `cancelled`. Idempotent.
  void close(steady_time deadline);

 private:
  struct peer_state;
  struct pending;
  struct kept_answer;
  struct caller;

  std::shared_ptr<pending> start_call(peer_id p, message m, call_options options, std::function<void(outcome)> then);

  void expire(std::uint64_t number);
  void give_up(std::uint64_t number, std::exception_ptr why);

  LEAT_INLINE void opened(link_id link, bool accepted) override;
  LEAT_INLINE void received(link_id link, message m) override;
  LEAT_INLINE void closed(link_id link, const closing& why) override;

  bool is_key_of_servers(const std::string& key) const;
  void greeted(link_id link, const message& m);
  void welcomed(link_id link, const message& m);
  void refuse(link_id link, status code, const std::string& text);
  void requested(link_id link, message m);
  void finished(link_id link, message m);
  void beaten(link_id link, const message& m);
  void lose(link_id link, departure why);
  void tick();
  void arm();
  void send_greeting(link_id link, kind what, const expectation& wants);
  void respond(const request& r, message m);
  bool send_answer(const request& r, peer_id to, const message& m);
  std::string place_of(const peer_state& p) const;
  void complete(const std::shared_ptr<pending>& call, message answer, status code, std::string problem);

  messenger_options options_;
  identity self_;
  mutable std::mutex mutex_;
  std::unordered_map<link_id, std::unique_ptr<peer_state>> peers_;
  std::map<link_id, departure> gone_;
  std::unordered_map<std::uint64_t, std::shared_ptr<pending>> calls_;
  std::unordered_map<std::uint64_t, caller> callers_;  // by incarnation; callers with repeatable requests
  std::atomic<std::uint64_t> last_number_{0};
  std::atomic<std::uint64_t> progress_{0};
  std::atomic<int> steps_{0};
  bool is_armed_ = false;
  bool is_closing_ = false;
  steady_time last_tick_{};
  std::unique_ptr<endpoint> endpoint_;
};

}  // namespace leat::transport

#if LEAT_WITH_BODIES
#include <leat/cluster/transport/impl/messenger.hpp>
#endif
