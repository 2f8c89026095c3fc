#include <leat/checkpoint/checkpoint_state.hpp>
#include <leat/checkpoint/manifest.hpp>
#include <leat/io/crc32c.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <functional>

using namespace leat;
using leat_test::message_of;
using leat_test::says;

namespace {

checkpoint_manifest small() {
  checkpoint_manifest m{
      .step = -3, .graph = "00ff", .pipeline_state = "{\"at\": 7}", .values = {{"note", "ü\n"}}, .data_file = "d", .data_bytes = 9};
  shape extent;
  extent.push(2), extent.push(0);
  m.tensors["w"] = {dtype::float32, extent, 0x01020304};
  m.tensors["n"] = {dtype::int64, {}, 0xffffffff};
  m.tensors["text"] = {text_dtype, {}, 0};
  return m;
}
// Of a sharded checkpoint: a tensor in the second file, and one in parts.
checkpoint_manifest two_files() {
  checkpoint_manifest m{.data_file = "d", .data_bytes = 9, .more_files = {{"e", 11}}};
  m.tensors["w"] = {dtype::float32, shape{1, {2}}, 0x12345678, 1, {}};
  m.tensors["t"] = {
      dtype::int64, shape{2, {3, 2}}, 0, 0, {{0, "t/part_0", {0, 0}, shape{2, {2, 2}}, 7}, {1, "t/part_1", {2, 0}, shape{2, {1, 2}}, 8}}};
  return m;
}
// A manifest that was changed by someone who also made its checksum right.
std::string changed(const std::function<void(nlohmann::json&)>& change, const checkpoint_manifest& of = small()) {
  auto json = nlohmann::json::parse(write_manifest(of));
  json.erase("crc32c");
  change(json);
  json["crc32c"] = io::checksum_text(io::crc32c(json.dump()));
  return json.dump();
}

}  // namespace

TEST_CASE("manifests come back") {
  CHECK(read_manifest(write_manifest(small())) == small());
  CHECK(read_manifest(write_manifest(two_files())) == two_files());
  const checkpoint_manifest least{.data_file = "d"};
  CHECK(read_manifest(write_manifest(least)) == least);
  checkpoint_manifest bad = small();
  bad.values["x"] = "\xff";
  CHECK(says(message_of<invalid_argument>([&] { write_manifest(bad); }), "not UTF-8"));
}

TEST_CASE("what is wrong in a manifest is named") {
  const auto refused = [](const std::string& text, std::string_view words) {
    return says(message_of([&] { read_manifest(text); }), words);
  };
  CHECK(refused("", "no JSON"));
  CHECK(refused("{", "no JSON"));
  CHECK(refused("[]", "not a checkpoint's manifest"));
  CHECK(refused("{\"a\": 1, \"a\": 2}", "stands twice"));
  CHECK(refused(std::string(100, '['), "nested too deeply"));
  CHECK(refused(changed([](auto& j) { j["format"] = "other"; }), "not a checkpoint's manifest"));
  CHECK(refused(changed([](auto& j) { j["version"] = 3; }), "version 3"));
  CHECK(refused(changed([](auto& j) { j["version"] = 2; }), "more is no list of files"));
  CHECK(refused(changed([](auto& j) { j["step"] = "x"; }), "step is no whole number"));
  CHECK(refused(changed([](auto& j) { j["more"] = 1; }), "\"more\" is not known"));
  CHECK(refused(changed([](auto& j) { j["data"]["file"] = "../d"; }), "no name of a file in its folder"));
  CHECK(refused(changed([](auto& j) { j["data"] = 1; }), "data has no file"));
  CHECK(refused(changed([](auto& j) { j["values"]["note"] = 1; }), "values: \"note\""));
  CHECK(refused(changed([](auto& j) { j["tensors"]["w"]["dtype"] = "float16"; }), "tensor \"w\": dtype \"float16\""));
  CHECK(refused(changed([](auto& j) { j["tensors"]["w"]["shape"] = {1, -1}; }), "tensor \"w\": shape"));
  CHECK(refused(changed([](auto& j) { j["tensors"]["w"]["shape"] = nlohmann::json::array({1 << 30, 1 << 30, 1 << 30}); }), "too many"));
  CHECK(refused(changed([](auto& j) { j["tensors"]["w"].erase("crc32c"); }), "exactly the fields"));
  CHECK(refused(changed([](auto& j) { j["tensors"]["w"]["crc32c"] = "xyz"; }), "eight hexadecimal digits"));
  // Of a sharded checkpoint.
  const auto sharded = [&](auto change) { return changed(change, two_files()); };
  CHECK(refused(sharded([](auto& j) { j["more"] = 7; }), "more is no list"));
  CHECK(refused(sharded([](auto& j) { j["more"][0].erase("bytes"); }), "more has no file and bytes"));
  CHECK(refused(sharded([](auto& j) { j["more"][0]["file"] = "a/b"; }), "no name of a file in its folder"));
  CHECK(refused(sharded([](auto& j) { j["tensors"]["w"].erase("file"); }), "shape, file and crc32c"));
  CHECK(refused(sharded([](auto& j) { j["tensors"]["w"]["file"] = 2; }), "no number of a file"));
  CHECK(refused(sharded([](auto& j) { j["tensors"]["w"]["file"] = -1; }), "no number of a file"));
  CHECK(refused(sharded([](auto& j) { j["tensors"]["t"]["parts"] = nlohmann::json::array(); }), "parts is no list"));
  CHECK(refused(sharded([](auto& j) { j["tensors"]["t"]["parts"][0] = 1; }), "a part without name"));
  CHECK(refused(sharded([](auto& j) { j["tensors"]["t"]["parts"][0].erase("offset"); }), "exactly the fields name, file, offset"));
  CHECK(refused(sharded([](auto& j) { j["tensors"]["t"]["parts"][0]["offset"] = {0}; }), "another rank"));
  CHECK(refused(sharded([](auto& j) { j["tensors"]["t"]["parts"][1]["file"] = 9; }), "no number of a file"));
  CHECK(refused(sharded([](auto& j) { j["tensors"]["t"]["crc32c"] = "00000000"; }), "exactly the fields"));
  std::string text = write_manifest(small());
  text.replace(text.find("00ff"), 4, "00fe");
  CHECK(refused(text, "altered"));
}

TEST_CASE("state files come back, and are read as TensorFlow writes them") {
  const checkpoint_state state{"a b\"\\\n\xc3\xbc", {"x", ""}, {1.5, 1e9}, 7};
  CHECK(read_checkpoint_state(write_checkpoint_state(state)) == state);
  const auto read = read_checkpoint_state(
      "# saved\nmodel_checkpoint_path: \"m-2\"\r\n\n  all_model_checkpoint_paths: 'm-1'\n"
      "all_model_checkpoint_timestamps: 1600000000.25\nlast_preserved_timestamp: 3\n");
  CHECK(read.model_checkpoint_path == "m-2");
  CHECK_THROWS_AS(read_checkpoint_state("model_checkpoint_path"), data_loss);
  CHECK(says(message_of<data_loss>([] { read_checkpoint_state("model_checkpoint_path: \"a\"\nother: 1"); }), "line 2"));
  CHECK_THROWS_AS(read_checkpoint_state("model_checkpoint_path: \"a"), data_loss);
  CHECK_THROWS_AS(read_checkpoint_state("model_checkpoint_path: \"a\\q\""), data_loss);
  CHECK_THROWS_AS(read_checkpoint_state("last_preserved_timestamp: x"), data_loss);
}

TEST_CASE("the nearest name is the one with the fewest changes, if any is near") {
  const std::vector<std::string> names{"layer/kernel", "layer/bias", "rate"};
  CHECK(detail::nearest_name("layers/bias", names) == "layer/bias");
  CHECK(detail::nearest_name("rat", names) == "rate");
  CHECK(detail::nearest_name("something_else_entirely", names).empty());
  CHECK(detail::names_with_nearest({"rat", "b"}, names) == "'rat' (nearest: 'rate'), 'b'");
  CHECK(detail::step_of_name("log/model-300") == 300);
  CHECK_FALSE(detail::step_of_name("log/model"));
  CHECK_FALSE(detail::step_of_name("log-3/model"));
}
