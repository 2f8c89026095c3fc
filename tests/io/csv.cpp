#include <leat/io/csv.hpp>
#include <leat/io/file.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
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

TEST_CASE("what is passed over after an error is one row, whatever is in it and in the buffer") {
  using row = std::tuple<std::int64_t, std::string>;
  for (const std::string& wrong :
       {std::string("bad,\"two\n2,second line\""), std::string("bad,\"a \"\"b\"\",\n2,x\r\n\""), std::string("\"1\"2,\"\n9,nine\""),
        std::string("1,\"a\"b\"\n\""), std::string("7,\"x\n8,y\",z,\"\n\""), std::string("9\0,\"\n\"", 7), std::string("8")}) {
    CAPTURE(wrong);
    const auto lines = static_cast<std::uint64_t>(std::count(wrong.begin(), wrong.end(), '\n'));
    const bool is_split = wrong == "1,\"a\"b\"\n\"";  // a quote within a field is no quote: the row ends in it, and another one begins
    for (const std::size_t buffer : {1u, 17u, 40u, 1000u})
      for (const char* end : {"\n", "\r\n", "\r"}) {
        const table t("n,text\n1,one\n" + wrong + end + "3,three\n");
        io::csv_reader reader(t.path, {}, buffer);
        row got;
        REQUIRE((reader.next(got) && got == row{1, "one"}));
        CHECK_THROWS_AS(reader.next(got), data_loss);
        if (is_split) continue;
        REQUIRE((reader.next(got) && got == row{3, "three"}));
        CHECK(reader.line() == 4 + lines);
        CHECK(!reader.next(got));
      }
  }
  const table open("n,text\n1,one\nbad,\"open\n3,three\n");
  io::csv_reader reader(open.path);
  row got;
  CHECK(reader.next(got));
  CHECK_THROWS_AS(reader.next(got), data_loss);
  CHECK(!reader.next(got));
}

TEST_CASE("lines end with a line feed, a carriage return, or both") {
  const std::vector<pair> expected{{1, 2}, {3, 4}, {5, 6}};
  CHECK(rows<pair>("a,b\r1,2\r3,4\r5,6\r") == expected);
  CHECK(rows<pair>("a,b\r1,2\r3,4\r5,6") == expected);
  CHECK(rows<pair>("a,b\r\n1,2\r\r\r3,4\n\r5,6\n") == expected);
  CHECK(rows<pair>("b,a\r2,1\r4,\"3\"\r6,5\r", {.columns = {"a", "b"}}) == expected);
  using texts = std::tuple<std::string, std::string>;
  CHECK(rows<texts>("a,\"b\rc\"\rd,e", {.header = false}) == std::vector<texts>{{"a", "b\rc"}, {"d", "e"}});
}

TEST_CASE("numbers too small for their type are denormal or 0, those too large an error") {
  using row = std::tuple<float, double>;
  const float least = std::numeric_limits<float>::denorm_min();
  CHECK(rows<row>("a,b\n1e-50,1e-400\n-1e-50,-1e-400\n1e-45,2e-324\n0.00000000000000000000000000000000000000000000000000001,0e999\n"
                  "123456789e-70,1e-99999999999999999999\n\"+1e-50\", 1e-50 \n8e-46,5e-324\n") ==
        std::vector<row>{{0.0f, 0.0}, {0.0f, 0.0}, {least, 0.0}, {0.0f, 0.0}, {0.0f, 0.0}, {0.0f, 1e-50}, {least, 5e-324}});
  CHECK(std::signbit(std::get<0>(rows<row>("a,b\n-1e-50,1\n")[0])));
  for (const char* large : {"1e39", "-1e39", "1e400", "0.001e50", "1e99999999999999999999", "1000000000000000000000e18"})
    CHECK(problem<std::tuple<float>>("a\n" + std::string(large) + "\n") ==
          ":2: column 1 (\"a\"): \"" + std::string(large) + "\" is beyond the range of float32");
  CHECK(problem<std::tuple<float>>("a\n1e-50x\n") == ":2: column 1 (\"a\"): \"1e-50x\" is no float32");
}

TEST_CASE("a sign alone is no empty field") {
  CHECK(problem<std::tuple<float>>("a\n+\n", {.empty = 7.0}) == ":2: column 1 (\"a\"): \"+\" is no float32");
  CHECK(rows<std::tuple<float>>("a\n +3\n\"\"\n", {.empty = 7.0}) == std::vector<std::tuple<float>>{{3.0f}, {7.0f}});
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
