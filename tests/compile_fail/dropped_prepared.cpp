// A prepared run that is never called.
// expect: a prepared run does nothing until it is called
#include <leat/leat.hpp>

#include "dropped_results.hpp"

int main() {
#ifdef LEAT_FIXED
  s.prepare(fetch(y))();
#else
  s.prepare(fetch(y));  // ERROR HERE
#endif
}
