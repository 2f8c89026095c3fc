#pragma once
// An empty folder of a test's own, which is gone when the test ends.

#include <filesystem>
#include <string>

#include <unistd.h>

namespace leat_test {

struct scratch_folder {
  std::filesystem::path path;
  explicit scratch_folder(const std::string& name)
      : path(std::filesystem::temp_directory_path() / ("leat_test_" + name + "." + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

}  // namespace leat_test
