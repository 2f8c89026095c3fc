// A prepared run that is never called.
// expect: a prepared run does nothing until it is called
#include <leat/leat.hpp>

// As our own build has it: what is dropped is a warning that ends the compilation.
#pragma GCC diagnostic error "-Wunused-result"

using namespace leat;

int main() {
  auto w = variable<"w", float>(1.0f);
  auto scale = parameter<"scale">(1.0f);
  auto y = scale * w * w;
  auto set = assign(w, 5.0f);
  session s{y, set};
  s.initialize();
#ifdef LEAT_FIXED
  s.prepare(fetch(y))();
#else
  s.prepare(fetch(y));  // ERROR HERE
#endif
}
