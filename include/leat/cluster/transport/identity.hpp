#pragma once
// Who a process is: what two tell each other before anything else, and by which one refuses the other.

#include <leat/cluster/transport/frame.hpp>
#include <leat/cluster/transport/status.hpp>
#include <leat/core/function_bodies.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace leat::transport {

struct identity {
  std::string cluster;  ///< fingerprint of its specification
  std::string run;      ///< of the training; empty for any
  std::string job;      ///< empty for a client
  int task = -1;
  std::uint64_t incarnation = 0;  ///< random, of each start
  std::string address;            ///< where it listens; empty for a client
  std::int64_t process = 0;

  /// "/job:worker/task:1"; "a client (process 4711)"
  std::string name() const;
};

/// A new one; never 0.
std::uint64_t random_incarnation();

/// Whom one dials. What is empty, -1 or 0 may be anyone's.
struct expectation {
  std::string job;
  int task = -1;
  std::uint64_t incarnation = 0;

  /// "/job:worker/task:1"; empty for anyone
  std::string name() const;
};

/// What introduces a process, with whom it wants; its clock in nanoseconds.
struct greeting {
  identity who;
  expectation wants;
  std::int64_t clock = 0;
};
frame encode_greeting(const greeting& g);
/// Errors: data_loss.
greeting decode_greeting(const frame& f);

/// Why `own` refuses a greeting; nothing if it does not.
std::optional<std::pair<status, std::string>> refusal_of(const identity& own, const greeting& g);

}  // namespace leat::transport

#if LEAT_WITH_BODIES
#include <leat/cluster/transport/identity_bodies.hpp>
#endif
