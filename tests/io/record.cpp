#include <leat/io/file.hpp>
#include <leat/io/record.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <csignal>
#include <random>
#include <vector>

using namespace leat;

namespace {

struct folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("leat_record_" + std::to_string(::getpid()));
  folder() { std::filesystem::create_directories(path); }
  ~folder() { std::filesystem::remove_all(path); }
  std::filesystem::path operator/(const char* name) const { return path / name; }
};

std::vector<std::string> all_of(io::record_reader& reader) {
  std::vector<std::string> list;
  while (const auto record = reader.next()) list.emplace_back(*record);
  return list;
}
std::vector<std::string> all_of(const std::filesystem::path& path, std::size_t buffer = 1 << 18) {
  io::record_reader reader(path, buffer);
  auto list = all_of(reader);
  CHECK(reader.end() == io::record_end::whole);
  return list;
}
std::vector<std::string> samples() {
  std::vector<std::string> list;
  std::mt19937 random(3);
  for (const std::size_t size : {0, 1, 3, 4, 7, 8, 15, 100, 4096, 70000, 0, 1}) {
    std::string text(size, '\0');
    for (char& c : text) c = static_cast<char>(random());
    list.push_back(text);
  }
  return list;
}

}  // namespace

TEST_CASE("a record has the bytes that TensorFlow writes") {
  // tf.io.TFRecordWriter(path).write(b"hello")
  std::string bytes;
  io::append_record(bytes, "hello");
  CHECK(bytes.size() == 5 + io::record_frame_bytes);
  const std::string expected("\x05\0\0\0\0\0\0\0\xea\xb2\x04\x3e", 12);
  CHECK(bytes.substr(0, 12) == expected);
  CHECK(bytes.substr(12, 5) == "hello");
}

TEST_CASE("what is written is read again, whatever the buffers") {
  const folder here;
  const auto path = here / "records";
  const auto records = samples();
  for (const std::size_t buffer : {0, 1, 20, 1000, 1 << 18}) {
    io::record_writer writer(path, io::record_opening::anew, buffer);
    std::vector<std::uint64_t> offsets;
    for (const auto& record : records) {
      offsets.push_back(writer.offset());
      writer.write(record);
    }
    writer.close();
    writer.close();
    CHECK(!writer.is_open());
    CHECK(writer.offset() == std::filesystem::file_size(path));
    CHECK(leat_test::message_of<failed_precondition>([&] { writer.write("more"); }).find("is closed") != std::string::npos);
    for (const std::size_t reading : {0, 30, 1 << 18}) {
      CHECK(all_of(path, reading) == records);
      io::record_reader reader(path, reading);
      for (std::size_t k = records.size(); k-- > 0;) {
        reader.seek(offsets[k]);
        CHECK(reader.next() == records[k]);
      }
      CHECK_THROWS_AS(reader.seek(writer.offset() + 1), out_of_range);
    }
  }
}

#if defined(LEAT_USE_ZLIB)
TEST_CASE("compressed files are written, and known by their first bytes") {
  const folder scratch;
  const auto path = scratch / "c.tfrecord";
  for (const auto compression : {io::record_compression::zlib, io::record_compression::gzip})
    for (const std::size_t buffer : {1, 100, 1 << 18}) {
      io::record_writer writer(path, io::record_opening::anew, buffer, compression, buffer == 100 ? 9 : -1);
      std::vector<std::uint64_t> offsets;
      for (const std::string& record : samples()) {
        offsets.push_back(writer.offset());
        writer.write(record);
      }
      writer.flush();  // what is flushed can be read, though the file is not whole
      io::record_reader early(path);
      CHECK(all_of(early) == samples());
      CHECK(early.end() == io::record_end::truncated);
      writer.close();
      CHECK(all_of(path, buffer) == samples());
      io::record_reader told(path, buffer, compression);
      CHECK(all_of(told) == samples());
      for (std::size_t k = offsets.size(); k-- > 0;) {  // back and forth
        told.seek(offsets[k]);
        CHECK(told.next() == samples()[k]);
        CHECK(told.offset() == offsets[k] + samples()[k].size() + io::record_frame_bytes);
      }
      told.seek(writer.offset() + 1);
      CHECK_THROWS_AS(told.next(), out_of_range);
      io::record_reader moved(std::move(told));
      moved.seek(offsets[5]);
      CHECK(moved.next() == samples()[5]);
      io::record_reader other(path, buffer,
                              compression == io::record_compression::zlib ? io::record_compression::gzip : io::record_compression::zlib);
      CHECK(leat_test::message_of<data_loss>([&] { other.next(); }).find("c.tfrecord: the compressed bytes are damaged") != std::string::npos);
      io::record_reader plain(path, buffer, io::record_compression::none);
      CHECK_THROWS_AS(plain.next(), data_loss);

      // Cut off or changed anywhere: an error, or records that were there.
      const std::string bytes = io::read_file(path);
      for (std::size_t size = 0; size < bytes.size(); size += 1 + size / 8) {
        io::write_file(path, bytes.substr(0, size));
        io::record_reader cut(path);
        try {
          const auto list = all_of(cut);
          CHECK(list.size() <= samples().size());
          CHECK((size == 0 || cut.end() == io::record_end::truncated));
        } catch (const data_loss&) {  // less than tells what it is
          CHECK(size < io::record_header_bytes);
        }
      }
      io::write_file(path, bytes + "more");
      io::record_reader longer(path);
      CHECK_THROWS_AS(all_of(longer), data_loss);
    }
  for (const auto compression : {io::record_compression::zlib, io::record_compression::gzip}) {
    io::record_writer(path, io::record_opening::anew, 1 << 18, compression).close();
    CHECK(all_of(path).empty());
    CHECK(leat_test::message_of<unimplemented>([&] {
            io::record_writer(path, io::record_opening::append, 1 << 18, compression);
          }).find("cannot be appended to a compressed file") != std::string::npos);
  }
  CHECK_THROWS_AS(io::record_writer(path, io::record_opening::anew, 1, io::record_compression::automatic), invalid_argument);
  CHECK_THROWS_AS(io::record_writer(path, io::record_opening::anew, 1, io::record_compression::gzip, 10), invalid_argument);
}

TEST_CASE("a compressed file of few bytes asks for no more memory than a record may have") {
  const folder scratch;
  const auto path = scratch / "bomb.tfrecord";
  std::string header(12, '\0');
  const std::uint64_t length = std::uint64_t{1} << 40;
  std::memcpy(header.data(), &length, 8);
  const std::uint32_t checksum = io::masked(io::crc32c(std::string_view(header).substr(0, 8)));
  std::memcpy(header.data() + 8, &checksum, 4);
  std::string packed;
  io::deflating_stream stream(io::compression::gzip);
  stream.add(header, packed);
  for (int k = 0; k < 8; ++k) stream.add(std::string(1 << 20, '\0'), packed, k == 7);
  io::write_file(path, packed);
  io::record_reader reader(path);
  CHECK(leat_test::message_of<resource_exhausted>([&] { reader.next(); }).find("1099511627776 bytes, more than the 2147483647") != std::string::npos);
}
#endif

TEST_CASE("a reader of a file that grows goes on") {
  const folder here;
  io::record_writer writer(here / "growing");
  io::record_reader reader(here / "growing");
  CHECK(!reader.next());
  CHECK(reader.end() == io::record_end::whole);
  writer.write("one");
  CHECK(!reader.next());
  writer.flush();
  CHECK(reader.next() == "one");
  writer.write("two");
  writer.sync();
  CHECK(reader.next() == "two");
  CHECK(!reader.next());
  io::record_writer moved(std::move(writer));
  moved.write("three");
  moved = io::record_writer(here / "another");  // the first one ends here, or with `moved` at last
  CHECK(moved.path() == here / "another");
}

TEST_CASE("a file that was cut off ends cleanly, and a writer goes on behind its last whole record") {
  const folder here;
  const auto path = here / "cut";
  std::string bytes;
  io::append_record(bytes, "first");
  const std::size_t first = bytes.size();
  io::append_record(bytes, "second");
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    io::write_file(path, bytes.substr(0, size));
    io::record_reader reader(path);
    const auto list = all_of(reader);
    CHECK(list.size() == (size < first ? 0u : size < bytes.size() ? 1u : 2u));
    CHECK(reader.end() == (size == 0 || size == first || size == bytes.size() ? io::record_end::whole : io::record_end::truncated));
    CHECK(reader.offset() == (size < first ? 0 : size < bytes.size() ? first : bytes.size()));
    {
      io::record_writer writer(path, io::record_opening::append);
      writer.write("last");
    }
    auto expected = list;
    expected.push_back("last");
    CHECK(all_of(path) == expected);
  }
}

TEST_CASE("every changed bit is found, with its place") {
  const folder here;
  const auto path = here / "corrupt";
  std::string bytes;
  io::append_record(bytes, "first");
  const std::size_t first = bytes.size();
  io::append_record(bytes, "second");
  for (std::size_t bit = 8 * first; bit < 8 * bytes.size(); ++bit) {
    std::string changed = bytes;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    io::write_file(path, changed);
    io::record_reader reader(path);
    CHECK(reader.next() == "first");
    const std::string text = leat_test::message_of<data_loss>([&] { reader.next(); });
    CHECK(text.find(path.string() + ": the record at byte 21 ") == 0);
    CHECK(leat_test::message_of<data_loss>([&] { reader.next(); }) == text);
    // Passed over if its length can be trusted.
    const bool is_known = bit >= 8 * (first + io::record_header_bytes);
    CHECK(reader.pass_corrupt() == is_known);
    CHECK(reader.offset() == (is_known ? bytes.size() : first));
    if (is_known) CHECK((!reader.next() && reader.end() == io::record_end::whole));
  }
  CHECK(leat_test::message_of<data_loss>([&] { io::record_writer(path, io::record_opening::append); }).find("byte 21") != std::string::npos);
  io::write_file(path, "name,value\n1,2\n3,4\n");
  CHECK(leat_test::message_of<data_loss>([&] { io::record_reader(path).next(); }).find("no file of records") != std::string::npos);
}

TEST_CASE("a length beyond the file asks for no memory") {
  const folder here;
  for (const std::uint64_t length : {std::uint64_t{1} << 40, std::uint64_t{1} << 63, ~std::uint64_t{0}, ~std::uint64_t{0} - 15}) {
    std::string bytes(12, '\0');
    std::memcpy(bytes.data(), &length, 8);
    const std::uint32_t checksum = io::masked(io::crc32c(std::string_view(bytes).substr(0, 8)));
    std::memcpy(bytes.data() + 8, &checksum, 4);
    io::write_file(here / "long", bytes + "some bytes");
    io::record_reader reader(here / "long");
    CHECK(!reader.next());
    CHECK(reader.end() == io::record_end::truncated);
  }
}

TEST_CASE("files that are none") {
  const folder here;
  CHECK(leat_test::message_of<not_found>([&] { io::record_reader(here / "missing"); }).find("missing: cannot be opened: No such file") !=
        std::string::npos);
  CHECK_THROWS_AS(io::record_reader(here.path), not_found);
  CHECK_THROWS_AS(io::record_reader("/dev/null"), failed_precondition);
  CHECK_THROWS_AS(io::record_writer(here / "no/folder"), failed_precondition);
  CHECK_THROWS_AS(io::record_writer(here.path), failed_precondition);
}

TEST_CASE("a full disk leaves whole records, and what was not written can be written later") {
  const folder here;
  const auto path = here / "full";
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  io::record_writer writer(path, io::record_opening::anew, 64);
  writer.write(std::string(100, 'a'));
  rlimit small = limit;
  small.rlim_cur = 200;
  ::setrlimit(RLIMIT_FSIZE, &small);
  const std::string text = leat_test::message_of<failed_precondition>([&] { writer.write(std::string(100, 'b')); });
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, before);
  CHECK(text.find("cannot be written at byte") != std::string::npos);
  CHECK(all_of(path) == std::vector{std::string(100, 'a')});
  writer.write(std::string(100, 'c'));
  writer.close();
  CHECK(all_of(path) == std::vector{std::string(100, 'a'), std::string(100, 'c')});
}
