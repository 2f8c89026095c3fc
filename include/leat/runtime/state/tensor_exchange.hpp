#pragma once
// Passes tensors between the subgraphs of a run on several devices: `_Send` puts one on an edge, `_Recv` takes it. The cluster's runtime
// implements this interface for each run of a subgraph (named/placement/partition.hpp).

#include <leat/runtime/state/tensor_value.hpp>

#include <cstdint>
#include <functional>

namespace leat {

struct step_state;

/// Interface between the executor and the connections of a run's subgraph.
class tensor_exchange {
 public:
  virtual ~tensor_exchange() = default;
  /// Sends a tensor along an edge; an empty value means that the node is dead. Does not block. A small tensor may be held back until
  /// `flush`, to go with others in one message. Errors: those of the connection, such as unavailable.
  virtual void send(std::int64_t edge, tensor_value value) = 0;
  /// Sends the tensors that `send` has held back. Errors: those of `send`.
  virtual void flush() {}
  /// Takes the tensor of an edge if it has arrived. `value` is then empty if the sending node is dead.
  virtual bool take(std::int64_t edge, tensor_value& value) = 0;
  /// Flushes, then blocks until something has arrived since it last returned, checking the step from time to time. It may return once more
  /// than needed. Errors: those of the step's check; unavailable, aborted and others if a tensor cannot arrive any more.
  virtual void wait(const step_state& step) = 0;
};

}  // namespace leat
