#include <leat/io/csv.hpp>
#include <leat/io/file.hpp>

#include <doctest/doctest.h>

#include <limits>

using namespace leat;

namespace {

struct table {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("leat_csv_" + std::to_string(::getpid()) + ".csv");
  explicit table(const std::string& text) { io::write_file(path, text); }
  ~table() { std::filesystem::remove(path); }
};
template <class Row>
std::vector<Row> rows(const std::string& text, io::csv_options options = {}) {
  const table t(text);
  io::csv_reader reader(t.path, options);
  std::vector<Row> list;
  Row row;
  while (reader.next(row)) list.push_back(row);
  CHECK(!reader.next(row));
  io::csv_reader small(t.path, options, 1);
  for (const Row& expected : list) CHECK((small.next(row) && row == expected));
  return list;
}
template <class Row, class Error = data_loss>
std::string problem(const std::string& text, io::csv_options options = {}) {
  const table t(text);
  try {
    io::csv_reader reader(t.path, options);
    Row row;
    while (reader.next(row)) {
    }
  } catch (const Error& e) {
    const std::string what = e.what();
    CHECK(what.starts_with(t.path.string()));
    return what.substr(t.path.string().size());
  }
  return "nothing";
}
using pair = std::tuple<float, std::int64_t>;

}  // namespace

TEST_CASE("rows of numbers and texts") {
  CHECK(rows<pair>("a,b\n1.5,2\n-3e2,-4\n") == std::vector<pair>{{1.5f, 2}, {-300.0f, -4}});
  CHECK(rows<pair>("a,b\r\n1.5,2\r\n\r\n-3e2,-4") == std::vector<pair>{{1.5f, 2}, {-300.0f, -4}});
  CHECK(rows<pair>("\xef\xbb\xbf"
                   "a,b\n\n\n 1.5 ,\t+2\n\n") == std::vector<pair>{{1.5f, 2}});
  CHECK(rows<pair>("1.5;2\n", {.delimiter = ';', .header = false}) == std::vector<pair>{{1.5f, 2}});
  CHECK(rows<pair>("a,b\n").empty());
  CHECK(rows<pair>("", {.header = false}).empty());
  using wide = std::tuple<std::array<double, 2>, std::string, bool, std::uint8_t>;
  CHECK(rows<wide>("a,b,c,d,e\n1,\"2\",\"x, \"\"y\"\"\nz\",true,255\n3,4,,0,0\n") ==
        std::vector<wide>{{{1, 2}, "x, \"y\"\nz", true, std::uint8_t{255}}, {{3, 4}, "", false, std::uint8_t{0}}});
}

TEST_CASE("columns chosen by name, and empty fields") {
  const std::string text = "name,size,\"unit, long\"\nx,1,m\ny,,s\n";
  using row = std::tuple<std::string, float>;
  const auto got = rows<row>(text, {.columns = {"unit, long", "size"}, .empty = -1});
  CHECK(got == std::vector<row>{{"m", 1.0f}, {"s", -1.0f}});
  const table missing("a\n \n");
  std::tuple<float> none;
  CHECK((io::csv_reader(missing.path, {.empty = std::numeric_limits<double>::quiet_NaN()}).next(none) && std::isnan(std::get<0>(none))));
  CHECK(problem<row>(text, {.columns = {"unit, long", "size"}}) == ":3: column 2 (\"size\"): is empty where float32 is expected");
  CHECK(problem<std::tuple<std::int32_t>>("a\n\"\"\n", {.empty = 0.5}) == ":2: column 1 (\"a\"): is empty where int32 is expected");
  CHECK(problem<row, not_found>(text, {.columns = {"size", "units"}}) ==
        ": has no column \"units\"; there are \"name\", \"size\", \"unit, long\"");
  CHECK(problem<row, invalid_argument>(text, {.columns = {"size"}}).find("1 columns were chosen by name, and the rows have 2") !=
        std::string::npos);
  CHECK_THROWS_AS(rows<row>(text, {.header = false, .columns = {"size"}}), invalid_argument);
  CHECK_THROWS_AS(rows<row>(text, {.delimiter = '"'}), invalid_argument);
}

TEST_CASE("what is wrong is told, with its place") {
  CHECK(problem<pair>("a,b\n1,2\n1,x\n") == ":3: column 2 (\"b\"): \"x\" is no int64");
  CHECK(problem<pair>("a,b\n1,2\n1,2.5\n") == ":3: column 2 (\"b\"): \"2.5\" is no int64");
  CHECK(problem<pair>("1,2\n1,99999999999999999999\n", {.header = false}) ==
        ":2: column 2: \"99999999999999999999\" is beyond the range of int64");
  CHECK(problem<pair>("a,b\n1e99,2\n") == ":2: column 1 (\"a\"): \"1e99\" is beyond the range of float32");
  CHECK(problem<std::tuple<std::uint8_t>>("a\n256\n") == ":2: column 1 (\"a\"): \"256\" is beyond the range of uint8");
  CHECK(problem<std::tuple<bool>>("a\n2\n") == ":2: column 1 (\"a\"): \"2\" is no bool");
  CHECK(problem<pair>("a,b\n1\n") == ":2: has 1 field, 2 are expected");
  CHECK(problem<pair>("a,b\n1,2,3,4\n") == ":2: has 4 fields, 2 are expected");
  CHECK(problem<pair>("a,b\n\n\n1,\n") == ":4: column 2 (\"b\"): is empty where int64 is expected");
  CHECK(problem<pair>("a,b\n\"1\n\n2\n") == ":2: column 1 (\"a\"): a quote is not closed");
  CHECK(problem<pair>("a,b\n\"1\"2,3\n") == ":2: column 1 (\"a\"): text behind a closing quote");
  CHECK(problem<pair>("a,b\n1,2\r3,4\n") == ":2: column 2 (\"b\"): a carriage return is not followed by a line end");
  CHECK(problem<pair>(std::string("a,b\n1,2\0\n", 9)) == ":2: column 2 (\"b\"): a zero byte: this is no text");
  CHECK(problem<pair>("") == ": has no header line");
  CHECK(problem<pair>("\"a,b\n") == ":1: column 1: a quote is not closed");
  CHECK(problem<pair>("a,b,c\n1,2\n", {.columns = {"a", "b"}}) == ":2: has 2 fields, the header 3");
  CHECK_THROWS_AS(io::csv_reader("missing.csv"), not_found);
  CHECK_THROWS_AS(io::csv_reader("."), not_found);
}

TEST_CASE("after an error the next row comes, and line ends in quotes are counted") {
  const table t("a,b\n1,2\nx,\"3\n4\"\n5,6\n");
  io::csv_reader reader(t.path);
  std::tuple<float, std::string> row;
  CHECK(reader.next(row));
  CHECK_THROWS_AS(reader.next(row), data_loss);
  CHECK(reader.line() == 3);
  CHECK_THROWS_AS(reader.next(row), data_loss);  // the second half: a row of its own now
  CHECK(reader.next(row));
  CHECK(reader.line() == 5);
  const table quoted("a\n\"1\n2\"\n3\n");
  io::csv_reader other(quoted.path);
  std::tuple<std::string> text;
  CHECK(other.next(text));
  CHECK(std::get<0>(text) == "1\n2");
  CHECK(other.next(text));
  CHECK(other.line() == 4);
}

TEST_CASE("rows at the ends of buffers, rows longer than buffers, and places to go on from") {
  std::string text = "number,text,last\n";
  using row = std::tuple<std::int64_t, std::string, double>;
  std::vector<row> expected;
  for (std::int64_t k = 0; k < 60000; ++k) {
    std::string word(static_cast<std::size_t>(k % 7), 'w');
    if (k % 11 == 0) word += "\n\"";
    if (k == 30000) word = std::string(1500000, 'x') + ",";
    expected.push_back({k, word, 0.5 * static_cast<double>(k)});
    std::string quoted;
    for (char c : word) quoted += c == '"' ? "\"\"" : std::string(1, c);
    text += std::to_string(k) + ",\"" + quoted + "\"," + std::to_string(0.5 * static_cast<double>(k)) + (k % 2 == 0 ? "\r\n" : "\n");
  }
  const table t(text);
  io::csv_reader reader(t.path);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
  row got;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    places.emplace_back(reader.offset(), reader.next_line());
    REQUIRE(reader.next(got));
    REQUIRE(got == expected[k]);
  }
  CHECK(!reader.next(got));
  const auto end = std::pair(reader.offset(), reader.next_line());
  for (std::size_t k = 0; k < expected.size(); k += 1777) {
    reader.seek(places[k].first, places[k].second);
    REQUIRE(reader.next(got));
    CHECK(got == expected[k]);
    CHECK(reader.line() == places[k].second);
  }
  reader.seek(end.first, end.second);
  CHECK(!reader.next(got));
  CHECK_THROWS_AS(reader.seek(text.size() + 2, 1), out_of_range);
}

TEST_CASE("cut off anywhere: rows, or an error that names the file") {
  const std::string text = "a,b\n1.5,\"2\"\n-3e2,\"-4\"\n";
  for (std::size_t size = 0; size < text.size(); ++size) {
    const table t(text.substr(0, size));
    try {
      io::csv_reader reader(t.path);
      std::tuple<float, std::string> row;
      while (reader.next(row)) {
      }
    } catch (const data_loss& e) {
      CHECK(std::string_view(e.what()).starts_with(t.path.string()));
    }
  }
}
