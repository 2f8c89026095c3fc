#pragma once
// The parts that need not be compiled with every source of a program: operators, gradients and kernels of graphs at run time, most of the
// compile time of <leat/graphs.hpp> and <leat/session/graph_session.hpp>. A program of several sources compiles them once: with
// LEAT_SEPARATE_COMPILATION defined for all of them, exactly one includes this header.

#include <leat/core/standard.hpp>

#include <leat/cpu/interpret/library.hpp>
#include <leat/graph/call_functions.hpp>
#include <leat/graph/import_functions.hpp>
#include <leat/graph/named_part_functions.hpp>
#include <leat/ops/canonical_gradients.hpp>
#include <leat/ops/defined.hpp>
#include <leat/ops/known.hpp>
#include <leat/passes/control_flow_gradient.hpp>
#include <leat/passes/gradient_nn.hpp>
#include <leat/session/graph_session_functions.hpp>
#include <leat/session/kernels.hpp>
#include <leat/train/deferred_steps.hpp>
#include <leat/train/planned_steps.hpp>

namespace leat::detail {
// Referenced by the other sources: see graph/separate.hpp.
void one_source_must_include_leat_separate_hpp() {}
}  // namespace leat::detail
