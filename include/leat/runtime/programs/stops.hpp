#pragma once
// The points at which a run of a compiled program can be stopped: before a step, and between the chunks of a step that writes no variable,
// but never between two writes of one node. A program of less than about a millisecond is never stopped and checks nothing. A longer one
// checks before a step only after enough work since the last check, so that the checks cost no measurable time.

#include <leat/cpu/interpret.hpp>
#include <leat/runtime/kernels/kernel.hpp>

#include <cmath>

namespace leat::runtime {

struct program_stops {
  /// Checks before a step: `at_calls` for cancellation; `at_clock` for the deadline, too; `within`: also between the step's chunks.
  enum look : unsigned char { at_calls = 1, at_clock = 2, within = 4 };
  bool is_long = false;
  std::vector<unsigned char> of_step;  // indexed by step: bits of `look`
};

namespace detail {

using leat::program_view;
using namespace leat::instructions;

inline std::int64_t elements_of(const program_view& p, int buffer, const std::int64_t* sizes) {
  return p.elements(p.buffer_at(buffer).extent, sizes);
}
// Cost estimate of a step: the elements that it computes times the instructions per element.
inline double work_of_step(const program_view& p, const program_view::step& s, const std::int64_t* sizes) {
  double n = 1;
  if (s.is_cluster) {
    for (int l = 0; l < s.loop_count; ++l) n *= static_cast<double>(s.loop(l).value(sizes));
    return n * (s.instruction_count / words_per_instruction);
  }
  if ((s.code == operator_record<matmul_op>::code || s.code == operator_record<passes::matmul_update_op>::code) && s.operand_count >= 3) {
    // [m, k] x [k, n] = [m, n]: the product of the three element counts contains m, k and n twice each. 16 multiplications cost about as
    // much as one instruction of other steps.
    for (int k = 0; k < 3; ++k) n *= static_cast<double>(elements_of(p, s.operand_buffer(k), sizes));
    return std::sqrt(n) / 16;
  }
  n = 0;
  for (int k = 0; k < s.operand_count; ++k) n += static_cast<double>(elements_of(p, s.operand_buffer(k), sizes));
  return n;
}
// Calls `f` with the buffer of each variable that a step may write.
template <class F>
void for_each_written(const program_view& p, const std::int64_t* data, const program_view::step& s, F f) {
  const auto tell = [&](int operand) {
    const int buffer = s.operand_buffer(operand);
    if (p.buffer_at(buffer).where == storage::variable) f(buffer);
  };
  if (!s.is_cluster) {
    for (int k = 0; k < s.operand_count; ++k)
      if (k >= 2 || k + 1 == s.operand_count) tell(k);
    return;
  }
  const std::int64_t* code = data + s.instructions;
  std::int64_t at = phase_lengths + 3 + 2 * code[stages] + 3 * code[accumulating_total];
  for (; at < s.instruction_count; at += words_per_instruction)
    if (const std::int64_t op = code[at]; op == store || op == reduce_array || op == reduce_cell || op == finish_all)
      tell(static_cast<int>(code[at + 1]));
}

}  // namespace detail

/// Finds the stops of a program that runs with these values of its named dimensions. `together`: for each node that writes several
/// variables, their buffers.
inline program_stops find_stops(const program_view& p, const std::int64_t* data, const std::int64_t* sizes,
                                const std::vector<std::vector<int>>& together) {
  constexpr double long_work = 1 << 20, calls_work = 1 << 14, clock_work = 1 << 18;
  program_stops made;
  const auto steps = static_cast<std::size_t>(p.steps());
  std::vector<double> work(steps);
  double all = 0;
  for (std::size_t k = 0; k < steps; ++k) all += work[k] = detail::work_of_step(p, p.step_at(static_cast<int>(k)), sizes);
  made.is_long = all >= long_work;
  if (!made.is_long) return made;
  std::vector<bool> closed(steps, false);  // indexed by step: no stop before it
  made.of_step.assign(steps, 0);
  std::vector<std::pair<int, int>> written(static_cast<std::size_t>(p.buffers()), {-1, -1});  // by buffer: first and last write
  for (std::size_t k = 0; k < steps; ++k) {
    bool writes = false;
    detail::for_each_written(p, data, p.step_at(static_cast<int>(k)), [&](int buffer) {
      auto& [first, last] = written[static_cast<std::size_t>(buffer)];
      if (first < 0) first = static_cast<int>(k);
      last = static_cast<int>(k);
      writes = true;
    });
    if (!writes && work[k] >= calls_work) made.of_step[k] |= program_stops::within;
  }
  for (const auto& group : together) {
    int first = p.steps(), last = -1;
    for (const int buffer : group) {
      if (buffer < 0) continue;
      const auto [b, e] = written[static_cast<std::size_t>(buffer)];
      if (b >= 0) first = std::min(first, b);
      last = std::max(last, e);
    }
    for (int k = first + 1; k <= last; ++k) closed[static_cast<std::size_t>(k)] = true;
  }
  double since_calls = calls_work, since_clock = clock_work;
  for (std::size_t k = 0; k < steps; ++k) {
    if (closed[k]) {
      made.of_step[k] = 0;
    } else {
      if (since_calls >= calls_work) made.of_step[k] |= program_stops::at_calls, since_calls = 0;
      if (since_clock >= clock_work) made.of_step[k] |= program_stops::at_clock, since_clock = 0;
    }
    since_calls += work[k];
    since_clock += work[k];
  }
  return made;
}

/// Observer of a run that performs the checks of `stops`, then calls another observer if there is one.
template <class Observer>
class stop_observer {
 public:
  stop_observer(const program_stops& stops, const step_interruption& stop) : stops_(stops), stop_(stop) {}
  stop_observer(const program_stops& stops, const step_interruption& stop, Observer& other) : stops_(stops), stop_(stop), other_(&other) {}

  void before(int k) {
    if (stops_.is_long) {
      const unsigned look = stops_.of_step[static_cast<std::size_t>(k)];
      if (look != 0) [[unlikely]] {
        if ((look & program_stops::at_clock) != 0) stop_.check(0);
        else if ((look & program_stops::at_calls) != 0) stop_.check(1);
        within_.set((look & program_stops::within) != 0 ? &stop_ : nullptr);
      }
    }
    if (other_ != nullptr) other_->before(k);
  }
  void after(int k) {
    if (other_ != nullptr) other_->after(k);
    within_.set(nullptr);
  }

 private:
  const program_stops& stops_;
  const step_interruption& stop_;
  Observer* other_ = nullptr;
  cpu::scoped_interruption within_{nullptr};
};

}  // namespace leat::runtime
