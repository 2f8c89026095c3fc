// A feed that is no argument of a run.
// expect: a feed does nothing by itself: give it to session.run
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
  s.run(fetch(y), scale = 0.5f);
#else
  scale = 0.5f;  // ERROR HERE
#endif
}
