// Logarithms of running sums of exponentials: TensorFlow 2.21's values and gradients, and what is refused.

#include "support/messages.hpp"
#include "support/node_results.hpp"

#include <cmath>

using namespace leat;
using namespace node_results;

namespace cumulative_logs_test {

constexpr double infinite = INFINITY;
struct sums_case {
  extents of;
  int axis;
  bool exclusive, reverse;
  number_list x, slopes, sums, back;
};
const std::vector<sums_case>& sums_cases() {
  // clang-format off
  static const std::vector<sums_case> list{
      {{4}, 0, false, false, {-1, 0.75, -0.25, 1.5}, {-3, 2, 0, -2}, {-1, 0.91022415, 1.18285547, 2.04709516}, {-2.79889899, 1.15725639,
       -0.201101007, -1.15725639}},
      {{4}, 0, false, true, {-1, 0.75, -0.25, 1.5}, {-3, 2, 0, -2}, {2.04709516, 1.99843345, 1.66022415, 1.5}, {-0.142490084,
       -0.246065876, -0.0905225769, -2.52092146}},
      {{4}, 0, true, false, {-1, 0.75, -0.25, 1.5}, {3, 2, 0, 2}, {-infinite, -1, 0.91022415, 1.18285547}, {2.22543841, 1.29730847,
       0.477253116, 0}},
      {{4}, 0, true, true, {-1, 0.75, -0.25, 1.5}, {3, 2, 0, 2}, {1.99843345, 1.66022415, 1.5, -infinite}, {0, 0.860861914, 0.612787796,
       3.52635029}},
      {{2, 3}, 1, false, false, {-0.75, 1, 0, -1, 0.75, -0.25}, {-2, 3, 1, -1, -3, 2}, {-0.75, 1.16022415, 1.43285547, -1, 0.91022415,
       1.18285547}, {-1.4431392, 3.20451264, 0.238626558, -1.21870318, -1.25854993, 0.477253116}},
      {{2, 3}, 1, false, true, {-0.75, 1, 0, -1, 0.75, -0.25}, {-2, 3, 1, -1, -3, 2}, {1.43285547, 1.31326169, 0, 1.18285547, 1.06326169,
       -0.25}, {-0.225438409, 0.895867262, 1.32957115, -0.112719205, -2.84182997, 0.954549178}},
      {{2, 3}, 1, true, false, {-0.75, 1, 0, -1, 0.75, -0.25}, {-2, 3, 1, -1, -3, 2}, {-infinite, -0.75, 1.16022415, -infinite, -1,
       0.91022415}, {3.1480472, 0.851952802, 0, -2.7039056, 1.7039056, 0}},
      {{2, 3}, 1, true, true, {-0.75, 1, 0, -1, 0.75, -0.25}, {-2, 3, 1, -1, -3, 2}, {1.31326169, 0, -infinite, 1.06326169, -0.25,
       -infinite}, {0, -1.46211716, 2.46211716, 0, -0.731058579, -3.26894142}},
      {{3, 2, 2}, 0, false, false, {-0.5, 1.25, 0.25, -0.75, 1, 0, -1, 0.75, -0.25, 1.5, 0.5, -0.5}, {-1, -3, 2, 0, -2, 3, 1, -1, -3, 2,
       0, -2}, {-0.5, 1.25, 0.25, -0.75, 1.20141328, 1.50192908, 0.501929081, 0.951413278, 1.41186787, 2.19411219, 1.19411219,
       1.16186787}, {-1.8082632, 0.109949182, 2.77729986, -0.478033623, -3.62238433, 0.891015359, 0.222700139, -2.14239806, -0.569352469,
       0.99903546, 0, -0.379568313}},
      {{3, 2, 2}, 0, false, true, {-0.5, 1.25, 0.25, -0.75, 1, 0, -1, 0.75, -0.25, 1.5, 0.5, -0.5}, {-1, -3, 2, 0, -2, 3, 1, -1, -3, 2,
       0, -2}, {1.41186787, 2.19411219, 1.19411219, 1.16186787, 1.25192908, 1.70141328, 0.701413278, 1.00192908, -0.25, 1.5, 0.5, -0.5},
       {-0.14780405, -1.1670744, 0.778049598, 0, -2.21701152, 0.212904158, 0.405340466, -0.777299861, -3.63518443, 2.95417024,
       1.81660994, -2.22270014}},
      {{3, 2, 2}, 0, true, false, {-0.5, 1.25, 0.25, -0.75, 1, 0, -1, 0.75, -0.25, 1.5, 0.5, -0.5}, {1, 3, 2, 0, 2, 3, 1, 1, 3, 2, 0, 2},
       {-infinite, -infinite, -infinite, -infinite, -0.5, 1.25, 0.25, -0.75, 1.20141328, 1.50192908, 0.501929081, 0.951413278},
       {2.54727657, 4.55459972, 1, 1.36485105, 2.45272343, 0.445400278, 0, 1.63514895, 0, 0, 0, 0}},
      {{3, 2, 2}, 0, true, true, {-0.5, 1.25, 0.25, -0.75, 1, 0, -1, 0.75, -0.25, 1.5, 0.5, -0.5}, {1, 3, 2, 0, 2, 3, 1, 1, 3, 2, 0, 2},
       {1.25192908, 1.70141328, 0.701413278, 1.00192908, -0.25, 1.5, 0.5, -0.5, -infinite, -infinite, -infinite, -infinite}, {0, 0, 0, 0,
       0.777299861, 0.547276571, 0.364851048, 0, 2.22270014, 5.45272343, 2.63514895, 1}},
      {{2, 3, 2}, -2, false, false, {-0.25, 1.5, 0.5, -0.5, 1.25, 0.25, -0.75, 1, 0, -1, 0.75, -0.25}, {0, -2, 3, 1, -1, -3, 2, 0, -2, 3,
       1, -1}, {-0.25, 1.5, 0.886871006, 1.62692801, 1.77797574, 1.85195186, -0.75, 1, 0.386871006, 1.12692801, 1.27797574, 1.35195186},
       {0.830862255, -3.22914485, 1.75893541, -0.166346666, -0.589797664, -0.604508483, 1.48995905, 1.93907726, -1.07975671, 0.26242557,
       0.589797664, -0.201502828}},
      {{2, 3, 2}, -2, false, true, {-0.25, 1.5, 0.5, -0.5, 1.25, 0.25, -0.75, 1, 0, -1, 0.75, -0.25}, {0, -2, 3, 1, -1, -3, 2, 0, -2, 3,
       1, -1}, {1.77797574, 1.85195186, 1.63687101, 0.636871006, 1.25, 0.25, 1.27797574, 1.35195186, 1.13687101, 0.136871006, 0.75,
       -0.25}, {0, -1.40662795, 0.962463902, 0.130454909, 1.0375361, -2.72382696, 0.263203294, 0, -0.0844412233, 0.962463902,
       0.821237929, 1.0375361}},
      {{2, 3, 2}, -2, true, false, {-0.25, 1.5, 0.5, -0.5, 1.25, 0.25, -0.75, 1, 0, -1, 0.75, -0.25}, {0, -2, 3, 1, -1, -3, 2, 0, -2, 3,
       1, -1}, {-infinite, -infinite, -0.25, 1.5, 0.886871006, 1.62692801, -infinite, -infinite, -0.75, 1, 0.386871006, 1.12692801},
       {2.6791787, -1.64239123, -0.679178699, -0.357608766, 0, 0, -1.6791787, 2.11920292, 0.679178699, -0.119202922, 0, 0}},
      {{2, 3, 2}, -2, true, true, {-0.25, 1.5, 0.5, -0.5, 1.25, 0.25, -0.75, 1, 0, -1, 0.75, -0.25}, {0, -2, 3, 1, -1, -3, 2, 0, -2, 3,
       1, -1}, {1.63687101, 0.636871006, 1.25, 0.25, -infinite, -infinite, 1.13687101, 0.136871006, 0.75, -0.25, -infinite, -infinite},
       {0, 0, 0, -0.641642602, 3, -0.358357398, 0, 0, 0.641642602, 0, -0.641642602, 3}},
  };
  // clang-format on
  return list;
}
tensor_value axis_at(double axis) { return tensor_of(dtype::int32, {}, {axis}); }
std::string refusal(const tensor_value& x, const tensor_value& axis) {
  return leat_test::message_of<error>([&] { run_node("CumulativeLogsumexp", {x, axis}, {}, {}); });
}

TEST_CASE("logarithms of running sums of exponentials, and their gradients, as in TensorFlow") {
  for (const sums_case& t : sums_cases())
    for (const dtype type : {dtype::float32, dtype::float64}) {
      const double tolerance = type == dtype::float32 ? 1e-5 : 1e-8;
      graph g;
      const auto scope = g.as_default();
      const output x = placeholder(type, shape::unknown()), dy = placeholder(type, shape::unknown());
      const output y =
          call_operator(g, "CumulativeLogsumexp", {x, tensor_literal(std::int32_t{t.axis})}, {{"exclusive", t.exclusive}, {"reverse", t.reverse}})
              .result();
      const auto by = gradients({reduce_sum(y * dy)}, {x});
      graph_session s(g);
      const auto made = s.run({y, by[0]}, {{x, tensor_of(type, t.of, t.x)}, {dy, tensor_of(type, t.of, t.slopes)}});
      const auto sums = list_of(made[0]);
      for (std::size_t i = 0; i < sums.size(); ++i)
        if (std::isinf(t.sums[i])) CHECK(sums[i] == t.sums[i]);
        else CHECK(sums[i] == doctest::Approx(t.sums[i]).epsilon(tolerance).scale(1));
      const auto slopes = list_of(made[1]);
      for (std::size_t i = 0; i < slopes.size(); ++i)
        if (std::isfinite(t.back[i])) CHECK(slopes[i] == doctest::Approx(t.back[i]).epsilon(10 * tolerance).scale(1));
        else CHECK(std::isnan(slopes[i]) == std::isnan(t.back[i]));
    }
  const auto of = [](const number_list& list, const attribute_map& settings = {}) {
    return list_of(run_node("CumulativeLogsumexp", {tensor_of(dtype::float64, {static_cast<std::int64_t>(list.size())}, list), axis_at(0)}, {}, settings)[0]);
  };
  // Sums that overflow without their largest number in front; none; infinite ones.
  CHECK(of({1000, 1000})[1] == doctest::Approx(1000 + std::log(2)));
  CHECK(of({-infinite, -infinite, 2}) == number_list{-infinite, -infinite, 2});
  CHECK(of({1, infinite, infinite, 2}) == number_list{1, infinite, infinite, infinite});
  CHECK(std::isnan(of({1, std::nan(""), 2})[2]));
  CHECK(of({3}, {{"exclusive", true}}) == number_list{-infinite});
  CHECK(of({}).empty());
  CHECK(run_node("CumulativeLogsumexp", {tensor_of(dtype::float32, {1000000000000, 0}, {}), axis_at(0)}, {}, {})[0].elements() == 0);
  const auto x = tensor_of(dtype::float32, {2, 2}, {1, 2, 3, 4});
  CHECK(leat_test::says(refusal(x, axis_at(2)), "axis 2 is not in the range [-2, 2)"));
  CHECK(leat_test::says(refusal(x, axis_at(-3)), "axis -3 is not in the range"));
  CHECK(leat_test::says(refusal(x, tensor_of(dtype::int32, {2}, {0, 1})), "axis must be a scalar"));
  CHECK(leat_test::says(refusal(tensor_of(dtype::float32, {}, {1}), axis_at(0)), "axis 0 is not in the range"));
}

}  // namespace cumulative_logs_test
