#pragma once
// A human-readable memory plan of a program: its buffers with their sizes, live ranges and arena offsets. For compiled and dynamic
// sessions, because the programs of both share kernels/program_plan.hpp.
//
//   std::cout << memory_plan_of(s.planned(fetch(loss, train))).text();

#include <leat/core/function_bodies.hpp>
#include <leat/graph/known_operators.hpp>
#include <leat/kernels/program_plan.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <unordered_map>
#include <vector>

namespace leat {

/// The names of operators by the codes in steps. A user-defined operator has a name if it was passed to `register_operator`.
class operator_names {
 public:
  operator_names();
  std::string operator()(std::int64_t code) const;

 private:
  std::unordered_map<int, std::string_view> by_code_;
};

/// The operator that a step computes; for a fused step, its operators joined by "+".
std::string step_name(const operator_names& operator_name, const program_view& p, const std::int64_t* data, int step);

/// The memory of one program.
struct memory_plan {
  /// An array of the program: where it is, and for how long.
  struct buffer {
    int number = 0;
    storage where = storage::arena;
    dtype type = dtype::invalid;
    shape extent{};             // with the values of named dimensions
    std::int64_t bytes = 0;
    int first = -1;             // the step that writes it; -1: set before the first step
    int last = -1;              // the last step that uses it
    std::int64_t offset = -1;   // in the arena
  };
  std::vector<buffer> buffers;
  std::vector<std::string> steps;
  std::int64_t arena_bytes = 0;
  std::int64_t intermediate_bytes = 0;  // if no results shared memory

  /// A table of the steps, then of the buffers in the order of their numbers; for those in the arena, with offset and live range.
  std::string text() const;
};

/// The memory plan of a program.
memory_plan memory_plan_of(const planned_program& p);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/inspect/impl/memory_plan.hpp>
#endif
