#include <leat/proto/tensor_contents.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace leat;

namespace {
template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}
tensor_proto tensor(data_type type, tensor_shape_proto shape, tensor_field field = tensor_field::none,
                    std::string bytes = {}) {
  return {.dtype = type, .field = field, .shape = std::move(shape), .bytes = std::move(bytes)};
}
std::string problem(data_type type, tensor_shape_proto shape, tensor_field field = tensor_field::none,
                    std::string bytes = {}) {
  return problem_of(tensor(type, std::move(shape), field, std::move(bytes)));
}
}  // namespace

TEST_CASE_TEMPLATE("numbers come back from the tensor that is made of them", T, float, double, std::int32_t,
                   std::int64_t, std::uint8_t) {
  for (std::size_t count : {0, 1, 2, 7}) {
    std::vector<T> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<T>(3 * i + 1));
    const auto t = make_tensor_proto(values, {static_cast<std::int64_t>(count)});
    CHECK(t.dtype == to_data_type(dtype_of<T>));
    CHECK(t.field == (count == 0 ? tensor_field::none : count == 1 ? field_of(t.dtype) : tensor_field::tensor_content));
    CHECK(problem_of(t).empty());
    CHECK(contents<T>(t) == values);
  }
  CHECK(contents<T>(make_tensor_proto(static_cast<T>(200))) == std::vector<T>{static_cast<T>(200)});
  CHECK_THROWS_WITH_AS(make_tensor_proto(std::vector<T>{1, 2}, {3}), "tensor: 2 values for shape [3]",
                       invalid_argument);
  CHECK_THROWS_AS(make_tensor_proto(std::vector<T>{1}, {-1}), invalid_argument);
}

TEST_CASE("truth values and texts come back") {
  const std::vector<bool> truths{true, false, true};
  CHECK(contents<bool>(make_tensor_proto(truths, {3, 1})) == truths);
  CHECK(contents<bool>(make_tensor_proto(true)) == std::vector<bool>{true});
  const std::vector<std::string> texts{"", "a", std::string("\0\xff", 2)};
  const auto t = make_tensor_proto(texts, {3});
  CHECK(t.field == tensor_field::string_val);
  CHECK(contents<std::string>(t) == texts);
  CHECK(contents<std::string>(make_tensor_proto("one")) == std::vector<std::string>{"one"});
}

TEST_CASE("the last value stands for all after it; none stand for zeros") {
  CHECK(contents<float>(tensor(data_type::float32, {2, 2}, tensor_field::float_val, bytes_of<float>({1, 2}))) ==
        std::vector<float>{1, 2, 2, 2});
  CHECK(contents<bool>(tensor(data_type::boolean, {3}, tensor_field::bool_val, std::string("\1", 1))) ==
        std::vector<bool>{true, true, true});
  CHECK(contents<std::uint8_t>(tensor(data_type::uint8, {3}, tensor_field::int_val,
                                      bytes_of<std::int32_t>({7, 255}))) == std::vector<std::uint8_t>{7, 255, 255});
  CHECK(contents<std::int64_t>(tensor(data_type::int64, {2})) == std::vector<std::int64_t>{0, 0});
  CHECK(contents<std::string>(tensor(data_type::string, {2})) == std::vector<std::string>{"", ""});
}

TEST_CASE("texts in tensor_content are lengths, then bytes") {
  CHECK(contents<std::string>(tensor(data_type::string, {2}, tensor_field::tensor_content, std::string("\2\3abcde"))) ==
        std::vector<std::string>{"ab", "cde"});
  const std::string long_text(300, 'x');
  CHECK(contents<std::string>(tensor(data_type::string, {}, tensor_field::tensor_content, "\xac\x02" + long_text)) ==
        std::vector<std::string>{long_text});
  for (const auto& wrong : {std::string("\2\3abcd"), std::string("\2\3abcdef"), std::string("\2"), std::string(),
                            std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\1"), std::string("\x80")})
    CHECK(problem(data_type::string, {2}, tensor_field::tensor_content, wrong) ==
          "tensor_content does not hold the texts of shape [2] of DT_STRING");
}

TEST_CASE("a few bytes cannot ask for any amount of memory") {
  const auto zeros = tensor(data_type::float32, {1 << 20, 1 << 20}, tensor_field::float_val, bytes_of<float>({0}));
  CHECK(problem_of(zeros).empty());
  CHECK_THROWS_WITH_AS(contents<float>(zeros), "tensor: shape [1048576, 1048576] has more than 268435456 elements",
                       invalid_argument);
  CHECK_THROWS_AS(contents<float>(tensor(data_type::float32, {11}), 10), invalid_argument);
  CHECK(contents<float>(tensor(data_type::float32, {10}), 10).size() == 10);
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  CHECK(problem(data_type::string, {most}, tensor_field::tensor_content, "\1") != "");
}

TEST_CASE("what is wrong with a tensor is told") {
  using f = tensor_field;
  using d = data_type;
  CHECK(problem(d::invalid, {}) == "dtype is missing");
  CHECK(problem(static_cast<d>(77), {}) == "dtype 77 is not an element type");
  CHECK(problem(reference_to(d::float32), {}) == "dtype DT_FLOAT_REF is not an element type");
  CHECK(problem(d::float32, {-1}) == "tensor_shape [?] is not known whole");
  CHECK(problem(d::float32, {-2}) == "tensor_shape dimension 0 has size -2");
  CHECK(problem(d::float32, {1LL << 32, 1LL << 31}) == "tensor_shape has more than 2^63 elements");
  CHECK(problem(d::float32, {2}, f::tensor_content, "1234567") ==
        "tensor_content has 7 bytes, which is not shape [2] of DT_FLOAT");
  CHECK(problem(d::float32, {2}, f::tensor_content, "123456789012") != "");
  CHECK(problem(d::half, {2}, f::tensor_content, "1234") == "");
  CHECK(problem(d::resource, {}, f::tensor_content, "1") == "tensor_content cannot hold DT_RESOURCE");
  CHECK(problem(d::float32, {2}, f::int_val, "1234") == "int_val cannot hold DT_FLOAT");
  CHECK(problem(d::float32, {2}, f::float_val, "12345") == "float_val ends in half a value");
  CHECK(problem(d::float32, {1}, f::float_val, "12345678") ==
        "float_val has 2 values, more than shape [1] of DT_FLOAT");
  CHECK(problem(d::complex64, {2}, f::scomplex_val, std::string(16, '0')) == "");
  CHECK(problem(d::complex64, {2}, f::scomplex_val, std::string(4, '0')) == "scomplex_val ends in half a value");
  CHECK(problem(d::uint8, {1}, f::int_val, bytes_of<std::int32_t>({256})) ==
        "int_val has 256, which is not a number of DT_UINT8");
  CHECK(problem(d::int8, {1}, f::int_val, bytes_of<std::int32_t>({-129})) != "");
  CHECK(problem(d::int8, {1}, f::int_val, bytes_of<std::int32_t>({-128})) == "");
  CHECK(problem(d::bfloat16, {1}, f::half_val, bytes_of<std::int32_t>({65535})) == "");
  CHECK(problem(d::half, {1}, f::half_val, bytes_of<std::int32_t>({65536})) != "");

  CHECK_THROWS_WITH_AS(contents<float>(tensor(d::float64, {})), "a tensor of DT_DOUBLE was read as DT_FLOAT",
                       invalid_argument);
  CHECK_THROWS_WITH_AS(contents<float>(tensor(d::float32, {2}, f::tensor_content, "1")),
                       "tensor: tensor_content has 1 bytes, which is not shape [2] of DT_FLOAT", invalid_argument);
}

TEST_CASE("what is wrong with a shape is told, and how many elements it has") {
  CHECK(problem_of(tensor_shape_proto{2, -1, 0}).empty());
  CHECK(element_count({2, 3}) == 6);
  CHECK(element_count({}) == 1);
  CHECK(element_count({2, 0}) == 0);
  CHECK_FALSE(element_count({2, -1}).has_value());
  CHECK_FALSE(element_count({-2}).has_value());
  tensor_shape_proto unknown;
  unknown.unknown_rank = true;
  CHECK(problem_of(unknown).empty());
  CHECK_FALSE(element_count(unknown).has_value());
  CHECK(to_text(unknown) == "?");
  CHECK(to_text(tensor_shape_proto{1, -1}) == "[1, ?]");
  unknown.dims.resize(1);
  CHECK(problem_of(unknown) == "has dimensions and an unknown rank");
  tensor_shape_proto deep;
  deep.dims.assign(254, {1, {}});
  CHECK(problem_of(deep).empty());
  deep.dims.push_back({1, {}});
  CHECK(problem_of(deep) == "has rank 255, more than 254");
}
