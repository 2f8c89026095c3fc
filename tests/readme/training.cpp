// Losses, metrics and layers as docs/training.md shows them.

// [listing training_includes]
#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>

#include <cstdio>
// [end]

using namespace leat;
using namespace leat::literals;

namespace {

void typed_losses() {
  // [listing typed_losses]
  auto x = placeholder<"x", float, "batch", 3>();
  auto label = placeholder<"label", std::int32_t, "batch">();
  auto weight = placeholder<"weight", float, "batch">();
  auto [logits, kernel, bias] = dense_layer<"logits", 2>(x);

  auto loss = losses::sparse_softmax_cross_entropy(label, logits, weight);
  auto mean = losses::sparse_softmax_cross_entropy<losses::reduction::mean>(label, logits, weight);
  auto term = l2_regularizer(0.01f)(kernel);
  auto train = gradient_descent(0.5f).minimize(loss + term);
  // [end]
  session s{loss, mean, train};
  s.initialize();
  // [listing typed_losses_run]
  const xt::xtensor<float, 2> xs{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
  const std::vector<std::int32_t> labels{0, 1, 0, 1};
  const std::vector<float> weights{1, 1, 2, 0};  // the last sample does not count
  for (int k = 0; k < 100; ++k) s.run(fetch(train), x = xs, label = labels, weight = weights);
  auto [l, m] = s.run(fetch(loss, mean), x = xs, label = labels, weight = weights);
  std::printf("%s\n", m < l && l < 0.2f ? "trained; a mean by weights is divided by 4, not by 3" : "not trained");
  // [end]
}

void named_losses() {
  // [listing named_losses]
  graph g;
  auto scope = g.as_default();
  auto x = placeholder(dtype::float32, {-1, 3}, "x");
  auto y = placeholder(dtype::float32, {-1, 1}, "y");
  output prediction;
  {
    auto net = variable_scope("net", {.regularizer = l2_regularizer(0.5f)});
    prediction = matmul(x, get_variable("w", {3, 1}, {.initializer = ones}));
  }
  losses::mean_squared_error(y, prediction);
  losses::huber_loss(y, prediction, {.weights = 2.0f, .reduction = losses::reduction::sum, .scope = "robust"}, 0.5);
  auto total = losses::get_total_loss();

  for (const auto& l : losses::get_losses()) std::printf("%s\n", l.name().c_str());
  for (const auto& l : losses::get_regularization_losses()) std::printf("%s\n", l.name().c_str());
  graph_session s(g);
  s.run(global_variables_initializer());
  std::printf("%g\n", static_cast<double>(s.run(total, {{x, {{1.0f, 1.0f, 1.0f}}}, {y, {{2.0f}}}}).as<float>()));
  // [end]
}

void named_metrics() {
  // [listing named_metrics]
  graph g;
  auto scope = g.as_default();
  auto label = placeholder(dtype::float32, {-1}, "label");
  auto score = placeholder(dtype::float32, {-1}, "score");
  auto guess = cast(greater(score, 0.5f), dtype::float32);
  auto [accuracy, update_accuracy] = metrics::accuracy(label, guess);
  auto [recall, update_recall] = metrics::recall(label, guess);
  auto [area, update_area] = metrics::auc(label, score);
  auto update = group(update_accuracy, update_recall, update_area);

  graph_session s(g);
  s.run(local_variables_initializer());
  s.run(update, {{label, {0.0f, 1.0f}}, {score, {0.1f, 0.4f}}});
  s.run(update, {{label, {0.0f, 1.0f}}, {score, {0.3f, 0.8f}}});
  auto [a, r, u] = s.run<float, float, float>({accuracy, recall, area});
  std::printf("accuracy %.2f, recall %.2f, area %.2f\n", static_cast<double>(a), static_cast<double>(r), static_cast<double>(u));
  for (const auto& v : local_variables("recall")) std::printf("%s\n", v.name().c_str());
  // [end]
}

void typed_metrics() {
  auto label = placeholder<"label", std::int32_t, "batch">();
  auto guess = placeholder<"guess", std::int32_t, "batch">();
  // [listing typed_metrics]
  auto right = metrics::accuracy<"right">(label, guess);
  session s{right.value, right.update};
  s.initialize();
  s.run(fetch(right.update), label = std::vector<std::int32_t>{1, 2, 3}, guess = std::vector<std::int32_t>{1, 2, 0});
  auto [share] = s.run(fetch(right.update), label = std::vector<std::int32_t>{1}, guess = std::vector<std::int32_t>{1});
  std::printf("%.2f\n", static_cast<double>(share));
  s.assign(right.total, 0.0f);  // begin anew
  s.assign(right.count, 0.0f);
  // [end]
}

void named_layers() {
  // [listing named_layers]
  graph g;
  auto scope = g.as_default();
  auto training = placeholder(dtype::boolean, {}, "training");
  auto image = placeholder(dtype::float32, {-1, 28, 28}, "image");
  const layers::sequential model{
      layers::flatten(),
      layers::dense(256, {.activation = layers::relu, .kernel_initializer = he_normal()}),
      layers::dropout(0.4, {.training = training}),
      layers::dense(128, {.activation = layers::relu}),
      layers::dense(10, {.name = "logits"}),
  };
  auto logits = model(image);
  auto kernel = model.layers()[1].variable("kernel");
  std::printf("%s %s\n%s", logits.name().c_str(), kernel.name().c_str(), summary_table(model).c_str());
  // [end]
}

void typed_layers() {
  // [listing typed_layers]
  auto image = placeholder<"image", float, "batch", 28, 28, 1>();
  auto rate = parameter<"rate">(0.4f);
  auto steps = global_step();
  auto model = sequential([](const auto& x) { return max_pool<2>(relu(conv<"conv1", 16, 5>(x))); },
                          [](const auto& x) { return relu(dense<"hidden", 64>(flatten_layer(x))); },
                          [&](const auto& x) { return dropout<"drop1">(x, rate, steps); },
                          [](const auto& x) { return dense<"logits", 10>(x); });
  auto logits = model(image);
  std::printf("%lld parameters\n%s", static_cast<long long>(parameter_count(logits)), summary_table(logits).c_str());
  // [end]
}

void initializers() {
  // [listing initializers]
  auto w = variable<"w", float, 64, 32>(he_uniform());
  auto q = variable<"q", float, 32, 32>(orthogonal(1.0, 7));
  session s{w, q};
  s.initialize();
  // [end]
  double least = 0;
  for (const float v : s.value(w)) least = v < least ? static_cast<double>(v) : least;
  std::printf("%s\n", least < 0 && least > -0.31 ? "within the bounds of he_uniform" : "out of bounds");
}

}  // namespace

int main() {
  typed_losses();
  named_losses();
  named_metrics();
  typed_metrics();
  named_layers();
  typed_layers();
  initializers();
}
