#include <leat/checkpoint/saver.hpp>
#include <leat/graphs.hpp>
#include <leat/io/file.hpp>
#include <leat/io/safetensors.hpp>

#include "support/messages.hpp"
#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
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

namespace {

struct counted_model {
  graph g;
  default_graph_scope here = g.as_default();
  output w = variable(0.0f, "w");
  graph_session session{g};
  counted_model() { session.run(global_variables_initializer()); }
  void set(float value) { session.assign(w, value); }
  float value() { return session.value(w).as<float>(); }
};
std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}
std::string data_of(const std::filesystem::path& folder, const std::string& name) {
  for (const std::string& file : names_in(folder))
    if (file.starts_with(name + ".") && file.ends_with(".safetensors")) return file;
  return {};
}
const std::string foreign = "{\"class_name\": \"Sequential\", \"config\": []}\n";

}  // namespace

TEST_CASE("a saver removes what savers left in the folder, and nothing else") {
  const scratch_folder scratch("saver_foreign");
  const auto file = [&](const std::string& name) { return (scratch.path / name).string(); };
  counted_model m;
  {
    saver save;
    for (const int step : {1, 2, 3}) m.set(static_cast<float>(step)), save(m.session, file("model"), step);
  }
  // Files of others that are named as if savers had left them, one as an earlier version of this library wrote them.
  io::write_file(file("pretrained.0123456789abcdef.safetensors"), "my weights");
  io::write_file(file("empty.0123456789abcdef.safetensors"), "");
  io::write_safetensors(file("old.0123456789abcdef.safetensors"), {}, {{"format", "leat"}});
  // The user keeps a copy of a checkpoint under another name, in three ways.
  const std::string data = data_of(scratch.path, "model-1"), ending = data.substr(7);
  for (const char* copy : {"best", "data-only"}) std::filesystem::copy(file(data), file(copy + ending));
  for (const char* copy : {"best", "last"}) std::filesystem::copy(file("model-1.json"), file(std::string(copy) + ".json"));
  std::filesystem::create_hard_link(file(data), file("last" + ending));
  // What was left of a save that was killed: its manifest never came.
  std::filesystem::remove(file("model-2.json"));
  const std::string left = data_of(scratch.path, "model-2");
  REQUIRE_FALSE(left.empty());

  saver next({.max_to_keep = 1});
  next.recover_last_checkpoints({file("model-1"), file("model-3")});
  next(m.session, file("model"), 4);
  CHECK_FALSE(checkpoint_exists(file("model-1")));
  CHECK_FALSE(std::filesystem::exists(file(left)));
  for (const std::string& kept : {std::string("pretrained.0123456789abcdef.safetensors"), std::string("empty.0123456789abcdef.safetensors"),
                                  std::string("old.0123456789abcdef.safetensors"), "best" + ending, "data-only" + ending, "last" + ending})
    CHECK_MESSAGE(std::filesystem::exists(file(kept)), kept);
  for (const char* copy : {"best", "last"}) {
    next.restore(m.session, file(copy));
    CHECK(m.value() == 1);
  }
}

TEST_CASE("a copy of a checkpoint that is replaced leaves the original") {
  const scratch_folder scratch("saver_copy");
  const auto file = [&](const std::string& name) { return (scratch.path / name).string(); };
  counted_model m;
  saver save({.max_to_keep = 0});
  save(m.session, file("model"), 1);
  const std::string ending = data_of(scratch.path, "model-1").substr(7);
  for (const bool with_data : {true, false}) {
    std::filesystem::copy(file("model-1.json"), file("best.json"), std::filesystem::copy_options::overwrite_existing);
    if (with_data) std::filesystem::copy(file("model-1" + ending), file("best" + ending));
    save(m.session, file("best"));
    CHECK_FALSE(std::filesystem::exists(file("best" + ending)));
    CHECK(checkpoint_reader(file("model-1")).value("w").as<float>() == 0);
  }
  // One that was renamed is removed whole.
  std::filesystem::rename(file("model-1.json"), file("moved.json"));
  std::filesystem::rename(file("model-1" + ending), file("moved" + ending));
  CHECK(checkpoint_reader(file("moved")).value("w").as<float>() == 0);
  save(m.session, file("moved"));
  CHECK_FALSE(std::filesystem::exists(file("moved" + ending)));
}

TEST_CASE("a log folder that was copied is one of its own") {
  const scratch_folder scratch("saver_fork");
  const auto run1 = (scratch.path / "run1").string(), run2 = (scratch.path / "run2").string();
  counted_model m;
  saver first({.max_to_keep = 2});
  for (const int step : {1, 2, 3}) m.set(static_cast<float>(step)), first(m.session, run1 + "/model", step);
  std::filesystem::copy(run1, run2, std::filesystem::copy_options::recursive);
  m.set(30);
  first(m.session, run1 + "/model", 3);
  const auto before = names_in(run1);
  CHECK(latest_checkpoint(run2) == run2 + "/model-3");
  CHECK(get_checkpoint_state(run2)->all_model_checkpoint_paths == std::vector<std::string>{run2 + "/model-2", run2 + "/model-3"});
  CHECK(get_checkpoint_state(run1)->all_model_checkpoint_paths == std::vector<std::string>{run1 + "/model-2", run1 + "/model-3"});
  saver second({.max_to_keep = 2});
  CHECK(restore_latest(m.session, run2) == run2 + "/model-3");
  CHECK(m.value() == 3);
  second.recover_last_checkpoints(get_checkpoint_state(run2)->all_model_checkpoint_paths);
  for (const int step : {10, 11, 12}) second(m.session, run2 + "/model", step);
  CHECK(names_in(run1) == before);
  CHECK_FALSE(checkpoint_exists(run2 + "/model-2"));
  CHECK_FALSE(checkpoint_exists(run2 + "/model-3"));
}

TEST_CASE("a file of another program under a checkpoint's name is neither read, overwritten nor removed") {
  const scratch_folder scratch("saver_json");
  const auto file = [&](const std::string& name) { return (scratch.path / name).string(); };
  counted_model m;
  io::write_file(file("model.json"), foreign);
  CHECK_FALSE(checkpoint_exists(file("model")));
  CHECK(says(message_of<failed_precondition>([&] { saver().save(m.session, file("model")); }), "model.json: is there"));
  CHECK(names_in(scratch.path) == std::vector<std::string>{"model.json"});
  saver save({.max_to_keep = 1, .format = checkpoint_format::tensorflow});
  for (const float value : {5.0f, 6.0f}) {
    m.set(value);
    save(m.session, file("model"));
    CHECK(io::read_file(file("model.json")) == foreign);
    for (const auto later : {".json", ".index"}) {
      std::filesystem::last_write_time(file(std::string("model") + later), std::filesystem::file_time_type::clock::now());
      m.set(0);
      save.restore(m.session, latest_checkpoint(scratch.path.string()));
      CHECK(m.value() == value);
    }
  }
  save(m.session, file("other"));
  CHECK_FALSE(checkpoint_exists(file("model")));
  CHECK(io::read_file(file("model.json")) == foreign);
  // A manifest is replaced, damaged or not.
  saver().save(m.session, file("own"), {}, {.write_state = false});
  io::write_file(file("own.json"), io::read_file(file("own.json")) + "x");
  saver().save(m.session, file("own"), {}, {.write_state = false});
  CHECK(checkpoint_reader(file("own")).value("w").as<float>() == 6);
  save(m.session, file("own"));
  CHECK_FALSE(std::filesystem::exists(file("own.json")));
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
