#include <leat/io/safetensors.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
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

TEST_CASE("an array of another dtype keeps no other from being read") {
  // bfloat16 1, -2; float16 0.5, the largest, the smallest, infinity, not a number; int8; uint32; uint64; what the library has not
  const std::string data(
      "\x80\x3f\x00\xc0"
      "\x00\x38\xff\x7b\x01\x80\x00\xfc\x00\x7e"
      "\x80\x7f"
      "\xff\xff\xff\xff"
      "\x01\0\0\0\0\0\0\0"
      "\0\0\0\0\0\0\0\x80"
      "abc"
      "wxyz",
      4 + 10 + 2 + 4 + 8 + 8 + 3 + 4);
  const io::safetensors read(file_of(
      R"({"__metadata__": {"a": "b"}, "bf": {"dtype": "BF16", "shape": [2, 1], "data_offsets": [0, 4], "unknown": {"x": [1]}},
          "half": {"dtype": "F16", "shape": [5], "data_offsets": [4, 14]}, "i8": {"dtype": "I8", "shape": [2], "data_offsets": [14, 16]},
          "u32": {"dtype": "U32", "shape": [1], "data_offsets": [16, 20]}, "u64": {"dtype": "U64", "shape": [1], "data_offsets": [20, 28]},
          "large": {"dtype": "U64", "shape": [], "data_offsets": [28, 36]}, "f8": {"dtype": "F8_E4M3", "shape": [3], "data_offsets": [36, 39]},
          "deep": {"dtype": "F32", "shape": [1,1,1,1,1,1,1,1,1], "data_offsets": [39, 43]}})",
      data));
  CHECK(read.metadata.at("a") == "b");
  CHECK(read.names().size() == 8);
  const auto is = [&]<class T>(const char* name, const std::vector<T>& wanted) {
    CAPTURE(name);
    const io::array_bytes got = read[name];
    CHECK(got.type == dtype_of<T>);
    REQUIRE(got.bytes.size() == wanted.size() * sizeof(T));
    CHECK(std::memcmp(got.bytes.data(), wanted.data(), got.bytes.size()) == 0);
    CHECK(read[name].bytes.data() == got.bytes.data());  // converted once
  };
  is("bf", std::vector<float>{1, -2});
  CHECK(read["bf"].extent == extent_of({2, 1}));
  is("half", std::vector<float>{0.5f, 65504, -0x1p-24f, -INFINITY, std::bit_cast<float>(0x7fc00000u)});
  is("i8", std::vector<std::int32_t>{-128, 127});
  is("u32", std::vector<std::int64_t>{4294967295});
  is("u64", std::vector<std::int64_t>{1});
  CHECK_THROWS_WITH_AS(read["large"], "array \"large\": element 0 of uint64 is 9223372036854775808, which int64 does not hold",
                       out_of_range);
  CHECK_THROWS_WITH_AS(read["f8"], "array \"f8\": its dtype \"F8_E4M3\" is none that the library reads", unimplemented);
  CHECK_THROWS_WITH_AS(read["deep"], "array \"deep\": it has more than 8 dimensions", unimplemented);
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
  CHECK(says(message_of<data_loss>(file_of(one(R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]})"), four)), "not all in the file"));
  CHECK(says(message_of<data_loss>(file_of(one(R"({"dtype":"F32","shape":[1],"data_offsets":[4,0]})"), four)), "not all in the file"));
  CHECK(says(message_of<invalid_argument>(file_of(one(R"({"dtype":"F32","shape":[1]})"), four)), "lacks data_offsets"));
  CHECK(says(message_of<invalid_argument>(file_of(one(R"({"dtype":"F16","shape":[3],"data_offsets":[0,4]})"), four)),
             "takes 6 bytes, but it has 4"));
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
      for (const auto& name : read.names()) {
        const io::array_bytes array = read[name];
        CHECK(array.bytes.size() == static_cast<std::size_t>(array.extent.elements() * size_of(array.type)));
      }
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
