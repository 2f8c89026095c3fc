#pragma once
// The interface of a transport within an endpoint: a carrier makes channels, a channel moves packets to one peer and back, in order. An
// endpoint has a carrier for its own process, one for its host and one for the network. All calls are made under the endpoint's lock.

#include <leat/cluster/transport/address.hpp>
#include <leat/cluster/transport/frame.hpp>
#include <leat/cluster/transport/reactor.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace leat::transport {

/// Numbers a connection of an endpoint, dialed or accepted; never used twice.
using link_id = std::uint64_t;

/// Which transport serves a connection.
enum class way { same_process, same_host, network };

/// Why a connection has ended, or was never made.
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
  /// Sends a packet, whose frames are moved from if that is done. `later`: the carrier calls `writable` when it is worth another try.
  virtual sending send(packet& p) = 0;
  /// Ends the connection; what was sent is still delivered if `orderly`. No event follows.
  virtual void close(bool orderly) = 0;
  /// Bytes of a frame that suit the transport; 0 if any do.
  virtual std::size_t chunk_bytes() const = 0;
  /// The other end, for messages.
  virtual std::string peer() const = 0;
  /// The peer's public key, if keys are in use.
  virtual std::string key() const { return {}; }
  /// Memory for a frame; what is allocated here the transport need not copy.
  virtual writable_frame allocate(std::size_t bytes) { return writable_frame::make(bytes); }

  /// The same for memory that is kept over many messages; empty if the transport has none of its own to give.
  virtual writable_frame lend([[maybe_unused]] std::size_t bytes) { return {}; }

  const way by;
  link_id link = 0;  // the endpoint's
};

/// What an endpoint hears from its carriers, within `handle`, `pump` and `on_timer`.
class carrier_events {
 public:
  virtual ~carrier_events() = default;
  virtual void accepted(std::shared_ptr<channel> c) = 0;
  virtual void opened(channel& c) = 0;
  virtual void received(channel& c, packet p) = 0;
  virtual void writable(channel& c) = 0;
  virtual void closed(channel& c, closing why) = 0;
  /// The channel, which is not open yet, should be made by the network instead.
  virtual void fall_back(channel& c, const address& where) = 0;
};

class carrier {
 public:
  virtual ~carrier() = default;
  /// Begins to connect; `opened` or `closed` follows. Errors: unavailable, resource_exhausted.
  virtual std::shared_ptr<channel> dial(const address& where) = 0;
  /// A descriptor with this token has an event; `has_ended`: its other end has been closed.
  virtual void handle(std::uint64_t token, bool has_ended) = 0;
  /// Goes on with what `handle` left, a bounded amount; whether something is still left.
  virtual bool pump() = 0;
  virtual steady_time next_timer() const { return no_deadline; }
  virtual void on_timer(steady_time) {}
  /// Closes everything; what was sent has until the deadline to leave.
  virtual void close(steady_time deadline) = 0;
  /// In the child of a fork: lets go of nothing that it shares with the parent.
  virtual void forget() = 0;
};

}  // namespace leat::transport
