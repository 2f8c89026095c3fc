#pragma once
// Runs a cluster's code. The body is in interpret/cluster_run.hpp.

#include <leat/cpu/interpret/cluster_code.hpp>

namespace leat::cpu {

/// Runs a cluster in a workspace planned by `make_plan`; `plan` points to the cluster's numbers in the plan.
void run_cluster(const cluster_code& c, const program_view::step& info, const workspace& w, const std::int64_t* plan);

}  // namespace leat::cpu
