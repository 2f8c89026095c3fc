// A vector beside a tensor, in a function.
// expect: an array beside a tensor
// expect-clang: beside a tensor stands a tensor or a number
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 2>();
  std::vector<float> values(6);
#ifdef LEAT_FIXED
  auto y = maximum(x, 0.0f);
#else
  auto y = maximum(x, values);  // ERROR HERE
#endif
}
