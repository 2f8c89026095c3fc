#include <leat/graphs.hpp>
#include <leat/io/binary.hpp>
#include <leat/session/graph_session.hpp>
#include <leat/summary.hpp>
#include <leat/summary/file_writer.hpp>

#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

using namespace leat;
using leat_test::scratch_folder;
using summary::event_files;
using summary::file_writer;
using summary::read_events;

namespace {

// Waits until a condition holds; false after ten seconds.
template <class Condition>
bool eventually(Condition holds) {
  for (int i = 0; i < 1000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace

TEST_CASE("a new file has the version at once, the rest when it is flushed or many") {
  const scratch_folder folder("file_writer");
  file_writer log(folder.path / "a" / "b", {.max_queue = 10, .flush_secs = 1000});
  CHECK(log.logdir() == folder.path / "a" / "b");
  auto events = read_events(log.path());
  REQUIRE(events.size() == 1);
  CHECK(events[0].file_version == "brain.Event:2");
  for (int i = 0; i < 9; ++i) log.add_scalar("x", 1, i);
  CHECK(read_events(log.path()).size() == 1);
  log.add_scalar("x", 1, 9);
  CHECK(read_events(log.path()).size() == 11);
  log.add_scalar("x", 1, 10);
  log.flush();
  events = read_events(log.path());
  CHECK(events.size() == 12);
  CHECK(events.back().step == 10);
  CHECK(std::abs(events.back().wall_time - events.front().wall_time) < 60);
}

TEST_CASE("the writer's thread flushes in time") {
  const scratch_folder folder("file_writer_time");
  file_writer log(folder.path, {.flush_secs = 0.05});
  for (int round = 1; round <= 3; ++round) {
    log.add_scalar("x", 1, round);
    CHECK(eventually([&] { return read_events(log.path()).size() == static_cast<std::size_t>(1 + round); }));
  }
  file_writer at_once(folder.path, {.flush_secs = 0});
  at_once.add_scalar("x", 1);
  CHECK(eventually([&] { return read_events(at_once.path()).size() == 2; }));
}

TEST_CASE("writers of one second have files of their own, and suffixes") {
  const scratch_folder folder("file_writer_names");
  file_writer a(folder.path, {.filename_suffix = ".train"}), b(folder.path, {.filename_suffix = ".train"}), c(folder.path);
  CHECK(a.path() != b.path());
  CHECK(a.path().string().ends_with(".train"));
  CHECK(event_files(folder.path).size() == 3);
  file_writer moved = std::move(a);
  moved.add_scalar("x", 1);
  moved.close();
  CHECK(read_events(moved.path()).size() == 2);
}

TEST_CASE("closed, reopened") {
  const scratch_folder folder("file_writer_reopen");
  file_writer log(folder.path);
  const auto first = log.path();
  log.reopen();
  CHECK(log.path() == first);
  log.add_scalar("x", 1, 1);
  log.close();
  log.close();
  CHECK_THROWS_WITH_AS(log.add_scalar("x", 1, 2), doctest::Contains("is closed: reopen() begins another file"), failed_precondition);
  CHECK_THROWS_AS(log.flush(), failed_precondition);
  log.reopen();
  CHECK(log.path() != first);
  log.add_scalar("x", 2, 2);
  log.close();
  CHECK(read_events(first).size() == 2);
  CHECK(read_events(log.path()).size() == 2);
  CHECK(summary::read_scalars(folder.path).at("x").size() == 2);
}

TEST_CASE("a run that is resumed from an earlier step is one curve") {
  const scratch_folder folder("file_writer_resumed");
  {
    file_writer log(folder.path);
    for (int i = 0; i < 10; ++i) log.add_scalar("loss", static_cast<float>(i), i);
  }
  {
    file_writer log(folder.path);
    log.add_session_log(summary::session_status::start, 6);
    for (int i = 6; i < 12; ++i) log.add_scalar("loss", static_cast<float>(100 + i), i);
    log.add_session_log({.status = summary::session_status::checkpoint, .checkpoint_path = "model-12"}, 12);
    log.add_session_log({.status = summary::session_status::stop, .message = "done"}, 12);
  }
  const auto curve = summary::read_scalars(folder.path).at("loss");
  REQUIRE(curve.size() == 12);
  for (std::size_t i = 0; i < 12; ++i) {
    CHECK(curve[i].step == static_cast<std::int64_t>(i));
    CHECK(curve[i].value == static_cast<float>(i < 6 ? i : 100 + i));
  }
  const auto events = read_events(event_files(folder.path)[1]);
  CHECK(events[events.size() - 2].session->checkpoint_path == "model-12");
  CHECK(events.back().session->message == "done");
}

TEST_CASE("graphs with the shapes of their results, and what ran how long") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1, 3}, "x");
  const auto y = matmul(x, {{1.0f}, {2.0f}, {3.0f}}, "y");
  const auto loss = reduce_sum(y);
  summary::scalar("loss", loss);
  const scratch_folder folder("file_writer_graph");
  file_writer log(folder.path, g);
  graph_session s(g);
  run_trace trace(trace_detail::nodes);
  s.run(loss, {{x, {{1.0f, 2.0f, 3.0f}}}}, {.trace = &trace});
  log.add_run_metadata(trace, "step 1", 1);
  CHECK_THROWS_AS(log.add_run_metadata(trace, "step 1", 2), already_exists);
  log.add_graph(export_graph(g), 3);
  log.close();
  const auto events = read_events(log.path());
  REQUIRE(events.size() == 5);
  const auto with_shapes = io::read_binary(events[1].graph_def);
  REQUIRE(with_shapes.nodes.size() == export_graph(g).nodes.size());
  const auto* shapes = with_shapes.nodes[0].attributes.find("_output_shapes");
  REQUIRE(shapes != nullptr);
  CHECK(*shapes->get_list<tensor_shape_proto>() == std::vector<tensor_shape_proto>{{-1, 3}});
  graph copy;
  import_graph(copy, with_shapes, {.name = ""});
  CHECK(get_operations(copy).size() == get_operations(g).size());
  const auto meta = io::read_binary<meta_graph_def>(events[2].meta_graph_def);
  CHECK(meta.collections.contains("summaries"));
  REQUIRE(events[3].metadata.has_value());
  CHECK(events[3].metadata->tag == "step 1");
  CHECK(events[3].metadata->run_metadata.find("y") != std::string::npos);
  CHECK(summary::run_metadata_of(trace, 1).size() == events[3].metadata->run_metadata.size());
  CHECK(summary::run_metadata_of(trace, 7).size() < events[3].metadata->run_metadata.size());
}

TEST_CASE("metadata are written with the first value of a tag") {
  const scratch_folder folder("file_writer_metadata");
  file_writer log(folder.path);
  summary::value_list words;
  words.text("words", "a");
  log.add_summary(words, 1);
  log.add_summary(words.bytes(), 2);
  log.add_summary(tensor_value(words.bytes()), 3);
  log.reopen();
  log.close();
  const auto events = read_events(log.path());
  REQUIRE(events.size() == 4);
  CHECK(events[1].summary->values[0].metadata.plugin.plugin_name == "text");
  CHECK(events[2].summary->values[0].metadata.plugin.plugin_name.empty());
  CHECK(events[3].summary->values[0].metadata.plugin.plugin_name.empty());
  CHECK(std::get<tensor_proto>(events[3].summary->values[0].content).strings == std::vector<std::string>{"a"});
}

TEST_CASE("what is no summary is refused, and nothing is written") {
  const scratch_folder folder("file_writer_wrong");
  file_writer log(folder.path);
  CHECK_THROWS_AS(log.add_summary("no summary"), error);
  CHECK_THROWS_AS(log.add_summary(tensor_value(1.0f)), invalid_argument);
  CHECK_THROWS_AS(log.add_summary(tensor_value(std::vector<std::string>{"", ""})), invalid_argument);
  CHECK_THROWS_AS(log.add_scalar("\xc0", 1), invalid_argument);
  summary::event wrong;
  wrong.file_version = "\xff";
  CHECK_THROWS_AS(log.add_event(wrong), invalid_argument);
  log.add_summary(tensor_value());
  log.add_summary("");
  log.close();
  CHECK(read_events(log.path()).size() == 1);
  CHECK_THROWS_AS(file_writer(std::filesystem::path{}), invalid_argument);
  CHECK_THROWS_AS(file_writer(folder.path, {.flush_secs = -1}), invalid_argument);
  CHECK_THROWS_AS(file_writer(folder.path, {.filename_suffix = "/x"}), invalid_argument);
}

TEST_CASE("folders that cannot be") {
  const scratch_folder folder("file_writer_folders");
  std::ofstream(folder.path / "file") << "x";
  CHECK_THROWS_WITH_AS(file_writer(folder.path / "file"), doctest::Contains("the folder cannot be made"), failed_precondition);
  CHECK_THROWS_AS(file_writer(folder.path / "file" / "inner"), failed_precondition);
  if (::geteuid() != 0) {
    std::filesystem::create_directory(folder.path / "closed");
    ::chmod((folder.path / "closed").c_str(), 0555);
    CHECK_THROWS_AS(file_writer(folder.path / "closed"), failed_precondition);
  }
}

TEST_CASE("a file that cannot grow stays whole, and goes on when it can") {
  const scratch_folder folder("file_writer_full");
  file_writer log(folder.path, {.max_queue = 4, .flush_secs = 1000});
  struct rlimit before;
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = before;
  small.rlim_cur = 400;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  int added = 0, refused = 0;
  std::string message;
  for (int i = 0; i < 100; ++i) {
    try {
      log.add_scalar("loss", 1, i);
      ++added;
    } catch (const failed_precondition& e) {
      ++refused;
      message = e.what();
    }
  }
  CHECK(refused > 80);
  CHECK(message.find(log.path().string()) != std::string::npos);
  const auto whole = read_events(log.path());  // no part of a record at the end
  summary::event_reader in(log.path());
  while (in.next()) {
  }
  CHECK(in.end() == io::record_end::whole);
  CHECK(whole.size() > 2);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, handler);
  log.close();
  CHECK(read_events(log.path()).size() == static_cast<std::size_t>(1 + added));
}

TEST_CASE("the file of a writer that was killed can be read") {
  const scratch_folder folder("file_writer_killed");
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    file_writer log(folder.path, {.max_queue = 7});
    for (int i = 0;; ++i) log.add_scalar("loss", static_cast<float>(i), i);
  }
  CHECK(eventually([&] {
    const auto files = event_files(folder.path);
    return !files.empty() && std::filesystem::file_size(files[0]) > 100000;
  }));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const auto curve = summary::read_scalars(folder.path).at("loss");
  CHECK(curve.size() > 1000);
  bool in_order = true;
  for (std::size_t i = 0; i < curve.size(); ++i) in_order = in_order && curve[i].step == static_cast<std::int64_t>(i);
  CHECK(in_order);
}
