// One program of two sources, one with LEAT_PLANNED_SESSIONS and one without: `session` is another class in each.
#include <leat/leat.hpp>

#include <cstdio>
#include <type_traits>

float planned_there(float value);

int main() {
  using namespace leat;
  const auto a = placeholder<"a", float>();
  const auto y = a * constant<2.0f>() + constant<1.0f>();
  session s{y};
  static_assert(std::is_base_of_v<basic_session<cpu::device, std::remove_const_t<decltype(y)>>, decltype(s)>);
  const float here = std::get<0>(s.run(fetch(y), a = 3.0f));
  const float there = planned_there(3.0f);
  std::printf("compiled %g, planned %g\n", static_cast<double>(here), static_cast<double>(there));
  return here == 7.0f && there == 7.0f ? 0 : 1;
}
