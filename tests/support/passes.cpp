#include "passes.hpp"

#include <leat/passes/arrange.hpp>
#include <leat/passes/lower.hpp>
#include <leat/passes/simplify.hpp>
#include <leat/passes/unroll.hpp>
#include <leat/passes/unroll_models.hpp>

#include <utility>

namespace leat_test::at_run_time {

leat::graph simplify(const leat::graph& g, leat::detail::list<int>& targets) { return leat::passes::simplify(g, targets); }
leat::graph unroll(leat::graph g, leat::detail::list<int>& targets) { return leat::passes::unroll(std::move(g), targets); }
leat::graph unroll_models(leat::graph g, leat::detail::list<int>& targets) { return leat::passes::unroll_models(std::move(g), targets); }
leat::graph arrange(const leat::graph& from, leat::detail::list<int>& targets) { return leat::passes::arrange(from, targets); }
leat::program compile(const leat::graph& g, leat::detail::list<int> targets, bool unrolled, std::int64_t in_place) {
  return leat::passes::compile(g, std::move(targets), unrolled, in_place);
}

}  // namespace leat_test::at_run_time
