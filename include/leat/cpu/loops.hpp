#pragma once
// Loops in compiled programs: the compiler makes the program of a step, as it makes that of the session, and one loop runs it.

#include <leat/core/constant_data.hpp>
#include <leat/cpu/run_loop.hpp>
#include <leat/kernels/loops.hpp>
#include <leat/passes/rows_in_place.hpp>

namespace leat::cpu::detail {

template <class Op, class Program, int Step>
struct body_call {
  struct make_code {
    static constexpr leat::detail::list<std::int64_t> make() {
      const auto info = Program::view.step_at(Step);
      const std::int64_t* const numbers = info.attributes + 1;
      const auto count = static_cast<std::size_t>(info.attributes[0]) - passes::loop_recipe;
      return passes::loop_code_of(Op::make({numbers + passes::loop_recipe, count}), numbers[passes::loop_tape], true, passes::long_row);
    }
  };
  static constexpr const auto& code = leat::detail::constant_data<make_code>::value;
  /// The program of a step.
  struct program {
    static constexpr bool is_planned = false;
    static constexpr auto data = [] {
      std::array<std::int64_t, code.size() - static_cast<std::size_t>(code[passes::code_program])> own{};
      for (std::size_t k = 0; k < own.size(); ++k) own[k] = code[k + static_cast<std::size_t>(code[passes::code_program])];
      return own;
    }();
    static constexpr program_view view{data.data()};
  };

  static void run(void* const* p, const kernels::step_numbers& n) {
    thread_local loop_plan plan;
    constexpr loop_tables tables(code.data());
    plan.prepare(code.data(), tables.names(), program::view.names(), n);
    const scratch<std::byte> arena(plan.plan.arena_bytes + 64);
    void* buffers[program::view.buffers() + 1];
    moving_buffer moving[tables.xs + tables.given() + 1];
    place_buffers(program::view, plan, arena.get(), buffers);
    constexpr auto steps = std::make_index_sequence<static_cast<std::size_t>(program::view.steps())>{};
    const workspace w{buffers, plan.plan.numbers.data(), arena.get()};
    run_steps(tables, p, n, buffers, moving, [&]() __attribute__((always_inline)) { device::run<program>(w, steps); });
  }
  static void run_apart(void* const* p, const kernels::step_numbers& numbers) { run(p, numbers); }
};

}  // namespace leat::cpu::detail
