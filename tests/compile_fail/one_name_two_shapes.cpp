// One name for two variables of different shape.
// expect: two variables named \"w\": float32 [4, 1] and float32 [4, 2]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 4>();
  auto w = variable<"w", float, 4, 1>(zeros);
  auto y = matmul(x, w);
  auto v = variable<"w", float, 4, 2>(zeros);
#ifdef LEAT_FIXED
  session s{y, matmul(x, w * 2_c)};
#else
  session s{y, matmul(x, v)};  // ERROR HERE
#endif
}
