#include <leat/io/binary.hpp>
#include <leat/io/dot.hpp>
#include <leat/io/json.hpp>
#include <leat/io/text.hpp>

#include "support/reference_json.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

using namespace leat;

TEST_CASE("every recorded graph is the same from binary and JSON form, and comes back from these and text") {
  const std::filesystem::path folder = leat_test::reference_folder() + "/graphs";
  if (!std::filesystem::is_directory(folder)) {
    MESSAGE("skipped: " << folder.string() << " is missing");
    return;
  }
  int files = 0;
  std::size_t nodes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".pb") continue;
    CAPTURE(entry.path());
    ++files;
    auto beside = entry.path();
    const auto document = nlohmann::json::parse(io::read_file(beside.replace_extension(".json")));
    const auto g = io::read_binary_file(entry.path());
    nodes += g.nodes.size();
    CHECK(document.at("graph").at("node").size() == g.nodes.size());
    CHECK(g == io::read_json(document.at("graph").dump()));
    CHECK(g == io::read_json(io::write_json(g)));
    CHECK(g == io::read_binary(io::write_binary(g)));
    CHECK(g == io::read_text(io::write_text(g)));
    CHECK(nlohmann::json::parse(io::write_json(g)).at("node").size() == g.nodes.size());
    CHECK(io::write_dot(g).size() > 100);

    // What protobuf's own JSON says is what ours says, but for what is not kept and how floats are spelled.
    auto theirs = document.at("graph");
    for (auto& node : theirs.at("node")) node.erase("experimental_type"), node.erase("experimental_debug_info");
    CHECK(io::write_json(io::read_json(theirs.dump())) == io::write_json(g));
    auto ours = nlohmann::json::parse(io::write_json(g));
    if (ours != theirs) {
      const auto difference = nlohmann::json::diff(theirs, ours);
      for (const auto& d : difference) {
        // A float of theirs has all digits of a double, ours the shortest.
        const auto path = nlohmann::json::json_pointer(d.at("path").get<std::string>());
        CHECK_MESSAGE(theirs.at(path).is_number_float(), d.dump());
      }
    }
  }
  MESSAGE(files << " graphs with " << nodes << " nodes");
  CHECK(files > 0);
}

TEST_CASE("names are accepted as TensorFlow was recorded to accept them") {
  const auto naming = leat_test::reference_json("naming.json");
  if (!naming) return;
  for (const auto& row : naming->at("valid_names")) {
    const auto name = row.at("name").get<std::string>();
    if (name.empty()) continue;  // TensorFlow makes up a name
    CAPTURE(name);
    const bool accepted = !row.at("node").is_null();
    CHECK(proto::is_node_name(name) == accepted);
  }
}
