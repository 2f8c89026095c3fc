// Feeds before the fetches.
// expect: run(fetch(a, b), x = array, ...) takes what to fetch, then feeds
// expect-clang: takes what to fetch, then feeds
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 2>();
  auto w = variable<"w", float, 2, 1>(zeros);
  auto loss = reduce_mean(square(matmul(x, w)));
  xt::xtensor<float, 2> xs({3, 2}, 1.0f);
  session s{loss};
#ifdef LEAT_FIXED
  s.run(fetch(loss), x = xs);
#else
  s.run(x = xs, fetch(loss));  // ERROR HERE
#endif
}
