// A variable's value by its name.
// expect: value(w) takes the variable itself, not its name
// expect-clang: value(w) takes the variable itself, not its name
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 2>();
  auto w = variable<"w", float, 2, 1>(zeros);
  auto loss = reduce_mean(square(matmul(x, w)));
  session s{loss};
#ifdef LEAT_FIXED
  auto v = s.value(w);
#else
  auto v = s.value("w");  // ERROR HERE
#endif
}
