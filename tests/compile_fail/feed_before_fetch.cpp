// Feeds before the fetches.
// expect: run(fetch(a, b), x = array, ...) takes what to fetch, then feeds
// expect-clang: takes what to fetch, then feeds
#include <leat/leat.hpp>

#include "linear_model.hpp"

int main() {
  xt::xtensor<float, 2> xs({3, 2}, 1.0f);
  session s{loss};
#ifdef LEAT_FIXED
  s.run(fetch(loss), x = xs);
#else
  s.run(x = xs, fetch(loss));  // ERROR HERE
#endif
}
