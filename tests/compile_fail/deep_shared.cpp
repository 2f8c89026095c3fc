// A wrong shape on top of 200 shared levels: the message does not grow.
// expect: AddV2: shapes do not broadcast
// expect: float32 [64, 10]
// expect: float32 [64, 3]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

template <int N, class H>
auto levels(const H& h) {
  if constexpr (N == 0)
    return h;
  else
    return levels<N - 1>(h * h + h);
}

int main() {
  auto h = levels<200>(placeholder<"x", float, 64, 10>());
  auto b = placeholder<"b", float, 64, 3>();
#ifdef LEAT_FIXED
  auto y = h + reduce_sum(b);
#else
  auto y = h + b;  // ERROR HERE
#endif
}
