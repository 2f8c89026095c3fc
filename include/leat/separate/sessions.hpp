#pragma once
// Sessions of graphs, and planned ones of typed programs. See <leat/separate.hpp>.

#ifndef LEAT_SEPARATE_SOURCE
#include <leat/separate/part.hpp>
#endif

#include <leat/core/standard.hpp>
#include <leat/inspect/memory_plan_bodies.hpp>
#include <leat/inspect/trace_bodies.hpp>
#include <leat/named/train/deferred_steps.hpp>
#include <leat/runtime/kernels/equal_rows_bodies.hpp>
#include <leat/runtime/kernels/kernel_bodies.hpp>
#include <leat/runtime/state/program_budget_bodies.hpp>
#include <leat/runtime/state/resources_bodies.hpp>
#include <leat/runtime/state/tensor_value_bodies.hpp>
#include <leat/session/fetch_feed_bodies.hpp>
#include <leat/session/gradient_of.hpp>
#include <leat/session/gradient_of_bodies.hpp>
#include <leat/session/graph_session_bodies.hpp>
#include <leat/session/graph_variables_bodies.hpp>
#include <leat/session/interactive_session_bodies.hpp>
#include <leat/session/session_target_bodies.hpp>
#include <leat/typed/evaluate.hpp>
#include <leat/typed/planned/planned_steps.hpp>
#include <leat/typed/planned/session_plan_bodies.hpp>

#ifdef LEAT_SEPARATE_COMPILATION
namespace leat::detail {
// Referenced by the other sources: see core/function_bodies.hpp.
template <>
bool link_leat_runtime_or_include_leat_separate_hpp_in_one_source<LEAT_VERSION_MAJOR, LEAT_VERSION_MINOR, LEAT_VERSION_PATCH>(
    const bool* callers) {
  if (callers != &is_one_of_two) is_one_of_two = true;
#ifdef LEAT_USE_CLUSTER
  if (!link_leat_separate_cluster()) return false;
#endif
#ifdef LEAT_USE_IO
  if (!link_leat_separate_files() || !link_leat_separate_training()) return false;
#endif
  return link_leat_separate_graphs() && link_leat_separate_kernels();
}
}  // namespace leat::detail
#endif
