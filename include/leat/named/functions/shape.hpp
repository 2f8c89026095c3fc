#pragma once
// Functions of shapes, and of several arrays, for named graphs; typed expressions do not have them. Results that depend only on static
// shapes become constants, as in TensorFlow 1.x.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/operand.hpp>
#include <leat/named/graph/part.hpp>

namespace leat {

namespace detail {

struct named_input {
  std::string_view name;
  number_argument value;
};
// A node of any type in a scope of its own name; inputs may be tensors or arrays.
graph_operation raw_named(graph& g, std::string_view type, std::string_view name, std::initializer_list<named_input> inputs,
                          attribute_map attributes, std::vector<tensor_info> results, const std::source_location& where);
output raw_tensor(const operand_value& x);
inline shape vector_of(std::int64_t n) {
  shape s;
  s.push(n);
  return s;
}
int axis_of(std::int64_t axis, int rank);

}  // namespace detail

/// The shape of x, int32 [rank]: a constant if it is static. Source: `shape`.
output shape_of(const operand_value& x, std::string_view name = "Shape",
                const std::source_location& where = std::source_location::current());
/// The rank of x, int32 []. Source: `rank`.
output rank_of(const operand_value& x, std::string_view name = "Rank", const std::source_location& where = std::source_location::current());
/// The number of elements of x, int32 []. Source: `size`.
output element_count_of(const operand_value& x, std::string_view name = "Size",
                        const std::source_location& where = std::source_location::current());
/// Zeros of the shape and dtype of x. Source: `zeros_like`.
output zeros_like(const operand_value& x, std::string_view name = "zeros_like",
                  const std::source_location& where = std::source_location::current());

/// A tensor whose elements all have one value. Shapes: `extent`. Dtypes: that of the value. Source: `fill`.
output fill(const shape_value& extent, const tensor_literal& value, std::string_view name = "Fill",
            const std::source_location& where = std::source_location::current());
/// The values start, start + delta, ... before limit, int32. Errors: invalid_argument if `delta` is 0. Source: `range`.
output range(std::int32_t start, std::int32_t limit, std::int32_t delta = 1, std::string_view name = "range",
             const std::source_location& where = std::source_location::current());

/// Arrays of one shape stacked along a new axis. Shapes: n values [d0, …]; result with a dimension n before `axis`.
/// Errors: invalid_argument for an empty list. Source: `stack`.
output stack(const std::vector<output>& values, std::int64_t axis = 0, std::string_view name = "stack",
             const std::source_location& where = std::source_location::current());
/// The slices of x along an axis, each without that axis. Errors: invalid_argument if the rank of x, or its size along the axis, is
/// unknown, or the axis is out of range.
/// Source: `unstack`.
std::vector<output> unstack(const operand_value& x, std::int64_t axis = 0, std::string_view name = "unstack",
                            const std::source_location& where = std::source_location::current());
/// x split into `count` equal parts along an axis. Shapes: result like x, with the axis divided by `count`. Source: `split`.
std::vector<output> split(const operand_value& x, std::int64_t count, std::int32_t axis = 0, std::string_view name = "split",
                          const std::source_location& where = std::source_location::current());
/// x repeated `multiples[k]` times along axis k. Shapes: x [d0, …]; result [d0 multiples[0], …]. Source: `tile`.
output tile(const operand_value& x, const std::vector<std::int32_t>& multiples, std::string_view name = "Tile",
            const std::source_location& where = std::source_location::current());
/// The sum of several tensors of one shape. Dtypes: numeric. Errors: invalid_argument for an empty list. Source: `add_n`.
output add_n(const std::vector<output>& values, std::string_view name = "AddN",
             const std::source_location& where = std::source_location::current());

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/functions/impl/shape.hpp>
#endif
