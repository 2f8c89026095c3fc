// A variable with a named dimension.
// expect: variable<name, dtype, dimensions...>(initial value)
// expect: a dimension a size
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
#ifdef LEAT_FIXED
  auto v = constant<0.0f, "batch">();
#else
  auto v = variable<"v", float, "batch">(zeros);  // ERROR HERE
#endif
}
