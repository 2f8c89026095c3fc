// A constant of an array whose type does not tell its shape.
// expect: constant(array) takes an array whose type tells its shape
// expect: constant<float, 3, 2>(values)
// expect-clang: constant<float, 3, 2>(values)
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  const std::vector<float> values{1, 2, 3};
#ifdef LEAT_FIXED
  auto c = constant<float, 3>(values);
#else
  auto c = constant(values);  // ERROR HERE
#endif
}
