// A static session of a variable whose initializer needs the heap.
// expect: variable \"w\" starts from orthogonal(), which needs the heap
#include <leat/static.hpp>

using namespace leat;

int main() {
  auto x = placeholder<"x", float, 2, 3>();
#ifdef LEAT_FIXED
  auto w = variable<"w", float, 3, 3>(glorot_uniform());
#else
  auto w = variable<"w", float, 3, 3>(orthogonal());
#endif
  auto y = matmul(x, w);
  static_session s{fetch(y)};  // ERROR HERE
  static_cast<void>(s);
}
