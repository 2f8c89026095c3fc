#define LEAT_PLANNED_SESSIONS
#include <leat/leat.hpp>

#include <type_traits>

float planned_there(float value);

float planned_there(float value) {
  using namespace leat;
  const auto a = placeholder<"a", float>();
  const auto y = a * constant<2.0f>() + constant<1.0f>();
  session s{y};
  static_assert(std::is_base_of_v<basic_session<planning_device, std::remove_const_t<decltype(y)>>, decltype(s)>);
  return std::get<0>(s.run(fetch(y), a = value));
}
