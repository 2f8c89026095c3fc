// `!x` of a graph's tensor where its negated elements were meant.
// expect: logical_not(x) is the tensor of the negated elements
// expect-clang: logical_not(x) is the tensor of the negated elements
#include <leat/leat.hpp>

using namespace leat;

output negated(const output& x) {
#ifdef LEAT_FIXED
  return logical_not(x);
#else
  return !x;  // ERROR HERE
#endif
}

int main() {}
