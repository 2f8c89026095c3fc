// A bool of C++ as the condition of select.
// expect: select(condition, a, b) takes a tensor of bool and two tensors, of which one may be a number
// expect-clang: takes a tensor of bool
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 2>();
#ifdef LEAT_FIXED
  auto y = select(x > 0.0f, x, x);
#else
  auto y = select(true, x, x);  // ERROR HERE
#endif
}
