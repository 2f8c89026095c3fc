#pragma once
// The interface of a transport within an endpoint: a carrier makes channels, and a channel moves packets to one peer and back, in order. An
// endpoint has one carrier for its own process, one for its host and one for the network. All calls are made under the endpoint's lock.

#include <leat/cluster/transport/address.hpp>
#include <leat/cluster/transport/frame.hpp>
#include <leat/cluster/transport/reactor.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace leat::transport {

/// Identifies a connection of an endpoint, dialed or accepted; never reused.
using link_id = std::uint64_t;

/// Which transport serves a connection.
enum class way { same_process, same_host, network };

/// Why a connection has ended, or could not be made.
struct closing {
  enum class cause { lost, refused_keys, bad_bytes, closed_here };
  cause why = cause::lost;
  std::string text;
};

class channel {
 public:
  enum class sending { done, later, gone };

  explicit channel(way w) : by(w) {}
  virtual ~channel() = default;
  /// Sends a packet; its frames are moved from if the result is `done`. With `later`, the carrier calls `writable` when another attempt is
  /// worthwhile.
  virtual sending send(packet& p) = 0;
  /// Ends the connection; packets that were sent are still delivered if `orderly`. No event follows.
  virtual void close(bool orderly) = 0;
  /// The frame size that suits the transport; 0 if any size does.
  virtual std::size_t chunk_bytes() const = 0;
  /// The address of the other end, for error messages.
  virtual std::string peer() const = 0;
  /// The peer's public key, if keys are in use.
  virtual std::string key() const { return {}; }
  /// Allocates memory for a frame, which the transport can send without a copy.
  virtual writable_frame allocate(std::size_t bytes) { return writable_frame::make(bytes); }

  /// Allocates memory that is kept over many messages, which the transport can send without a copy; empty if the transport has none.
  virtual writable_frame lend([[maybe_unused]] std::size_t bytes) { return {}; }

  const way by;
  link_id link = 0;  // number that the endpoint gives
};

/// The events that carriers report to their endpoint, within `handle`, `pump` and `on_timer`.
class carrier_events {
 public:
  virtual ~carrier_events() = default;
  virtual void accepted(std::shared_ptr<channel> c) = 0;
  virtual void opened(channel& c) = 0;
  virtual void received(channel& c, packet p) = 0;
  virtual void writable(channel& c) = 0;
  virtual void closed(channel& c, closing why) = 0;
  /// The channel, which is not open yet, must be replaced by one over the network.
  virtual void fall_back(channel& c, const address& where) = 0;
};

class carrier {
 public:
  virtual ~carrier() = default;
  /// Begins to connect; `opened` or `closed` follows. Errors: unavailable, resource_exhausted.
  virtual std::shared_ptr<channel> dial(const address& where) = 0;
  /// Handles an event of the descriptor with this token; `has_ended`: its other end has been closed.
  virtual void handle(std::uint64_t token, bool has_ended) = 0;
  /// Continues work that `handle` left, up to a bounded amount. Returns whether more work is left.
  virtual bool pump() = 0;
  virtual steady_time next_timer() const { return no_deadline; }
  virtual void on_timer(steady_time) {}
  /// Closes everything; packets that were sent have until the deadline to leave.
  virtual void close(steady_time deadline) = 0;
  /// Called in the child of a fork: releases nothing that is shared with the parent.
  virtual void forget() = 0;
};

}  // namespace leat::transport
