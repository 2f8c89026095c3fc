#pragma once
// All kernels of graphs at run time.

#include <leat/runtime/kernels/kernels_accumulator.hpp>
#include <leat/runtime/kernels/kernels_array.hpp>
#include <leat/runtime/kernels/kernels_control.hpp>
#include <leat/runtime/kernels/kernels_exchange.hpp>
#include <leat/runtime/kernels/kernels_images.hpp>
#include <leat/runtime/kernels/kernels_nn.hpp>
#include <leat/runtime/kernels/kernels_queue.hpp>
#include <leat/runtime/kernels/kernels_random.hpp>
#include <leat/runtime/kernels/kernels_replicas.hpp>
#include <leat/runtime/kernels/kernels_roster.hpp>
#include <leat/runtime/kernels/kernels_shape.hpp>
#include <leat/runtime/kernels/kernels_state.hpp>
#include <leat/runtime/kernels/kernels_update.hpp>
