// A run of a static session with fetches that were not given to its constructor.
// expect: these fetches are no step of the static session: give fetch(a, b) to its constructor
#include <leat/static.hpp>

using namespace leat;

int main() {
  auto x = placeholder<"x", float, 3>();
  auto y = x * x;
  auto z = y + 1.0f;
#ifdef LEAT_FIXED
  static_session s{fetch(y), fetch(z), fetch(y, z)};
#else
  static_session s{fetch(y), fetch(z)};
#endif
  std::array<float, 3> a{}, b{};
  const auto result = s.run(fetch(into(y, a), into(z, b)), x = a);  // ERROR HERE
  static_cast<void>(result);
}
