// One name for two variables of different dtype.
// expect: two variables named \"w\": float32 [4, 1] and float64 [4, 1]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 4>();
  auto w = variable<"w", float, 4, 1>(zeros);
  auto y = matmul(x, w);
  auto v = variable<"w", double, 4, 1>(zeros);
#ifdef LEAT_FIXED
  session s{y, w};
#else
  session s{y, v};  // ERROR HERE
#endif
}
