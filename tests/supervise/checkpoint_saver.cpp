#include <leat/data.hpp>
#include <leat/data/graph_iterator.hpp>
#include <leat/supervise/checkpoint_saver.hpp>
#include <leat/supervise/signals.hpp>
#include <leat/supervise/stop_at_step.hpp>
#include <leat/supervise/supervisor.hpp>
#include <leat/supervise/watched_graph_session.hpp>

#include "recorded_hooks.hpp"
#include "support/scratch_folder.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <sstream>

using namespace leat_test;

namespace {

// w goes at random, by nodes with a seed and without one.
struct random_walk {
  output w = variable(0.0f, "w"), steps = get_or_create_global_step();
  output seeded = random_normal_of({3}, 0, 1, dtype::float32, 5);
  output free = random_uniform_of({});
  graph_operation train;
  random_walk() {
    const auto next = assign_add(w, reduce_sum(seeded, {0}) + free);
    train = group({next.operation(), assign_add(steps, std::int64_t{1}).operation()});
  }
};

std::vector<float> walk(const std::string& folder, std::int64_t last) {
  graph g;
  const auto scope = g.as_default();
  const random_walk m;
  monitored_session s({.checkpoint_dir = folder,
                       .save_checkpoint_steps = 3,
                       .save_summaries_steps = 0,
                       .log_step_count_steps = 0,
                       .hooks = {stop_at_step(last)}});
  std::vector<float> path;
  s.loop([&] {
    s.run(m.train);
    path.push_back(s.session().value(m.w).as<float>());
  });
  return path;
}

}  // namespace

TEST_CASE("random numbers go on where they were, with a seed and without") {
  const scratch_folder folder("resumed_random");
  graph g;
  const auto scope = g.as_default();
  const random_walk m;
  graph_session s(g);
  s.run(global_variables_initializer());
  for (int k = 0; k < 7; ++k) s.run(m.train);
  leat::detail::watched_graph_session watched(s, nullptr);
  saver to(g);
  save_run(to, watched, (folder.path / "model.ckpt").string(), 7);
  std::vector<float> without_stop;
  for (int k = 7; k < 20; ++k) {
    s.run(m.train);
    without_stop.push_back(s.value(m.w).as<float>());
  }
  CHECK(walk(folder.path.string(), 20) == without_stop);
  // once more from the newest checkpoint, at step 20: one run
  CHECK(walk(folder.path.string(), 20).size() == 1);
}

namespace {

// A run over shuffled batches of a graph's iterators, one that begins by itself and one that an operation begins; what it saw.
struct data_run {
  std::vector<std::int64_t> seen;
  std::string log;
};
data_run run_over_data(const std::string& folder, std::int64_t last, std::uint64_t seed, bool evaluates = false) {
  graph g;
  const auto scope = g.as_default();
  const auto data = dataset::range(50).shuffle(20, seed).batch(4).repeat();
  const auto begun = make_initializable_iterator(data);
  const output batch = reduce_sum(begun.get_next()[0], {0}),
               other = reduce_sum(make_one_shot_iterator(data.prefetch(2)).get_next()[0], {0});
  const output sum = variable(std::int64_t{0}, "sum");
  const output steps = get_or_create_global_step();
  if (evaluates) identity(sum, "of_another_graph");
  add_to_collection(collection::table_initializers, begun.initializer());
  const graph_operation train =
      group({assign_add(sum, batch + std::int64_t{1000} * other).operation(), assign_add(steps, std::int64_t{1}).operation()});
  std::ostringstream log;
  monitored_session s({.checkpoint_dir = folder,
                       .save_checkpoint_steps = 3,
                       .save_summaries_steps = 0,
                       .log_step_count_steps = 0,
                       .hooks = {stop_at_step(last)},
                       .session = {.log = &log}});
  data_run made;
  s.loop([&] {
    s.run(train);
    made.seen.push_back(s.session().value(sum).as<std::int64_t>());
  });
  made.log = log.str();
  return made;
}

}  // namespace

TEST_CASE("iterators of a graph go on where they were") {
  const scratch_folder whole_folder("whole_data"), folder("resumed_data"), changed("changed_data"), evaluation("evaluated_data");
  const std::vector<std::int64_t> whole = run_over_data(whole_folder.path.string(), 40, 1).seen;
  std::vector<std::int64_t> parts;
  for (const std::int64_t last : {7, 8, 25, 40}) {
    const data_run part = run_over_data(folder.path.string(), last, 1);
    CHECK(part.log.empty());
    parts.insert(parts.end(), part.seen.begin(), part.seen.end());
    if (last == 8) {
      std::filesystem::copy(folder.path, changed.path,
                            std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
      std::filesystem::copy(folder.path, evaluation.path,
                            std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
    }
  }
  CHECK(parts == whole);
  // Other data begin anew, and say so; another graph's iterators have nothing to do with these.
  const data_run with_other_data = run_over_data(changed.path.string(), 12, 9);
  CHECK(with_other_data.seen.size() == 4);
  CHECK(with_other_data.log.find("The iterator 'IteratorV2' begins anew: the state of another pipeline") != std::string::npos);
  CHECK(with_other_data.log.find("The iterator 'OneShotIterator' begins anew") != std::string::npos);
  const data_run of_another_graph = run_over_data(evaluation.path.string(), 9, 1, true);
  CHECK(of_another_graph.log.empty());
  REQUIRE(of_another_graph.seen.size() == 1);
  CHECK(of_another_graph.seen[0] - whole[7] == whole[0]);
}

TEST_CASE("positions of random numbers are read with care") {
  const scratch_folder folder("random_state");
  graph g;
  const auto scope = g.as_default();
  const random_walk m;
  graph_session s(g);
  s.run(global_variables_initializer());
  s.run(m.train);
  const random_positions now = s.random_state();
  CHECK(now.size() == 2);
  CHECK(now.at("random_normal/RandomStandardNormal").next == 3 * 256);
  s.set_random_state({{"w", {.seed = 1, .next = 2}}, {"no such node", {.seed = 1, .next = 2}}});
  s.run(m.train);
  s.set_random_state(now);
  CHECK(s.random_state().at("random_normal/RandomStandardNormal") == now.at("random_normal/RandomStandardNormal"));

  leat::detail::watched_graph_session watched(s, nullptr);
  saver to(g);
  const std::string prefix = (folder.path / "model.ckpt").string();
  for (const char* wrong : {"", "{", "[]", "{\"w\": 1}", "{\"w\": [1]}", "{\"w\": [-1, \"x\"]}"}) {
    const std::string path = to.save(s, prefix, 1, {.values = {{"leat/random", wrong}}});
    INFO(wrong);
    try {
      restore_run(to, watched, path);
      CHECK(std::string(wrong) == "[]");  // says nothing of any node
    } catch (const data_loss& e) {
      CHECK(std::string(e.what()).find("model.ckpt-1") != std::string::npos);
    }
  }
}

TEST_CASE("parts are saved and restored by name") {
  const scratch_folder folder("parts");
  graph g;
  const auto scope = g.as_default();
  const random_walk m;
  graph_session s(g);
  s.run(global_variables_initializer());
  leat::detail::watched_graph_session watched(s, nullptr);
  saver to(g);
  const auto part = [](std::string& state) {
    return saved_part{.save = [&state] { return state; }, .restore = [&state](const std::string& text) { state = text; }};
  };
  std::string data = "row 17", other = "untouched";
  const std::string path = save_run(to, watched, (folder.path / "m").string(), 3, {{"data", part(data)}});
  data = "row 99";
  restore_run(to, watched, path, {{"data", part(data)}, {"other", part(other)}});
  CHECK(data == "row 17");
  CHECK(other == "untouched");
  const saved_parts failing{{"data", {.save = []() -> std::string { throw data_loss("the pipeline has failed"); }, .restore = {}}}};
  CHECK_THROWS_AS(save_run(to, watched, (folder.path / "m").string(), 4, failing), data_loss);
  CHECK(latest_checkpoint(folder.path.string()).str() == path);
}

TEST_CASE("a save that failed is still to be done") {
  const scratch_folder folder("failed_save");
  const auto log = folder.path / "log", away = folder.path / "away";
  graph g;
  const auto scope = g.as_default();
  const auto m = make_model();
  for (const bool goes_on : {false, true}) {
    std::filesystem::remove_all(log);
    {
      monitored_session s(
          {.checkpoint_dir = log.string(), .save_checkpoint_steps = 3, .save_summaries_steps = 0, .log_step_count_steps = 0});
      s.run(m.train), s.run(m.train);
      std::filesystem::rename(log, away);
      std::ofstream(log) << "in the way";
      CHECK_THROWS_AS(s.run(m.train), error);
      std::filesystem::remove(log);
      std::filesystem::rename(away, log);
      if (goes_on) {
        s.run(m.train);  // the next run saves, whatever its step
        CHECK(latest_checkpoint(log.string()) == (log / "model.ckpt-4").string());
      }
      s.close();
    }
    CHECK(latest_checkpoint(log.string()) == (log / (goes_on ? "model.ckpt-4" : "model.ckpt-3")).string());
  }
}

TEST_CASE("a run in a copied folder leaves the original's checkpoints") {
  const scratch_folder folder("forked_run");
  const auto run = [](const std::filesystem::path& log, std::int64_t last) {
    graph g;
    const auto scope = g.as_default();
    const auto m = make_model();
    monitored_session s({.checkpoint_dir = log.string(),
                         .save_checkpoint_steps = 1,
                         .save_summaries_steps = 0,
                         .log_step_count_steps = 0,
                         .hooks = {stop_at_step(last)}});
    s.loop([&] { s.run(m.train); });
  };
  const auto checkpoints = [](const std::filesystem::path& log) {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(log))
      if (const std::string name = entry.path().filename().string(); name.ends_with(".json")) names.insert(name);
    return names;
  };
  run(folder.path / "run1", 6);
  std::filesystem::copy(folder.path / "run1", folder.path / "run2", std::filesystem::copy_options::recursive);
  std::filesystem::remove(folder.path / "run2" / "model.ckpt-2.json");  // one that only the original has
  const auto before = checkpoints(folder.path / "run1");
  REQUIRE(before.contains("model.ckpt-2.json"));
  run(folder.path / "run2", 12);
  CHECK(checkpoints(folder.path / "run1") == before);
  CHECK(checkpoints(folder.path / "run2") ==
        std::set<std::string>{"model.ckpt-10.json", "model.ckpt-11.json", "model.ckpt-12.json", "model.ckpt-8.json", "model.ckpt-9.json"});
}

TEST_CASE("a listener ends training; options out of range") {
  const scratch_folder folder("listener");
  graph g;
  const auto scope = g.as_default();
  const auto m = make_model();
  struct ending final : checkpoint_saver_listener {
    bool after_save(watched_session&, std::int64_t step) override { return step >= 4; }
  };
  {
    monitored_session s({.hooks = {checkpoint_saver({.checkpoint_dir = folder.path.string(),
                                                     .save_steps = 2,
                                                     .listeners = {std::make_shared<ending>()},
                                                     .write_events = false})}});
    int runs = 0;
    s.loop([&] {
      s.run(m.train);
      ++runs;
    });
    CHECK(runs == 4);
  }
  CHECK_FALSE(std::filesystem::exists(folder.path / "graph.pbtxt"));
  CHECK_THROWS_AS(static_cast<void>(checkpoint_saver({.checkpoint_dir = "", .save_steps = 1})), invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(checkpoint_saver({.checkpoint_dir = "x"})), invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(checkpoint_saver({.checkpoint_dir = "x", .save_steps = 0})), invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(summary_saver({.save_steps = 1})), invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(summary_saver({.output_dir = "x"})), invalid_argument);
}

TEST_CASE("a supervisor's checkpoints are of whole steps, while runs and saves overlap") {
  const scratch_folder folder("whole_steps");
  graph g;
  const auto scope = g.as_default();
  const auto a = variable(0.0f, "a"), b = variable(0.0f, "b");
  const auto steps = get_or_create_global_step();
  const auto train =
      group({assign_add(a, 1.0f).operation(), assign_add(b, 1.0f).operation(), assign_add(steps, std::int64_t{1}).operation()});
  supervisor sv({.logdir = folder.path.string(), .save = saver(g, {.max_to_keep = 0}), .save_summaries_secs = 0, .save_model_secs = 0.01});
  auto s = sv.managed_session();
  int calls = 0;
  sv.loop(0.005, [&] { ++calls; });
  const auto start = std::chrono::steady_clock::now();
  while (!sv.should_stop() && std::chrono::steady_clock::now() - start < std::chrono::milliseconds(500)) s.run(train);
  sv.stop();
  CHECK(calls > 2);
  CHECK(checkpoints_in(folder.path).size() > 1);
  for (const std::string name : checkpoints_in(folder.path)) {
    const checkpoint_reader saved((folder.path / name).string());
    const auto at = static_cast<float>(integer(saved.value("global_step")));
    INFO(name);
    CHECK(saved.value("a").as<float>() == at);
    CHECK(saved.value("b").as<float>() == at);
    CHECK(name == "model.ckpt-" + std::to_string(integer(saved.value("global_step"))));
  }
  CHECK_THROWS_AS(sv.session(), failed_precondition);
  CHECK_THROWS_AS(sv.save_model(), failed_precondition);
}

TEST_CASE("runs that wait for each other do not wait for a checkpoint") {
  const scratch_folder folder("overlapping");
  graph g;
  const auto scope = g.as_default();
  const auto m = make_model();
  const auto q = fifo_queue(1, {dtype::float32}, {{}});
  const auto fill = q.enqueue({m.loss});
  const auto take = q.dequeue()[0];
  supervisor sv({.logdir = folder.path.string(), .save_summaries_secs = 0, .save_model_secs = 0});
  auto s = sv.managed_session();
  std::string path;
  sv.coord().start([&] { s.run(take); });  // under way until somebody fills the queue
  sv.coord().start([&] { path = sv.save_model(); });
  sv.wait_for_stop(seconds(0.1));
  s.run(fill, {}, {.timeout_in_ms = 20'000});
  sv.coord().join({.grace_period = seconds(20), .timeout = seconds(20)});
  CHECK(path == (folder.path / "model.ckpt-0").string());
  sv.stop();
}

TEST_CASE("a signal saves and ends a supervised program; an error of a thread comes out of stop") {
  const scratch_folder folder("signal");
  graph g;
  const auto scope = g.as_default();
  const auto m = make_model();
  stop_signals::clear();
  std::signal(SIGTERM, SIG_DFL);
  {
    supervisor sv({.logdir = folder.path.string(), .save_summaries_secs = 0});
    sv.managed([&](supervised_session& s) {
      for (int k = 1; !sv.should_stop(); ++k) {
        s.run(m.train);
        if (k == 5) std::raise(SIGTERM);
      }
    });
    CHECK(sv.stopped_by_signal() == SIGTERM);
  }
  CHECK(std::filesystem::path(latest_checkpoint(folder.path.string()).str()).filename() == "model.ckpt-5");
  stop_signals::clear();
  supervisor sv({.save = {}});
  const auto s = sv.managed_session();
  sv.loop(10, [] { throw data_loss("in a thread"); });
  CHECK(sv.wait_for_stop(seconds(10)));
  CHECK_THROWS_WITH_AS(sv.stop(), "in a thread", data_loss);
  CHECK_NOTHROW(sv.stop());
  CHECK_THROWS_AS(sv.loop(0, [] {}), invalid_argument);
}
