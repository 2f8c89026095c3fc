// A letter that only the result has.
// expect: einsum: a letter of the result that no operand has
#include <leat/leat.hpp>

int main() {
  using namespace leat;
  auto a = placeholder<"a", float, 2, 3>();
#ifdef LEAT_FIXED
  auto y = einsum<"ij->ji">(a);
#else
  auto y = einsum<"ij->jk">(a);  // ERROR HERE
#endif
  (void)y;
}
