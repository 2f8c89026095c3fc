#pragma once
// The positions of a session's nodes in their sequences of random numbers, as JSON text: {"node": [seed, next], ...}. This form is stored
// in checkpoints and sent to tasks.

#include <leat/core/function_bodies.hpp>
#include <leat/runtime/state/run_arguments.hpp>

#include <string>
#include <string_view>

namespace leat::io {

/// The positions as JSON text.
std::string write_random_state(const random_positions& positions);
/// The positions from this text. Errors: data_loss, with a message that begins with `where`, if the text is not in this form.
random_positions read_random_state(std::string_view text, std::string_view where);

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/random_state.hpp>
#endif
