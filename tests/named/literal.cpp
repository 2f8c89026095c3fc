#include <leat/named/graph/literal.hpp>

#include <leat/proto/tensor_contents.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <vector>

using namespace leat;

TEST_CASE("arrays of a program become the contents that files hold") {
  CHECK(contents<float>(tensor_literal(2.5f).proto()) == std::vector<float>{2.5f});
  CHECK(contents<std::int32_t>(tensor_literal({1, 2, 3}).proto()) == std::vector<std::int32_t>{1, 2, 3});
  CHECK(contents<double>(tensor_literal({{1.0, 2.0}, {3.0, 4.0}}).proto()) == std::vector<double>{1, 2, 3, 4});
  CHECK(contents<std::int64_t>(tensor_literal(std::numeric_limits<std::int64_t>::min()).proto()) ==
        std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min()});
  CHECK(contents<std::uint8_t>(tensor_literal(std::uint8_t{255}).proto()) == std::vector<std::uint8_t>{255});
  CHECK(tensor_literal(2.5f).proto().field == tensor_field::float_val);
  CHECK(tensor_literal({1, 2}).proto().field == tensor_field::tensor_content);
  CHECK(tensor_literal({1}).proto().field == tensor_field::int_val);
  CHECK(tensor_literal("text").proto().strings == std::vector<std::string>{"text"});
}

TEST_CASE("a literal's shape is known whole") {
  shape some{2, {-1, 3}};
  CHECK_THROWS_AS(tensor_literal(dtype::float32, some, 7), invalid_argument);
  some.dim[1] = -1;
  CHECK_THROWS_AS(tensor_literal(dtype::float32, some), invalid_argument);
  CHECK_THROWS_AS(tensor_literal(dtype::float32, shape::unknown(), 1), invalid_argument);
  CHECK_THROWS_AS(tensor_literal(some, std::vector<float>{1}), invalid_argument);
}

TEST_CASE("one value stands for all, the last of several fills up") {
  shape two_by_three;
  two_by_three.push(2);
  two_by_three.push(3);
  const tensor_literal one(dtype::float32, two_by_three, 7);
  CHECK(one.proto().bytes.size() == 4);
  CHECK(contents<float>(one.proto()) == std::vector<float>(6, 7));
  CHECK(contents<std::int32_t>(tensor_literal({1, 2}).shaped(two_by_three).proto()) == std::vector<std::int32_t>{1, 2, 2, 2, 2, 2});
  shape none;
  none.push(0);
  CHECK(tensor_literal(dtype::float32, none, 7).proto().bytes.empty());
  CHECK(contents<float>(tensor_literal(dtype::float32, none, 7).proto()).empty());
  CHECK_THROWS_WITH_AS(static_cast<void>(tensor_literal({1, 2, 3, 4, 5, 6, 7}).shaped(two_by_three)),
                       "Too many elements provided. Takes at most 6, but got 7.", invalid_argument);
  CHECK_THROWS_AS(tensor_literal({{1, 2}, {3}}), invalid_argument);
}

TEST_CASE("conversions lose nothing") {
  CHECK(tensor_literal(3).as(dtype::float64).number(0) == 3.0);
  CHECK(tensor_literal(3.5).as(dtype::float32).type() == data_type::float32);
  CHECK_THROWS_AS(static_cast<void>(tensor_literal(3.5f).as(dtype::int32)), invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(tensor_literal("3").as(dtype::int32)), invalid_argument);
}
