#pragma once
// A program whose sizes are all constants, planned in constant evaluation: where its intermediate results are, and the numbers of its
// steps.

#include <leat/kernels/planner.hpp>
#include <leat/session/typed/table.hpp>

namespace leat::detail {

// Static sessions compute element by element, so nothing needs more than the alignment of its elements.
inline constexpr std::int64_t static_alignment = 8;

template <class Program>
struct make_static_plan {
  static constexpr list<std::int64_t> make() {
    program_plan plan;
    const chunk_limits whole{.elements = std::int64_t{1} << 60, .last_cache = 0, .alignment = static_alignment};
    planner(Program::view, Program::data.data(), nullptr, whole, plan).run();
    list<std::int64_t> data{plan.arena_bytes};
    data.append(plan.offsets.data(), plan.offsets.size());
    data.append(plan.numbers.data(), plan.numbers.size());
    return data;
  }
};

/// The program of a set of fetches with its plan. Its sizes must be constants.
template <class... Fs>
struct static_program : program_table<Fs...> {
  using program_table<Fs...>::view;
  static constexpr const auto& plan = constant_data<make_static_plan<program_table<Fs...>>>::value;
  static constexpr std::int64_t arena_bytes = plan[0];
  static constexpr std::int64_t arena_offset(int buffer) { return plan[static_cast<std::size_t>(1 + buffer)]; }
  /// A number of a step, counted from the first of the step's numbers.
  static constexpr std::int64_t number(int step, int k) {
    return plan[static_cast<std::size_t>(1 + view.buffers() + plan_at(view, step) + k)];
  }
};

/// The memory of a session's variables and numbers, and behind them the steps' intermediate results.
template <class Table, class... Programs>
struct static_layout {
  static constexpr auto& view = Table::view;
  static constexpr std::int64_t rounded(std::int64_t size) { return divide_up(size, static_alignment) * static_alignment; }
  static constexpr std::int64_t bytes_of(int k) { return view.variable(k).extent.elements() * size_of(view.variable(k).type); }
  static constexpr std::int64_t variable_offset(int k) {
    std::int64_t at = 0;
    for (int i = 0; i < k; ++i) at += rounded(bytes_of(i));
    return at;
  }
  static constexpr std::int64_t number_offset(int k) { return variable_offset(view.variables()) + static_alignment * k; }
  static constexpr std::int64_t arena_offset = number_offset(view.numbers());
  static constexpr std::int64_t arena_bytes = [] {
    std::int64_t most = 0;
    ((most = larger(most, Programs::arena_bytes)), ...);
    return most;
  }();
  static constexpr std::int64_t bytes = larger(arena_offset + arena_bytes, 1);
};

}  // namespace leat::detail
