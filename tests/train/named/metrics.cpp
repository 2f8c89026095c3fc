#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>
#include <leat/train/named/metrics.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

using namespace leat;
using leat_test::message_of;
using leat_test::says;

namespace {

// Batches of labels and probabilities of varying sizes.
struct batches {
  std::vector<std::vector<float>> labels, predictions, weights;
  explicit batches(int count) {
    std::mt19937 draw(7);
    std::uniform_real_distribution<float> unit(0, 1);
    for (int n = 1; n <= count; ++n) {
      labels.emplace_back();
      predictions.emplace_back();
      weights.emplace_back();
      for (int k = 0; k < 4 * n; ++k) {
        const float p = unit(draw);
        labels.back().push_back(unit(draw) < p ? 1.0f : 0.0f);
        predictions.back().push_back(p);
        weights.back().push_back(std::floor(unit(draw) * 3));
      }
    }
  }
  template <class F>
  void each(F f) const {
    for (std::size_t b = 0; b < labels.size(); ++b)
      for (std::size_t k = 0; k < labels[b].size(); ++k) f(labels[b][k], predictions[b][k], weights[b][k]);
  }
};

}  // namespace

TEST_CASE("metrics of all batches so far, with and without weights") {
  const batches data(3);
  double hits = 0, alarms = 0, misses = 0, rejections = 0, absolute = 0, squares = 0, all = 0, plain_right = 0, plain = 0;
  data.each([&](float z, float p, float w) {
    const bool predicted = p > 0.5f, is = z > 0;
    (predicted ? (is ? hits : alarms) : (is ? misses : rejections)) += static_cast<double>(w);
    absolute += static_cast<double>(w) * std::abs(static_cast<double>(p) - z);
    squares += static_cast<double>(w) * (static_cast<double>(p) - z) * (static_cast<double>(p) - z);
    all += static_cast<double>(w);
    plain += 1;
    plain_right += predicted == is ? 1 : 0;
  });
  graph g;
  const auto scope = g.as_default();
  const auto z = placeholder(dtype::float32, {-1}, "z"), p = placeholder(dtype::float32, {-1}, "p"),
             w = placeholder(dtype::float32, {-1}, "w");
  const auto predicted = cast(greater(p, 0.5f), dtype::float32);
  const metrics::metric_options weighted{.weights = w};
  std::vector<metrics::metric> made{metrics::accuracy(z, predicted, weighted),
                                    metrics::precision(z, predicted, weighted),
                                    metrics::recall(z, predicted, weighted),
                                    metrics::true_positives(z, predicted, weighted),
                                    metrics::true_negatives(z, predicted, weighted),
                                    metrics::false_positives(z, predicted, weighted),
                                    metrics::false_negatives(z, predicted, weighted),
                                    metrics::mean_absolute_error(z, p, weighted),
                                    metrics::mean_squared_error(z, p, weighted),
                                    metrics::root_mean_squared_error(z, p, weighted),
                                    metrics::accuracy(z, predicted),
                                    metrics::mean(z, weighted),
                                    metrics::percentage_below(p, 0.5, weighted)};
  const std::vector<double> expected{(hits + rejections) / all,
                                     hits / (hits + alarms),
                                     hits / (hits + misses),
                                     hits,
                                     rejections,
                                     alarms,
                                     misses,
                                     absolute / all,
                                     squares / all,
                                     std::sqrt(squares / all),
                                     plain_right / plain,
                                     (hits + misses) / all,
                                     (misses + rejections) / all};
  std::vector<output> values, updates;
  for (const auto& m : made) {
    values.push_back(m.value);
    updates.push_back(m.update);
  }
  CHECK(local_variables().size() == get_tensors(g, collection::metric_variables).size());
  CHECK(global_variables().empty());
  CHECK(trainable_variables().empty());
  graph_session s(g);
  CHECK_THROWS_AS(s.run(values), failed_precondition);
  for (int again = 0; again < 2; ++again) {
    s.run(local_variables_initializer());
    for (const auto& v : s.run(values)) CHECK(v.as<float>() == 0.0f);
    std::vector<tensor_value> last;
    for (std::size_t b = 0; b < data.labels.size(); ++b)
      last = s.run(updates, {{z, data.labels[b]}, {p, data.predictions[b]}, {w, data.weights[b]}});
    const auto now = s.run(values);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      CAPTURE(k);
      CHECK(now[k].as<float>() == doctest::Approx(expected[k]).epsilon(1e-5));
      CHECK(last[k].as<float>() == doctest::Approx(expected[k]).epsilon(1e-5));
    }
  }
  // A batch without samples changes nothing.
  const std::vector<float> none;
  CHECK(s.run(made[0].update, {{z, none}, {p, none}, {w, none}}).as<float>() == doctest::Approx(expected[0]));
}

TEST_CASE("names, collections") {
  graph g;
  const auto scope = g.as_default();
  const auto x = constant({1.0f, 0.0f}, "x");
  const auto first = metrics::accuracy(x, x, {.metrics_collections = {"values"}, .updates_collections = {"updates"}});
  const auto second = metrics::accuracy(x, x, {.name = "mine"});
  metrics::accuracy(x, x);
  metrics::precision(x, x);
  CHECK(first.value.name() == "accuracy/value:0");
  CHECK(first.update.name() == "accuracy/update_op:0");
  CHECK(second.value.name() == "mine/value:0");
  CHECK(get_tensors(g, "values").at(0).name() == first.value.name());
  CHECK(get_tensors(g, "updates").at(0).name() == first.update.name());
  std::vector<std::string> names;
  for (const auto& v : local_variables()) names.push_back(v.name());
  CHECK(names == std::vector<std::string>{"accuracy/total:0", "accuracy/count:0", "mine/total:0", "mine/count:0", "accuracy_1/total:0",
                                          "accuracy_1/count:0", "precision/true_positives/count:0", "precision/false_positives/count:0"});
}

TEST_CASE("the area under a curve") {
  graph g;
  const auto scope = g.as_default();
  const auto z = placeholder(dtype::boolean, {-1}, "z");
  const auto p = placeholder(dtype::float32, {-1}, "p");
  const auto area = metrics::auc(z, p);
  const auto fine = metrics::auc(z, p, {.num_thresholds = 2000, .method = metrics::summation::minoring});
  const auto pr = metrics::auc(z, p, {.curve = metrics::curve::pr});
  const auto precisions = metrics::precision_at_thresholds(z, p, {0.0f, 0.45f, 0.9f});
  const auto recalls = metrics::recall_at_thresholds(z, p, {0.0f, 0.45f, 0.9f});
  graph_session s(g);
  s.run(local_variables_initializer());
  // TensorFlow's example of `auc`: labels 0 0 1 1, scores 0.1 0.4 0.35 0.8: three of four pairs are in order.
  const std::vector<output> updates{area.update, fine.update, pr.update, precisions.update, recalls.update};
  s.run(updates, {{z, tensor_literal{false, false}}, {p, std::vector<float>{0.1f, 0.4f}}});
  s.run(updates, {{z, tensor_literal{true, true}}, {p, std::vector<float>{0.35f, 0.8f}}});
  CHECK(s.run(area.value).as<float>() == doctest::Approx(0.75).epsilon(1e-4));
  CHECK(s.run(fine.value).as<float>() <= 0.7501f);
  CHECK(s.run(pr.value).as<float>() > 0.75f);
  CHECK(s.run(precisions.value).as<std::vector<float>>()[0] == doctest::Approx(0.5));
  CHECK(s.run(precisions.value).as<std::vector<float>>()[1] == doctest::Approx(1));
  CHECK(s.run(precisions.value).as<std::vector<float>>()[2] == 0.0f);
  CHECK(s.run(recalls.value).as<std::vector<float>>()[1] == doctest::Approx(0.5));
  const float before = s.run(area.value).as<float>();
  CHECK_THROWS_AS(s.run(area.update, {{z, tensor_literal{true}}, {p, std::vector<float>{1.5f}}}), invalid_argument);
  CHECK(s.run(area.value).as<float>() == before);
}

TEST_CASE("classes: confusion matrix, mean accuracy per class, intersections over unions") {
  graph g;
  const auto scope = g.as_default();
  const auto z = placeholder(dtype::int32, {-1}, "z");
  const auto p = placeholder(dtype::int64, {-1, 1}, "p");
  const auto matrix = metrics::streaming_confusion_matrix(z, p, 3);
  const auto mean = metrics::mean_per_class_accuracy(z, p, 3);
  const auto iou = metrics::mean_iou(z, p, 3);
  const auto once = confusion_matrix(constant({1, 2, 4}), constant({2, 2, 4}), 5);
  const auto heavy = confusion_matrix(constant({1, 2, 4}), constant({2, 2, 4}), 5, dtype::float32, operand_value({1.0f, 2.0f, 3.0f}));
  graph_session s(g);
  s.run(local_variables_initializer());
  const std::vector<output> updates{matrix.update, mean.update, iou.update};
  s.run(updates, {{z, tensor_literal{0, 0, 1}}, {p, tensor_literal(shape_value({3, 1}), std::vector<std::int64_t>{0, 1, 1})}});
  s.run(updates, {{z, tensor_literal{0, 2}}, {p, tensor_literal(shape_value({2, 1}), std::vector<std::int64_t>{0, 1})}});
  CHECK(s.run(matrix.value).as<std::vector<double>>() == std::vector<double>{2, 1, 0, 0, 1, 0, 0, 1, 0});
  CHECK(s.run(mean.value).as<float>() == doctest::Approx((2.0 / 3 + 1 + 0) / 3));
  CHECK(s.run(iou.value).as<float>() == doctest::Approx((2.0 / 3 + 1.0 / 3 + 0) / 3));
  CHECK(s.run(once).as<std::vector<std::int32_t>>()[7] == 1);
  CHECK(s.run(heavy).as<std::vector<float>>()[24] == 3.0f);
  CHECK(s.run(heavy).as<std::vector<float>>()[12] == 2.0f);
  CHECK_THROWS_AS(s.run(matrix.update, {{z, tensor_literal{7}}, {p, tensor_literal(shape_value({1, 1}), std::vector<std::int64_t>{0})}}),
                  invalid_argument);
  CHECK_THROWS_AS(s.run(mean.update, {{z, tensor_literal{-1}}, {p, tensor_literal(shape_value({1, 1}), std::vector<std::int64_t>{0})}}),
                  invalid_argument);
  CHECK(s.run(matrix.value).as<std::vector<double>>()[0] == 2);
}

TEST_CASE("what metrics refuse") {
  graph g, other;
  const auto scope = g.as_default();
  const auto x = constant({1.0f, 0.0f}, "x"), three = constant({1.0f, 2.0f, 3.0f}, "three"), text = constant("a", "text");
  const auto any = placeholder(dtype::float32, {-1}, "any");
  const output nothing;
  const auto refused = [&](auto call, const std::string& words) {
    const std::string problem = message_of<invalid_argument>(call);
    CHECK_MESSAGE(says(problem, words), problem);
  };
  refused([&] { metrics::accuracy(x, three); }, "are incompatible");
  refused([&] { metrics::accuracy(x, nothing); }, "no tensor");
  refused([&] { metrics::mean(text); }, "takes numbers");
  refused([&] { metrics::mean(x, {.weights = three}); }, "weights can not be broadcast");
  refused([&] { metrics::mean_tensor(any); }, "the shape must be known");
  refused([&] { metrics::auc(x, x, {.num_thresholds = 1}); }, "num_thresholds is 1");
  refused([&] { metrics::precision_at_thresholds(x, x, {}); }, "no threshold");
  refused([&] { metrics::mean_iou(x, x, 0); }, "num_classes is 0");
  refused([&] { metrics::mean_cosine_distance(x, x, 3); }, "axis 3 is out of range");
  refused([&] { metrics::metric_variable({-1}, dtype::float32, "v"); }, "not known");
  refused([&] { confusion_matrix(x, x, 2); }, "are integers");
}
