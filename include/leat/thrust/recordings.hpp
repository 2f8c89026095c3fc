#pragma once
// The steps of a program on a device that repeats what it has recorded: cut where one waits for the device, with fed indices checked
// before.

#include <leat/thrust/run_steps.hpp>

#include <array>

namespace leat::on_thrust {

namespace detail {

// Whether a step waits for the device, so that it cannot be recorded.
template <class Program, int Step>
constexpr bool waits() {
  if constexpr (Program::view.step_at(Step).is_cluster) return false;
  else return kernel_step<Program, Step>::waits;
}
template <class Program, int Step>
void check_fed_indices(void* const* buffers, const std::int64_t* numbers) {
  constexpr auto info = Program::view.step_at(Step);
  if constexpr (!info.is_cluster)
    kernel_step<Program, Step>::check_fed(buffers, numbers, std::make_index_sequence<static_cast<std::size_t>(info.operand_count)>{});
}
template <class Program, std::size_t... Step>
void check_all_fed_indices(void* const* buffers, const std::int64_t* numbers, std::index_sequence<Step...>) {
  (check_fed_indices<Program, static_cast<int>(Step)>(buffers, numbers), ...);
}
template <class Program, std::size_t... Step>
constexpr auto waiting_steps(std::index_sequence<Step...>) {
  return std::array<bool, sizeof...(Step) + 1>{waits<Program, static_cast<int>(Step)>()..., false};
}
// The steps of a program, cut where one waits.
template <class Program>
struct recorded_parts {
  static constexpr int steps = Program::view.steps();
  static constexpr auto waiting = waiting_steps<Program>(std::make_index_sequence<static_cast<std::size_t>(steps)>{});
  static constexpr int end_of(int begin) {
    while (begin < steps && !waiting[static_cast<std::size_t>(begin)]) ++begin;
    return begin;
  }
  static constexpr int count = [] {
    int parts = 1;
    for (int k = 0; k < steps; ++k) parts += waiting[static_cast<std::size_t>(k)] ? 1 : 0;
    return parts;
  }();

  template <int Begin, class Device, std::size_t... I>
  static void run_steps(Device& device, const workspace& w, std::index_sequence<I...>) {
    (run_step<Program, Begin + static_cast<int>(I)>(device, w), ...);
  }
  template <int Begin, class Device, class Recording, class Last>
  static void run(Device& device, const workspace& w, Recording* recording, Last last) {
    constexpr int end = end_of(Begin);
    device.repeat(*recording, w.buffers, static_cast<std::size_t>(Program::view.buffers()), [&] {
      run_steps<Begin>(device, w, std::make_index_sequence<static_cast<std::size_t>(end - Begin)>{});
      if constexpr (end == steps) last();
    });
    if constexpr (end < steps) {
      run_step<Program, end>(device, w);
      run<end + 1>(device, w, recording + 1, last);
    }
  }
};

}  // namespace detail

/// The number of recordings of a program's run.
template <class Program>
inline constexpr std::size_t recordings_of = static_cast<std::size_t>(detail::recorded_parts<Program>::count);

/// Runs all steps, and then `last`, on a device that repeats what it has recorded: `device.repeat(recording, addresses, count, steps)`
/// calls `steps`, or does again what an earlier call for these addresses did, without the host's part in it. Steps that wait for the device
/// run between the recordings. Fed indices are checked before, where the host has them: `on_host` are its addresses of the buffers.
template <class Program, class Device, class Recording, class Last>
void run_recorded(Device& device, const workspace& w, void* const* on_host, Recording* recordings, Last last) {
  detail::check_all_fed_indices<Program>(on_host, w.numbers, std::make_index_sequence<static_cast<std::size_t>(Program::view.steps())>{});
  detail::recorded_parts<Program>::template run<0>(device, w, recordings, last);
}

}  // namespace leat::on_thrust
