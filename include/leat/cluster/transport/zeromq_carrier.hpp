#pragma once
// Connections over TCP, by ZeroMQ. One ROUTER accepts, and one DEALER per peer is dialed. ZeroMQ's sockets only serve as pipes: they
// provide order, framing, encryption, and reconnection until the first success. ZeroMQ's own limits count messages, and it does not report
// errors; so it is configured to refuse (ROUTER_MANDATORY, IMMEDIATE), never to wait (DONTWAIT, LINGER), and never to accept more than a
// frame may hold (MAXMSGSIZE), and its monitors report the state of connections. Sockets are used under the endpoint's lock, by any thread.

#include <leat/cluster/transport/carrier.hpp>
#include <leat/core/function_bodies.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace leat::transport {

struct endpoint_options;

class zeromq_carrier final : public carrier {
 public:
  /// `token`: combined with the tokens of its descriptors. Errors: resource_exhausted.
  zeromq_carrier(const endpoint_options& options, carrier_events& events, reactor& loop, std::uint64_t token);
  LEAT_INLINE ~zeromq_carrier() override;

  /// Binds the address and returns it with the bound port. Errors: failed_precondition if it is in use or does not belong to this host.
  address listen(const address& where);
  void set_allowed(const std::vector<std::string>& keys);

  LEAT_INLINE std::shared_ptr<channel> dial(const address& where) override;
  LEAT_INLINE void handle(std::uint64_t token, bool has_ended) override;
  LEAT_INLINE bool pump() override;
  LEAT_INLINE steady_time next_timer() const override;
  LEAT_INLINE void on_timer(steady_time now) override;
  LEAT_INLINE void close(steady_time deadline) override;
  LEAT_INLINE void forget() override;

 private:
  struct state;
  class dealer;
  class routed;
  std::unique_ptr<state> s_;
};

}  // namespace leat::transport

#if LEAT_WITH_BODIES
#include <leat/cluster/transport/impl/zeromq_carrier.hpp>
#endif
