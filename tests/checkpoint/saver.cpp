#include <leat/checkpoint/saver.hpp>
#include <leat/graphs.hpp>

#include "support/messages.hpp"
#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>

#include <optional>

using namespace leat;
using leat_test::message_of;
using leat_test::says;
using leat_test::scratch_folder;

TEST_CASE("a graph session is saved and restored") {
  const scratch_folder scratch("saver");
  const std::string prefix = (scratch.path / "deep" / "model").string();
  graph g;
  const auto here = g.as_default();
  const auto a = variable({1.0f, 2.0f}, "a");
  const auto b = variable(std::int64_t{7}, "b");
  graph_session s(g);
  saver save;
  CHECK(says(message_of<failed_precondition>([&] { save(s, prefix, 1); }), "'a', 'b'"));
  s.run(global_variables_initializer());
  CHECK(save(s, prefix, 3) == prefix + "-3");
  s.assign(a, std::vector<float>{8, 9});
  s.assign(b, std::int64_t{1});
  CHECK(save(s, prefix, b) == prefix + "-1");
  graph_session other(g);
  const auto report = save.restore(other, prefix + "-3");
  CHECK(report.restored == std::vector<std::string>{"a", "b"});
  CHECK(other.value(a).as<std::vector<float>>() == std::vector<float>{1, 2});
  CHECK(other.value(b).as<std::int64_t>() == 7);
  CHECK(restore_latest(other, (scratch.path / "deep").string()) == prefix + "-1");
  CHECK(other.value(a).as<std::vector<float>>() == std::vector<float>{8, 9});
}

TEST_CASE("one in so many hours is kept of those that would be removed") {
  const scratch_folder scratch("saver_hours");
  const std::string prefix = (scratch.path / "model").string();
  graph g;
  const auto here = g.as_default();
  variable(1.0f, "a");
  graph_session s(g);
  s.run(global_variables_initializer());
  saver some({.max_to_keep = 1, .keep_checkpoint_every_n_hours = 1e-12});
  for (const int step : {1, 2, 3}) some.save(s, prefix, step);
  CHECK(some.last_checkpoints() == std::vector<std::string>{prefix + "-3"});
  for (const char* kept : {"-1", "-2", "-3"}) CHECK(checkpoint_exists(prefix + kept));
  CHECK_THROWS_AS(saver({.max_to_keep = -1}), invalid_argument);
  CHECK_THROWS_AS(saver({.keep_checkpoint_every_n_hours = 0}), invalid_argument);
}

TEST_CASE("what a program says beside its variables comes back, in both formats") {
  const scratch_folder scratch("saver_values");
  graph g;
  const auto here = g.as_default();
  variable(1.0f, "a");
  graph_session s(g);
  s.run(global_variables_initializer());
  for (const auto format : {checkpoint_format::leat, checkpoint_format::tensorflow}) {
    saver save({.format = format});
    const std::string path = save(s, (scratch.path / "model").string(), 7, {.pipeline_state = "{\"at\": 3}", .values = {{"seed", "ü"}}});
    const checkpoint_reader reader(path);
    CHECK(reader.format() == format);
    CHECK(reader.names() == std::vector<std::string>{"a"});
    CHECK(reader.manifest().step == 7);
    CHECK(reader.manifest().pipeline_state == "{\"at\": 3}");
    CHECK(reader.manifest().values.at("seed") == "ü");
    graph_session t(g);
    CHECK(save.restore(t, path, {.exact = true}).restored.size() == 1);
    // the other format's files of this name are gone
    CHECK(std::filesystem::exists(path + ".json") == (format == checkpoint_format::leat));
    CHECK(std::filesystem::exists(path + ".index") == (format == checkpoint_format::tensorflow));
  }
}

TEST_CASE("paths in the state file are relative to its folder where the program's are relative, or on request") {
  const scratch_folder scratch("saver_relative");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(scratch.path);
  graph g;
  const auto here = g.as_default();
  variable(1.0f, "a");
  graph_session s(g);
  s.run(global_variables_initializer());
  CHECK(saver().save(s, "log/model", 1) == "log/model-1");
  CHECK(get_checkpoint_state("log")->model_checkpoint_path == "log/model-1");
  CHECK(latest_checkpoint("log") == "log/model-1");
  CHECK(saver().save(s, "here") == "here");
  CHECK(latest_checkpoint(".") == "./here");
  saver({.save_relative_paths = true}).save(s, (scratch.path / "log" / "model").string(), 2);
  std::filesystem::rename("log", "moved");
  CHECK(latest_checkpoint("moved") == "moved/model-2");
  saver().save(s, (scratch.path / "moved" / "model").string(), 3);
  std::filesystem::rename("moved", "again");
  CHECK(latest_checkpoint("again") == "again/model-3");
  std::filesystem::current_path(before);
}

TEST_CASE("a session whose memory is limited restores all or none") {
  const scratch_folder scratch("saver_limited");
  const std::string prefix = (scratch.path / "model").string();
  graph g;
  const auto here = g.as_default();
  const auto a = variable(std::vector<float>(10'000), "a");
  const auto b = variable(std::vector<float>(10'000), "b");
  graph_session s(g);
  s.run(global_variables_initializer());
  saver().save(s, prefix);
  graph_session small(g, {.memory_limit_in_bytes = 60'000});
  CHECK_THROWS_AS(saver().restore(small, prefix), resource_exhausted);
  CHECK_FALSE(small.is_initialized(a));
  CHECK_FALSE(small.is_initialized(b));
  saver().restore(small, prefix, {.mapped = true});
  CHECK(small.is_initialized(b));
}

TEST_CASE("a graph at the address of an earlier one has other variables") {
  const scratch_folder scratch("saver_address");
  std::optional<graph> g(std::in_place);
  std::optional<saver> save;
  {
    const auto here = g->as_default();
    variable(1.0f, "a");
    save.emplace();
  }
  g.reset();
  g.emplace();
  const auto here = g->as_default();
  variable(1.0f, "b");
  graph_session s(*g);
  s.run(global_variables_initializer());
  const std::string path = (*save)(s, (scratch.path / "model").string(), 1);
  CHECK(checkpoint_reader(path).names() == std::vector<std::string>{"b"});
}
