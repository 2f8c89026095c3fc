#pragma once
// The bodies of kernels/program_plan.hpp: see core/function_bodies.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/kernels/planner.hpp>

namespace leat {

LEAT_FUNCTION void make_plan(const std::int64_t* data, const std::int64_t* sizes, const chunk_limits& limits, program_plan& out) {
  const program_view view(data);
  detail::planner(view, data, sizes, limits, out).run();
}

}  // namespace leat
