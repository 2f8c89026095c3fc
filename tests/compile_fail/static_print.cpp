// A static session of a step that prints.
// expect: operator \"Print\" has no kernel for static sessions: it would need the heap, files or streams
#include <leat/ops/print.hpp>
#include <leat/static.hpp>

using namespace leat;

int main() {
  auto x = placeholder<"x", float, 3>();
#ifdef LEAT_FIXED
  auto y = x * x;
#else
  auto y = print<"x: ">(x * x, x);
#endif
  static_session s{fetch(y)};  // ERROR HERE
  static_cast<void>(s);
}
