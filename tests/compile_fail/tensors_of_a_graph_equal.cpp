// Two handles of a graph's tensors compared by `==`.
// expect: equal(a, b) compares their elements, same_tensor(a, b) says whether both are one
// expect-clang: equal(a, b) compares their elements, same_tensor(a, b) says whether both are one
#include <leat/leat.hpp>

using namespace leat;

bool same(const output& a, const output& b) {
#ifdef LEAT_FIXED
  return a.index() == b.index();
#else
  return a == b;  // ERROR HERE
#endif
}

int main() {}
