#include <leat/core/philox.hpp>
#include <leat/io/file.hpp>
#include <leat/io/record.hpp>
#include <leat/summary.hpp>
#include <leat/summary/event_reader.hpp>

#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <vector>

using namespace leat;
using leat_test::scratch_folder;
using summary::event_reader;
using summary::read_events;

namespace {

// One event of each kind.
std::vector<summary::event> every_kind_of_event() {
  std::vector<summary::event> all(8);
  all[0].file_version = "brain.Event:2";
  all[1].graph_def = "graph";
  all[2].summary.emplace();
  all[2].summary->values = {{.tag = "number", .node_name = "node", .content = 0.0f},
                            {.tag = "histogram", .content = summary::histogram_of(std::vector<float>{1, 2, -3})},
                            {.tag = "picture", .content = summary::image_value{2, 3, 1, "png"}},
                            {.tag = "sound", .content = summary::audio_value{8000, 2, 5, "wav", "audio/wav"}},
                            {.tag = "text",
                             .metadata = {.plugin = {"text", "content"}, .display_name = "shown", .description = "described"},
                             .content = tensor_value(std::vector<std::string>{"a", "b"}).proto()},
                            {.tag = "nothing"}};
  all[3].log = summary::log_message{20, "a message"};
  all[4].session = summary::session_log{summary::session_status::checkpoint, "path", "words"};
  all[5].metadata = summary::tagged_run_metadata{"tag", "bytes"};
  all[6].meta_graph_def = "meta graph";
  all[7].summary.emplace();
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].wall_time = 1.5e9 + static_cast<double>(i);
    all[i].step = i % 2 == 0 ? static_cast<std::int64_t>(i) : -static_cast<std::int64_t>(i);
  }
  return all;
}

std::string file_of(const std::vector<summary::event>& events) {
  std::string bytes;
  for (const auto& e : events) io::append_record(bytes, summary::to_bytes(e));
  return bytes;
}

}  // namespace

TEST_CASE("events come back equal") {
  const scratch_folder folder("event_reader");
  const auto all = every_kind_of_event();
  io::write_file(folder.path / "events", file_of(all));
  CHECK(read_events(folder.path / "events") == all);
  CHECK(summary::read_summary(summary::to_bytes(*all[2].summary)) == *all[2].summary);
}

TEST_CASE("a file cut off anywhere gives its whole events") {
  const scratch_folder folder("event_reader_cut");
  const auto all = every_kind_of_event();
  const std::string bytes = file_of(all);
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    io::write_file(folder.path / "events", bytes.substr(0, length));
    event_reader in(folder.path / "events");
    std::size_t count = 0;
    while (const auto e = in.next()) CHECK((*e == all[count++]));
    CHECK((in.end() == io::record_end::whole) == (in.offset() == length));
  }
}

TEST_CASE("a file that grows is read on") {
  const scratch_folder folder("event_reader_grows");
  const auto all = every_kind_of_event();
  const std::string bytes = file_of(all);
  std::ofstream out(folder.path / "events", std::ios::binary);
  out << bytes.substr(0, 60) << std::flush;
  event_reader in(folder.path / "events");
  std::size_t count = 0;
  while (in.next()) ++count;
  CHECK(count < all.size());
  out << bytes.substr(60) << std::flush;
  while (in.next()) ++count;
  CHECK(count == all.size());
}

TEST_CASE("corrupt files, and records that are no events, name file and offset") {
  const scratch_folder folder("event_reader_corrupt");
  const auto path = folder.path / "events";
  const auto message_of = [&](const std::string& bytes) -> std::string {
    io::write_file(path, bytes);
    try {
      read_events(path);
    } catch (const error& e) {
      return e.what();
    }
    return {};
  };
  const std::string bytes = file_of(every_kind_of_event());
  std::string flipped = bytes;
  flipped[20] ^= 1;
  CHECK(message_of(flipped).find(path.string()) != std::string::npos);
  CHECK(message_of("this is a text file, and none of events").find("the record at byte 0") != std::string::npos);
  std::string second = bytes;
  const std::string first_record = [&] {
    std::string one;
    io::append_record(one, summary::to_bytes(every_kind_of_event()[0]));
    return one;
  }();
  std::string wrong = first_record;
  io::append_record(wrong, "\x2a\x7f no event");
  const std::string said = message_of(wrong);
  CHECK(said.find("the record at byte " + std::to_string(first_record.size()) + " is no event") != std::string::npos);
  CHECK(said.find(path.string()) != std::string::npos);
  // The reader stays in front of it.
  event_reader in(path);
  CHECK(in.next().has_value());
  CHECK_THROWS_AS(in.next(), error);
  CHECK_THROWS_AS(in.next(), error);
  CHECK(in.offset() == first_record.size());
  CHECK_THROWS_AS(read_events(folder.path / "none"), not_found);
  CHECK_THROWS_AS(read_events(folder.path), not_found);
  CHECK_THROWS_AS(summary::event_files(folder.path / "none"), not_found);
}

TEST_CASE("bytes changed at random are an error or other events, never more") {
  const scratch_folder folder("event_reader_random");
  std::uint64_t n = 0;
  const auto draw = [&](std::size_t below) { return static_cast<std::size_t>(uniform<float>(7, n++) * static_cast<float>(below)) % below; };
  const auto all = every_kind_of_event();
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = summary::to_bytes(all[draw(all.size())]);
    for (std::size_t k = 1 + draw(4); k > 0; --k) {
      if (bytes.empty()) break;
      if (draw(4) == 0) bytes.resize(draw(bytes.size()));
      else bytes[draw(bytes.size())] = static_cast<char>(draw(256));
    }
    try {
      const auto e = summary::read_event(bytes);
      static_cast<void>(summary::to_bytes(e));
    } catch (const error& e) {
      CHECK(e.what()[0] != '\0');
    }
  }
}

TEST_CASE("numbers that lengths tell take no memory") {
  // A histogram whose packed limits are said to be 2 GB long.
  CHECK_THROWS_AS(summary::read_summary(std::string("\x0a\x0b\x2a\x09\x32\xff\xff\xff\xff\x07", 10)), data_loss);
  CHECK_THROWS_AS(summary::read_summary("\x0a\xff\xff\xff\xff\x0f"), data_loss);
  CHECK(summary::read_summary("").values.empty());
  CHECK(summary::read_event("") == summary::event{});
}
