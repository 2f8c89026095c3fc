// A session is not copied.
// expect: use of deleted function
// expect: a session stays where it is made: pass a reference, or hold a std::unique_ptr to it
// expect-clang: a session stays where it is made
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto x = placeholder<"x", float, "batch", 2>();
  auto w = variable<"w", float, 2, 1>(zeros);
  auto loss = reduce_mean(square(matmul(x, w)));
  session s{loss};
#ifdef LEAT_FIXED
  auto& t = s;
  t.initialize();
#else
  auto t = s;  // ERROR HERE
#endif
}
