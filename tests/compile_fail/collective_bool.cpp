// A reduction over ranks of what cannot be added.
// expect: leat.AllReduce
// expect: takes float32, float64, int32 and int64
#include <leat/collective/operators.hpp>
#include <leat/leat.hpp>

using namespace leat;

int main() {
  auto x = placeholder<"x", float, 3>();
#ifdef LEAT_FIXED
  [[maybe_unused]] auto y = all_reduce(x);
#else
  [[maybe_unused]] auto y = all_reduce(greater(x, x));  // ERROR HERE
#endif
}
