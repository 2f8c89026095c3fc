// A range of random integers whose bounds are exchanged.
// expect: StatelessRandomUniformInt(3, 10, 0, 4): Need minval < maxval
#include <leat/leat.hpp>

int main() {
  using namespace leat;
  auto seed = placeholder<"seed", std::int64_t, 2>();
#ifdef LEAT_FIXED
  auto y = stateless_random_integer<int, 0, 10, 4>(seed);
#else
  auto y = stateless_random_integer<int, 10, 0, 4>(seed);  // ERROR HERE
#endif
  (void)y;
}
