#pragma once
// Runs a program's steps on a device.

#include <leat/thrust/cluster_step.hpp>
#include <leat/thrust/kernel_step.hpp>

namespace leat::on_thrust {

namespace detail {

template <class Program, int Step, class Device>
void run_step(Device& device, const workspace& w) {
  constexpr auto info = Program::view.step_at(Step);
  constexpr auto operands = std::make_index_sequence<static_cast<std::size_t>(info.operand_count)>{};
  if constexpr (info.is_cluster) {
    using step = cluster_step<Program, Step>;
    step::run(device, w, operands, std::make_index_sequence<static_cast<std::size_t>(step::type::accumulating)>{});
  } else {
    kernel_step<Program, Step>::run(device, w, operands);
  }
}

}  // namespace detail

/// Runs all steps on a device, which provides for_each, find_out_of_range, multiply, copy_in, copy_out and finish.
template <class Program, class Device, std::size_t... Step>
void run_program(Device& device, const workspace& w, std::index_sequence<Step...>) {
  (detail::run_step<Program, static_cast<int>(Step)>(device, w), ...);
}

}  // namespace leat::on_thrust
