#pragma once
// The ends of an edge between devices. The executor itself receives the tensors of _Recv nodes (runtime/run/framed_run.hpp), so that one
// thread waits for all edges of a run. The kernel of _Recv is used only when the node runs by itself.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/state/tensor_exchange.hpp>

namespace leat::runtime {

inline tensor_exchange& exchange_of(kernel_context& c) {
  if (c.step.exchange == nullptr)
    throw failed_precondition("is an end of an edge between devices, and this run is no part of a run on several devices");
  return *c.step.exchange;
}

LEAT_FILL(fill_exchange_kernels) {
  register_kernel("_Send", [](kernel_context& c) {
    const bool dead = c.incoming(0).variable == nullptr && !c.incoming(0).value;
    exchange_of(c).send(c.node.integer("_edge"), dead ? tensor_value{} : c.input(0).kept());
  });
  register_kernel("_Recv", [](kernel_context& c) {
    tensor_exchange& exchange = exchange_of(c);
    tensor_value value;
    while (!exchange.take(c.node.integer("_edge"), value)) exchange.wait(c.step);
    if (value) c.set(0, std::move(value));
    else c.set_dead(0);
  });
}

}  // namespace leat::runtime
