// Readers, and operators on whole files, in graphs: values and errors are those of TensorFlow 2.21, and nothing outside the session's
// folder.

#include <leat/data/kernels.hpp>
#include <leat/graphs.hpp>
#include <leat/io/record.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

using namespace leat;
using namespace std::string_literals;

namespace {

using strings = std::vector<std::string>;

struct folder_of_files {
  std::filesystem::path path = std::filesystem::temp_directory_path() / "leat_file_operators";
  folder_of_files() {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path / "sub");
    write("a.txt", "one\ntwo\r\n\nlast");
    write("b.txt", "x\n");
    write("empty.txt", "");
    write(".hid.txt", "h");
    write("sub/c.txt", "c");
    io::record_writer records(path / "r.rec");
    for (const char* record : {"r1", "", "r33"}) records.write(record);
    records.close();
  }
  ~folder_of_files() { std::filesystem::remove_all(path); }
  void write(const std::string& name, const std::string& contents) const { std::ofstream(path / name, std::ios::binary) << contents; }
};

// A reader and a queue of the files that it reads.
struct reading {
  graph g;
  default_graph_scope scope{g.as_default()};
  output queue, reader;
  std::optional<graph_session> session;

  reading(const char* type, const strings& files, const std::filesystem::path& root, attribute_map settings = {}, bool is_old = false) {
    const std::string v = is_old ? "" : "V2";
    queue = call_operator(g, "FIFOQueue" + v, {}, {{"component_types", std::vector<data_type>{data_type::string}}}).result();
    reader = call_operator(g, type + v, {}, std::move(settings)).result();
    session_options options;
    options.file_root = root.string();
    session.emplace(g, options);
    for (const auto& file : files) run("QueueEnqueue" + v, {queue, tensor_literal(file)});
    run("QueueClose" + v, {queue});
  }
  std::vector<tensor_value> run(const std::string& type, std::initializer_list<number_argument> inputs) {
    const auto node = call_operator(g, type, inputs);
    if (node.outputs().empty()) return session->run({fetch_item(node)});
    return session->run(node.outputs());
  }
  strings next(const std::string& v = "V2") {
    const auto got = run("ReaderRead" + v, {reader, queue});
    return {got[0].as<std::string>(), got[1].as<std::string>()};
  }
  std::pair<strings, strings> up_to(std::int64_t n) {
    const auto got = run("ReaderReadUpToV2", {reader, queue, tensor_literal(n)});
    return {got[0].texts(), got[1].texts()};
  }
  std::int64_t count(const char* type) { return run(type, {reader})[0].as<std::int64_t>(); }
  void ends() {
    CHECK(leat_test::says(leat_test::message_of<out_of_range>([&] { next(); }),
                          "is closed and has insufficient elements (requested 1, current size 0)"));
  }
};

std::vector<tensor_value> run_in(const std::filesystem::path& root, const char* type, std::initializer_list<tensor_value> inputs) {
  graph g;
  const auto scope = g.as_default();
  std::vector<number_argument> places;
  std::vector<feed_item> feeds;
  for (const tensor_value& v : inputs) {
    const output place = placeholder(v.type(), shape::unknown());
    places.emplace_back(place);
    feeds.push_back({place, v});
  }
  const auto node = call_operator(g, type, places);
  session_options options;
  options.file_root = root.string();
  graph_session s(g, options);
  if (node.outputs().empty()) return s.run({fetch_item(node)}, feeds);
  return s.run(node.outputs(), feeds);
}
template <class F>
bool refuses(F f, std::string_view words) {
  return leat_test::says(leat_test::message_of<error>(f), words);
}

}  // namespace

TEST_CASE("readers of lines, records, whole files and names") {
  const folder_of_files files;
  {
    reading r("TextLineReader", {"a.txt", "empty.txt", "b.txt"}, files.path);
    CHECK(r.next() == strings{"a.txt:1", "one"});
    CHECK(r.next() == strings{"a.txt:2", "two"});
    CHECK(r.next() == strings{"a.txt:3", ""});
    CHECK(r.next() == strings{"a.txt:4", "last"});
    CHECK(r.next() == strings{"b.txt:1", "x"});
    r.ends();
    CHECK(r.count("ReaderNumRecordsProducedV2") == 5);
    CHECK(r.count("ReaderNumWorkUnitsCompletedV2") == 3);
    r.run("ReaderResetV2", {r.reader});
    CHECK(r.count("ReaderNumRecordsProducedV2") == 0);
  }
  {
    reading r("TextLineReader", {"a.txt", "b.txt"}, files.path, {{"skip_header_lines", 1}});
    CHECK(r.next() == strings{"a.txt:2", "two"});
    r.next(), r.next();
    r.ends();
    CHECK(r.count("ReaderNumWorkUnitsCompletedV2") == 2);
  }
  {
    reading r("TFRecordReader", {"r.rec"}, files.path);
    CHECK(r.next() == strings{"r.rec:0", "r1"});
    CHECK(r.next() == strings{"r.rec:18", ""});
    CHECK(r.next() == strings{"r.rec:34", "r33"});
    r.ends();
  }
  {
    reading r("WholeFileReader", {"b.txt", "a.txt"}, files.path);
    CHECK(r.next() == strings{"b.txt", "x\n"});
    CHECK(r.next() == strings{"a.txt", "one\ntwo\r\n\nlast"});
    r.ends();
  }
  {
    reading r("IdentityReader", {"b.txt"}, files.path);
    CHECK(r.next() == strings{"b.txt", "b.txt"});
    r.ends();
  }
  {
    reading r("TextLineReader", {"b.txt"}, files.path, {}, true);
    CHECK(r.next("") == strings{"b.txt:1", "x"});
  }
}

TEST_CASE("several records at once are of one file") {
  const folder_of_files files;
  reading r("TextLineReader", {"a.txt", "b.txt"}, files.path);
  CHECK(r.up_to(3) == std::pair(strings{"a.txt:1", "a.txt:2", "a.txt:3"}, strings{"one", "two", ""}));
  CHECK(r.up_to(0).first.empty());
  CHECK(r.up_to(-1).first.empty());
  CHECK(r.up_to(3) == std::pair(strings{"a.txt:4"}, strings{"last"}));
  CHECK(r.up_to(INT64_MAX) == std::pair(strings{"b.txt:1"}, strings{"x"}));
  r.ends();
}

TEST_CASE("readers leave files that are missing, damaged or elsewhere") {
  const folder_of_files files;
  {
    reading r("TextLineReader", {"none.txt", "../b.txt", "b.txt"}, files.path);
    CHECK(refuses([&] { r.next(); }, "none.txt: cannot be opened"));
    CHECK(refuses([&] { r.next(); }, "is not within"));
    CHECK(r.next() == strings{"b.txt:1", "x"});
  }
  {
    files.write("cut.rec", "\x05\0\0\0\0\0\0\0"s);
    reading r("TFRecordReader", {"a.txt", "cut.rec", "r.rec"}, files.path);
    CHECK_THROWS_AS(r.next(), data_loss);
    CHECK(refuses([&] { r.next(); }, "truncated record at 0"));
    CHECK(r.next() == strings{"r.rec:0", "r1"});
  }
  {
    reading r("TextLineReader", {"b.txt"}, "");
    CHECK(refuses([&] { r.next(); }, "session_options::file_root"));
  }
  {
    reading r("TextLineReader", {}, files.path);
    const output numbers = call_operator(r.g, "FIFOQueueV2", {}, {{"component_types", std::vector<data_type>{data_type::int64}}}).result();
    r.run("QueueEnqueueV2", {numbers, tensor_literal(std::int64_t{1})});
    CHECK(refuses([&] { r.run("ReaderReadV2", {r.reader, numbers}); }, "Expected queue with single string component"));
    const output pairs = call_operator(r.g, "FIFOQueueV2", {}, {{"component_types", std::vector<data_type>{data_type::string}}}).result();
    const output both = call_operator(r.g, "Pack", {tensor_literal("a"s), tensor_literal("b"s)}).result();
    r.run("QueueEnqueueV2", {pairs, both});
    CHECK(refuses([&] { r.run("ReaderReadV2", {r.reader, pairs}); }, "Expected to dequeue a one-element string tensor"));
    CHECK(refuses([&] { r.run("ReaderReadV2", {r.queue, r.queue}); }, "another kind"));
    CHECK(refuses(
        [&] {
          reading bad("TFRecordReader", {}, files.path, {{"compression_type", "LZ"s}});
          bad.next();
        },
        "compression_type 'LZ'"));
  }
}

TEST_CASE("a read that waits for a name ends with its deadline") {
  const folder_of_files files;
  graph g;
  const auto scope = g.as_default();
  const output queue = call_operator(g, "FIFOQueueV2", {}, {{"component_types", std::vector<data_type>{data_type::string}}}).result();
  const output reader = call_operator(g, "TextLineReaderV2", {}).result();
  const output value = call_operator(g, "ReaderReadV2", {reader, queue}).result(1);
  session_options options;
  options.file_root = files.path.string();
  graph_session s(g, options);
  run_options how;
  how.timeout_in_ms = 50;
  CHECK_THROWS_AS(s.run({fetch_item(value)}, {}, how), deadline_exceeded);
}

TEST_CASE("whole files: read, written, found by a pattern") {
  const folder_of_files files;
  CHECK(run_in(files.path, "ReadFile", {tensor_value("b.txt")})[0].as<std::string>() == "x\n");
  CHECK(refuses([&] { run_in(files.path, "ReadFile", {tensor_value(strings{"b.txt"})}); },
                "Input filename tensor must be scalar, but had shape: [1]"));
  for (const std::string& name : {"none"s, "sub"s, "../b.txt"s, "/etc/hostname"s, ""s, "a\0b"s})
    CHECK_THROWS_AS(run_in(files.path, "ReadFile", {tensor_value(name)}), error);
  CHECK(refuses([&] { run_in("", "ReadFile", {tensor_value("b.txt")}); }, "session_options::file_root"));

  run_in(files.path, "WriteFile", {tensor_value("new/deep/f"), tensor_value("hello\0"s)});
  CHECK(run_in(files.path, "ReadFile", {tensor_value((files.path / "new/deep/f").string())})[0].as<std::string>() == "hello\0"s);
  CHECK(refuses([&] { run_in(files.path, "WriteFile", {tensor_value("sub"), tensor_value("x")}); }, "Is a directory"));
  CHECK(refuses([&] { run_in(files.path, "WriteFile", {tensor_value("../leat_out"), tensor_value("x")}); }, "is not within"));
  CHECK(refuses([&] { run_in("", "WriteFile", {tensor_value("f"), tensor_value("x")}); }, "session_options::file_root"));
  std::filesystem::create_symlink("/tmp", files.path / "away");
  CHECK(refuses([&] { run_in(files.path, "WriteFile", {tensor_value("away/leat_out"), tensor_value("x")}); }, "is not within"));

  const auto match = [&](const std::string& pattern) { return run_in(files.path, "MatchingFiles", {tensor_value(pattern)})[0].texts(); };
  CHECK(match("*.txt") == strings{".hid.txt", "a.txt", "b.txt", "empty.txt"});
  CHECK(match("sub/*.txt") == strings{"sub/c.txt"});
  CHECK(match("*/*.txt") == strings{"sub/c.txt"});
  CHECK(match("[ab].txt") == strings{"a.txt", "b.txt"});
  CHECK(match("?.txt") == strings{"a.txt", "b.txt"});
  CHECK(match("none*").empty());
  CHECK(match("a.txt") == strings{"a.txt"});
  CHECK(match("none").empty());
  CHECK(match("").empty());
  CHECK(match("*/leat*").empty());  // not behind a link
  CHECK(match("s*") == strings{"sub"});
  CHECK(match(files.path.string() + "/a*") == strings{(files.path / "a.txt").string()});
  CHECK(run_in(files.path, "MatchingFiles", {tensor_value(strings{"b*", "a.*"})})[0].texts() == strings{"a.txt", "b.txt"});
  CHECK(run_in(files.path, "MatchingFiles", {tensor_value(strings{})})[0].elements() == 0);
  for (const char* outside : {"../*", "/*", "/etc/*", "away/*", "sub/../../*", "../a*"}) CHECK_THROWS_AS(match(outside), error);
  CHECK(refuses([&] { run_in("", "MatchingFiles", {tensor_value("*")}); }, "session_options::file_root"));
  // A pattern with as many matches as there are lists of folders: 10^6.
  for (int k = 0; k < 9; ++k) std::filesystem::create_directories(files.path / ("sub" + std::to_string(k)));
  graph g;
  const auto scope = g.as_default();
  std::string steps = "sub*";
  for (int k = 0; k < 5; ++k) steps += "/../sub*";
  const output names = call_operator(g, "MatchingFiles", {tensor_literal(steps)}).result();
  graph_session limited(g, {.memory_limit_in_bytes = 1 << 20, .file_root = files.path.string()});
  CHECK(leat_test::says(leat_test::message_of<resource_exhausted>([&] { limited.run(names); }), "memory_limit_in_bytes"));
}
