// One letter for two sizes.
// expect: einsum: the dimensions of a letter that both operands have differ
#include <leat/leat.hpp>

int main() {
  using namespace leat;
  auto a = placeholder<"a", float, "batch", 3>();
  auto b = placeholder<"b", float, 4, 5>();
#ifdef LEAT_FIXED
  auto y = einsum<"ij,kl->ikl">(a, b);
#else
  auto y = einsum<"ij,jk->ik">(a, b);  // ERROR HERE
#endif
  (void)y;
}
