#pragma once
// The bodies of all functions that need not be compiled with every source of a program: operators, gradients and kernels of graphs at
// run time, sessions, files. In a program whose sources are all compiled with LEAT_SEPARATE_COMPILATION exactly one includes this header,
// before any other of the library's. Files are among it if LEAT_USE_IO is defined, the cluster if LEAT_USE_CLUSTER is.

#if defined(LEAT_SEPARATE_COMPILATION) && defined(LEAT_WITH_BODIES)
#error "include <leat/separate.hpp> before the library's other headers"
#endif
#define LEAT_SEPARATE_SOURCE

#include <leat/core/standard.hpp>
#include <leat/cpu/interpret/library.hpp>
#include <leat/graphs.hpp>
#include <leat/inspect/memory_plan.hpp>
#include <leat/inspect/trace.hpp>
#include <leat/named/canonical/canonical_gradients.hpp>
#include <leat/named/definitions/defined.hpp>
#include <leat/named/exchange/import_bodies.hpp>
#include <leat/named/gradients/control_flow_gradient.hpp>
#include <leat/named/gradients/gradient_nn.hpp>
#include <leat/named/placement/partition.hpp>
#include <leat/named/placement/place.hpp>
#include <leat/named/train/deferred_steps.hpp>
#include <leat/ops/known.hpp>
#include <leat/planned.hpp>
#include <leat/runtime/kernels/kernels.hpp>
#include <leat/session/gradient_of.hpp>
#include <leat/session/graph_session_bodies.hpp>
#include <leat/session/graph_variables.hpp>
#include <leat/session/interactive_session.hpp>
#include <leat/typed/evaluate.hpp>
#include <leat/typed/planned/planned_steps.hpp>
#ifdef LEAT_USE_IO
#include <leat/checkpoint.hpp>
#include <leat/data.hpp>
#include <leat/data/graph_iterator.hpp>
#include <leat/io/binary.hpp>
#include <leat/io/collections.hpp>
#include <leat/io/csv.hpp>
#include <leat/io/dot.hpp>
#include <leat/io/example.hpp>
#include <leat/io/idx.hpp>
#include <leat/io/json.hpp>
#include <leat/io/npy.hpp>
#include <leat/io/npz.hpp>
#include <leat/io/record.hpp>
#include <leat/io/safetensors.hpp>
#include <leat/io/saved_model.hpp>
#include <leat/io/saved_typed_model.hpp>
#include <leat/summary.hpp>
#include <leat/summary/kernels_summary.hpp>
#include <leat/supervise.hpp>
#endif
#ifdef LEAT_USE_CLUSTER
#include <leat/cluster/cluster_status.hpp>
#include <leat/cluster/parameter_client.hpp>
#include <leat/cluster/server.hpp>
#endif

#ifdef LEAT_SEPARATE_COMPILATION
namespace leat::detail {
// Referenced by the other sources: see core/function_bodies.hpp.
template <>
bool link_leat_runtime_or_include_leat_separate_hpp_in_one_source<LEAT_VERSION_MAJOR, LEAT_VERSION_MINOR, LEAT_VERSION_PATCH>(
    const bool* callers) {
  if (callers != &is_one_of_two) is_one_of_two = true;
  return true;
}
}  // namespace leat::detail
#endif
