#pragma once
// Definitions of operators that pass arrays on, rotate them, read their bytes otherwise, compare them or count their elements. Source:
// TensorFlow's operators of the same names.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>
#include <leat/named/graph/literal.hpp>

namespace leat::detail {

/// Elements of another size: smaller ones add a dimension, larger ones take the last one.
inline void other_elements_shape(shape_context& c) {
  const auto* a = c.attribute("type");
  const auto* type = a != nullptr ? a->get_if<data_type>() : nullptr;
  shape extent = c.input(0).extent;
  const int from = element_bytes(c.input(0).type), to = type != nullptr ? element_bytes(static_cast<dtype>(base_of(*type))) : 0;
  if (!extent.has_rank() || from == 0 || to == 0) return;
  if (from > to) extent.push(from / to);
  if (from < to) {
    if (extent.rank < 1) c.fail("Shape must be at least rank 1 but is rank 0");
    --extent.rank;
    if (!may_equal(extent.dim[extent.rank], to / from))
      c.fail("Dimension must be " + std::to_string(to / from) + " but is " + std::to_string(extent.dim[extent.rank]));
  }
  c.set(0, extent);
}

inline void ensured_shape(shape_context& c) {
  const auto* a = c.attribute("shape");
  const auto* said = a != nullptr ? a->get_if<tensor_shape_proto>() : nullptr;
  if (said == nullptr) return;
  const shape extent = to_shape(*said);
  if (!may_equal(c.input(0).extent, extent))
    c.fail("Shapes must be equal, but are " + leat::shape_text(c.input(0).extent) + " and " + leat::shape_text(extent));
  c.set(0, known_of(c.input(0).extent, extent));
}

/// How often each number below input 1 occurs; with `ByRow`, for each row of a matrix.
template <bool ByRow>
void counted_shape(shape_context& c) {
  shapes::want_rank(c, 1, 0);
  const auto size = shapes::number(c, 1);
  if (size && c.constant(1) && *size < 0) c.fail("size (" + std::to_string(*size) + ") must be non-negative");
  const shape& given = c.input(0).extent;
  if (ByRow && !given.has_rank()) return;
  if (ByRow && given.rank > 2) c.fail("Shape must be at most rank 2 but is rank " + std::to_string(given.rank));
  shape result;
  if (ByRow && given.rank == 2) result.push(given[0]);
  result.push(std::max(size.value_or(unknown_dimension), unknown_dimension));
  c.set(0, result);
}

inline void unraveled_shape(shape_context& c) {
  const shape& places = c.input(0).extent;
  shapes::want_rank(c, 1, 1);
  if (!places.has_rank() || !c.input(1).extent.has_rank()) return;
  shape result = shapes::vector_of(c.input(1).extent[0]);
  if (places.rank > 0) result.push(places[0]);
  c.set(0, result);
}

/// The distinct elements, which of them each element is, and how often each occurs.
inline void distinct_shape(shape_context& c) {
  c.set_all(shapes::vector_of(-1));
  if (c.input_count() == 1) {
    c.set(1, c.input(0).extent);
    return;
  }
  shape rows = c.input(0).extent;
  for (int i = 0; i < rows.rank; ++i) rows.dim[i] = unknown_dimension;
  c.set(0, rows);
}

LEAT_FILL(fill_element_definitions) {
  constexpr facts pure{.is = nature::pure};
  constexpr facts steps{.is = nature::pure, .stops_gradient = true};
  constexpr facts any_dtype{.is = nature::pure, .narrow = narrow_rule::any};
  constexpr facts exact{.is = nature::pure, .narrow = narrow_rule::exact};
  define_operator("Bitcast(input: T) -> (output: type); type: type",
                  {.is = nature::pure, .narrow = narrow_rule::any, .stops_gradient = true}, other_elements_shape);
  define_operator("Roll(input: T, shift: Tshift, axis: Taxis) -> (output: T); Tshift: {int32, int64}; Taxis: {int32, int64}",
                  {.is = nature::pure, .narrow = narrow_rule::moves, .values = {1, 2}}, shapes::like<0>);
  define_operator("Timestamp() -> (ts: float64)", {.is = nature::effect, .work = work_kind::none, .stops_gradient = true}, shapes::numbers);
  define_operator("IdentityN(input: list(T)) -> (output: list(T))", any_dtype, shapes::each);
  define_operator("EnsureShape(input: T) -> (output: T); shape: shape", any_dtype, ensured_shape);
  define_operator("AccumulateNV2(inputs: N*T) -> (sum: T); shape: shape", pure, shapes::all_equal);
  define_operator("ApproximateEqual(x: T, y: T) -> (z: bool); tolerance: float = 0.00001", steps, shapes::all_equal);
  define_operator("Bucketize(input: T) -> (output: int32); boundaries: list(float)", steps, shapes::like<0>);
  constexpr facts sized{.is = nature::pure, .values = {1, 1}};
  define_operator("Bincount(arr: int32, size: int32, weights: T) -> (bins: T)", sized, counted_shape<false>);
  define_operator("DenseBincount(input: Tidx, size: Tidx, weights: T) -> (output: T); binary_output: bool = false; Tidx: {int32, int64}",
                  sized, counted_shape<true>);
  define_operator("UnravelIndex(indices: Tidx, dims: Tidx) -> (output: Tidx); Tidx: {int32, int64} = int32", steps, unraveled_shape);
  define_operator("UniqueWithCounts(x: T) -> (y: T, idx: out_idx, count: out_idx); out_idx: type = int32", exact, distinct_shape);
  define_operator("UniqueV2(x: T, axis: Taxis) -> (y: T, idx: out_idx); Taxis: {int32, int64} = int64; out_idx: type = int32", exact,
                  distinct_shape);
  define_operator(
      "UniqueWithCountsV2(x: T, axis: Taxis) -> (y: T, idx: out_idx, count: out_idx); Taxis: {int32, int64} = int64; out_idx: type = int32",
      pure, distinct_shape);
}

}  // namespace leat::detail
