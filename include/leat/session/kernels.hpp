#pragma once
// All kernels of graphs at run time.

#include <leat/session/dynamic/kernels_array.hpp>
#include <leat/session/dynamic/kernels_control.hpp>
#include <leat/session/dynamic/kernels_nn.hpp>
#include <leat/session/dynamic/kernels_queue.hpp>
#include <leat/session/dynamic/kernels_random.hpp>
#include <leat/session/dynamic/kernels_shape.hpp>
#include <leat/session/dynamic/kernels_state.hpp>
