// Index tuples that are longer than the shape.
// expect: GatherNd: the last dimension of the indices, the number of axes that they name, is not from 1 to the rank of the array
#include <leat/leat.hpp>

int main() {
  using namespace leat;
  auto x = placeholder<"x", float, 2, 3>();
  auto ids = placeholder<"ids", std::int32_t, "k", 3>();
#ifdef LEAT_FIXED
  auto y = gather(x, ids);
#else
  auto y = gather_nd(x, ids);  // ERROR HERE
#endif
  (void)y;
}
