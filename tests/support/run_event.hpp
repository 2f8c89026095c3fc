#pragma once
// For tests in which another thread acts while a run waits: an event that the run sets when it is about to wait.

#include <leat/core/error.hpp>
#include <leat/named/functions/host_function.hpp>

#include <chrono>
#include <semaphore>
#include <span>
#include <vector>

namespace leat_test {

class run_event {
 public:
  /// A node of the default graph that sets the event. Nodes that depend on it begin afterwards. The event must outlive their runs.
  leat::output node() {
    using leat::tensor_literal;
    return leat::host_function(
               [this](std::span<const tensor_literal>) -> std::vector<tensor_literal> {
                 set_.release();
                 return {tensor_literal(1.0f)};
               },
               {}, {leat::dtype::float32})
        .result();
  }
  /// Waits until a run has reached the node. Errors: deadline_exceeded after 20 seconds.
  void wait() {
    if (!set_.try_acquire_for(std::chrono::seconds(20))) throw leat::deadline_exceeded("no run has reached the event");
  }

 private:
  std::counting_semaphore<1000> set_{0};
};

}  // namespace leat_test
