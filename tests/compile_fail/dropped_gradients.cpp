// Gradients that nobody keeps.
// expect: gradients are expressions: fetch them, or make a training step of them
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
  auto [slope] = gradients(y, w);
#else
  gradients(y, w);  // ERROR HERE
#endif
}
