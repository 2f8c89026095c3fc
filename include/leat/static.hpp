#pragma once
// Static sessions: typed expressions and their training on machines without a heap, such as microcontrollers. It includes neither xtensor
// nor xsimd, no threads and no streams, and compiles without exceptions and run-time type information. See docs/static.md.

#include <leat/core/standard.hpp>

// The operators come first, so that a compiler's message about one shows two nested includes, not fifteen. Only the diagnostics of their
// last overloads, and their operands, precede them.
#include <leat/expr/otherwise.hpp>

#include <leat/expr/leaf.hpp>

#include <leat/expr/array_leaf.hpp>
#include <leat/expr/scaled_initializers.hpp>

#include <leat/ops/arithmetic.hpp>
#include <leat/ops/array.hpp>
#include <leat/ops/bias_add.hpp>
#include <leat/ops/blocks.hpp>
#include <leat/ops/comparison.hpp>
#include <leat/ops/contraction.hpp>
#include <leat/ops/decompositions.hpp>
#include <leat/ops/diagonals.hpp>
#include <leat/ops/einsum.hpp>
#include <leat/ops/functions.hpp>
#include <leat/ops/images.hpp>
#include <leat/ops/index.hpp>
#include <leat/ops/linalg.hpp>
#include <leat/ops/local_response.hpp>
#include <leat/ops/lookups.hpp>
#include <leat/ops/matrix_functions.hpp>
#include <leat/ops/mirror_pad.hpp>
#include <leat/ops/nn.hpp>
#include <leat/ops/orthogonal.hpp>
#include <leat/ops/positions.hpp>
#include <leat/ops/random.hpp>
#include <leat/ops/reduction.hpp>
#include <leat/ops/reorder.hpp>
#include <leat/ops/resize.hpp>
#include <leat/ops/solve.hpp>
#include <leat/ops/spectra.hpp>
#include <leat/ops/splits.hpp>
#include <leat/ops/stacked_matmul.hpp>
#include <leat/ops/state.hpp>
#include <leat/ops/top_k.hpp>
#include <leat/ops/volumes.hpp>
#include <leat/passes/gradient.hpp>
#include <leat/session/static/static_session.hpp>
#include <leat/train/accumulate.hpp>
#include <leat/train/averages.hpp>
#include <leat/train/cells.hpp>
#include <leat/train/clip.hpp>
#include <leat/train/layer_summary.hpp>
#include <leat/train/layers.hpp>
#include <leat/train/losses.hpp>
#include <leat/train/metrics.hpp>
#include <leat/train/normalization.hpp>
#include <leat/train/optimizer.hpp>
#include <leat/train/regularizers.hpp>
#include <leat/train/schedules.hpp>
