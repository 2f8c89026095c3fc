// An array in the place of a tensor.
// expect: index<entries...>(x) takes one tensor; entries are template arguments
// expect-clang: index<entries...>(x) takes one tensor; entries are template arguments
#include <leat/leat.hpp>

#include <vector>

int main() {
  using namespace leat;
  std::vector<float> v{1, 2};
#ifdef LEAT_FIXED
  auto y = index<0>(placeholder<"x", float, 2>());
#else
  auto y = index<0>(v);  // ERROR HERE
#endif
  (void)y;
}
