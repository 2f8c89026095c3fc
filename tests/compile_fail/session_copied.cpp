// A session is not copied.
// expect: use of deleted function
// expect: a session stays where it is made: pass a reference, or hold a std::unique_ptr to it
// expect-clang: a session stays where it is made
#include <leat/leat.hpp>

#include "linear_model.hpp"

int main() {
  session s{loss};
#ifdef LEAT_FIXED
  auto& t = s;
  t.initialize();
#else
  auto t = s;  // ERROR HERE
#endif
}
