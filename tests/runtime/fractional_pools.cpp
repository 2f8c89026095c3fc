// Pools whose windows differ in size: TensorFlow 2.21's windows, values and gradients, and what is refused.

#include "support/messages.hpp"
#include "support/node_results.hpp"

#include <cmath>

using namespace leat;
using namespace node_results;

namespace fractional_pools_test {

struct pool_case {
  extents image;
  std::vector<float> ratios;
  bool is_even, overlapping;
  std::int64_t seed, seed2;
  number_list rows, columns, maximum, average, average_of_integers, maximum_back, average_back;
};
const std::vector<pool_case>& pool_cases() {
  // clang-format off
  static const std::vector<pool_case> list{
      {{1, 7, 5, 1}, {1, 1.5f, 1.4f, 1}, false, false, 3, 4, {0, 2, 4, 5, 7}, {0, 2, 4, 5},
       {6, 11, 2, 8, 13, 4, 9, 0, 5, 11, 2, 7},
       {-1.5, 3.5, 1.5, 0.5, 5.5, 3.5, 2, -4.5, 5, 3.5, -3, 6.5},
       {-1, 3, 1, 0, 5, 3, 2, -4, 5, 3, -3, 6},
       {0, 0, 0, 0, 0, 0, -2, 0, 3, 1, 0, 0, 0, 0, 0, 0, -1, 0, 4, 2, 0, 0, -2, 0, 3, 0, 0, 0, 0, 0, 0, 1, -1, 0, 4},
       {-0.5, -0.5, 0.75, 0.75, 0.5, -0.5, -0.5, 0.75, 0.75, 0.5, -0.25, -0.25, 1, 1, 1, -0.25, -0.25, 1, 1, 1, 0, 0, -1, -1, 3, 0.25,
       0.25, -0.25, -0.25, 2, 0.25, 0.25, -0.25, -0.25, 2}},
      {{2, 4, 6, 2}, {1, 1.3f, 1.9f, 1}, true, true, 12, 5, {0, 2, 3, 4}, {0, 2, 4, 6},
       {12, 12, 13, 13, 13, 13, 10, 12, 13, 11, 13, 11, 10, 1, 10, 11, 2, 11, 12, 12, 13, 13, 11, 9, 10, 12, 13, 11, 7, 9, 10, 6, 2, 11,
       7, -2},
       {1.22222222, 2.44444444, 3.55555556, 2.22222222, 4.66666667, 3.33333333, 1.5, 0.166666667, 3.83333333, 2.5, 1.75, 4.25, 5, -4,
       -0.333333333, 6, -0.5, 2, 1.11111111, 2.33333333, 3.44444444, 2.11111111, 2, 0.666666667, 2.66666667, 1.33333333, 1.16666667,
       3.66666667, 1, -2.25, 2.33333333, 1, -3, 3.33333333, 4.5, -4.5},
       {1, 2, 3, 2, 4, 3, 1, 0, 3, 2, 1, 4, 5, -4, 0, 6, 0, 2, 1, 2, 3, 2, 2, 0, 2, 1, 1, 3, 1, -2, 2, 1, -3, 3, 4, -4},
       {0, 0, 0, 0, -2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
       0, 0, 7, 1, 0, 0, 0, 4, 0, 0, 0, 0, -2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 6, 0, 0, 0, 0, 2, 0, 0, 4, 0, 0, 0, 0,
       0, 0, 0, -1, 0, 2, 4, 0, -2, -2},
       {-0.222222222, 0.333333333, -0.222222222, 0.333333333, -0.111111111, 0.222222222, 0.111111111, -0.111111111, 0.777777778,
       0.222222222, 0.666666667, 0.333333333, -0.222222222, 0.333333333, -0.222222222, 0.333333333, -0.111111111, 0.222222222,
       0.111111111, -0.111111111, 0.777777778, 0.222222222, 0.666666667, 0.333333333, -0.222222222, 0, -0.222222222, 0, 0.388888889,
       0.0555555556, 0.611111111, 0.0555555556, 1.02777778, 1.38888889, 0.416666667, 1.33333333, 0.666666667, -0.333333333, 0.666666667,
       -0.333333333, 0.5, 0.833333333, -0.166666667, 1.16666667, 0.0833333333, 1.66666667, 0.25, 0.5, 0.444444444, 0.222222222,
       0.444444444, 0.222222222, 0.444444444, 0, 0, -0.222222222, 0.5, -0.0555555556, 0.5, 0.166666667, 0.444444444, 0.222222222,
       0.444444444, 0.222222222, 0.444444444, 0, 0, -0.222222222, 0.5, -0.0555555556, 0.5, 0.166666667, 0.277777778, 0.888888889,
       0.277777778, 0.888888889, 0.611111111, 0.666666667, 0.333333333, -0.222222222, 0.333333333, 0.694444444, 0, 0.916666667,
       0.166666667, 0.333333333, 0.166666667, 0.333333333, 1.83333333, 1, 1.66666667, 0.666666667, 1.16666667, 0.416666667, -0.5, -0.25}},
      {{1, 9, 8, 1}, {1, 2.3f, 1.7f, 1}, true, false, 7, 99, {0, 3, 6, 9}, {0, 2, 4, 6, 8},
       {13, 12, 11, 13, 12, 9, 11, 13, 12, 11, 13, 10},
       {5.5, 2.83333333, 0.166666667, 1.33333333, 0.333333333, 1.5, 2.66666667, 3.83333333, 2.83333333, 0.166666667, 1.33333333, 2.5},
       {5, 2, 0, 1, 0, 1, 2, 3, 2, 0, 1, 2},
       {-2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 3, 0, 0, 0, 0, -1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4,
       0, 0, 0, 0, -2, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 1, 0, 0, 0, 0, 3, 0, 0, 0, 0, -1, 0, 0},
       {-0.333333333, -0.333333333, 0.5, 0.5, 0.166666667, 0.166666667, -0.166666667, -0.166666667, -0.333333333, -0.333333333, 0.5, 0.5,
       0.166666667, 0.166666667, -0.166666667, -0.166666667, -0.333333333, -0.333333333, 0.5, 0.5, 0.166666667, 0.166666667,
       -0.166666667, -0.166666667, 0.666666667, 0.666666667, 0.333333333, 0.333333333, 0, 0, -0.333333333, -0.333333333, 0.666666667,
       0.666666667, 0.333333333, 0.333333333, 0, 0, -0.333333333, -0.333333333, 0.666666667, 0.666666667, 0.333333333, 0.333333333, 0, 0,
       -0.333333333, -0.333333333, 0.5, 0.5, 0.166666667, 0.166666667, -0.166666667, -0.166666667, 0.666666667, 0.666666667, 0.5, 0.5,
       0.166666667, 0.166666667, -0.166666667, -0.166666667, 0.666666667, 0.666666667, 0.5, 0.5, 0.166666667, 0.166666667, -0.166666667,
       -0.166666667, 0.666666667, 0.666666667}},
      {{1, 6, 6, 1}, {1, 2.0f, 3.0f, 1}, false, true, 1099511627781, -3, {0, 2, 4, 6}, {0, 3, 6},
       {13, 12, 13, 11, 12, 11},
       {2.5, 3, 1.83333333, 2.33333333, 3.25, 1.83333333},
       {2, 3, 1, 2, 3, 1},
       {0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 4, 0, 0, 0},
       {-0.166666667, -0.166666667, -0.166666667, 0.166666667, 0.333333333, 0.333333333, -0.166666667, -0.166666667, -0.166666667,
       0.166666667, 0.333333333, 0.333333333, -0.0833333333, -0.0833333333, -0.0833333333, 0.138888889, 0.222222222, 0.222222222,
       0.0833333333, 0.0833333333, 0.0833333333, -0.0277777778, -0.111111111, -0.111111111, 0.583333333, 0.583333333, 0.583333333,
       0.805555556, 0.222222222, 0.222222222, 0.5, 0.5, 0.5, 0.833333333, 0.333333333, 0.333333333}},
      {{1, 5, 7, 2}, {1, 1.0f, 3.5f, 1}, false, false, 0, 8, {0, 1, 2, 3, 4, 5}, {0, 3, 7},
       {12, 13, 9, 10, 11, 2, 8, 12, 13, 9, 10, 11, 12, 3, 9, 13, 1, 10, 11, 12},
       {1.66666667, 8, 0, 2.5, 6, -3, 0.5, 3, 2.66666667, 1.33333333, 1, 3.5, 7, -2, 1.5, 4, -4, 2.33333333, 2, 4.5},
       {1, 8, 0, 2, 6, -3, 0, 3, 2, 1, 1, 3, 7, -2, 1, 4, -4, 2, 2, 4},
       {-2, 0, 0, 0, 0, 3, 0, 0, 1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 4, 2, 0, 0, 0, -2, 0, 0, 0, 0, 3, 0, 0, 1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 4,
       0, 0, 0, 0, 2, 0, 0, 0, 0, 3, 0, 0, -2, 0, 0, 0, 0, -1, 1, 0, 0, 0, 4, 0, 0, 0, 0, 2},
       {-0.666666667, 1, -0.666666667, 1, -0.666666667, 1, 0.25, -0.25, 0.25, -0.25, 0.25, -0.25, 0.25, -0.25, 1.33333333, 0.666666667,
       1.33333333, 0.666666667, 1.33333333, 0.666666667, 0, -0.5, 0, -0.5, 0, -0.5, 0, -0.5, 1, 0.333333333, 1, 0.333333333, 1,
       0.333333333, -0.25, 1, -0.25, 1, -0.25, 1, -0.25, 1, 0.666666667, 0, 0.666666667, 0, 0.666666667, 0, -0.5, 0.75, -0.5, 0.75, -0.5,
       0.75, -0.5, 0.75, 0.333333333, -0.333333333, 0.333333333, -0.333333333, 0.333333333, -0.333333333, 1, 0.5, 1, 0.5, 1, 0.5, 1,
       0.5}},
      {{1, 10, 3, 1}, {1, 1.44f, 1.73f, 1}, true, true, 5, 0, {0, 2, 3, 5, 7, 8, 10}, {0, 3},
       {10, 11, 12, 13, 9, 10},
       {-0.222222222, 0.166666667, 3.11111111, 2.77777778, -0.666666667, -0.833333333},
       {0, 0, 3, 2, 0, 0},
       {0, 0, 0, 0, -2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1, 0, 0, 4, 0, 0, 0, 0, 2, 0, 0},
       {-0.222222222, -0.222222222, -0.222222222, -0.222222222, -0.222222222, -0.222222222, 0.277777778, 0.277777778, 0.277777778,
       0.611111111, 0.611111111, 0.611111111, 0.111111111, 0.111111111, 0.111111111, 0, 0, 0, -0.111111111, -0.111111111, -0.111111111,
       0.555555556, 0.555555556, 0.555555556, 1, 1, 1, 0.333333333, 0.333333333, 0.333333333}},
      {{1, 11, 4, 1}, {1, 1.1f, 1.2f, 1}, false, true, 1, 1, {0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {0, 1, 2, 4},
       {12, 13, 13, 9, 13, 13, 9, 10, 10, 6, 10, 11, 6, 7, 11, 12, 7, 8, 13, 13, 8, 13, 13, 5, 10, 10, 5, 10, 10, 1},
       {5, 3.66666667, 2.33333333, 2.75, 5.25, 2, 1.25, 3.75, 0.5, -0.25, 2.25, 4.75, -1.75, 0.75, 3.25, 2.5, -0.75, 1.75, 6.75, 3.5,
       0.25, 5.25, 2, -1.25, 3.75, 0.5, -2.75, 3, 5.5, -3.5},
       {5, 3, 2, 2, 5, 2, 1, 3, 0, 0, 2, 4, -1, 0, 3, 2, 0, 1, 6, 3, 0, 5, 2, -1, 3, 0, -2, 3, 5, -3},
       {0, 0, 0, 0, 0, -2, 0, 0, 0, 0, 10, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 2, 0, 0, 1, 0, 3, 0, 0, -1, 0, 7, 0, 0, 0, 0, 0, 3, 0, 1,
       3, 0},
       {-0.333333333, 0.166666667, 0.666666667, 0.166666667, -0.333333333, 0.166666667, 0.666666667, 0.166666667, -0.583333333,
       0.916666667, 2.16666667, 0.666666667, -0.25, 0.25, 1.75, 1.25, 0.25, -0.5, 1, 1.75, 0.75, 0.5, 0.25, 0.5, 1.25, 1.5, -0.5, -0.75,
       1.75, 2.5, 0.5, -0.25, 0.5, 1.75, 1.5, 0.25, -0.75, 1, 2.5, 0.75, -0.25, -0.25, 2, 2}},
  };
  // clang-format on
  return list;
}
// The images' pixels and the slopes, as those cases were made with.
number_list pixels_of(const pool_case& p, std::size_t k) {
  number_list list;
  for (std::int64_t i = 0; i < count_of(p.image); ++i) list.push_back(static_cast<double>((i * 37 + static_cast<std::int64_t>(k) * 11) % 23 - 9));
  return list;
}
tensor_value slopes_of(dtype type, const shape& s) {
  tensor_value made(dtype::float64, s);
  for (std::int64_t i = 0; i < made.elements(); ++i) made.values<double>()[static_cast<std::size_t>(i)] = static_cast<double>(i * 5 % 7 - 2);
  extents of(s.dim, s.dim + s.rank);
  return tensor_of(type, of, list_of(made));
}
attribute_map settings_of(const pool_case& p) {
  return {{"pooling_ratio", p.ratios}, {"pseudo_random", p.is_even}, {"overlapping", p.overlapping}, {"deterministic", true}, {"seed", p.seed},
          {"seed2", p.seed2}};
}
attribute_map by_ratios(std::vector<float> ratios) { return {{"pooling_ratio", std::move(ratios)}}; }
tensor_value whole(const number_list& list) { return tensor_of(dtype::int64, {static_cast<std::int64_t>(list.size())}, list); }
template <class Error = invalid_argument>
bool refuses(std::string_view type, const std::vector<tensor_value>& arrays, std::string_view words, const attribute_map& settings = {}) {
  return leat_test::says(leat_test::message_of<Error>([&] { run_node(type, arrays, {}, settings); }), words);
}

TEST_CASE("fractional pools have TensorFlow's windows, values and gradients") {
  for (std::size_t k = 0; k < pool_cases().size(); ++k) {
    CAPTURE(k);
    const pool_case& p = pool_cases()[k];
    const attribute_map back{{"overlapping", p.overlapping}};
    for (const dtype type : {dtype::float32, dtype::float64, dtype::int32, dtype::int64}) {
      const bool is_whole = type == dtype::int32 || type == dtype::int64;
      const auto image = tensor_of(type, p.image, pixels_of(p, k));
      const auto most = run_node("FractionalMaxPool", {image}, {}, settings_of(p));
      CHECK(list_of(most[0]) == p.maximum);
      CHECK(list_of(most[1]) == p.rows);
      CHECK(list_of(most[2]) == p.columns);
      const auto mean = run_node("FractionalAvgPool", {image}, {}, settings_of(p));
      if (is_whole) CHECK(list_of(mean[0]) == p.average_of_integers);
      else check_near(list_of(mean[0]), p.average, 1e-6);
      CHECK(list_of(mean[1]) == p.rows);
      CHECK(list_of(mean[2]) == p.columns);
      const auto dy = slopes_of(type, most[0].extent());
      CHECK(list_of(run_node("FractionalMaxPoolGrad", {image, most[0], dy, most[1], most[2]}, {}, back)[0]) == p.maximum_back);
      const number_list sizes(p.image.begin(), p.image.end());
      const auto slopes = list_of(run_node("FractionalAvgPoolGrad", {whole(sizes), dy, most[1], most[2]}, {}, back)[0]);
      if (is_whole)
        for (std::size_t i = 0; i < slopes.size(); ++i) CHECK(slopes[i] == std::trunc(p.average_back[i] + (p.average_back[i] < 0 ? -1e-9 : 1e-9)));
      else check_near(slopes, p.average_back, 1e-6);
    }
  }
  // Without seeds each run has windows of its own; together they cover the image, each of one of two sizes.
  for (const bool is_even : {false, true})
    for (const bool is_fixed : {false, true}) {
      graph g;
      const auto scope = g.as_default();
      const output image = placeholder(dtype::float32, shape::unknown());
      const auto node = call_operator(g, "FractionalMaxPool", {image},
                                      {{"pooling_ratio", std::vector<float>{1, 1.4f, 1.7f, 1}}, {"pseudo_random", is_even}, {"deterministic", is_fixed}});
      graph_session s(g);
      const auto fed = tensor_of(dtype::float32, {1, 40, 31, 1}, number_list(40 * 31, 2));
      number_list first;
      int same = 0;
      for (int run = 0; run < 8; ++run) {
        const auto made = s.run(node.outputs(), {{image, fed}});
        const auto rows = list_of(made[1]), columns = list_of(made[2]);
        REQUIRE(rows.size() == 29);
        REQUIRE(columns.size() == 19);
        CHECK(rows.front() == 0);
        CHECK(rows.back() == 40);
        CHECK(columns.back() == 31);
        for (std::size_t i = 1; i < rows.size(); ++i) CHECK((rows[i] - rows[i - 1] == 1 || rows[i] - rows[i - 1] == 2));
        for (std::size_t i = 1; i < columns.size(); ++i) CHECK((columns[i] - columns[i - 1] == 1 || columns[i] - columns[i - 1] == 2));
        if (run == 0) first = rows;
        same += rows == first ? 1 : 0;
      }
      CHECK((same == 8) == is_fixed);
    }
}

TEST_CASE("fractional pools pass gradients") {
  for (const char* type : {"FractionalMaxPool", "FractionalAvgPool"})
    for (const bool overlapping : {false, true})
      check_gradient({{2, 5, 4, 2}}, [&](const std::vector<output>& in) {
        return call_operator(in[0].owner(), type, {in[0]},
                             {{"pooling_ratio", std::vector<float>{1, 1.4f, 1.7f, 1}}, {"overlapping", overlapping}, {"deterministic", true},
                              {"seed", std::int64_t{3}}, {"seed2", std::int64_t{4}}})
            .result(0);
      });
}

TEST_CASE("fractional pools refuse what does not fit") {
  const auto image = tensor_of(dtype::float32, {1, 3, 3, 1}, number_list(9, 1)), dy = tensor_of(dtype::float32, {1, 2, 2, 1}, number_list(4, 1));
  for (const char* type : {"FractionalMaxPool", "FractionalAvgPool"}) {
    CHECK(refuses(type, {image}, "cannot be smaller than 1", by_ratios({1, 0.5f, 1, 1})));
    CHECK(refuses(type, {image}, "cannot be smaller than 1", by_ratios({1, std::nanf(""), 1, 1})));
    CHECK(refuses(type, {image}, "must specify 4 dimensions", by_ratios({1, 1, 1})));
    CHECK(refuses(type, {image}, "higher than input dimension", by_ratios({1, 4, 1, 1})));
    CHECK(refuses(type, {image}, "higher than input dimension", by_ratios({1, INFINITY, 1, 1})));
    CHECK(refuses<unimplemented>(type, {image}, "not yet supported on the batch", by_ratios({2, 1.5f, 1, 1})));
    CHECK(refuses<unimplemented>(type, {image}, "not yet supported on the batch", by_ratios({1, 1.5f, 1, 2})));
    CHECK(refuses(type, {tensor_of(dtype::float32, {3, 3, 1}, number_list(9))}, "4-dimensional", by_ratios({1, 1.5f, 1, 1})));
    CHECK(refuses(type, {tensor_of(dtype::float32, {1, 0, 3, 1}, {})}, "higher than input dimension", by_ratios({1, 1.5f, 1, 1})));
    attribute_map seeded = by_ratios({1, 1.5f, 1, 1});
    seeded["seed"] = std::int64_t{3};
    CHECK(refuses(type, {image}, "should be 0 if deterministic is false", seeded));
  }
  const auto good = whole({0, 2, 3}), sizes = whole({1, 3, 3, 1});
  for (const number_list& bad : {number_list{0, 2}, {-1, 2, 3}, {2, 2, 3}, {3, 1, 2}, {0, 3, 4}, {0, 1e18, 2e18}, {}}) {
    CHECK(refuses("FractionalMaxPoolGrad", {image, dy, dy, whole(bad), good}, "Row sequence"));
    CHECK(refuses("FractionalMaxPoolGrad", {image, dy, dy, good, whole(bad)}, "Column sequence"));
    CHECK(refuses("FractionalAvgPoolGrad", {sizes, dy, whole(bad), good}, "Row sequence"));
    CHECK(refuses("FractionalAvgPoolGrad", {sizes, dy, good, whole(bad)}, "Column sequence"));
  }
  CHECK(list_of(run_node("FractionalAvgPoolGrad", {sizes, dy, whole({0, 2, 9}), good}, {}, {})[0]) ==
        number_list{0.25, 0.25, 0.5, 0.25, 0.25, 0.5, 0.5, 0.5, 1});
  CHECK(refuses("FractionalMaxPoolGrad", {image, image, dy, good, good}, "orig_output"));
  CHECK(refuses("FractionalMaxPoolGrad", {tensor_of(dtype::float32, {1, 3, 3, 2}, number_list(18)), dy, dy, good, good}, "does not fit"));
  CHECK(refuses("FractionalAvgPoolGrad", {whole({1, 3, 3}), dy, good, good}, "4 elements"));
  CHECK(refuses("FractionalAvgPoolGrad", {whole({2, 3, 3, 1}), dy, good, good}, "does not fit"));
  CHECK(!leat_test::message_of<error>([&] { run_node("FractionalAvgPoolGrad", {whole({1, -3, 3, 1}), dy, good, good}, {}, {}); }).empty());
  CHECK(!leat_test::message_of<error>([&] { run_node("FractionalAvgPoolGrad", {whole({1, 1e18, 1e18, 1}), dy, good, good}, {}, {}); }).empty());
  CHECK(run_node("FractionalAvgPoolGrad", {whole({1e12, 3, 3, 0}), tensor_of(dtype::float32, {1000000000000, 2, 2, 0}, {}), good, good}, {}, {})[0].elements() == 0);
}

}  // namespace fractional_pools_test
