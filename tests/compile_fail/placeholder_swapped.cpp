// The dtype of a placeholder before its name.
// expect: placeholder<name, dtype, dimensions...>() has template arguments only, in this order
// expect-clang: in this order
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
#ifdef LEAT_FIXED
  auto p = placeholder<"p", float, 4>();
#else
  auto p = placeholder<float, "p", 4>();  // ERROR HERE
#endif
}
