// Sessions, data, files, supervised runs and clusters, as docs/from_tensorflow.md shows them.

#include "shown.hpp"

#include <leat/checkpoint.hpp>
#include <leat/cluster.hpp>
#include <leat/data.hpp>
#include <leat/data/graph_iterator.hpp>
#include <leat/inspect/trace.hpp>
#include <leat/io/binary.hpp>
#include <leat/io/file.hpp>
#include <leat/io/json.hpp>
#include <leat/io/onnx.hpp>
#include <leat/io/saved_model.hpp>
#include <leat/io/text.hpp>
#include <leat/proto/freeze.hpp>
#include <leat/session/interactive_session.hpp>
#include <leat/summary.hpp>
#include <leat/supervise.hpp>

#include "support/scratch_folder.hpp"

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <sstream>

using namespace leat;

namespace from_tensorflow {

namespace {

// Runs in a folder of its own, as the page's relative paths do.
struct working_folder {
  leat_test::scratch_folder scratch;
  std::filesystem::path before = std::filesystem::current_path();
  explicit working_folder(const char* name) : scratch(name) { std::filesystem::current_path(scratch.path); }
  ~working_folder() { std::filesystem::current_path(before); }
};

void runs() {
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {-1}, "x"), w = variable(2.0f, "w");
  const output y = x * w, a = reduce_sum(y), b = reduce_max(y);
  const std::vector<float> xs{1, 2, 3};
  LEAT_SHOWN_STATEMENTS(session, graph_session s(g);)
  s.run(global_variables_initializer());
  std::ostringstream log;
  {
    const session_options options = [&] {
      auto made = LEAT_SHOWN_TYPE(session_options, session_options);
      LEAT_SHOWN(allow_soft_placement, made.allow_soft_placement) = true;
      LEAT_SHOWN(log_device_placement, made.log_device_placement) = true;
      made.log = &log;
      return made;
    }();
    graph_session other(g, options);
    other.run(initializer_of(w));
    require(log.str().find("CPU:0") != std::string::npos);
  }
  require(numbers_of(LEAT_SHOWN(run, s.run(y, {{x, xs}}))) == numbers{2, 4, 6});
  require(LEAT_SHOWN(run_as, s.run<float>(a, {{x, xs}})) == 12);
  require(LEAT_SHOWN(run_several, s.run({a, b}, {{x, xs}})).size() == 2);
  const auto [sum, most] = LEAT_SHOWN(run_several_as, s.run<float, float>({a, b}, {{x, xs}}));
  require(sum == 12 && most == 6);
  require(LEAT_SHOWN(run_fed, s.run<float>(a, {{y, {1.0f, 1.0f}}})) == 2);
  auto step = LEAT_SHOWN(prepare, s.prepare({y}, {x}));
  require(numbers_of(step(xs)[0]) == numbers{2, 4, 6});
  run_trace t;
  LEAT_SHOWN(run_traced, s.run(y, {{x, xs}}, {.trace = &t}));
  require(!t.by_node().empty());
  require(LEAT_SHOWN(list_devices, s.list_devices()).size() == 1);
  require(LEAT_SHOWN(part_graphs, s.part_graphs({a})).size() == 1);
  LEAT_SHOWN_ERROR(invalid_argument, [&] { s.run(y); });  // nothing is fed
  LEAT_SHOWN(close, s.close());
}

void interactive() {
  graph g;
  LEAT_SHOWN_STATEMENTS(interactive_session, interactive_session s(g);)
  const output v = variable(1.0f, "v");
  LEAT_SHOWN(run_here, run(initializer_of(v)));
  require(LEAT_SHOWN(eval, eval<float>(v)) == 1);
}

void refused() {
  graph g;
  const auto scope = g.as_default();
  const output v = variable(1.0f, "v");
  const auto q = fifo_queue(1, {dtype::float32}, {{}});
  const output next = q.dequeue()[0];
  const auto no_more = q.close();
  graph_session s(g);
  LEAT_SHOWN_ERROR(not_found, [&] { get_tensor_by_name(g, "nothing:0"); });
  LEAT_SHOWN_ERROR(failed_precondition, [&] { s.run(v); });
  s.run(no_more);
  LEAT_SHOWN_ERROR(out_of_range, [&] { s.run(next); });
  LEAT_SHOWN_ERROR(data_loss, [&] {
    io::write_file("wrong.csv", "x\none\n");
    for (auto& [x] : dataset::csv<float>("wrong.csv")) static_cast<void>(x);
  });
  graph h;
  const auto inner = h.as_default();
  const output never = fifo_queue(1, {dtype::float32}, {{}}).dequeue()[0];
  const output large = reduce_sum(random_normal({1000, 1000}) * variable(1.0f));
  const output unknown = h.named().raw(h, "NobodysOperator", {}, {}, {{dtype::float32, {}}}).result();
  graph_session slow(h, {.operation_timeout_in_ms = 50});
  LEAT_SHOWN_ERROR(deadline_exceeded, [&] { slow.run(never); });
  LEAT_SHOWN_ERROR(unimplemented, [&] { slow.run(unknown); });
  graph_session small(h, {.memory_limit_in_bytes = 1000});
  small.run(global_variables_initializer());
  LEAT_SHOWN_ERROR(resource_exhausted, [&] { small.run(large); });
  LEAT_SHOWN_ERROR(cancelled, [] { throw cancelled("a run was stopped"); });
  LEAT_SHOWN_ERROR(error, [] { throw cancelled("every error is one"); });
}

void pipelines() {
  const xt::xtensor<float, 2> x{{0, 1}, {2, 3}};
  const std::vector<std::int64_t> y{7, 8};
  int seen = 0;
  const auto count = [&](const auto& data) {
    seen = 0;
    for (auto& row : data) static_cast<void>(row), ++seen;
    return seen;
  };
  require(count(LEAT_SHOWN(range_dataset, dataset::range(10))) == 10);
  const auto data = LEAT_SHOWN(from_tensor_slices, dataset::from_tensor_slices(x, y));
  require(count(data) == 2);
  const auto f = [] { return std::vector<int>{1, 2, 3}; };
  require(count(LEAT_SHOWN(from_generator, dataset::from_generator(f))) == 3);
  const auto numbers_to_ten = dataset::range(10);
  require(count(LEAT_SHOWN(map, numbers_to_ten.map([](std::int64_t i) { return 2 * i; }))) == 10);
  require(count(LEAT_SHOWN(filter, numbers_to_ten.filter([](std::int64_t i) { return i < 3; }))) == 3);
  require(count(LEAT_SHOWN(shuffle, numbers_to_ten.shuffle(10, 1))) == 10);
  require(count(LEAT_SHOWN(batch, numbers_to_ten.batch(4))) == 3);
  const auto words = dataset::from_tensor_slices(std::vector<std::int64_t>{1, 3}).map([](std::int64_t n) {
    return xt::xtensor<float, 1>(xt::ones<float>({static_cast<std::size_t>(n)}));
  });
  require(count(LEAT_SHOWN(padded_batch, words.padded_batch(2))) == 1);
  require(count(LEAT_SHOWN(repeat, numbers_to_ten.repeat(2))) == 20);
  require(count(LEAT_SHOWN(take, numbers_to_ten.take(3))) == 3);
  require(count(LEAT_SHOWN(skip, numbers_to_ten.skip(3))) == 7);
  require(count(LEAT_SHOWN(zip, dataset::zip(numbers_to_ten, data))) == 2);
  require(count(LEAT_SHOWN(prefetch, numbers_to_ten.prefetch(2))) == 10);
  for (auto& [image, label] : data) require(label == static_cast<std::int64_t>(image(0)) / 2 + 7);
  io::write_file("points.csv", "x,y\n1,2\n3,4\n");
  require(count(LEAT_SHOWN(csv, dataset::csv<float, float>("points.csv"))) == 2);
  require(count(LEAT_SHOWN(text_lines, dataset::text_lines("points.csv"))) == 3);
  {
    io::record_writer writer("numbers.tfrecord");
    writer.write(io::write_example({{{"x", std::vector<float>{1.5f}}}}));
    writer.close();
  }
  require(count(LEAT_SHOWN(records, dataset::records("numbers.tfrecord"))) == 1);
  require(count(LEAT_SHOWN(examples, dataset::examples<float>("numbers.tfrecord", {"x"}))) == 1);

  graph g;
  const auto scope = g.as_default();
  const auto it = LEAT_SHOWN(initializable_iterator, make_initializable_iterator(dataset::range(3)));
  const output next = LEAT_SHOWN(get_next, it.get_next())[0];
  LEAT_SHOWN(table_initializers, add_to_collection(collection::table_initializers, it.initializer()));
  graph_session s(g);
  s.run(it.initializer());
  require(s.run<std::int64_t>(next) == 0);
  const std::string text = LEAT_SHOWN(iterator_states, iterator_states(s));
  require(s.run<std::int64_t>(next) == 1);
  LEAT_SHOWN(restore_iterator_states, restore_iterator_states(s, text));
  require(s.run<std::int64_t>(next) == 1);
}

void files() {
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {-1, 2}, "x"), w = variable({{1.0f}, {2.0f}}, "w");
  const output y = matmul(x, w, "y");
  graph_session s(g);
  s.run(global_variables_initializer());
  const graph_def def = export_graph(g);
  LEAT_SHOWN(write_binary, io::write_binary_file(def, "graph.pb"));
  LEAT_SHOWN(write_json, io::write_json_file(def, "graph.json"));
  require(LEAT_SHOWN(read_binary, io::read_binary_file("graph.pb")) == def);
  require(LEAT_SHOWN(read_json, io::read_json_file("graph.json")) == def);
  require(LEAT_SHOWN(write_text, io::write_text(def)).find("MatMul") != std::string::npos);
  const graph_def frozen = LEAT_SHOWN(freeze, freeze(s, {"y"}));
  require(frozen.nodes.size() < def.nodes.size());
  LEAT_SHOWN(write_onnx, io::write_onnx_file(s, {.inputs = {{"x", x}}, .outputs = {{"y", y}}}, "model.onnx"));
  require(std::filesystem::file_size("model.onnx") > 0);
  LEAT_SHOWN(save_model, io::save_model("plane", s, {.signatures = {{"serving_default", {.inputs = {{"x", x}}, .outputs = {{"y", y}}}}}}));
  const io::saved_model m = LEAT_SHOWN(load_model, io::load_model("plane"));
  require(numbers_of(m.run("serving_default", {{"x", {{1.0f, 1.0f}}}})["y"]) == numbers{3});

  const int step = 7;
  LEAT_SHOWN_STATEMENTS(saver, saver save({.max_to_keep = 3}); save(s, "log/model", step);)
  const checkpoint_path latest = LEAT_SHOWN(latest_checkpoint, latest_checkpoint("log"));
  LEAT_SHOWN(restore, save.restore(s, latest));
  {
    LEAT_SHOWN_STATEMENTS(sharded, saver shards({.sharded = true});)
    shards.save(s, "shards/model");
    require(static_cast<bool>(latest_checkpoint("shards")));
  }
  const output loss = reduce_sum(y);
  const std::vector<output> kinds{
      LEAT_SHOWN(summary_scalar, summary::scalar("loss", loss)), LEAT_SHOWN(summary_histogram, summary::histogram("y", y)),
      LEAT_SHOWN(summary_image, summary::image("seen", reshape(x, {1, 2, 1, 1}))),
      LEAT_SHOWN(summary_audio, summary::audio("heard", x, 8000.0f)), LEAT_SHOWN(summary_text, summary::text("said", constant("words")))};
  const output merged = LEAT_SHOWN(merge_all, summary::merge_all());
  LEAT_SHOWN_STATEMENTS(file_writer, summary::file_writer log("logs", g);)
  log.add_summary(s.run(merged, {{x, {{0.5f, 0.25f}}}}), 1);
  log.close();
  require(summary::read_scalars("logs").at("loss").size() == 1);
}

}  // namespace

void sessions() {
  runs();
  interactive();
}
void data_and_files() {
  const working_folder here("from_tensorflow");
  refused();
  pipelines();
  files();
}

void supervised_runs() {
  const working_folder here("from_tensorflow_supervised");
  const auto model = [](graph& g) {
    const output w = variable(4.0f, "w");
    const output loss = square(w - 1.0f, "loss");
    static_cast<void>(g);
    return std::pair(loss, gradient_descent(0.1f).minimize(loss, {.global_step = get_or_create_global_step()}));
  };
  {
    graph g;
    const auto scope = g.as_default();
    const auto [loss, train] = model(g);
    LEAT_SHOWN_STATEMENTS(supervisor, supervisor sv({.logdir = "log"}); auto s = sv.managed_session();)
    s.run(train);
    sv.stop();
  }
  {
    graph g;
    const auto scope = g.as_default();
    const auto [loss, train] = model(g);
    LEAT_SHOWN_STATEMENTS(monitored, monitored_session s({.checkpoint_dir = "log", .hooks = {stop_at_step(2000)}});)
    s.run(train);
    s.close();
  }
  {
    graph g;
    const auto scope = g.as_default();
    const auto [loss, train] = model(g);
    const output merged = summary::scalar("loss", loss);
    const auto made = LEAT_SHOWN(scaffold, std::make_shared<scaffold>(scaffold_options{.init_fn = [](graph_session&) {}}));
    std::ostringstream log;
    const std::vector<hook> hooks{
        LEAT_SHOWN(stop_at_step, stop_at_step(3)),
        LEAT_SHOWN(checkpoint_saver, checkpoint_saver({.checkpoint_dir = "other", .save_steps = 2})),
        LEAT_SHOWN(summary_saver, summary_saver({.save_steps = 2, .output_dir = "other", .summary_op = merged})),
        LEAT_SHOWN(logging_tensor, logging_tensor({{"loss", loss}}, {.every_n_iter = 2, .log = &log})),
        LEAT_SHOWN(nan_tensor, nan_tensor(loss)),
        LEAT_SHOWN(step_counter, step_counter("other", {.every_n_steps = 2})),
        LEAT_SHOWN(profiler, profiler({.save_steps = 2, .output_dir = "other"})),
        LEAT_SHOWN(feed_fn, feed_fn([] { return feed_list{}; })),
        LEAT_SHOWN(final_ops, final_ops({loss}))};
    monitored_session s({.scaffold = made, .hooks = hooks});
    while (!s.should_stop()) s.run(train);
    s.close();
    require(static_cast<bool>(latest_checkpoint("other")));
    require(log.str().find("loss") != std::string::npos);
  }
}

void clusters() {
  graph g;
  const auto scope = g.as_default();
  {
    LEAT_SHOWN_STATEMENTS(device_of_task, auto d = device("/job:ps/task:0/gpu:0");)
    require(constant(1.0f).operation().device() == "/job:ps/task:0/device:GPU:0");
  }
  {
    const auto function = [](const graph_operation&) { return "/cpu:0"; };
    LEAT_SHOWN_STATEMENTS(device_function, auto d = device(function);)
    require(constant(1.0f).operation().device() == "/cpu:0");
  }
  {
    LEAT_SHOWN_STATEMENTS(replica_device_setter, auto d = device(replica_device_setter({.ps_tasks = 3}));)
    require(variable(1.0f).operation().device() == "/job:ps/task:0");
  }
  const int tasks = 2;
  const auto strategy = LEAT_SHOWN(greedy_load_balancing, greedy_load_balancing(tasks));
  require(strategy(variable(1.0f).operation()) == 0);
  {
    LEAT_SHOWN_STATEMENTS(cluster_spec, cluster_spec c{{"ps", {"a:2222"}}, {"worker", {"b:2222"}}};)
    require(c.num_tasks("worker") == 1);
  }
  ::setenv("TF_CONFIG", R"({"cluster": {"ps": ["a:1"], "worker": ["b:1"]}, "task": {"type": "worker", "index": 0}})", 1);
  require(LEAT_SHOWN(role_from_tf_config, role_from_tf_config()).job_name == "worker");
  ::unsetenv("TF_CONFIG");
  const server alone = LEAT_SHOWN(local_server, server::local());
  require(alone.job_name() == "local");
  const cluster_spec c{{"ps", {"localhost:0"}}};
  LEAT_SHOWN_STATEMENTS(server, server here(c, {.job_name = "ps", .task_index = 0});)
  graph h;
  const auto inner = h.as_default();
  const output w = variable(2.0f, "w");
  const auto init = global_variables_initializer();
  LEAT_SHOWN_STATEMENTS(session_at_server, graph_session s(h, {.target = here.target()});)
  s.run(init);
  require(s.run<float>(w) == 2);
  graph k;
  const auto third = k.as_default();
  const output loss = square(variable(3.0f, "v"));
  const output steps = get_or_create_global_step();
  LEAT_SHOWN_STATEMENTS(sync_replicas, sync_replicas sync(gradient_descent(0.1f), {.replicas_to_aggregate = 1, .total_num_replicas = 1});)
  require(static_cast<bool>(sync.minimize(loss, {.global_step = steps})));
  const hook its = LEAT_SHOWN(sync_replicas_hook, sync_replicas_hook(sync, true));
  require(its != nullptr);
}

}  // namespace from_tensorflow
