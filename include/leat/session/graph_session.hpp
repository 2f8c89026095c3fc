#pragma once
// Runs graphs at run time, like TensorFlow 1.x's Session: a session belongs to a graph, holds variables, and runs tensors and operations.
//
//   graph_session s(g);
//   s.run(global_variables_initializer());
//   const float loss = s.run(mean, {{x, data}});
//   const auto [value, step] = s.run<float, std::int64_t>({mean, counter}, {{x, data}});
//
// Thread-safe: runs may overlap; each variable is read and written under its own lock. The graph may grow between runs, not during one. A
// run is planned once for each set of fetches and feeds (runtime/plan/run_planner.hpp).

#include <leat/session/graph_session_class.hpp>
#ifndef LEAT_SEPARATE_COMPILATION
#include <leat/runtime/kernels/kernels.hpp>
#include <leat/session/impl/graph_session.hpp>
#endif
// Completes headers of higher layers that were included before graphs were available; <leat/graphs.hpp> ends in the same way.
#if !defined(LEAT_HAS_GRAPHS)
#define LEAT_HAS_GRAPHS
#endif
#if defined(LEAT_SAVERS_OF_GRAPHS)
#include LEAT_SAVERS_OF_GRAPHS
#endif
#if defined(LEAT_FUNCTIONS_OF_GRAPHS)
#include LEAT_FUNCTIONS_OF_GRAPHS
#endif
#if defined(LEAT_SUMMARIES_OF_GRAPHS)
#include LEAT_SUMMARIES_OF_GRAPHS
#endif
