#pragma once
// The passes at run time, compiled once for all tests: they are constexpr functions, which each source that calls them compiles again.

#include <leat/core/list.hpp>
#include <leat/graph/graph.hpp>
#include <leat/passes/program.hpp>

#include <cstdint>

namespace leat_test::at_run_time {

leat::graph simplify(const leat::graph& g, leat::detail::list<int>& targets);
leat::graph unroll(leat::graph g, leat::detail::list<int>& targets);
leat::graph unroll_models(leat::graph g, leat::detail::list<int>& targets);
leat::graph arrange(const leat::graph& from, leat::detail::list<int>& targets);
leat::program compile(const leat::graph& g, leat::detail::list<int> targets, bool unrolled = false, std::int64_t in_place = 0);

}  // namespace leat_test::at_run_time
