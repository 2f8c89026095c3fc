#include <leat/io/safetensors.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <random>

using namespace leat;

namespace {

std::string file_of(std::string header, std::string data) {
  const std::uint64_t length = header.size();
  std::string text(8, '\0');
  std::memcpy(text.data(), &length, 8);
  return text + header + data;
}
template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& v) {
  return std::as_bytes(std::span(v));
}
shape extent_of(std::initializer_list<std::int64_t> sizes) {
  shape s;
  for (auto d : sizes) s.push(d);
  return s;
}
template <class Error>
std::string message_of(const std::string& text) {
  try {
    const io::safetensors read(text);
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}
bool says(const std::string& message, std::string_view words) {
  INFO(message);
  return message.find(words) != std::string::npos;
}

// An array's bytes are the file's.
template <class File>
concept lends_arrays = requires(File&& file) { std::forward<File>(file)["w"]; };
static_assert(lends_arrays<const io::safetensors&> && !lends_arrays<io::safetensors>);

}  // namespace

TEST_CASE("what was written is read: every dtype, no elements, no arrays") {
  const std::vector<float> w{1, -2.5f, 3, 4, 5, 6};
  const std::vector<double> d{1e300};
  const std::vector<std::int32_t> i{-7, 7};
  const std::vector<std::int64_t> l{INT64_MIN, INT64_MAX, 0};
  const std::vector<std::uint8_t> u{0, 255, 1};
  const std::vector<std::uint8_t> b{1, 0};
  const std::vector<float> none;
  std::map<std::string, io::array_bytes, std::less<>> arrays{{"layer/w", {dtype::float32, extent_of({2, 3}), bytes_of(w)}},
                                                             {"d", {dtype::float64, extent_of({}), bytes_of(d)}},
                                                             {"i", {dtype::int32, extent_of({2}), bytes_of(i)}},
                                                             {"l", {dtype::int64, extent_of({3, 1}), bytes_of(l)}},
                                                             {"u", {dtype::uint8, extent_of({3}), bytes_of(u)}},
                                                             {"b \"quoted\" ü", {dtype::boolean, extent_of({2}), bytes_of(b)}},
                                                             {"none", {dtype::float32, extent_of({0, 4}), bytes_of(none)}}};
  const auto path = std::filesystem::temp_directory_path() / "leat_test_safetensors";
  io::write_safetensors(path, arrays, {{"step", "12"}});
  const io::safetensors read = io::read_safetensors(path);
  CHECK(read.metadata.at("step") == "12");
  CHECK(read.names().size() == arrays.size());
  for (const auto& [name, array] : arrays) {
    REQUIRE(read.contains(name));
    const io::array_bytes got = read[name];
    CHECK(got.type == array.type);
    CHECK(got.extent == array.extent);
    CHECK(std::equal(got.bytes.begin(), got.bytes.end(), array.bytes.begin(), array.bytes.end()));
  }
  CHECK_THROWS_AS(read["missing"], not_found);
  CHECK_FALSE(std::filesystem::exists(path.string() + ".part"));
  std::filesystem::remove(path);
  CHECK(io::safetensors(io::write_safetensors({})).names().empty());
}

TEST_CASE("a file that was moved holds what it held") {
  const std::vector<float> x{1, 2};
  io::safetensors first(io::write_safetensors({{"x", {dtype::float32, extent_of({2}), bytes_of(x)}}}, {{"step", "1"}}));
  const io::safetensors second(std::move(first));
  CHECK(second.metadata.at("step") == "1");
  CHECK(std::memcmp(second["x"].bytes.data(), x.data(), 8) == 0);
}

TEST_CASE("what others wrote is read") {
  // not padded, in another order, with spaces
  const std::vector<float> x{1, 2};
  const std::string data(reinterpret_cast<const char*>(x.data()), 8);
  const io::safetensors read(file_of(
      R"( {"b": {"shape": [], "data_offsets": [4, 8], "dtype": "F32"}, "a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", data));
  CHECK(std::memcmp(read["b"].bytes.data(), &x[1], 4) == 0);
  CHECK(std::memcmp(read["a"].bytes.data(), &x[0], 4) == 0);
}

TEST_CASE("what is wrong in a file is told by the name of the array") {
  const std::string four(4, 'x');
  const auto one = [](std::string entry) { return "{\"w\":" + entry + "}"; };
  CHECK(says(message_of<data_loss>(""), "cut off before its header"));
  CHECK(says(message_of<data_loss>(std::string("\x10\0\0\0\0\0\0\0{}", 10)), "cut off within its header"));
  CHECK(says(message_of<invalid_argument>(std::string(8, '\x7f')), "more than the format allows"));
  CHECK(says(message_of<data_loss>(file_of("{", "")), "no JSON"));
  CHECK(io::is_utf8(message_of<data_loss>(file_of("{\xff\xfe\": 1}", ""))));
  CHECK(says(message_of<invalid_argument>(file_of("[]", "")), "no object"));
  CHECK(says(message_of<invalid_argument>(file_of(one("3"), four)), "array \"w\": its entry is no object"));
  CHECK(says(message_of<invalid_argument>(file_of(one(R"({"dtype":"F16","shape":[2],"data_offsets":[0,4]})"), four)),
             "array \"w\": dtype \"F16\""));
  CHECK(says(message_of<invalid_argument>(file_of(one(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})"), four)),
             "shape is no whole number"));
  CHECK(says(message_of<invalid_argument>(file_of(one(R"({"dtype":"F32","shape":[1.5],"data_offsets":[0,4]})"), four)),
             "shape is no whole number"));
  CHECK(says(message_of<invalid_argument>(file_of(one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})"), four)),
             "takes 8 bytes, but it has 4"));
  CHECK(says(message_of<invalid_argument>(file_of(one(R"({"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,4]})"), four)),
             "a dimension of"));
  CHECK(says(
      message_of<invalid_argument>(file_of(one(R"({"dtype":"F32","shape":[1099511627776,1099511627776],"data_offsets":[0,4]})"), four)),
      "too many elements"));
  CHECK(says(message_of<invalid_argument>(file_of(one(R"({"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]})"), four)),
             "more than 8"));
  CHECK(says(message_of<data_loss>(file_of(one(R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]})"), four)), "not all in the file"));
  CHECK(says(message_of<data_loss>(file_of(one(R"({"dtype":"F32","shape":[1],"data_offsets":[4,0]})"), four)), "not all in the file"));
  CHECK(says(message_of<invalid_argument>(file_of(one(R"({"dtype":"F32","shape":[1]})"), four)), "lacks data_offsets"));
  CHECK(says(message_of<invalid_argument>(file_of(one(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4],"more":1})"), four)),
             "\"more\" is not known"));
  CHECK(says(message_of<invalid_argument>(file_of(one(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})"), four + four)),
             "belong to no array"));
  CHECK(says(message_of<invalid_argument>(file_of(
                 R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", four)),
             "share bytes"));
  CHECK(says(message_of<invalid_argument>(file_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", four + four)),
             "belong to no array"));
  CHECK(says(message_of<invalid_argument>(file_of(
                 R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", four)),
             "stands twice"));
  CHECK(says(message_of<data_loss>(file_of(one(R"({"dtype":"BOOL","shape":[4],"data_offsets":[0,4]})"), four)), "neither 0 nor 1"));
  CHECK(says(message_of<invalid_argument>(file_of(R"({"__metadata__":{"step":1}})", "")), "__metadata__: \"step\" is no text"));
  CHECK(says(message_of<invalid_argument>(file_of(R"({"w":[[[[[[[[[[1]]]]]]]]]]})", "")), "nested too deeply"));
}

TEST_CASE("no change of a byte crashes the reader") {
  const std::vector<float> w{1, 2, 3, 4};
  const std::string good = io::write_safetensors(
      {{"w", {dtype::float32, extent_of({2, 2}), bytes_of(w)}}, {"v", {dtype::float32, extent_of({4}), bytes_of(w)}}});
  for (std::size_t length = 0; length < good.size(); ++length) CHECK_THROWS_AS(io::safetensors(good.substr(0, length)), error);
  std::mt19937 random(7);
  for (int k = 0; k < 20000; ++k) {
    std::string bad = good;
    for (int n = 0; n < 3; ++n) bad[random() % bad.size()] = static_cast<char>(random());
    try {
      const io::safetensors read(bad);
      for (const auto& name : read.names())
        CHECK(read[name].bytes.size() == static_cast<std::size_t>(read[name].extent.elements() * size_of(read[name].type)));
    } catch (const error&) {
    }
  }
}

TEST_CASE("what cannot be written is told") {
  const std::vector<float> w{1, 2};
  CHECK_THROWS_AS(io::write_safetensors({{"w", {dtype::float32, extent_of({3}), bytes_of(w)}}}), invalid_argument);
  CHECK_THROWS_AS(io::write_safetensors({{"__metadata__", {dtype::float32, extent_of({2}), bytes_of(w)}}}), invalid_argument);
  CHECK_THROWS_AS(io::write_safetensors({{"\xff", {dtype::float32, extent_of({2}), bytes_of(w)}}}), invalid_argument);
  CHECK_THROWS_AS(io::write_safetensors(std::filesystem::path("/no such folder/x"), {}), failed_precondition);
}
