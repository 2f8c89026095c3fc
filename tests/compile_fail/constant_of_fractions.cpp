// A constant of integers from an array of fractions.
// expect: constant: the array holds fractions, constants of int32 integers
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  const std::vector<float> values{0.5f, 1.5f};
#ifdef LEAT_FIXED
  auto c = constant<float, 2>(values);
#else
  auto c = constant<std::int32_t, 2>(values);  // ERROR HERE
#endif
}
