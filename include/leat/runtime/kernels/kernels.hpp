#pragma once
// All kernels of graphs at run time.

#include <leat/runtime/kernels/accumulator.hpp>
#include <leat/runtime/kernels/array.hpp>
#include <leat/runtime/kernels/blocks.hpp>
#include <leat/runtime/kernels/cells.hpp>
#include <leat/runtime/kernels/control.hpp>
#include <leat/runtime/kernels/crops.hpp>
#include <leat/runtime/kernels/dilation.hpp>
#include <leat/runtime/kernels/exchange.hpp>
#include <leat/runtime/kernels/images.hpp>
#include <leat/runtime/kernels/nn.hpp>
#include <leat/runtime/kernels/normalization.hpp>
#include <leat/runtime/kernels/pools.hpp>
#include <leat/runtime/kernels/queue.hpp>
#include <leat/runtime/kernels/random.hpp>
#include <leat/runtime/kernels/replicas.hpp>
#include <leat/runtime/kernels/resize.hpp>
#include <leat/runtime/kernels/resize_wide.hpp>
#include <leat/runtime/kernels/roster.hpp>
#include <leat/runtime/kernels/sequences.hpp>
#include <leat/runtime/kernels/shape.hpp>
#include <leat/runtime/kernels/state.hpp>
#include <leat/runtime/kernels/suppression.hpp>
#include <leat/runtime/kernels/update.hpp>
