// A feed that is no argument of a run.
// expect: a feed does nothing by itself: give it to session.run
#include <leat/leat.hpp>

#include "dropped_results.hpp"

int main() {
#ifdef LEAT_FIXED
  s.run(fetch(y), scale = 0.5f);
#else
  scale = 0.5f;  // ERROR HERE
#endif
}
