#pragma once
// The identity of a process: two processes exchange it before anything else, and either may refuse the other because of it.

#include <leat/cluster/transport/frame.hpp>
#include <leat/cluster/transport/status.hpp>
#include <leat/core/function_bodies.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace leat::transport {

struct identity {
  std::string cluster;  ///< fingerprint of the cluster's specification
  std::string run;      ///< the training run; empty for any
  std::string job;      ///< empty for a client
  int task = -1;
  std::uint64_t incarnation = 0;  ///< random, new at each start
  std::string address;            ///< where the process listens; empty for a client
  std::int64_t process = 0;

  /// "/job:worker/task:1"; "a client (process 4711)"
  std::string name() const;
};

/// A new random number; never 0.
std::uint64_t random_incarnation();

/// The identity that a dialing process expects. Fields that are empty, -1 or 0 match any.
struct expectation {
  std::string job;
  int task = -1;
  std::uint64_t incarnation = 0;

  /// "/job:worker/task:1"; empty if any process matches
  std::string name() const;
};

/// The first message of a process: its identity, the one it expects, and its clock in nanoseconds.
struct greeting {
  identity who;
  expectation wants;
  std::int64_t clock = 0;
};
frame encode_greeting(const greeting& g);
/// Errors: data_loss.
greeting decode_greeting(const frame& f);

/// Why the process `own` refuses a greeting; empty if it accepts.
std::optional<std::pair<status, std::string>> refusal_of(const identity& own, const greeting& g);

}  // namespace leat::transport

#if LEAT_WITH_BODIES
#include <leat/cluster/transport/impl/identity.hpp>
#endif
