// A dense layer of a tensor of rank 1.
// expect: dense<name, units>(x) takes a tensor of floating point, [rows, inputs] with a size as inputs
// expect-clang: takes a tensor of floating point
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 2>();
  auto ids = placeholder<"ids", std::int32_t, "batch">();
#ifdef LEAT_FIXED
  auto y = dense<"d", 10>(x);
#else
  auto y = dense<"d", 10>(ids);  // ERROR HERE
#endif
}
