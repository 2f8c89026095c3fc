// An integer in the type that float64, as which such numbers are kept, does not hold.
// expect: constant: integers beyond 2^53 are not all held exactly: write a plain number beside the expression
#include <leat/leat.hpp>

using namespace leat;

int main() {
#ifdef LEAT_FIXED
  auto y = constant<9007199254740992>();
#else
  auto y = constant<9007199254740993>();  // ERROR HERE
#endif
}
