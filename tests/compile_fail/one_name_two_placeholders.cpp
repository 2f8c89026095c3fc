// One name for two placeholders.
// expect: two placeholders named \"x\": float32 [batch, 4] and float32 [4]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 4>();
  auto w = variable<"w", float, 4, 1>(zeros);
  auto y = matmul(x, w);
  auto v = placeholder<"x", float, 4>();
#ifdef LEAT_FIXED
  session s{y, x};
#else
  session s{y, v};  // ERROR HERE
#endif
}
