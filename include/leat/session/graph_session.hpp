#pragma once
// Running graphs at run time, as TensorFlow 1.x's Session does: a session belongs to a graph, has variables of its own, and is
// asked for tensors and operations.
//
//   graph_session s(g);
//   s.run(global_variables_initializer());
//   const float loss = s.run(mean, {{x, data}});
//   const auto [value, step] = s.run<float, std::int64_t>({mean, counter}, {{x, data}});
//
// Runs of several threads may overlap; each variable is read and written under a lock of its own. The graph may grow between
// runs, not during one. What a run does is planned once for each set of fetches and feeds (dynamic/plan.hpp).

#include <leat/session/graph_session_class.hpp>
#ifndef LEAT_SEPARATE_COMPILATION
#include <leat/session/graph_session_functions.hpp>
#include <leat/session/kernels.hpp>
#endif
