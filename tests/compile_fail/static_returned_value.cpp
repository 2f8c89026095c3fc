// A run of a static session that would return a value.
// expect: fetch 1: a static session returns no values: into(loss, number), or into(y, array)
#include <leat/static.hpp>

using namespace leat;

int main() {
  auto x = placeholder<"x", float, 3>();
  auto y = reduce_sum(x * x);
  static_session s{fetch(y)};
  const std::array<float, 3> xs{1, 2, 3};
#ifdef LEAT_FIXED
  float sum = 0;
  const auto result = s.run(fetch(into(y, sum)), x = xs);
#else
  const auto result = s.run(fetch(y), x = xs);  // ERROR HERE
#endif
  static_cast<void>(result);
}
