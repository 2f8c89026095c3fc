#include <leat/io/file.hpp>
#include <leat/io/lines.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace leat;

namespace {

struct text_file {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("leat_lines_" + std::to_string(::getpid()));
  explicit text_file(const std::string& text) { io::write_file(path, text); }
  ~text_file() { std::filesystem::remove(path); }
};
std::vector<std::string> lines(const std::string& text, std::size_t buffer = 1) {
  const text_file file(text);
  io::line_reader reader(file.path, buffer);
  std::vector<std::string> list;
  while (const auto line = reader.next()) list.emplace_back(*line);
  CHECK(!reader.next());
  return list;
}

}  // namespace

TEST_CASE("lines with all ends") {
  using list = std::vector<std::string>;
  CHECK(lines("").empty());
  CHECK(lines("\n") == list{""});
  CHECK(lines("a\nb") == list{"a", "b"});
  CHECK(lines("a\r\n\r\nb\r") == list{"a", "", "b\r"});
  CHECK(lines(std::string("\0\n", 2)) == list{std::string(1, '\0')});
}

TEST_CASE("lines longer than the buffer, and places to go on from") {
  std::string text;
  std::vector<std::string> expected;
  for (std::size_t k = 0; k < 300; ++k) {
    expected.push_back(std::string(k * k % 97, 'x') + std::to_string(k));
    text += expected.back() + (k % 3 == 0 ? "\r\n" : "\n");
  }
  CHECK(lines(text) == expected);
  const text_file file(text);
  io::line_reader reader(file.path, 16);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    places.emplace_back(reader.offset(), reader.next_line());
    REQUIRE(reader.next() == expected[k]);
  }
  for (std::size_t k = 0; k < expected.size(); k += 7) {
    reader.seek(places[k].first, places[k].second);
    CHECK(reader.next() == expected[k]);
    CHECK(reader.next_line() == k + 2);
  }
  CHECK_THROWS_AS(reader.seek(text.size() + 1, 1), out_of_range);
  CHECK_THROWS_AS(io::line_reader("missing"), not_found);
}
