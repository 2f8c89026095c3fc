// A feed of a static session with another number of elements, as its type says.
// expect: feed of \"x\": the array has 4 elements, the expression 3
#include <leat/static.hpp>

using namespace leat;

int main() {
  auto x = placeholder<"x", float, 3>();
  auto y = reduce_sum(x * x);
  static_session s{fetch(y)};
#ifdef LEAT_FIXED
  const std::array<float, 3> xs{};
#else
  const std::array<float, 4> xs{};
#endif
  float sum = 0;
  const auto result = s.run(fetch(into(y, sum)), x = xs);  // ERROR HERE
  static_cast<void>(result);
}
