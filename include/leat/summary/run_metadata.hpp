#pragma once
// What ran how long, as TensorBoard's graph page shows it: the events of a trace as a RunMetadata in binary form. Names are those of the
// trace's events: a program of fused nodes has one for each of its steps, `trace_detail::nodes` one for each node.
// Source: TensorFlow step_stats.proto, config.proto `RunMetadata`.

#include <leat/core/function_bodies.hpp>
#include <leat/inspect/trace.hpp>

#include <string>

namespace leat::summary {

/// The steps of a run (1 is the trace's first), or of all runs with 0: name, operator, thread and times of each; sizes are not among what
/// a trace knows. Of a run on a cluster, each task is a device of its own, and what it received is an operator `RecvTensor`, as in
/// TensorFlow.
std::string run_metadata_of(const run_trace& trace, int run = 0);

}  // namespace leat::summary

#if LEAT_WITH_BODIES
#include <leat/summary/run_metadata_bodies.hpp>
#endif
