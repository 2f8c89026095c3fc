#include <leat/named/graph/known_value.hpp>

#include <doctest/doctest.h>
#include <leat/graphs.hpp>
#include <leat/named/graph/slice_walk.hpp>

#include <limits>

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

TEST_CASE("a range has as many numbers as steps lead from its start to before its limit") {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(), most = std::numeric_limits<std::int64_t>::max();
  static_assert(range_count(0, 10, 3) == 4 && range_count(0, 9, 3) == 3);
  static_assert(range_count(10, 0, -4) == 3 && range_count(0, 10, -1) == 0 && range_count(5, 5, 1) == 0);
  static_assert(range_count(least, most, most) == 3 && range_count(most, least, least) == 2);
  static_assert(!range_count(least, most, 1) && !range_count(0, max_elements + 1, 1) && range_count(0, max_elements, 1) == max_elements);
}

TEST_CASE("a strided slice begins and ends as in NumPy, whatever numbers a file has") {
  using detail::walk_of;
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(), most = std::numeric_limits<std::int64_t>::max();
  constexpr auto is = [](const detail::slice_walk& w, std::int64_t begin, std::int64_t stride, std::int64_t count) {
    return w.begin == begin && w.stride == stride && w.count == count;
  };
  static_assert(is(walk_of(1, 8, 3, 10, false, false), 1, 3, 3));       // x[1:8:3]
  static_assert(is(walk_of(-3, most, 1, 10, false, false), 7, 1, 3));   // x[-3:]
  static_assert(is(walk_of(-1, -5, -2, 10, false, false), 9, -2, 2));   // x[-1:-5:-2]
  static_assert(is(walk_of(0, 0, -1, 10, true, true), 9, -1, 10));      // x[::-1]
  static_assert(is(walk_of(0, 0, 4, 10, true, true), 0, 4, 3));         // x[::4]
  static_assert(walk_of(8, 2, 1, 10, false, false).count == 0);
  static_assert(walk_of(2, 8, -1, 10, false, false).count == 0);
  static_assert(is(walk_of(4, 5, 7, 10, false, false), 4, 1, 1));       // one element has no step
  static_assert(is(walk_of(least, most, most, 10, false, false), 0, 1, 1));
  static_assert(is(walk_of(most, least, least, 10, false, false), 9, 1, 1));
  static_assert(walk_of(0, 3, 1, unknown_dimension, false, false).count == unknown_dimension);
  static_assert(walk_of(0, 3, 1, 0, true, true).count == 0);
}
