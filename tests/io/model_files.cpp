#include <leat/io/model_files.hpp>

#include "support/messages.hpp"
#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <csignal>
#include <random>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {
std::atomic<int> syncs_until_one_fails{-1};
}
// In place of the C library's: a disk that fails.
extern "C" int fsync(int number) {
  if (syncs_until_one_fails.load() >= 0 && syncs_until_one_fails.fetch_sub(1) == 0) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fsync, number));
}

using namespace leat;
using leat_test::message_of;
using leat_test::says;
using leat_test::scratch_folder;
namespace files = std::filesystem;

namespace {

meta_graph_def graph_of(const std::string& name) {
  meta_graph_def meta;
  meta.meta_info.tags = {"serve"};
  meta.graph.nodes.push_back(
      {.name = name, .op = "VariableV2", .attributes = {{"dtype", data_type::float32}, {"shape", tensor_shape_proto{2, 2}}}});
  return meta;
}
io::array_bytes array_of(const std::vector<float>& values) {
  shape s;
  s.push(2), s.push(static_cast<std::int64_t>(values.size()) / 2);
  return {dtype::float32, s, std::as_bytes(std::span(values))};
}
const std::vector<float> four{1, 2, 3, 4};

}  // namespace

TEST_CASE("what was written is read, also in place of what was there") {
  const scratch_folder scratch("model_files");
  const auto folder = scratch.path / "deep" / "model";
  for (const char* name : {"v", "w", "x"}) {
    io::write_model_files(folder, graph_of(name), {{name, array_of(four)}}, {{"trained", "yes"}});
    const io::model_files read = io::read_model_files(folder);
    CHECK(read.meta == graph_of(name));
    CHECK(read.variables.names() == std::vector<std::string>{name});
    CHECK(read.metadata == io::named_texts{{"trained", "yes"}});
    CHECK(contents<float>(io::to_variable_values(read.variables).at(name)) == four);
    int entries = 0;
    for ([[maybe_unused]] const auto& e : files::directory_iterator(folder.parent_path())) ++entries;
    CHECK(entries == 1);  // nothing is left beside it
  }
  files::create_directory_symlink(folder, scratch.path / "link");
  io::write_model_files(scratch.path / "link/", graph_of("z"), {{"z", array_of(four)}});
  CHECK(files::is_symlink(scratch.path / "link"));
  CHECK(io::read_model_files(folder).meta == graph_of("z"));
  CHECK(io::read_variables(folder).contains("z"));
  const auto here = files::current_path();
  files::current_path(scratch.path);
  io::write_model_files("relative", graph_of("x"), {{"x", array_of(four)}});
  CHECK(io::read_model_files("relative").meta == graph_of("x"));
  files::current_path(here);
  // where names cannot be exchanged, a crash leaves the old model under another name
  files::rename(folder, folder.string() + ".old");
  CHECK(io::read_model_files(folder).meta == graph_of("z"));
  io::write_model_files(folder, graph_of("y"), {{"y", array_of(four)}});
  CHECK(io::read_model_files(folder).meta == graph_of("y"));
  CHECK_FALSE(files::exists(folder.string() + ".old"));
}

TEST_CASE("only saved models are replaced") {
  const scratch_folder scratch("model_files");
  const auto write = [&](const files::path& folder) {
    return message_of([&] { io::write_model_files(folder, graph_of("v"), {{"v", array_of(four)}}); });
  };
  io::write_file(scratch.path / "notes.txt", "mine");
  CHECK(says(write(scratch.path), "holds \"notes.txt\", which is no part of a saved model"));
  CHECK(says(write(scratch.path / "notes.txt"), "is no folder"));
  CHECK(says(write(scratch.path / "notes.txt" / "model"), "cannot be made"));
  CHECK(io::read_file(scratch.path / "notes.txt") == "mine");
  files::create_directories(scratch.path / "model.part");
  io::write_file(scratch.path / "model.part" / "mine", "mine");
  CHECK(says(write(scratch.path / "model"), "model.part: holds \"mine\""));
  // What killed writers left, of this version and earlier ones.
  files::remove(scratch.path / "model.part" / "mine");
  io::write_file(scratch.path / "model.part" / "graph.json.0123456789abcdef.part", "cut o");
  io::write_file(scratch.path / "model.part" / "variables.safetensors.part", "cut o");
  CHECK(write(scratch.path / "model") == "nothing was thrown");
  CHECK_FALSE(files::exists(scratch.path / "model.part"));
  CHECK(says(message_of([&] { io::write_model_files(scratch.path / "m", graph_of("v"), {}, {{"leat.x", "y"}}); }), "the format's own"));
  CHECK_THROWS_AS(io::read_model_files(scratch.path / "nothing"), not_found);
}

TEST_CASE("no file that was cut off or changed in any byte is read") {
  const scratch_folder scratch("model_files");
  const auto folder = scratch.path / "model";
  io::write_model_files(folder, graph_of("v"), {{"v", array_of(four)}, {"a/b", array_of(four)}}, {{"note", "text"}});
  const std::string graph = io::read_file(folder / "graph.json"), variables = io::read_file(folder / "variables.safetensors");
  const auto put = [&](const char* file, const std::string& text) {
    std::ofstream(folder / file, std::ios::binary | std::ios::trunc) << text;
  };
  int refused = 0;
  const auto refuses = [&](const char* file, const std::string& good, const std::string& bad) {
    put(file, bad);
    const std::string message = message_of([&] { io::read_model_files(folder); });
    put(file, good);
    INFO(message);
    CHECK(message.find(file) != std::string::npos);  // the message names it
    ++refused;
  };
  for (std::size_t length = 0; length < graph.size(); ++length) refuses("graph.json", graph, graph.substr(0, length));
  for (std::size_t length = 0; length < variables.size(); ++length)
    refuses("variables.safetensors", variables, variables.substr(0, length));
  std::mt19937 random(3);
  for (std::size_t at = 0; at < graph.size(); ++at) {
    std::string bad = graph;
    bad[at] = static_cast<char>(bad[at] ^ (1 << random() % 8));
    refuses("graph.json", graph, bad);
  }
  // in the header, spaces at its end may become other white space: then nothing has changed
  const auto header_end = variables.find_last_of('}') + 1;
  for (std::size_t at = 0; at < variables.size(); ++at) {
    if (at >= header_end && variables[at] == ' ' && at < variables.size() - 32) continue;
    std::string bad = variables;
    bad[at] = static_cast<char>(bad[at] ^ (1 << random() % 8));
    refuses("variables.safetensors", variables, bad);
  }
  CHECK(refused > 1000);
  for (int k = 0; k < 2000; ++k) {  // several bytes at once: any answer but a crash, and never other elements
    std::string bad = variables;
    for (int n = 0; n < 3; ++n) bad[random() % bad.size()] = static_cast<char>(random());
    put("variables.safetensors", bad);
    try {
      const auto read = io::read_model_files(folder);
      for (const char* name : {"v", "a/b"}) CHECK(contents<float>(io::to_variable_values(read.variables).at(name)) == four);
    } catch (const error&) {
    }
  }
  put("variables.safetensors", variables);
  std::string bad = variables;
  bad[bad.size() - 1] ^= 1;
  put("variables.safetensors", bad);
  CHECK(says(message_of([&] { io::read_model_files(folder); }), "variables.safetensors: array \"v\": its bytes have the checksum"));
  CHECK_NOTHROW(io::read_model_files(folder, {.checksums = false}));
  put("variables.safetensors", variables);
  put("graph.json", graph + " ");
  CHECK(says(message_of([&] { io::read_model_files(folder); }), "graph.json: has the checksum"));
  CHECK_NOTHROW(io::read_model_files(folder, {.checksums = false}));
}

TEST_CASE("a writer that is killed leaves the old model or the new one, whole") {
  const scratch_folder scratch("model_files");
  const auto folder = scratch.path / "model";
  const std::vector<float> many(20000, 1.5f);
  const auto write = [&](const char* name) { io::write_model_files(folder, graph_of(name), {{name, array_of(many)}}); };
  write("v");
  std::mt19937 random(5);
  int seen_w = 0;
  for (int round = 0; round < 25; ++round) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      try {
        for (;;) write("w"), write("v");
      } catch (...) {
      }
      ::_exit(1);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(1000 + random() % 30000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE(WIFSIGNALED(status));
    const io::model_files read = io::read_model_files(folder);
    const std::string name = read.meta.graph.nodes.at(0).name;
    CHECK(read.variables.names() == std::vector<std::string>{name});
    seen_w += name == "w" ? 1 : 0;
  }
  MESSAGE("the new model was there " << seen_w << " times of 25");
  write("v");
  CHECK(io::read_model_files(folder).meta == graph_of("v"));
}

TEST_CASE("a model that cannot be synced leaves the one before where it was") {
  const scratch_folder scratch("model_sync");
  const auto folder = scratch.path / "model";
  io::write_model_files(folder, graph_of("v"), {{"v", array_of(four)}});
  int failures = 0;
  for (int k = 0; k < 20; ++k) {
    syncs_until_one_fails = k;
    try {
      io::write_model_files(folder, graph_of("w"), {{"w", array_of(four)}});
      syncs_until_one_fails = -1;
      break;
    } catch (const failed_precondition& e) {
      syncs_until_one_fails = -1;
      CHECK(says(e.what(), {"cannot be synced"}));
      CHECK(io::read_model_files(folder).meta == graph_of("v"));
      ++failures;
    }
    int entries = 0;
    for ([[maybe_unused]] const auto& e : files::directory_iterator(scratch.path)) ++entries;
    CHECK(entries == 1);
  }
  CHECK(failures == 5);  // two files, the folder of each, and the exchange
  CHECK(io::read_model_files(folder).meta == graph_of("w"));
  // the first model of a place
  for (int k = 0; k < 5; ++k) {
    syncs_until_one_fails = k;
    CHECK_THROWS_AS(io::write_model_files(scratch.path / "first", graph_of("v"), {{"v", array_of(four)}}), failed_precondition);
    syncs_until_one_fails = -1;
    CHECK_FALSE(files::exists(scratch.path / "first"));
  }
}

TEST_CASE("a model that is replaced again and again while it is read is read whole") {
  const scratch_folder scratch("model_replaced");
  const auto folder = scratch.path / "model";
  const std::vector<float> many(40000, 1.5f);
  io::write_model_files(folder, graph_of("v"), {{"v", array_of(many)}});
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int i = 0; i < 60; ++i) {
      const std::string name = i % 2 == 0 ? "w" : "v";
      io::write_model_files(folder, graph_of(name), {{name, array_of(many)}});
    }
    done = true;
  });
  std::string problem;
  int reads = 0;
  while (!done && problem.empty()) {
    try {
      const io::model_files read = io::read_model_files(folder, {.checksums = reads % 2 == 0});
      if (!read.variables.contains(read.meta.graph.nodes[0].name)) problem = "the graph of one, the variables of another";
      ++reads;
    } catch (const error& e) {
      problem = e.what();
    }
  }
  writer.join();
  CHECK(problem == "");
  CHECK(reads > 0);
}

TEST_CASE("a pipe is no file, and TensorFlow's SavedModel is called one") {
  const scratch_folder scratch("model_kinds");
  const auto pipe = scratch.path / "graph.json";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(says(message_of<failed_precondition>([&] { io::read_file(pipe); }), {"graph.json: is a pipe or socket"}));
  files::create_directory(scratch.path / "exported");
  io::write_file(scratch.path / "exported" / "saved_model.pb", std::string("\x08\x01\x12\x00", 4));
  CHECK(says(message_of<unimplemented>([&] { io::read_model_files(scratch.path / "exported"); }),
             {"exported: a SavedModel of TensorFlow's"}));
}
