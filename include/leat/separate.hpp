#pragma once
// The parts that need not be compiled with every source of a program: operators, gradients and kernels of graphs at run time, most of the
// compile time of <leat/graphs.hpp> and <leat/session/graph_session.hpp>. A program of several sources compiles them once: with
// LEAT_SEPARATE_COMPILATION defined for all of them, exactly one includes this header.

#include <leat/core/standard.hpp>

#include <leat/cpu/interpret/library.hpp>
#include <leat/named/canonical/canonical_gradients.hpp>
#include <leat/named/definitions/defined.hpp>
#include <leat/named/exchange/import_bodies.hpp>
#include <leat/named/gradients/control_flow_gradient.hpp>
#include <leat/named/gradients/gradient_nn.hpp>
#include <leat/named/graph/call_bodies.hpp>
#include <leat/named/graph/named_part_bodies.hpp>
#include <leat/named/train/deferred_steps.hpp>
#include <leat/ops/known.hpp>
#include <leat/runtime/kernels/kernels.hpp>
#include <leat/session/graph_session_bodies.hpp>
#include <leat/typed/planned/planned_steps.hpp>

namespace leat::detail {
// Referenced by the other sources: see core/function_bodies.hpp.
void one_source_must_include_leat_separate_hpp() {}
}  // namespace leat::detail
