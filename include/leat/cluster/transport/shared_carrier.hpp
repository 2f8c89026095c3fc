#pragma once
// Connections between processes of one host and one user, through shared memory. A server listens at a Unix socket with an abstract name
// derived from its address, so the name vanishes with the process. Each side passes the segment that it writes (see shared_segment.hpp)
// over the socket. After that the socket carries no data: a byte on it wakes the other side if it sleeps, and the end of the socket is the
// end of the connection, which is noticed at once however a process ends.

#include <leat/cluster/transport/carrier.hpp>
#include <leat/cluster/transport/shared_segment.hpp>
#include <leat/core/function_bodies.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace leat::transport {

struct endpoint_options;

class shared_carrier final : public carrier {
 public:
  shared_carrier(const endpoint_options& options, carrier_events& events, reactor& loop, std::uint64_t token);
  LEAT_INLINE ~shared_carrier() override;

  /// Listens in addition to the network address. If that fails, peers use the network.
  void listen(const address& where);

  /// Returns null if the process that listens there offers no shared memory. While no process listens there, it keeps trying, and calls
  /// `fall_back` of the events if a process without shared memory appears.
  LEAT_INLINE std::shared_ptr<channel> dial(const address& where) override;
  LEAT_INLINE void handle(std::uint64_t token, bool has_ended) override;
  LEAT_INLINE bool pump() override;
  LEAT_INLINE steady_time next_timer() const override;
  LEAT_INLINE void on_timer(steady_time now) override;
  LEAT_INLINE void close(steady_time deadline) override;
  LEAT_INLINE void forget() override;

 private:
  class shared_channel;
  enum class attempt { connected, nobody, network_only };
  attempt try_connect(shared_channel& c);
  void accept_all();
  void drop_oldest();
  void greet(shared_channel& c);
  void advance(const std::shared_ptr<shared_channel>& c, bool& more);
  void add(const std::shared_ptr<shared_channel>& c);

  const endpoint_options& options_;
  carrier_events& events_;
  reactor& loop_;
  std::uint64_t token_;
  descriptor listening_;
  std::unordered_map<std::uint64_t, std::shared_ptr<shared_channel>> channels_;
  std::vector<std::shared_ptr<shared_channel>> trying_;
  std::uint64_t last_number_ = 0;
  int strangers_ = 0;  // accepted connections that have not passed their memory
  std::vector<std::uint64_t> ready_;
  std::vector<std::uint64_t> pumped_;  // kept to reuse its memory
};

}  // namespace leat::transport

#if LEAT_WITH_BODIES
#include <leat/cluster/transport/impl/shared_carrier.hpp>
#endif
