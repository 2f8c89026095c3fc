// A variable's value by its name.
// expect: value(w) takes the variable itself, not its name
// expect-clang: value(w) takes the variable itself, not its name
#include <leat/leat.hpp>

#include "linear_model.hpp"

int main() {
  session s{loss};
#ifdef LEAT_FIXED
  auto v = s.value(w);
#else
  auto v = s.value("w");  // ERROR HERE
#endif
}
