#pragma once
// Connections within a process: packets are handed over by reference.

#include <leat/cluster/transport/carrier.hpp>
#include <leat/core/function_bodies.hpp>

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace leat::transport {

class local_carrier final : public carrier {
 public:
  local_carrier(carrier_events& events, reactor& loop);
  LEAT_INLINE ~local_carrier() override;

  /// Whether an endpoint of this process listens there.
  static bool is_listening(const address& where);
  void listen(const address& where);

  LEAT_INLINE std::shared_ptr<channel> dial(const address& where) override;
  void handle(std::uint64_t, bool) override {}
  LEAT_INLINE bool pump() override;
  LEAT_INLINE void close(steady_time deadline) override;
  void forget() override {}

 private:
  struct inbox;
  class local_channel;
  struct registry;
  static registry& all();

  carrier_events& events_;
  std::shared_ptr<inbox> inbox_;
  std::map<std::uint64_t, std::shared_ptr<local_channel>> channels_;
  std::string listening_;
};

}  // namespace leat::transport

#if LEAT_WITH_BODIES
#include <leat/cluster/transport/impl/local_carrier.hpp>
#endif
