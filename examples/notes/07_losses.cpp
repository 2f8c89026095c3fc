// Losses: each function of the library beside the same written in operators. Logits are [2, -1, 0.5] and labels [1, 0, 1] unless said
// otherwise. The graph of the first section:
//
//    logits --> sigmoid --> p --> -z log p - (1 - z) log(1 - p) --> written out
//       \         labels z --------/
//        +--> sigmoid_cross_entropy_with_logits ----> mean

#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>
#include <leat/session/typed/evaluate.hpp>

#include "support/notes.hpp"

#include <cmath>

using namespace leat;
using namespace leat::examples;
using namespace leat::literals;

namespace {

const std::vector<float> logit_numbers{2, -1, 0.5f}, label_numbers{1, 0, 1};
const float infinite = std::numeric_limits<float>::infinity();

// -z log p - (1 - z) log(1 - p), of handles and of typed expressions.
template <class Z, class X>
auto written_out(const Z& z, const X& x) {
  const auto p = sigmoid(x);
  return -z * log(p) - (1.0f - z) * log(1.0f - p);
}

void sigmoid_cross_entropy() {
  item("7.1", "sigmoid cross entropy");
  graph g;
  auto here = g.as_default();
  auto x = placeholder(dtype::float32, {-1}), z = placeholder(dtype::float32, {-1});
  auto each = sigmoid_cross_entropy_with_logits(z, x);
  auto mean = reduce_mean(each);
  auto by_hand = written_out(z, x);
  graph_session s(g);
  const feed_list feeds{{x, logit_numbers}, {z, label_numbers}}, extreme{{x, {-1000.0f}}, {z, {1.0f}}};
  expect("each", s.run(each, feeds), {0.126928f, 0.313262f, 0.474077f}, 1e-6);
  expect("mean", s.run(mean, feeds), 0.304756f, 1e-6);
  expect("written out", s.run(by_hand, feeds), {0.126928f, 0.313262f, 0.474077f}, 1e-6);
  expect("of logit -1000 and label 1", s.run(each, extreme), {1000.0f});
  expect("written out", s.run(by_hand, extreme), {infinite});

  auto tx = leat::placeholder<"x", float, "n">();
  auto tz = leat::placeholder<"z", float, "n">();
  auto typed = sigmoid_cross_entropy_with_logits(tz, tx);
  session t{typed};
  auto [typed_each] = t.run(fetch(typed), tx = logit_numbers, tz = label_numbers);
  expect_equal("typed", typed_each, s.run(each, feeds), 1e-7);
  auto [typed_extreme] = t.run(fetch(typed), tx = std::vector{-1000.0f}, tz = std::vector{1.0f});
  expect("typed, of logit -1000", typed_extreme, {1000.0f});
}

void log_loss() {
  item("7.2", "log loss of probabilities");
  graph g;
  auto here = g.as_default();
  auto x = placeholder(dtype::float32, {-1}), z = placeholder(dtype::float32, {-1});
  auto loss = losses::log_loss(z, sigmoid(x));
  auto mean = reduce_mean(loss);
  graph_session s(g);
  const feed_list feeds{{x, logit_numbers}, {z, label_numbers}}, extreme{{x, {-1000.0f}}, {z, {1.0f}}};
  expect("already a mean", s.run(loss, feeds), 0.304755f, 1e-6);
  expect("a mean of it", s.run(mean, feeds), 0.304755f, 1e-6);
  expect("of logit -1000 and label 1", s.run(loss, extreme), 16.118f, 1e-3);

  auto tx = leat::placeholder<"x", float, "n">();
  auto tz = leat::placeholder<"z", float, "n">();
  auto typed = losses::log_loss(tz, sigmoid(tx));
  session t{typed};
  auto [of_batch] = t.run(fetch(typed), tx = logit_numbers, tz = label_numbers);
  expect_equal("typed", of_batch, s.run(loss, feeds), 1e-7);
}

void softmax_cross_entropy() {
  item("7.3", "softmax cross entropy, with dense and with sparse labels");
  graph g;
  auto here = g.as_default();
  auto logits = constant({{1.0f, 2.0f, 3.0f}, {1.0f, 1.0f, 1.0f}});
  auto labels = constant({{0.0f, 0.0f, 1.0f}, {1.0f, 0.0f, 0.0f}});
  auto dense_rows = softmax_cross_entropy_with_logits(labels, logits);
  auto by_hand = -reduce_sum(labels * log(softmax(logits)), {1});
  graph_session s(g);
  expect("softmax of [1 2 3]", s.run(softmax(constant({1.0f, 2.0f, 3.0f}))), {0.090031f, 0.244728f, 0.665241f}, 1e-6);
  expect("each row", s.run(dense_rows), {0.407606f, 1.098612f}, 1e-6);
  expect("mean", s.run(reduce_mean(dense_rows)), 0.753109f, 1e-6);
  expect("written out", s.run(by_hand), {0.407606f, 1.098612f}, 1e-6);
  expect("sparse", s.run(sparse_softmax_cross_entropy_with_logits({2, 0}, logits)), {0.407606f, 1.098612f}, 1e-6);

  auto typed_logits = leat::constant<"logits", float, 2, 3>({1, 2, 3, 1, 1, 1});
  auto typed_labels = leat::constant<"labels", float, 2, 3>({0, 0, 1, 1, 0, 0});
  auto typed_classes = leat::constant<"classes", int, 2>({2, 0});
  auto [typed, typed_sparse] = evaluate(fetch(softmax_cross_entropy_with_logits(typed_labels, typed_logits),
                                              sparse_softmax_cross_entropy_with_logits(typed_classes, typed_logits)));
  expect_equal("typed", typed, s.run(dense_rows), 1e-6);
  expect_equal("typed, sparse", typed_sparse, s.run(dense_rows), 1e-6);
}

void others() {
  item("7.4", "the others that notes list");
  graph g;
  auto here = g.as_default();
  auto y = constant({1.0f, 2.0f, 3.0f}), p = constant({1.5f, 2.0f, 5.0f});
  auto x = constant(logit_numbers), z = constant(label_numbers);
  graph_session s(g);
  expect("mean squared error", s.run(losses::mean_squared_error(y, p)), 1.416667f, 1e-6);
  expect("written out", s.run(reduce_mean(square(p - y))), 1.416667f, 1e-6);
  expect("absolute difference", s.run(losses::absolute_difference(y, p)), 0.833333f, 1e-6);
  expect("written out", s.run(reduce_mean(abs(p - y))), 0.833333f, 1e-6);
  auto error = abs(p - y), near = minimum(error, 1.0f);
  expect("Huber", s.run(losses::huber_loss(y, p)), 0.541667f, 1e-6);
  expect("written out", s.run(reduce_mean(0.5f * square(near) + (error - near))), 0.541667f, 1e-6);
  expect("positives weighing 2", s.run(weighted_cross_entropy_with_logits(z, x, 2)), {0.253856f, 0.313262f, 0.948154f}, 1e-6);
  auto probability = sigmoid(x);
  expect("written out", s.run(-2.0f * z * log(probability) - (1.0f - z) * log(1.0f - probability)), {0.253856f, 0.313262f, 0.948154f},
         1e-6);
  expect("hinge", s.run(losses::hinge_loss(z, x)), 0.166667f, 1e-6);
  expect("written out", s.run(reduce_mean(relu(1.0f - (2.0f * z - 1.0f) * x))), 0.166667f, 1e-6);
  const auto all = get_tensors(g, collection::losses);
  expect("losses in the collection", static_cast<int>(all.size()), 4);
  for (const output& loss : all) expect(loss.name(), loss.extent().rank, 0);

  auto ty = leat::constant<"y", float, 3>({1.0f, 2.0f, 3.0f});
  auto tp = leat::constant<"p", float, 3>({1.5f, 2.0f, 5.0f});
  auto [squared, absolute, huber, hinge] =
      evaluate(fetch(losses::mean_squared_error(ty, tp), losses::absolute_difference(ty, tp), losses::huber_loss(ty, tp),
                     losses::hinge_loss(leat::constant<"z", float, 3>(label_numbers), leat::constant<"x", float, 3>(logit_numbers))));
  expect("typed, mean squared error", squared, 1.416667f, 1e-6);
  expect("absolute difference", absolute, 0.833333f, 1e-6);
  expect("Huber", huber, 0.541667f, 1e-6);
  expect("hinge", hinge, 0.166667f, 1e-6);
}

}  // namespace

int main(int count, char** arguments) {
  return run_sections(count, arguments, "Losses, as functions and written in operators.",
                      {{"sigmoid", "sigmoid cross entropy", sigmoid_cross_entropy},
                       {"log", "log loss of probabilities", log_loss},
                       {"softmax", "softmax cross entropy", softmax_cross_entropy},
                       {"others", "squared, absolute, Huber, weighted, hinge", others}});
}
