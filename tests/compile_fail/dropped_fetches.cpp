// Fetches that no session is given.
// expect: fetches do nothing by themselves: give them to session.run
#include <leat/leat.hpp>

#include "dropped_results.hpp"

int main() {
#ifdef LEAT_FIXED
  s.run(fetch(y));
#else
  fetch(y);  // ERROR HERE
#endif
}
