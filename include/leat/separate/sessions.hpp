#pragma once
// Sessions of graphs, and planned ones of typed programs. See <leat/separate.hpp>.

#ifndef LEAT_SEPARATE_SOURCE
#include <leat/separate/part.hpp>
#endif

#include <leat/core/standard.hpp>
#include <leat/inspect/impl/memory_plan.hpp>
#include <leat/inspect/impl/trace.hpp>
#include <leat/runtime/kernels/impl/equal_rows.hpp>
#include <leat/runtime/kernels/impl/kernel.hpp>
#include <leat/runtime/state/impl/program_budget.hpp>
#include <leat/runtime/state/impl/resources.hpp>
#include <leat/runtime/state/impl/tensor_value.hpp>
#include <leat/session/gradient_of.hpp>
#include <leat/session/impl/fetch_feed.hpp>
#include <leat/session/impl/gradient_of.hpp>
#include <leat/session/impl/graph_session.hpp>
#include <leat/session/impl/graph_variables.hpp>
#include <leat/session/impl/interactive_session.hpp>
#include <leat/session/impl/session_target.hpp>
#include <leat/session/typed/evaluate.hpp>
#include <leat/session/typed/planned/impl/session_plan.hpp>
#include <leat/session/typed/planned/planned_steps.hpp>
#include <leat/train/named/deferred_steps.hpp>

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
