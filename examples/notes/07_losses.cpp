// Losses: each function of the library beside the same written in operators. Logits are [2, -1, 0.5] and labels [1, 0, 1] unless said
// otherwise. The graph of the first section:
//
//    logits --> sigmoid --> p --> -z log p - (1 - z) log(1 - p) --> written out
//       \         labels z --------/
//        +--> sigmoid_cross_entropy_with_logits ----> mean

#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>
#include <leat/typed/evaluate.hpp>

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

}  // namespace

int main(int count, char** arguments) {
  return run_sections(
      count, arguments, "Losses, as functions and written in operators.",
      {{"sigmoid", "sigmoid cross entropy", sigmoid_cross_entropy}, {"softmax", "softmax cross entropy", softmax_cross_entropy}});
}
