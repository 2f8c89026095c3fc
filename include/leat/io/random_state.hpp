#pragma once
// Where the random numbers of a session's nodes are, as JSON text: {"node": [seed, next], ...}. So it lies in checkpoints and travels to
// tasks.

#include <leat/core/function_bodies.hpp>
#include <leat/runtime/state/run_arguments.hpp>

#include <string>
#include <string_view>

namespace leat::io {

std::string write_random_state(const random_positions& positions);
/// Errors: data_loss for what is no such text, beginning with `where`.
random_positions read_random_state(std::string_view text, std::string_view where);

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/random_state_bodies.hpp>
#endif
