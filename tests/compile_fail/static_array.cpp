// A static session of a variable that starts from an array, which is on the heap.
// expect: variable \"w\" starts from an array, which is on the heap
#include <leat/static.hpp>

using namespace leat;

int main() {
  auto x = placeholder<"x", float, 3>();
#ifdef LEAT_FIXED
  auto w = variable<"w", float, 3>(zeros);
#else
  auto w = variable<"w", float, 3>(std::array{1.0f, 2.0f, 3.0f});
#endif
  auto y = x * w;
  static_session s{fetch(y)};  // ERROR HERE
  static_cast<void>(s);
}
