// Gradients that nobody keeps.
// expect: gradients are expressions: fetch them, or make a training step of them
#include <leat/leat.hpp>

#include "dropped_results.hpp"

int main() {
#ifdef LEAT_FIXED
  auto [slope] = gradients(y, w);
#else
  gradients(y, w);  // ERROR HERE
#endif
}
