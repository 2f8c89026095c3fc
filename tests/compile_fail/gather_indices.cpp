// Rows gathered by fractions.
// expect: GatherV2: indices are int32 or int64
// expect: float32 [10, 4]
// expect: float32 [3]
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto t = placeholder<"t", float, 10, 4>();
  auto i = placeholder<"i", float, 3>();
#ifdef LEAT_FIXED
  auto y = gather(t, cast<std::int32_t>(i));
#else
  auto y = gather(t, i);  // ERROR HERE
#endif
}
