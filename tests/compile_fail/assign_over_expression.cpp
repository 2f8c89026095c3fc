// Another expression under one name.
// expect: an expression\'s type holds its shape and what it is made of, so its object keeps them: auto h2 = relu(h) names another
// expect-clang: auto h2 = relu(h) names another
#include <leat/leat.hpp>

#include "linear_model.hpp"

int main() {
#ifdef LEAT_FIXED
  auto h = matmul(x, w);
  auto h2 = relu(h);
#else
  auto h = matmul(x, w);
  h = relu(h);  // ERROR HERE
#endif
}
