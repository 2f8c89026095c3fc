#pragma once
// Graphs distributed over several machines: clusters, servers, and sessions with a target. See docs/cluster.md.

#include <leat/core/standard.hpp>

#include <leat/cluster/cluster_role.hpp>
#include <leat/cluster/cluster_status.hpp>
#include <leat/cluster/server.hpp>
#include <leat/graphs.hpp>
