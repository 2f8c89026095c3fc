// An expression added to another in place.
// expect: so its object keeps them: auto c = a + b; a variable is changed by assign_add(w, b)
// expect-clang: a variable is changed by assign_add(w, b)
#include <leat/leat.hpp>

#include "linear_model.hpp"

int main() {
#ifdef LEAT_FIXED
  auto h = matmul(x, w);
  auto h2 = h + h;
#else
  auto h = matmul(x, w);
  h += h;  // ERROR HERE
#endif
}
