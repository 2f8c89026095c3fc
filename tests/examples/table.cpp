#include "examples/support/table.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace examples = leat::examples;

namespace {

// A file that is there for one test.
class file_with {
 public:
  explicit file_with(const std::string& content) {
    const auto unique = std::to_string(counter++) + "_" + std::to_string(reinterpret_cast<std::uintptr_t>(this));
    path_ = (std::filesystem::temp_directory_path() / ("leat_table_" + unique + ".csv")).string();
    std::ofstream(path_) << content;
  }
  file_with(const file_with&) = delete;
  file_with& operator=(const file_with&) = delete;
  ~file_with() { std::remove(path_.c_str()); }

  const std::string& path() const { return path_; }

 private:
  inline static int counter = 0;
  std::string path_;
};

}  // namespace

TEST_CASE("a table is read with its columns' names, with either line ending, passing over empty lines") {
  const file_with file("a,b\r\n1,2.5\r\n\r\n-3e2,4\n");
  const examples::table table = examples::read_table(file.path());
  CHECK(table.columns == std::vector<std::string>{"a", "b"});
  REQUIRE(table.rows() == 2);
  CHECK(table.values(0, 1) == 2.5);
  CHECK(table.values(1, 0) == -300);
}

TEST_CASE("what is wrong with a table is told with its file, line and column") {
  CHECK_THROWS_WITH(examples::read_table("no_such_file.csv"), "no_such_file.csv: cannot be opened");
  const auto refused = [](const std::string& content, const std::string& why) {
    const file_with file(content);
    CHECK_THROWS_WITH(examples::read_table(file.path()), (file.path() + why).c_str());
  };
  refused("", ": has no header line");
  refused("a,b\n", ": has no rows");
  refused("a,b\n1\n", ":2: 1 fields where the header has 2");
  refused("a,b\n1,2\n1,\n", ":3: \"\" in column b is not a finite number");
  refused("a,b\n1,2x\n", ":2: \"2x\" in column b is not a finite number");
  refused("a,b\nnan,2\n", ":2: \"nan\" in column a is not a finite number");
}

TEST_CASE("every n-th row is held out, beginning with the first") {
  examples::table table;
  table.columns = {"a"};
  table.values = xt::xtensor<double, 2>::from_shape({7, 1});
  for (std::size_t row = 0; row < 7; ++row) table.values(row, 0) = static_cast<double>(row);
  const examples::split split = examples::hold_out_every(3, table);
  REQUIRE(split.held_out.shape(0) == 3);
  REQUIRE(split.training.shape(0) == 4);
  CHECK(split.held_out(0, 0) == 0);
  CHECK(split.held_out(2, 0) == 6);
  CHECK(split.training(0, 0) == 1);
  CHECK(split.training(3, 0) == 5);
  CHECK_THROWS_WITH(examples::hold_out_every(1, table), "too few rows to hold some out");
}

TEST_CASE("a scale brings columns to mean 0 and variance 1, and leaves a constant column finite") {
  const xt::xtensor<double, 2> rows{{1, 5}, {3, 5}};
  const examples::scale scale(rows);
  CHECK(scale(1, 0) == -1);
  CHECK(scale(3, 0) == 1);
  CHECK(scale(5, 0) == 3);
  CHECK(scale(5, 1) == 0);
}
