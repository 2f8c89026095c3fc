// A model is trained, killed and resumed, evaluated beside the training, and exchanged with TensorFlow.

// [listing checkpoint_includes]
#include <leat/checkpoint.hpp>
#include <leat/checkpoint/meta_graph.hpp>
#include <leat/graphs.hpp>
#include <leat/leat.hpp>

#include <iostream>
// [end]

#include <filesystem>

using namespace leat;
using namespace leat::literals;

namespace {

const xt::xtensor<float, 1> points{-1, 0, 1, 2}, heights{-1, 1, 3, 5};  // 2 x + 1

void typed(int last_step) {
  // [listing checkpoint_typed]
  auto x = placeholder<"x", float, "points">();
  auto y = placeholder<"y", float, "points">();
  auto w = variable<"w", float>(0.0f);
  auto b = variable<"b", float>(0.0f);
  auto step = variable<"step", std::int64_t>(0);
  auto train = momentum(0.1_c, 0.5_c).minimize(reduce_mean(square(w * x + b - y)));
  auto count = assign_add(step, std::int64_t{1});
  session s{train, count};

  saver save({.max_to_keep = 2});
  const checkpoint_path latest = restore_latest(s, "log");  // empty at the first start
  if (!latest) s.initialize();
  while (s.value(step) < last_step) {
    s.run(fetch(train, count), x = points, y = heights);
    if (s.value(step) % 10 == 0) save(s, "log/model", step);
  }
  // [end]
  std::cout << (latest ? "resumed " + latest.str() : "started") << ", step " << s.value(step) << ", kept:";
  for (const auto& path : save.last_checkpoints()) std::cout << ' ' << path;
  std::cout << '\n';
}

void evaluated() {
  graph g;
  const auto here = g.as_default();
  // [listing checkpoint_graph]
  auto w = variable(0.0f, "w");
  auto b = variable(0.0f, "b");
  graph_session s(g);
  if (const checkpoint_path latest = latest_checkpoint("log")) {
    saver load({.var_list = {w, {"b", b}}});  // of what the checkpoint has, by name and by another name
    load.restore(s, latest);
  }
  // [end]
  std::cout << "w is about " << std::round(s.run<float>(w)) << ", b is about " << std::round(s.run<float>(b)) << '\n';
}

void another_model() {
  graph g;
  const auto here = g.as_default();
  // [listing checkpoint_refused]
  variable({0.0f, 0.0f}, "w");
  variable(0.0f, "bias");
  graph_session s(g);
  try {
    restore_latest(s, "log");
  } catch (const invalid_argument& e) {
    std::cout << e.what() << '\n';
  }
  const restore_report report = saver().restore(s, latest_checkpoint("log"), {.partly = true});
  // [end]
  std::cout << report.restored.size() << " restored, " << report.missing.size() << " missing, " << report.misshapen.size() << " misshapen, "
            << report.additional.size() << " additional\n";
}

void read() {
  // [listing checkpoint_read]
  const checkpoint_reader reader(latest_checkpoint("log"));
  for (const std::string& name : reader.names()) std::cout << name << ' ' << brackets(reader.value(name).extent()) << '\n';
  // [end]
}

void exchanged() {
  graph g;
  const auto here = g.as_default();
  // [listing checkpoint_tensorflow]
  variable({1.0f, 2.0f}, "w");
  graph_session s(g);
  s.run(global_variables_initializer());
  saver save({.format = checkpoint_format::tensorflow});
  const std::string path = save(s, "exchanged/model.ckpt", 100);  // model.ckpt-100.index, .data-00000-of-00001, .meta
  save.restore(s, path);                                          // also one that TensorFlow wrote
  // [end]
  // [listing checkpoint_meta_graph]
  graph other;
  imported_meta_graph model = import_meta_graph(other, path + ".meta");
  graph_session trainer(other);
  model.restorer.restore(trainer, path);
  // [end]
  std::cout << path << '\n';
}

}  // namespace

int main() {
  std::filesystem::remove_all("log");
  typed(20);
  typed(40);
  evaluated();
  another_model();
  read();
  exchanged();
}
