// An assignment that no session runs.
// expect: an expression does nothing until a session runs it
// lines: 18
#include <leat/leat.hpp>

#include "dropped_results.hpp"

int main() {
#ifdef LEAT_FIXED
  s.run(fetch(set));
#else
  assign(w, 5.0f);  // ERROR HERE
#endif
}
