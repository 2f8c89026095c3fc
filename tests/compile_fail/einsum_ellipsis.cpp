// An ellipsis that the result lacks.
// expect: einsum: the operands have an ellipsis, and the result has none
#include <leat/leat.hpp>

int main() {
  using namespace leat;
  auto a = placeholder<"a", float, 2, 3, 4>();
  auto b = placeholder<"b", float, 4, 5>();
#ifdef LEAT_FIXED
  auto y = einsum<"...j,jk->...k">(a, b);
#else
  auto y = einsum<"...j,jk->k">(a, b);  // ERROR HERE
#endif
  (void)y;
}
