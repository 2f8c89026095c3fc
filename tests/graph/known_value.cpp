#include <leat/graph/known_value.hpp>

#include <doctest/doctest.h>
#include <leat/graphs.hpp>

using namespace leat;
using numbers = std::vector<std::int64_t>;

TEST_CASE("sizes are known as far as shapes are") {
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {-1, 3, 5}, "x");
  const output sizes = shape_of(x);
  CHECK(known_numbers(sizes) == numbers{-1, 3, 5});
  const output one = call_operator(g, "StridedSlice",
                                   {sizes, tensor_literal(std::vector{1}), tensor_literal(std::vector{2}), tensor_literal(std::vector{1})},
                                   {{"shrink_axis_mask", 1}})
                         .result();
  CHECK(known_numbers(one) == numbers{3});
  CHECK(known_numbers(one * 4) == numbers{12});
  CHECK(known_numbers(stack({one, one})) == numbers{3, 3});
  const output last =
      call_operator(g, "StridedSlice",
                    {sizes, tensor_literal(std::vector{-2}), tensor_literal(std::vector{3}), tensor_literal(std::vector{1})})
          .result();
  CHECK(known_numbers(last) == numbers{3, 5});
  const output filled = call_operator(g, "Fill", {stack({one, one * 2}), tensor_literal(1.0f)}).result();
  CHECK(shape_text(filled.extent()) == "(3, 6)");
}

TEST_CASE("nothing is claimed of other tensors") {
  graph g;
  const auto scope = g.as_default();
  CHECK(!known_numbers(placeholder(dtype::float32, {2}, "f")));
  CHECK(!known_numbers(placeholder(dtype::int32, unknown_shape, "n")));
  CHECK(known_numbers(placeholder(dtype::int32, {2}, "two")) == numbers{-1, -1});  // their count is known
}
