// A fraction for a placeholder of integers.
// expect: feed of \"n\": a fraction for a placeholder of integers
// expect: int32 []
#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

int main() {
  auto n = placeholder<"n", std::int32_t>();
  auto y = n * 2_c;
  session s{y};
#ifdef LEAT_FIXED
  auto r = s.run(fetch(y), n = 5);
#else
  auto r = s.run(fetch(y), n = 0.5);  // ERROR HERE
#endif
}
