// Rows of all ranks where each rank's number is known only in a run.
// expect: leat.AllGather
// expect: the first dimension has a name: how many rows all ranks have is not known
#include <leat/collective/operators.hpp>
#include <leat/leat.hpp>

using namespace leat;

int main() {
  [[maybe_unused]] auto x = placeholder<"x", float, "batch", 3>();
  [[maybe_unused]] auto z = placeholder<"z", float, 2, 3>();
#ifdef LEAT_FIXED
  [[maybe_unused]] auto y = all_gather<2>(z);
#else
  [[maybe_unused]] auto y = all_gather<2>(x);  // ERROR HERE
#endif
}
