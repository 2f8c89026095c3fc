// TensorBoard: what a graph, its training and its arrays look like there. `09_summaries --logdir logs` keeps the event files, and
// `tensorboard --logdir logs` shows them (docs/summaries.md; scripts/interop asks the real TensorBoard what it reads from them).
//
//    x, y ---> z = W x + b ---> cost = mean((y - z)^2) ---> train
//                  |                 |
//            histogram "z"   scalar "loss_function" ---> merge_all ---> file_writer, once a pass

#include <leat/graphs.hpp>
#include <leat/io/binary.hpp>
#include <leat/io/saved_model.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>
#include <leat/summary.hpp>

#include "support/notes.hpp"

#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

using namespace leat;
using namespace leat::examples;

namespace {

std::filesystem::path logs;

// x_i = -1 + 2 i / 99, y_i = 2 x_i + 0.3 sin(7 i): as float32.
struct samples {
  std::vector<float> x, y;
  samples() {
    for (int i = 0; i < 100; ++i) {
      const double at = -1 + 2.0 * i / 99;
      x.push_back(static_cast<float>(at));
      y.push_back(static_cast<float>(2 * at + 0.3 * std::sin(7.0 * i)));
    }
  }
};

std::string nodes_of_graph_in(const std::filesystem::path& file) {
  for (const auto& e : summary::read_events(file)) {
    if (e.graph_def.empty()) continue;
    std::string names;
    for (const auto& node : io::read_binary(e.graph_def).nodes) names += (names.empty() ? "" : " ") + node.name;
    return names;
  }
  return "no graph";
}

void a_graph() {
  item("9.1", "a graph to look at: c = a b + a / b, d = c a, b = d");
  constexpr auto nodes = "a b/initial_value b b/Assign b/read mul truediv add mul_1 Assign";
  graph g;
  auto here = g.as_default();
  auto a = constant({1.5f, 6.0f}, "a");
  auto b = variable({1.5f, 3.2f}, "b");
  auto product = a * b, quotient = a / b;
  auto c = product + quotient;
  auto d = c * a;
  auto set = assign(b, d);
  summary::file_writer log(logs / "graph", g);
  expect_text("nodes in its event file", nodes_of_graph_in((log.flush(), log.path())), nodes);
  graph_session s(g);
  s.run(initializer_of(b));
  expect("the run", s.run(set), {4.875f, 126.450005f}, 1e-4);

  const io::model_signature signature{.inputs = {{"a", a}}, .outputs = {{"d", d}}};
  io::save_model(logs / "saved_model", s, {.signatures = {{"serving_default", signature}}});
  const auto loaded = io::load_model(logs / "saved_model");
  summary::file_writer of_model(logs / "graph_of_saved_model");
  of_model.add_graph(loaded.graph());
  of_model.close();
  expect_text("nodes of the loaded model's", nodes_of_graph_in(of_model.path()), nodes);
}

// 8.1 as a graph, and typed: the losses that were fetched are those in the files.
void training() {
  item("9.2", "a scalar and a histogram, once a pass");
  const samples data;
  std::vector<float> fetched;
  {
    graph g;
    auto here = g.as_default();
    expect_true("without summaries, merge_all gives an empty tensor", !static_cast<bool>(summary::merge_all()));
    auto x = placeholder(dtype::float32, unknown_shape, "x"), y = placeholder(dtype::float32, unknown_shape, "y");
    auto w = variable(std::vector<float>{0}, "weight"), b = variable(std::vector<float>{0}, "bias");
    auto wx = x * w;
    auto z = wx + b;
    auto cost = reduce_mean(square(y - z));
    auto train = gradient_descent(0.01f).minimize(cost);
    summary::histogram("z", z);
    summary::scalar("loss_function", cost);
    auto merged = summary::merge_all();
    graph_session s(g);
    s.run(global_variables_initializer());
    summary::file_writer log(logs / "regression", g);
    auto step = s.prepare({train}, {x, y});
    for (int pass = 0; pass < 20; ++pass) {
      for (std::size_t i = 0; i < 100; ++i) step(std::vector{data.x[i]}, std::vector{data.y[i]});
      const auto both = s.run({cost, merged}, {{x, data.x}, {y, data.y}});
      fetched.push_back(both[0].as<float>());
      log.add_summary(both[1], pass);
    }
  }
  expect("loss after the first pass", fetched[0], 0.60501f, 1e-5);
  expect("after the last", fetched[19], 0.04511f, 1e-5);
  const auto curve = summary::read_scalars(logs / "regression").at("loss_function");
  std::vector<float> read;
  for (const auto& point : curve) read.push_back(point.value);
  expect_true("20 points of loss_function, the values that were fetched", read == fetched);

  auto x = leat::placeholder<"x", float, "n">();
  auto y = leat::placeholder<"y", float, "n">();
  auto w = leat::variable<"weight", float, 1>(zeros);
  auto b = leat::variable<"bias", float, 1>(zeros);
  auto z = x * w + b;
  auto cost = reduce_mean(square(y - z));
  auto train = gradient_descent(0.01f).minimize(cost);
  session s{cost, z, train};
  s.initialize();
  summary::file_writer log(logs / "regression_typed");
  for (int pass = 0; pass < 20; ++pass) {
    for (std::size_t i = 0; i < 100; ++i) s.run(fetch(train), x = std::vector{data.x[i]}, y = std::vector{data.y[i]});
    log.add_summary(s.run(fetch(summary::histogram<"z">(z), summary::scalar<"loss_function">(cost)), x = data.x, y = data.y), pass);
  }
  log.close();
  std::vector<float> typed;
  const auto written = summary::read_scalars(logs / "regression_typed");
  for (const auto& point : written.at("loss_function")) typed.push_back(point.value);
  expect_equal("typed, the last", typed.back(), fetched.back(), 1e-6);
}

void every_kind() {
  item("9.3", "a scalar, a histogram, pictures, sounds and text");
  graph g;
  auto here = g.as_default();
  auto x = placeholder(dtype::float32, {-1, 16, 16, 1}, "x");
  summary::scalar("average", reduce_mean(x));
  summary::histogram("cells", x);
  summary::image("pictures", x, 2);
  summary::audio("sounds", reshape(x, {2, 256}), 8000.0f, 1);
  summary::text("notes", constant("# Pictures\nthat are *waves*, too"));
  auto merged = summary::merge_all();
  graph_session s(g);
  std::vector<float> waves(512);
  for (std::size_t i = 0; i < waves.size(); ++i) waves[i] = std::sin(0.2f * static_cast<float>(i));
  summary::file_writer log(logs / "kinds", g);
  run_trace trace(trace_detail::nodes);
  const auto result = s.run(merged, {{x, tensor_value(shape_from({2, 16, 16, 1}), waves)}}, {.trace = &trace});
  log.add_summary(result, 1);
  log.add_run_metadata(trace, "step 1", 1);
  std::string tags;
  for (const auto& tag : summary::tags_of(result.as<std::string>())) tags += (tags.empty() ? "" : " ") + tag;
  expect_text("tags", tags, "average cells pictures/image/0 pictures/image/1 sounds/audio notes");
}

void side_by_side() {
  item("9.4", "training and validation of two models, side by side");
  for (const auto& [model, rate] : {std::pair("model1", 0.1f), std::pair("model2", 0.3f)})
    for (const auto& [part, noise] : {std::pair("train", 0.0f), std::pair("validation", 0.1f)}) {
      summary::file_writer log(logs / "models" / model / part);
      for (int k = 0; k < 10; ++k) log.add_scalar("loss", noise + std::exp(-rate * static_cast<float>(k)), k);
    }
  expect("a point of one", summary::read_scalars(logs / "models/model2/validation").at("loss")[9].value, 0.167206f, 1e-6);

  // A run that stopped in step 29, and began again from the state of step 20.
  for (const int from : {0, 20}) {
    summary::file_writer log(logs / "resumed");
    log.add_session_log(summary::session_status::start, from);
    for (int k = from; k < from + 30; ++k) log.add_scalar("loss", from == 0 ? 1.0f : 2.0f, k);
  }
  const auto curve = summary::read_scalars(logs / "resumed").at("loss");
  expect("steps of a run that was resumed", static_cast<int>(curve.size()), 50);
  expect("of which the 20th is of the second part", curve[20].value, 2.0f);
}

}  // namespace

int main(int count, char** arguments) {
  // `--logdir FOLDER` keeps the event files there; the other options are those of all programs of this folder.
  bool keeps = false;
  std::vector<char*> others;
  for (int i = 0; i < count; ++i) {
    keeps = i > 0 && i + 1 < count && std::strcmp(arguments[i], "--logdir") == 0;
    if (keeps) logs = arguments[++i];
    else others.push_back(arguments[i]);
  }
  keeps = !logs.empty();
  if (!keeps) logs = std::filesystem::temp_directory_path() / ("leat_notes_09." + std::to_string(::getpid()));
  const int status = run_sections(static_cast<int>(others.size()), others.data(),
                                  "Summaries for TensorBoard. With --logdir FOLDER the event files stay in that folder.",
                                  {{"graph", "a graph to look at", a_graph},
                                   {"training", "scalars and histograms while training", training},
                                   {"kinds", "every kind of summary", every_kind},
                                   {"runs", "several runs, and one that was resumed", side_by_side}});
  std::error_code ignored;
  if (!keeps) std::filesystem::remove_all(logs, ignored);
  return status;
}
