#include <leat/io/file.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

using namespace leat;

TEST_CASE("what was written is read, whatever its length") {
  const auto path = std::filesystem::temp_directory_path() / "leat_test_io_file";
  for (std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{1} << 20, (std::size_t{1} << 20) + 1, std::size_t{5000000}}) {
    std::string text(size, 'x');
    for (std::size_t i = 0; i < size; i += 997) text[i] = static_cast<char>(i);
    io::write_file(path, text);
    CHECK((io::read_file(path) == text));
    std::istringstream in(text);
    CHECK((io::read_all(in) == text));
  }
  CHECK_FALSE(std::filesystem::exists(path.string() + ".part"));
  std::filesystem::remove(path);
}

TEST_CASE("what cannot be read or written is named") {
  const auto folder = std::filesystem::temp_directory_path();
  CHECK_THROWS_AS(io::read_file(folder), not_found);
  CHECK_THROWS_AS(io::read_file(folder / "leat no such file"), not_found);
  CHECK_THROWS_AS(io::write_file(folder / "leat no such folder" / "x", "text"), failed_precondition);
  std::istringstream in("text");
  in.setstate(std::ios::badbit);
  CHECK_THROWS_AS(io::read_all(in), data_loss);
}
