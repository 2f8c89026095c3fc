// A loss that is no tensor.
// expect: minimize(loss) takes a scalar tensor
// expect-clang: minimize(loss) takes a scalar tensor
#include <leat/leat.hpp>

#include "linear_model.hpp"

int main() {
#ifdef LEAT_FIXED
  auto t = adam(0.1f).minimize(loss);
#else
  auto t = adam(0.1f).minimize(0.5f);  // ERROR HERE
#endif
}
