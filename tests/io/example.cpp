#include <leat/io/example.hpp>

#include "support/hex.hpp"
#include "support/messages.hpp"

#include <doctest/doctest.h>

using namespace leat;
using io::feature;

namespace {

const io::example sample{{{"image", std::vector<float>{1.5f, -2, 0}},
                          {"label", std::vector<std::int64_t>{-7}},
                          {"words", std::vector<std::string>{"a", "", std::string("\0\xff", 2)}},
                          {"none", feature()},
                          {"empty", std::vector<float>{}}}};

}  // namespace

TEST_CASE("the bytes of TensorFlow's messages") {
  // Example{features: {"x": FloatList([1, 2]), "y": Int64List([3])}}, field by field after example.proto and feature.proto.
  const std::string bytes = leat_test::from_hex(
      "0a1f"
      "0a110a0178120c120a0a080000803f00000040"
      "0a0a0a017912051a030a0103");
  const io::example made{{{"x", std::vector<float>{1, 2}}, {"y", std::vector<std::int64_t>{3}}}};
  CHECK(io::write_example(made) == bytes);
  CHECK(io::read_example(bytes) == made);
  // Numbers that are not packed, and unknown fields.
  CHECK(io::read_example(leat_test::from_hex("2001"
                                             "0a12"
                                             "0a10"
                                             "0a0178"
                                             "120b"
                                             "1209"
                                             "0d0000803f"
                                             "1001"
                                             "2000")) == io::example{{{"x", std::vector<float>{1}}}});
  CHECK(io::read_example(leat_test::from_hex("0a0f"
                                             "0a0d"
                                             "0a0179"
                                             "1208"
                                             "1a06"
                                             "0803"
                                             "0804"
                                             "0805")) == io::example{{{"y", std::vector<std::int64_t>{3, 4, 5}}}});
}

TEST_CASE("what is written is read again") {
  CHECK(io::read_example(io::write_example(sample)) == sample);
  CHECK(io::read_example("") == io::example{});
  CHECK(io::read_example(io::write_example({})) == io::example{});
  CHECK_THROWS_AS(io::write_example({{{"\xff", feature()}}}), invalid_argument);
}

TEST_CASE("features into memory that serves again") {
  const std::string bytes = io::write_example(sample);
  io::example_fields fields({"label", "image", "words", "none"});
  std::array<float, 3> image{};
  std::int64_t label = 0;
  std::vector<std::string> words(3);
  for (int k = 0; k < 2; ++k) {
    fields.find(bytes);
    fields.read(0, std::span(&label, 1));
    fields.read(1, std::span<float>(image));
    fields.read(2, std::span(words));
    CHECK(label == -7);
    CHECK(image == std::array<float, 3>{1.5f, -2, 0});
    CHECK(words[2] == std::string("\0\xff", 2));
    CHECK(fields.count<float>(3) == 0);
  }
  CHECK(leat_test::message_of<invalid_argument>([&] { fields.read(1, std::span(image).first(2)); }) ==
        "Example: the feature \"image\" has 3 values where 2 are expected");
  CHECK(leat_test::message_of<invalid_argument>([&] { fields.count<std::int64_t>(1); }) ==
        "Example: the feature \"image\" holds floats where int64 are expected");
  CHECK(leat_test::message_of<not_found>([&] {
          io::example_fields({"x"}).find(bytes);
        }).find("Example: has no feature \"x\"; there are \"empty\", \"image\"") == 0);
  CHECK(leat_test::message_of<not_found>([&] { io::example_fields({"x"}).find(""); }) == "Example: has no feature \"x\"; it has none");
  CHECK_THROWS_AS(io::example_fields({"x", "x"}), invalid_argument);
}

TEST_CASE("cut off or changed anywhere: an error, or an example") {
  const std::string bytes = io::write_example(sample);
  const auto look = [](const std::string& changed) {
    try {
      const auto e = io::read_example(changed);
      CHECK(io::read_example(io::write_example(e)).features.size() == e.features.size());
    } catch (const error& e) {
      CHECK(std::string(e.what()).find("Example: ") == 0);
    }
    try {
      io::example_fields fields({"image"});
      fields.find(changed);
      std::vector<float> values(fields.count<float>(0));
      fields.read(0, std::span(values));
    } catch (const error& e) {
      CHECK(std::string(e.what()).find("Example: ") == 0);
    }
  };
  for (std::size_t size = 0; size < bytes.size(); ++size) look(bytes.substr(0, size));
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(static_cast<unsigned char>(changed[at]) ^ (1u << bit));
      look(changed);
    }
  const std::string twice = io::write_example({{{"a", feature()}}});
  CHECK_THROWS_AS(io::read_example(twice + twice), invalid_argument);
}
