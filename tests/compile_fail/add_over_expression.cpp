// An expression added to another in place.
// expect: so its object keeps them: auto c = a + b; a variable is changed by assign_add(w, b)
// expect-clang: a variable is changed by assign_add(w, b)
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 2>();
  auto w = variable<"w", float, 2, 1>(zeros);
#ifdef LEAT_FIXED
  auto h = matmul(x, w);
  auto h2 = h + h;
#else
  auto h = matmul(x, w);
  h += h;  // ERROR HERE
#endif
}
