// Random numbers with gamma distributions: their moments, TensorFlow 2.21's derivatives by alpha, and what is refused.

#include "support/messages.hpp"
#include "support/node_results.hpp"

#include <cmath>

using namespace leat;
using namespace node_results;

namespace random_gamma_test {

struct slopes_case {
  double alpha;
  number_list samples, slopes;
};
const std::vector<slopes_case>& slopes_cases() {
  // clang-format off
  static const std::vector<slopes_case> list{
      {0.0001, {5e-06, 3e-05, 8e-05, 0.0001, 0.00013, 0.0003}, {0.58145423, 2.95127612, 7.08577696, 8.63425246, 10.883786, 22.6117123}},
      {0.01, {0.0005, 0.003, 0.008, 0.01, 0.013, 0.03}, {0.352199668, 1.58004516, 3.4474032, 4.09440357, 4.99691815, 9.19368949}},
      {0.1, {0.005, 0.03, 0.08, 0.1, 0.13, 0.3}, {0.245045981, 0.958029541, 1.86472002, 2.14692206, 2.51934435, 4.00648039}},
      {0.5, {0.025, 0.15, 0.4, 0.5, 0.65, 1.5}, {0.189968739, 0.663754561, 1.18657887, 1.33735259, 1.52958455, 2.23953025}},
      {1, {0.05, 0.3, 0.8, 1, 1.3, 3}, {0.175913741, 0.595778466, 1.04531751, 1.17356303, 1.33658968, 1.93791169}},
      {1.5, {0.075, 0.45, 1.2, 1.5, 1.95, 4.5}, {0.17034151, 0.570207505, 0.994617596, 1.11548522, 1.26915039, 1.83734662}},
      {3, {0.15, 0.9, 2.4, 3, 3.9, 9}, {0.164251057, 0.543395915, 0.943180576, 1.05702697, 1.20189364, 1.73975541}},
      {10, {0.5, 3, 8, 10, 13, 30}, {0.159689128, 0.524211961, 0.907547718, 1.01682349, 1.15601954, 1.67469412}},
      {50, {2.5, 15, 40, 50, 65, 150}, {0.158076528, 0.517630253, 0.895549703, 1.00333992, 1.14070127, 1.65321474}},
      {300, {15, 90, 240, 300, 390, 900}, {0.157737939, 0.516261865, 0.893069404, 1.00055574, 1.13754222, 1.64879906}},
      {2000, {1600, 2000, 2600}, {0.892648466, 1.00008334, 1.13700634}},
  };
  // clang-format on
  return list;
}
/// Mean and variance of column `k` of a matrix of two columns.
std::pair<double, double> moments_of(const number_list& list, std::size_t k) {
  double sum = 0, squares = 0;
  const double count = static_cast<double>(list.size()) / 2;
  for (std::size_t i = k; i < list.size(); i += 2) sum += list[i];
  for (std::size_t i = k; i < list.size(); i += 2) squares += (list[i] - sum / count) * (list[i] - sum / count);
  return {sum / count, squares / count};
}

TEST_CASE("derivatives of gamma numbers by alpha are TensorFlow's") {
  for (const slopes_case& t : slopes_cases())
    for (const dtype type : {dtype::float32, dtype::float64}) {
      CAPTURE(t.alpha);
      const auto made = list_of(run_node("RandomGammaGrad", {tensor_of(type, {}, {t.alpha}),
                                                             tensor_of(type, {static_cast<std::int64_t>(t.samples.size())}, t.samples)}, {}, {})[0]);
      REQUIRE(made.size() == t.slopes.size());
      for (std::size_t i = 0; i < made.size(); ++i)
        CHECK(made[i] == doctest::Approx(t.slopes[i]).epsilon(type == dtype::float32 ? 2e-5 : 1e-7));
    }
  const double infinite = INFINITY;
  const auto odd = tensor_of(dtype::float64, {7}, {0, -1, std::nan(""), infinite, 1, 1, 1e-300});
  const auto at = tensor_of(dtype::float64, {7}, {1, 1, 1, 1, -1, infinite, 1e300});
  const auto made = list_of(run_node("RandomGammaGrad", {odd, at}, {}, {})[0]);
  for (std::size_t i = 0; i < 6; ++i) CHECK(std::isnan(made[i]));
  CHECK(leat_test::says(leat_test::message_of<error>([&] { run_node("RandomGammaGrad", {odd, tensor_of(dtype::float64, {2}, {1, 1})}, {}, {}); }),
                        "Incompatible shapes"));
}

TEST_CASE("gamma numbers have their moments, and gradients by alpha") {
  const number_list alphas{0.3, 4.5};
  for (const dtype type : {dtype::float32, dtype::float64}) {
    const auto alpha = tensor_of(type, {2}, alphas);
    graph g;
    const auto scope = g.as_default();
    const output a = placeholder(type, shape::unknown());
    const output drawn = call_operator(g, "RandomGamma", {tensor_literal({20000}), a}, {{"seed", std::int64_t{5}}}).result();
    const output stateless = call_operator(g, "StatelessRandomGammaV2", {tensor_literal({20000, 2}), tensor_literal({3, 4}), a}, {}).result();
    const auto by_drawn = gradients({reduce_sum(drawn)}, {a}), by_stateless = gradients({reduce_sum(stateless)}, {a});
    graph_session s(g);
    const auto first = s.run({drawn, stateless, by_drawn[0], by_stateless[0]}, {{a, alpha}});
    const auto second = s.run({drawn, stateless}, {{a, alpha}});
    CHECK(list_of(first[0]) != list_of(second[0]));
    CHECK(list_of(first[1]) == list_of(second[1]));
    for (std::size_t which : {0, 1})
      for (std::size_t k : {0, 1}) {
        const auto [mean, variance] = moments_of(list_of(first[which]), k);
        CHECK(mean == doctest::Approx(alphas[k]).epsilon(0.03));  // both are alpha; so is the mean's slope 1
        CHECK(variance == doctest::Approx(alphas[k]).epsilon(0.08));
        CHECK(list_of(first[2 + which])[k] / 20000 == doctest::Approx(1).epsilon(0.05));
      }
  }
  const auto of = [](const number_list& list) { return tensor_of(dtype::float64, {static_cast<std::int64_t>(list.size())}, list); };
  const auto odd = list_of(run_node("RandomGamma", {tensor_of(dtype::int32, {0}, {}), of({0, -1, std::nan(""), INFINITY, 1e-300, 1e300})}, {}, {})[0]);
  CHECK(odd[0] == 0);
  CHECK(std::isnan(odd[1]));
  CHECK(std::isnan(odd[2]));
  CHECK(std::isinf(odd[3]));
  CHECK(run_node("RandomGamma", {tensor_of(dtype::int32, {1}, {5}), of({})}, {}, {})[0].elements() == 0);
  const auto refusal = [&](std::string_view type, const std::vector<tensor_value>& inputs) {
    return leat_test::message_of<error>([&] { run_node(type, inputs, {}, {}); });
  };
  const auto sizes = [](const number_list& list) { return tensor_of(dtype::int64, {static_cast<std::int64_t>(list.size())}, list); };
  CHECK(!refusal("RandomGamma", {sizes({-1}), of({1})}).empty());
  CHECK(!refusal("RandomGamma", {sizes({1e18, 1e18}), of({1})}).empty());
  CHECK(leat_test::says(refusal("StatelessRandomGammaV2", {sizes({2, 3}), sizes({1, 2}), of({1, 2})}), "must end with"));
  CHECK(leat_test::says(refusal("StatelessRandomGammaV2", {sizes({}), sizes({1, 2}), of({1, 2})}), "must end with"));
  CHECK(leat_test::says(refusal("StatelessRandomGammaV2", {sizes({2}), sizes({1, 2, 3}), of({1, 2})}), "seed must have shape"));
}

}  // namespace random_gamma_test
