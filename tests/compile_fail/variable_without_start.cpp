// A variable without an initial value.
// expect: variable<name, dtype, dimensions...>(initial value)
// expect: it starts from zeros, ones, a number
// expect-clang: it starts from zeros, ones, a number
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
#ifdef LEAT_FIXED
  auto v = variable<"v", float, 4>(zeros);
#else
  auto v = variable<"v", float, 4>();  // ERROR HERE
#endif
}
