#pragma once
// The recorded behavior of TensorFlow as JSON, for tests that read it when they run. Where the folder is absent the test
// says so and checks nothing.

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace leat_test {

inline std::string reference_folder() {
  for (const char* name : {"LEAT_REFERENCE", "LEAT_CONFIGURED_REFERENCE"})
    if (const char* folder = std::getenv(name); folder != nullptr && *folder != '\0') return folder;
  return "../shared/reference";
}

inline std::optional<nlohmann::json> reference_json(const std::string& file) {
  std::ifstream in(reference_folder() + "/" + file);
  if (!in) {
    MESSAGE("skipped: " << reference_folder() << "/" << file << " is missing");
    return std::nullopt;
  }
  return nlohmann::json::parse(in);
}

}  // namespace leat_test
