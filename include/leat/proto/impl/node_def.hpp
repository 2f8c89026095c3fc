#pragma once
// Implementation of node_def.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/proto/node_def.hpp>

namespace leat {

LEAT_FUNCTION bool node_def::operator==(const node_def&) const = default;
LEAT_FUNCTION bool version_def::operator==(const version_def&) const = default;
LEAT_FUNCTION bool graph_def::operator==(const graph_def&) const = default;

}  // namespace leat
