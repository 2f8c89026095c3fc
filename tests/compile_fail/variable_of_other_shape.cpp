// A variable that starts from an array of another shape.
// expect: variable \"w\": the array has shape [3, 2], the dimensions are [2, 3]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  const std::array<std::array<float, 2>, 3> start{};
#ifdef LEAT_FIXED
  auto w = variable<"w", float, 3, 2>(start);
#else
  auto w = variable<"w", float, 2, 3>(start);  // ERROR HERE
#endif
}
