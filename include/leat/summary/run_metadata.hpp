#pragma once
// Execution times as TensorBoard's graph page shows them: the events of a trace as a RunMetadata in binary form. Names are those of the
// trace's events: for a program of fused nodes one per step, with `trace_detail::nodes` one per node.
// Source: TensorFlow step_stats.proto, config.proto `RunMetadata`.

#include <leat/core/function_bodies.hpp>
#include <leat/inspect/trace.hpp>

#include <string>

namespace leat::summary {

/// The steps of a run (1 is the trace's first), or of all runs with 0: name, operator, thread and times of each. A trace does not have
/// sizes. For a run on a cluster, each task is a device of its own, and each tensor that it received is an operator `RecvTensor`, as in
/// TensorFlow.
std::string run_metadata_of(const run_trace& trace, int run = 0);

}  // namespace leat::summary

#if LEAT_WITH_BODIES
#include <leat/summary/impl/run_metadata.hpp>
#endif
