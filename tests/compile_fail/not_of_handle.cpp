// `!x` of a graph's tensor where its negated elements were meant.
// expect: logical_not(x) negates the elements
// expect-clang: logical_not(x) negates the elements
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
