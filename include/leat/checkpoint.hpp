#pragma once
// Checkpoints. Include this header next to <leat/leat.hpp> or <leat/graphs.hpp>.

#include <leat/checkpoint/checkpoint_reader.hpp>
#include <leat/checkpoint/checkpoint_state.hpp>
#include <leat/checkpoint/manifest.hpp>
#include <leat/checkpoint/saver.hpp>
#include <leat/checkpoint/session_access.hpp>
#include <leat/checkpoint/typed_session_access.hpp>
