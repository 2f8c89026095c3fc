// A run of a static session without a feed.
// expect: placeholder \"x\" is not fed: float32 [3] is needed
#include <leat/static.hpp>

using namespace leat;

int main() {
  auto x = placeholder<"x", float, 3>();
  auto y = reduce_sum(x * x);
  static_session s{fetch(y)};
  const std::array<float, 3> xs{};
  float sum = 0;
#ifdef LEAT_FIXED
  const auto result = s.run(fetch(into(y, sum)), x = xs);
#else
  const auto result = s.run(fetch(into(y, sum)));  // ERROR HERE
#endif
  static_cast<void>(result);
  static_cast<void>(xs);
}
