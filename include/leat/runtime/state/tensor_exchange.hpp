#pragma once
// How the parts of a run on several devices pass tensors to each other: `_Send` gives one to an edge, `_Recv` takes it. The cluster's
// runtime implements it for each run of a part (named/placement/partition.hpp).

#include <leat/runtime/state/tensor_value.hpp>

#include <cstdint>
#include <functional>

namespace leat {

struct step_state;

class tensor_exchange {
 public:
  virtual ~tensor_exchange() = default;
  /// Sends a tensor along an edge, or, without a value, the fact that its node did not run. Does not block; a small tensor may be kept back
  /// until `flush`, to go with others in one message. Errors: internal ones of the connection, such as unavailable.
  virtual void send(std::int64_t edge, tensor_value value) = 0;
  /// Sends what `send` has kept back. Errors: those of `send`.
  virtual void flush() {}
  /// Takes the tensor of an edge if it has arrived; `value` is then empty if the giver's node did not run.
  virtual bool take(std::int64_t edge, tensor_value& value) = 0;
  /// Flushes, then blocks until something has arrived since it last returned, checking the step from time to time; it may return once too
  /// often. Errors: those of the step's check; unavailable, aborted and others if a tensor cannot arrive any more.
  virtual void wait(const step_state& step) = 0;
};

}  // namespace leat
