#include <leat/io/file.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>

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

TEST_CASE("of two who write one file one has written it, and nothing is left beside it") {
  const auto folder = std::filesystem::temp_directory_path() / ("leat_two_writers_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const auto path = folder / "two";
  const std::string a(3'000'000, 'a'), b(1'000'000, 'b');
  for (int k = 0; k < 20; ++k) {
    std::atomic<int> failed{0};
    const auto write = [&](const std::string& text) {
      try {
        if (k % 2 == 0) io::write_file(path, text);
        else io::write_synced(path, {text});
      } catch (const error&) {
        ++failed;
      }
    };
    std::thread other([&] { write(a); });
    write(b);
    other.join();
    CHECK(failed == 0);
    const std::string now = io::read_file(path);
    CHECK((now == a || now == b));
  }
  std::filesystem::create_directories(folder / "taken" / "in it");
  CHECK_THROWS_AS(io::write_file(folder / "taken", a), failed_precondition);
  CHECK_THROWS_AS(io::write_synced(folder / "taken", {a}), failed_precondition);
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 2);
  std::filesystem::remove_all(folder);
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
