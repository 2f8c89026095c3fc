// An operator that has no rule for models.
// expect: vmap: UnsortedSegmentSum of what each model has of its own: it is not among the operators that vmap knows
#include <leat/leat.hpp>

#include <leat/vmap.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = variable<"x", float, 1000, 4>(zeros);
  auto ids = placeholder<"ids", std::int32_t, 4>();
#ifdef LEAT_FIXED
  auto f = [&](auto state) { return state * cast<float>(ids); };
#else
  auto f = [&](auto state) { return unsorted_segment_sum<2>(state, ids); };
#endif
  auto y = vmap(f)(x);  // ERROR HERE
}
