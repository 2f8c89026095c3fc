#pragma once
// All kernels of graphs at run time. graph_session.hpp includes them, which is most of what it takes to compile. A program of
// several sources compiles them once: with LEAT_SEPARATE_KERNELS defined for all of them, one includes this header.

#include <leat/cpu/interpret/library.hpp>
#include <leat/session/dynamic/kernels_array.hpp>
#include <leat/session/dynamic/kernels_control.hpp>
#include <leat/session/dynamic/kernels_nn.hpp>
#include <leat/session/dynamic/kernels_queue.hpp>
#include <leat/session/dynamic/kernels_random.hpp>
#include <leat/session/dynamic/kernels_shape.hpp>
#include <leat/session/dynamic/kernels_state.hpp>
