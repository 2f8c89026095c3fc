// Weights of rank 1 beside losses of rank 2.
// expect: losses::mean_squared_error: weights have rank 0, or the rank of the losses with each dimension 1 or equal
// expect-clang: losses::mean_squared_error: weights have rank 0
#include <leat/leat.hpp>

using namespace leat;

int main() {
  auto x = placeholder<"x", float, "batch", 2>();
  auto y = placeholder<"y", float, "batch", 2>();
#ifdef LEAT_FIXED
  auto w = placeholder<"w", float, "batch", 1>();
#else
  auto w = placeholder<"w", float, "batch">();
#endif
  auto loss = losses::mean_squared_error(y, x, w);  // ERROR HERE
}
