// Steps in the wrong direction.
// expect: range: the steps lead away from the limit
#include <leat/leat.hpp>

int main() {
  using namespace leat;
#ifdef LEAT_FIXED
  auto y = range<0, 5, 2>();
#else
  auto y = range<0, 5, -2>();  // ERROR HERE
#endif
  (void)y;
}
