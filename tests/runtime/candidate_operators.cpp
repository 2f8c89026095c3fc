// The loss of labels whose places in a sequence are not known, with its gradient; classes and numbers of events that are drawn. Values and
// errors are those of TensorFlow 2.21, for numbers that are drawn in distribution.

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"
#include "support/node_results.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>

namespace candidate_operator_tests {

using namespace leat;
using namespace node_results;

namespace {

tensor_value whole(const extents& of, const number_list& list) { return tensor_of(dtype::int64, of, list); }
tensor_value counts(const number_list& numbers) { return tensor_of(dtype::int32, {static_cast<std::int64_t>(numbers.size())}, numbers); }
tensor_value floats(const extents& of, const number_list& numbers) { return tensor_of(dtype::float32, of, numbers); }
template <class Error = invalid_argument>
bool refuses(std::string_view type, const std::vector<tensor_value>& arrays, std::string_view words, const attribute_map& settings = {}) {
  const std::string problem = leat_test::message_of<Error>([&] { run_node(type, arrays, {}, settings); });
  if (!leat_test::says(problem, words)) MESSAGE(problem);
  return leat_test::says(problem, words);
}
const number_list logits{-0.75, 0.75, 1.0, 0.0,  0.25, 0.75, -0.75, 1.75, -2.0, 2.0,   -1.75, 1.0,  -0.25, 1.25, -0.5, -0.75,
                         0.75,  0.5,  1.5, -1.0, 0.25, -2.0, 1.25,  0.25, 0.25, -0.25, -1.75, -2.0, 0.0,   1.25, 1.75, 0.5};
std::vector<tensor_value> loss_of(dtype type, const number_list& indices, const number_list& labels, const number_list& lengths,
                                  const attribute_map& settings = {}) {
  return run_node(
      "CTCLoss",
      {tensor_of(type, {4, 2, 4}, logits), whole({static_cast<std::int64_t>(labels.size()), 2}, indices), counts(labels), counts(lengths)},
      {}, settings);
}

}  // namespace

TEST_CASE("the loss of labels without places, and its slopes") {
  for (const dtype type : {dtype::float32, dtype::float64}) {
    const auto plain = loss_of(type, {0, 0, 0, 1, 1, 0, 1, 1}, {1, 1, 0, 2}, {4, 3});
    check_near(list_of(plain[0]), {4.3738685, 2.5473373}, 1e-5);
    check_near(list_of(plain[1]), {0.0748879,  -0.5392612,  0.43095013, 0.03342316,  -0.24013545, 0.21987964, 0.04906178,  -0.02880591,
                                   0.01299246, 0.31938216,  0.01668265, -0.3490576,  -0.6206683,  0.65263945, -0.0355086,  0.00353749,
                                   0.24572591, -0.32120734, 0.5202018,  -0.44472095, 0.20731057,  0.02185037, -0.39642042, 0.16725972,
                                   0.54134077, -0.595775,   0.07326251, -0.01882895, 0,           0,          0,           0},
               1e-5);
    const auto apart = loss_of(type, {0, 0, 0, 1, 1, 0, 1, 1}, {1, 1, 0, 2}, {4, 3}, {{"ctc_merge_repeated", false}});
    check_near(list_of(apart[0]), {4.8074474, 2.8332353}, 1e-5);
    check_near({list_of(apart[1])[1], list_of(apart[1])[8], list_of(apart[1])[12]}, {-0.00278556, 0.01299246, -0.68822175}, 1e-5);
    const auto collapsed = loss_of(type, {0, 0, 0, 1, 1, 0, 1, 1}, {1, 1, 0, 2}, {4, 3}, {{"preprocess_collapse_repeated", true}});
    check_near(list_of(collapsed[0]), {3.4883049, 2.5473373}, 1e-5);
    check_near({list_of(collapsed[1])[1], list_of(collapsed[1])[17]}, {-0.26506975, -0.7547056}, 1e-5);
    // Labels that end with blanks, that are blanks alone, that do not fit, and that no way through the steps gives.
    check_near(list_of(loss_of(type, {0, 0, 0, 1, 1, 0}, {1, 3, 1}, {4, 3})[0]), {3.4883049, 2.0599866}, 1e-5);
    // Of blanks alone TensorFlow writes outside of its tables and gives 6.283; -log of the probability of four blanks is this.
    check_near(list_of(loss_of(type, {0, 0, 1, 0}, {7, 1}, {4, 3})[0]), {9.202390, 2.0599866}, 1e-5);
    const auto ignored =
        loss_of(type, {0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 1, 0}, {0, 1, 2, 1, 0, 1}, {4, 3}, {{"ignore_longer_outputs_than_inputs", true}});
    check_near(list_of(ignored[0]), {0, 2.0599866}, 1e-5);
    CHECK(list_of(ignored[1])[0] == 0);
    const auto none = loss_of(type, {0, 0, 0, 1, 0, 2, 1, 0}, {1, 1, 1, 1}, {4, 3});
    CHECK(list_of(none[0])[0] == std::numeric_limits<double>::infinity());
    check_near({list_of(none[1])[1], list_of(none[1])[12]}, {0.3356243, 0.14562355}, 1e-5);
    number_list bad = logits;
    bad[1] = std::nan("");
    const auto lost =
        run_node("CTCLoss", {tensor_of(type, {4, 2, 4}, bad), whole({2, 2}, {0, 0, 1, 0}), counts({1, 1}), counts({4, 3})}, {}, {});
    CHECK(std::isnan(list_of(lost[0])[0]));
    check_near({list_of(lost[0])[1]}, {2.0599866}, 1e-5);
  }
}

TEST_CASE("the gradient of the loss of labels") {
  graph g;
  const auto here = g.as_default();
  const auto x = placeholder(dtype::float64, {4, 2, 4}, "x");
  const auto made = call_operator(g, "CTCLoss",
                                  {x, tensor_literal(shape_value{3, 2}, std::vector<std::int64_t>{0, 0, 0, 1, 1, 0}),
                                   tensor_literal(std::vector<std::int32_t>{1, 1, 2}), tensor_literal(std::vector<std::int32_t>{4, 3})});
  const auto weights = constant(std::vector<double>{2, -3});
  const auto loss = reduce_sum(made.result(0) * weights, all_axes);
  const auto slope = gradients({loss}, {x});
  CHECK_THROWS_AS(gradients({reduce_sum(slope[0], all_axes)}, {x}), error);  // as in TensorFlow, there is no second one
  graph_session s(g);
  const auto value = [&](std::vector<double> at) { return s.run(loss, {{x, tensor_literal(shape_value{4, 2, 4}, at)}}).as<double>(); };
  const std::vector<double> at(logits.begin(), logits.end());
  const auto got = s.run(slope[0], {{x, tensor_literal(shape_value{4, 2, 4}, at)}}).as<std::vector<double>>();
  for (std::size_t k = 0; k < at.size(); ++k) {
    auto more = at, less = at;
    more[k] += 1e-5;
    less[k] -= 1e-5;
    CHECK(got[k] == doctest::Approx((value(more) - value(less)) / 2e-5).epsilon(1e-5));
  }
}

TEST_CASE("what the loss of labels refuses") {
  const auto says = [&](const number_list& indices, const number_list& labels, const number_list& lengths, std::string_view words) {
    const auto rows = static_cast<std::int64_t>(indices.size() / 2);
    const std::string problem = leat_test::message_of<error>(
        [&] { run_node("CTCLoss", {floats({4, 2, 4}, logits), whole({rows, 2}, indices), counts(labels), counts(lengths)}, {}, {}); });
    CHECK_MESSAGE(leat_test::says(problem, words), problem);
  };
  says({0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 1, 0}, {0, 1, 2, 1, 0, 1}, {4, 3},
       "Not enough time for target transition sequence (required: 5, available: 4)0You");
  says({0, 0, 0, 1, 1, 0}, {3, 1, 1}, {4, 3}, "following a null label, batch: 0 num_classes: 4 labels: 3,1 labels seen so far: ");
  says({0, 0, 1, 0}, {-1, 1}, {4, 3}, "All labels must be nonnegative integers, batch: 0 labels: -1");
  says({0, 0, 2, 0}, {1, 1}, {4, 3}, "indices[1] = [2,0] is out of bounds: need 0 <= index < [2,1]");
  says({-1, 0, 1, 0}, {1, 1}, {4, 3}, "indices[0] = [-1,0] is out of bounds: need 0 <= index < [2,1]");
  says({1, 0, 0, 0}, {1, 1}, {4, 3}, "indices[1] = [0,0] is out of order");
  says({0, 0, 0, 0}, {1, 1}, {4, 3}, "indices[1] = [0,0] is repeated");
  says({0, 0, 0, std::numeric_limits<std::int64_t>::min()}, {1, 1}, {4, 3}, "out of bounds");
  says({0, 0, 1, 0}, {1, 1}, {5, 3}, "sequence_length(0) <= 4");
  says({0, 0, 1, 0}, {1, 1}, {-1, 3}, "seq_len(0) < 0");
  says({0, 0, 1, 0}, {1, 1}, {0, 3}, "(required: 1, available: 0)0You");
  says({1, 0}, {1}, {4, 3}, "Labels length is zero in batch 0");
  says({0, 0, 1, 0}, {1, 1}, {4}, "len(sequence_length) != batch_size.  len(sequence_length):  1 batch_size: 2");
  says({0, 0, 1, 0}, {1}, {4, 3}, "must contain the same number of rows, but saw shapes: [2,2] vs. [1]");
  CHECK(refuses("CTCLoss", {floats({4, 2}, number_list(8)), whole({1, 2}, {0, 0}), counts({1}), counts({1, 1})}, "inputs is not a 3-Tensor"));
  CHECK(refuses("CTCLoss", {floats({0, 1, 4}, {}), whole({1, 2}, {0, 0}), counts({1}), counts({0})}, "Max time or first dimension"));
  CHECK(refuses("CTCLoss", {floats({3, 0, 4}, {}), whole({0, 2}, {}), counts({}), counts({})}, "batch_size must not be 0"));
  CHECK(refuses("CTCLoss", {floats({3, 1, 0}, {}), whole({1, 2}, {0, 0}), counts({1}), counts({3})}, "no classes"));
}

TEST_CASE("classes that are drawn") {
  const attribute_map settings{{"num_true", 1}, {"num_sampled", 5}, {"unique", false}, {"range_max", 20}, {"seed", 1}, {"seed2", 2}};
  const auto drawn = [&](const char* type, std::int64_t count, bool unique, std::int64_t range) {
    attribute_map its = settings;
    its["num_sampled"] = count;
    its["unique"] = unique;
    its["range_max"] = range;
    return run_node(type, {whole({2, 1}, {3, 0})}, {}, its);
  };
  const auto even = drawn("UniformCandidateSampler", 5, false, 20);
  check_near(list_of(even[1]), {0.25, 0.25}, 1e-6);
  check_near(list_of(even[2]), number_list(5, 0.25), 1e-6);
  const auto log = drawn("LogUniformCandidateSampler", 5, false, 20);
  check_near(list_of(log[1]), {0.36646724, 1.1383512}, 1e-6);
  CHECK(log[1].extent() == shape(2, {2, 1}));
  for (const char* type : {"UniformCandidateSampler", "LogUniformCandidateSampler"}) {
    const auto all = drawn(type, 20, true, 20);
    const auto classes = list_of(all[0]);
    CHECK(std::set<double>(classes.begin(), classes.end()).size() == 20);
    for (const double p : list_of(all[2])) {
      CHECK(p > 0);
      CHECK(p <= 1);
    }
    std::vector<double> share(20);
    const auto many = list_of(drawn(type, 200000, false, 20)[0]);
    for (const double k : many) {
      REQUIRE(k >= 0);
      REQUIRE(k < 20);
      share[static_cast<std::size_t>(k)] += 1.0 / 200000;
    }
    for (std::size_t k = 0; k < 20; ++k) {
      const double p = type[0] == 'U' ? 0.05 : std::log((static_cast<double>(k) + 2) / (static_cast<double>(k) + 1)) / std::log(21.0);
      CHECK(std::abs(share[k] - p) < 0.005);
    }
    const auto with = [&](const char* name, attribute_value value) {
      attribute_map its = settings;
      its[name] = std::move(value);
      return its;
    };
    attribute_map crowded = with("num_sampled", std::int64_t{21});
    crowded["unique"] = true;
    CHECK(refuses(type, {whole({1, 1}, {1})}, "Sampler's range is too small.", crowded));
    CHECK(refuses(type, {whole({1, 1}, {30})}, "`true_candidate` out of range [0, 20), received 30", settings));
    CHECK(refuses(type, {whole({1, 1}, {-1})}, "`true_candidate` out of range [0, 20), received -1", settings));
    CHECK(refuses(type, {whole({1, 2}, {1, 2})}, "true_classes must have num_true columns, expected: 2 was: 1", settings));
    CHECK(refuses(type, {whole({1}, {1})}, "true_classes must be a matrix", settings));
    CHECK(refuses(type, {whole({1, 1}, {1})}, "num_sampled", with("num_sampled", std::int64_t{0})));
    CHECK(refuses<error>(type, {whole({1, 1}, {1})}, "", with("num_sampled", std::int64_t{1} << 62)));
    CHECK(list_of(run_node(type, {whole({1, 1}, {1})}, {}, with("range_max", std::numeric_limits<std::int64_t>::max()))[0]).size() == 5);
  }
  const auto hits = run_node("ComputeAccidentalHits", {whole({2, 2}, {3, 1, 0, 3}), whole({3}, {0, 3, 3})}, {}, {{"num_true", 2}});
  CHECK(list_of(hits[0]) == number_list{0, 0, 1, 1, 1});
  CHECK(list_of(hits[1]) == number_list{1, 2, 0, 1, 2});
  CHECK(list_of(hits[2])[0] == -static_cast<double>(std::numeric_limits<float>::max()));
  const auto all =
      run_node("AllCandidateSampler", {whole({2, 2}, {3, 1, 0, 3})}, {}, {{"num_true", 2}, {"num_sampled", 4}, {"unique", true}});
  CHECK(list_of(all[0]) == number_list{0, 1, 2, 3});
  CHECK(list_of(all[1]) == number_list(4, 1));
}

TEST_CASE("numbers of events") {
  const auto draw = [](const number_list& sizes, const number_list& rates, dtype type) {
    return run_node("RandomPoissonV2", {counts(sizes), tensor_of(dtype::float64, {static_cast<std::int64_t>(rates.size())}, rates)}, {},
                    {{"seed", 3}, {"seed2", 4}, {"dtype", type}})[0];
  };
  const number_list rates{0.0, 0.5, 3.0, 9.9, 10.0, 40.0, 1e4};
  for (const dtype type : {dtype::int32, dtype::int64, dtype::float32, dtype::float64}) {
    const auto numbers = list_of(draw({20000}, rates, type));
    for (std::size_t k = 0; k < rates.size(); ++k) {
      double sum = 0, squares = 0;
      for (std::size_t i = k; i < numbers.size(); i += rates.size()) sum += numbers[i];
      const double mean = sum / 20000;
      for (std::size_t i = k; i < numbers.size(); i += rates.size()) squares += (numbers[i] - mean) * (numbers[i] - mean);
      CHECK(std::abs(mean - rates[k]) <= 5 * std::sqrt(rates[k] / 20000));
      CHECK(squares / 20000 == doctest::Approx(rates[k]).epsilon(0.06));
    }
  }
  CHECK(draw({2, 3}, {1, 2}, dtype::int64).extent() == shape(3, {2, 3, 2}));
  CHECK(draw({0}, {1, 2}, dtype::int64).elements() == 0);
  CHECK(std::isnan(list_of(draw({1}, {-1, 2}, dtype::float32))[0]));
  CHECK(list_of(draw({1}, {std::nan(""), -1, std::numeric_limits<double>::infinity()}, dtype::int32)) == number_list{0, 0, 0});
  CHECK(list_of(draw({1}, {1e30}, dtype::int32))[0] == std::numeric_limits<std::int32_t>::max());
  CHECK(leat_test::message_of<error>([&] { draw({-1}, {1}, dtype::int64); }) != "");
  CHECK(leat_test::message_of<error>([&] { draw({1 << 30, 1 << 30}, {1}, dtype::int64); }) != "");
}

}  // namespace candidate_operator_tests
