// An operator that has no rule for models, in the step of a loop.
// expect: vmap: UnsortedSegmentSum of what each model has of its own: it is not among the operators that vmap knows
#include <leat/leat.hpp>

#include <leat/loops.hpp>
#include <leat/vmap.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = variable<"x", float, 1000, 4>(zeros);
  auto xs = placeholder<"xs", float, 10, 4>();
  auto ids = placeholder<"ids", std::int32_t, 4>();
#ifdef LEAT_FIXED
  auto step = [&](auto state, auto e) { return state * cast<float>(ids) + e; };
#else
  auto step = [&](auto state, auto e) { return concat<0>(unsorted_segment_sum<2>(state, ids), unsorted_segment_sum<2>(e, ids)); };
#endif
  auto f = [&](auto state) { return fold(step, state, xs); };
  auto y = vmap(f)(x);  // ERROR HERE
}
