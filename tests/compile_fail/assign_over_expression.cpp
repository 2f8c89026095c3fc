// Another expression under one name.
// expect: an expression\'s type holds its shape and what it is made of, so its object keeps them: auto h2 = relu(h) names another
// expect-clang: auto h2 = relu(h) names another
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 2>();
  auto w = variable<"w", float, 2, 1>(zeros);
#ifdef LEAT_FIXED
  auto h = matmul(x, w);
  auto h2 = relu(h);
#else
  auto h = matmul(x, w);
  h = relu(h);  // ERROR HERE
#endif
}
