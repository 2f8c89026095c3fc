#pragma once
// Definitions of operators on shapes, and of those that take or return several arrays.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>
#include <leat/named/graph/literal.hpp>
#include <leat/named/graph/slice_walk.hpp>

namespace leat::detail {

inline void packed_shape(shape_context& c) {
  shape extent = c.input(0).extent;
  for (int k = 1; k < c.input_count(); ++k) {
    if (!may_equal(extent, c.input(k).extent))
      c.fail("Shapes of all inputs must match: " + leat::shape_text(extent) + " and " + leat::shape_text(c.input(k).extent));
    extent = known_of(extent, c.input(k).extent);
  }
  if (!extent.has_rank()) return;
  if (extent.rank == max_rank) c.fail("more than 8 dimensions");
  const int at = shapes::axis(c, c.integer("axis"), extent.rank + 1);
  shape result;
  for (int i = 0; i <= extent.rank; ++i) {
    if (i == at) result.push(c.input_count());
    if (i < extent.rank) result.push(extent[i]);
  }
  c.set(0, result);
}

inline void unpacked_shape(shape_context& c) {
  const shape& extent = c.input(0).extent;
  if (!extent.has_rank()) return;
  const int at = shapes::axis(c, c.integer("axis"), extent.rank);
  if (extent[at] >= 0 && extent[at] != c.integer("num"))
    c.fail("Dimension must be " + std::to_string(c.integer("num")) + " but is " + std::to_string(extent[at]));
  shape part;
  for (int i = 0; i < extent.rank; ++i)
    if (i != at) part.push(extent[i]);
  c.set_all(part);
}

inline void split_shape(shape_context& c) {
  shape part = c.input(1).extent;
  const auto axis = shapes::number(c, 0);
  if (!part.has_rank()) return;
  if (!axis || (*axis < 0 && !c.constant(0))) {  // -1 may be an axis or mean "unknown"
    for (int i = 0; i < part.rank; ++i) part.dim[i] = unknown_dimension;
    if (part.rank == 1 && c.input(1).extent[0] >= 0) part.dim[0] = c.input(1).extent[0] / c.result_count();
    return c.set_all(part);
  }
  const int at = shapes::axis(c, *axis, part.rank);
  if (part[at] >= 0) {
    if (part[at] % c.result_count() != 0)
      c.fail("Dimension size must be evenly divisible by " + std::to_string(c.result_count()) + " but is " + std::to_string(part[at]));
    part.dim[at] /= c.result_count();
  }
  c.set_all(part);
}

inline void split_sizes_shape(shape_context& c) {
  shape part = c.input(0).extent;
  const auto axis = shapes::number(c, 2);
  const auto sizes = c.numbers(1);
  if (!part.has_rank() || !axis || (*axis < 0 && !c.constant(2))) return;
  const int at = shapes::axis(c, *axis, part.rank);
  for (int k = 0; k < c.result_count(); ++k) {
    const bool known = sizes && sizes->size() == static_cast<std::size_t>(c.result_count()) && (*sizes)[static_cast<std::size_t>(k)] >= 0;
    part.dim[at] = known ? (*sizes)[static_cast<std::size_t>(k)] : unknown_dimension;
    c.set(k, part);
  }
}

/// The masks of a strided slice: one bit per entry of its begin, end and strides.
struct slice_masks {
  std::int64_t begin, end, ellipsis, new_axis, shrink;
};

/// The maximum number of entries: one per axis, as many for new axes, and one for the ellipsis.
inline constexpr std::size_t max_slice_entries = 2 * max_rank + 1;

/// A strided slice, resolved for each axis of its input and its result. Source: TensorFlow `strided_slice`.
struct slice_plan {
  std::vector<slice_walk> walks;  // by axis of the input
  shape result;                   // with the new axes of size 1, and without the removed axes
  std::string problem;
};
inline slice_plan plan_slice(const shape& input, std::span<const std::int64_t> begin, std::span<const std::int64_t> end,
                             std::span<const std::int64_t> strides, const slice_masks& masks) {
  slice_plan plan;
  if (strides.size() > max_slice_entries) {
    plan.problem = "a slice of " + std::to_string(strides.size()) + " entries, more than any tensor has axes";
    return plan;
  }
  if (begin.size() != strides.size() || end.size() != strides.size()) {
    plan.problem = "begin, end and strides must be of one length";
    return plan;
  }
  const int entries = static_cast<int>(strides.size());
  const auto bit = [](std::int64_t mask, int k) { return (mask >> k & 1) != 0; };
  int taken = 0;  // number of input axes that entries name
  int made = 0;   // number of new axes
  bool has_ellipsis = false;
  for (int k = 0; k < entries; ++k) {
    if (!bit(masks.ellipsis, k) && bit(masks.new_axis, k)) ++made;
    if (bit(masks.ellipsis, k)) {
      if (has_ellipsis) plan.problem = "Multiple ellipses in slice spec not allowed";
      has_ellipsis = true;
    } else if (!bit(masks.new_axis, k)) {
      ++taken;
    }
  }
  if (taken > input.rank && plan.problem.empty())
    plan.problem =
        "Index out of range using input dim " + std::to_string(taken - 1) + "; input has only " + std::to_string(input.rank) + " dims";
  if (input.rank + made > max_rank && plan.problem.empty()) plan.problem = "new axes make more than 8 dimensions";
  if (!plan.problem.empty()) return plan;
  int axis = 0;
  const auto whole = [&](int count) {
    for (int i = 0; i < count; ++i, ++axis) {
      plan.walks.push_back({0, 1, input[axis]});
      plan.result.push(input[axis]);
    }
  };
  for (int k = 0; k < entries; ++k) {
    const auto at = static_cast<std::size_t>(k);
    if (bit(masks.ellipsis, k)) {
      whole(input.rank - taken);
      continue;
    }
    if (bit(masks.new_axis, k)) {
      plan.result.push(1);
      continue;
    }
    const std::int64_t size = input[axis];
    if (bit(masks.shrink, k)) {
      if (strides[at] <= 0 && strides[at] != 0) plan.problem = "only stride 1 allowed on non-range indexing.";
      const std::int64_t i = begin[at] < 0 && size >= 0 ? begin[at] + size : begin[at];
      if (size >= 0 && (i < 0 || i >= size))
        plan.problem = "slice index " + std::to_string(begin[at]) + " of dimension " + std::to_string(axis) + " out of bounds.";
      plan.walks.push_back({i, 1, 1});
    } else {
      if (strides[at] == 0) {
        plan.problem = "strides[" + std::to_string(k) + "] must be non-zero";
        return plan;
      }
      plan.walks.push_back(walk_of(begin[at], end[at], strides[at], size, bit(masks.begin, k), bit(masks.end, k)));
      plan.result.push(plan.walks.back().count < 0 ? unknown_dimension : plan.walks.back().count);
    }
    ++axis;
    if (!plan.problem.empty()) return plan;
  }
  whole(input.rank - axis);
  return plan;
}

inline void strided_slice_shape(shape_context& c) {
  const shape& input = c.input(0).extent;
  const shape& length = c.input(3).extent;
  for (int k = 1; k < 4; ++k) shapes::want_rank(c, k, 1);
  if (!input.has_rank() || !length.has_rank() || !length.is_static()) return;
  const auto entries = static_cast<std::size_t>(length.elements());
  if (entries > max_slice_entries) c.fail("a slice of " + std::to_string(entries) + " entries, more than any tensor has axes");
  const auto begin = c.numbers(1), end = c.numbers(2), strides = c.numbers(3);
  const slice_masks masks{c.integer("begin_mask"), c.integer("end_mask"), c.integer("ellipsis_mask"), c.integer("new_axis_mask"),
                          c.integer("shrink_axis_mask")};
  const bool known =
      begin && end && strides && c.constant(1) && c.constant(2) && c.constant(3) && begin->size() == entries && end->size() == entries;
  const std::vector<std::int64_t> none(entries, 0), ones(entries, 1);
  const auto plan = known ? plan_slice(input, *begin, *end, *strides, masks) : plan_slice(input, none, none, ones, masks);
  if (!plan.problem.empty()) {
    if (known) c.fail(plan.problem);
    return;
  }
  shape result = plan.result;
  if (!known)
    for (int i = 0; i < result.rank; ++i) result.dim[i] = unknown_dimension;
  c.set(0, result);
}

LEAT_FILL(fill_array_definitions) {
  using shapes::vector_of;
  constexpr facts moves{.is = nature::pure, .narrow = narrow_rule::moves};
  constexpr facts exact{.is = nature::pure, .narrow = narrow_rule::exact};
  constexpr facts ordered{.is = nature::pure, .narrow = narrow_rule::ordered};
  const auto shape_of_each = [](shape_context& c) {
    for (int k = 0; k < c.result_count(); ++k)
      c.set(k, vector_of(c.input(k).extent.has_rank() ? c.input(k).extent.rank : -1));
  };
  define_operator(
      "Shape(input: T) -> (output: out_type); out_type: {int32, int64} = int32",
      {.is = nature::pure, .work = work_kind::none, .depends_on = looks_at::shape, .integers = integer_rule::shape, .stops_gradient = true},
      shape_of_each);
  define_operator("ShapeN(input: N*T) -> (output: N*out_type); out_type: {int32, int64} = int32",
                  {.is = nature::pure, .work = work_kind::none, .depends_on = looks_at::shapes, .stops_gradient = true}, shape_of_each);
  define_operator(
      "Rank(input: T) -> (output: int32)",
      {.is = nature::pure, .work = work_kind::none, .depends_on = looks_at::shape, .integers = integer_rule::rank, .stops_gradient = true},
      shapes::numbers);
  define_operator(
      "Size(input: T) -> (output: out_type); out_type: {int32, int64} = int32",
      {.is = nature::pure, .work = work_kind::none, .depends_on = looks_at::shape, .integers = integer_rule::size, .stops_gradient = true},
      shapes::numbers);
  define_operator("ZerosLike(x: T) -> (y: T)", {.is = nature::pure, .narrow = narrow_rule::exact, .stops_gradient = true, .is_zero = true},
                  shapes::like<0>);
  define_operator("OnesLike(x: T) -> (y: T)", {.is = nature::pure, .narrow = narrow_rule::exact, .stops_gradient = true}, shapes::like<0>);
  define_operator("Fill(dims: index_type, value: T) -> (output: T); index_type: {int32, int64} = int32",
                  {.is = nature::pure, .work = work_kind::filled, .narrow = narrow_rule::moves, .values = {0, 1}}, [](shape_context& c) {
                    shapes::want_rank(c, 0, 1);
                    shapes::want_rank(c, 1, 0);
                    c.set(0, shapes::from_numbers(c, 0));
                  });
  define_operator("Range(start: Tidx, limit: Tidx, delta: Tidx) -> (output: Tidx); Tidx: {float32, float64, int32, int64}",
                  {.is = nature::pure, .work = work_kind::none, .integers = integer_rule::range, .stops_gradient = true},
                  [](shape_context& c) {
                    const auto start = shapes::number(c, 0), limit = shapes::number(c, 1), delta = shapes::number(c, 2);
                    std::int64_t count = -1;
                    if (start && limit && delta && c.constant(0) && c.constant(2) && *delta != 0 && (c.constant(1) || *limit >= 0)) {
                      if (const auto n = leat::range_count(*start, *limit, *delta)) count = *n;
                    }
                    c.set(0, vector_of(count));
                  });
  define_operator("Pack(values: N*T) -> (output: T); axis: int = 0",
                  {.is = nature::pure, .integers = integer_rule::packed, .narrow = narrow_rule::moves}, packed_shape);
  define_operator("Unpack(value: T) -> (output: num*T); num: int >= 0; axis: int = 0", moves, unpacked_shape);
  define_operator("Split(split_dim: int32, value: T) -> (output: num_split*T); num_split: int >= 1",
                  {.is = nature::pure, .narrow = narrow_rule::moves, .values = {0, 1}}, split_shape);
  define_operator(
      "SplitV(value: T, size_splits: Tlen, split_dim: int32) -> (output: num_split*T); num_split: int >= 1; Tlen: {int32, int64}",
      {.is = nature::pure, .narrow = narrow_rule::moves, .values = {1, 2}}, split_sizes_shape);
  define_operator("ConcatOffset(concat_dim: int32, shape: N*shape_type) -> (offset: N*shape_type); shape_type: {int32, int64} = int32",
                  {.is = nature::pure, .stops_gradient = true}, [](shape_context& c) {
                    for (int k = 0; k < c.result_count(); ++k) c.set(k, c.input(k + 1).extent);
                  });
  define_operator("Tile(input: T, multiples: Tmultiples) -> (output: T); Tmultiples: {int32, int64}",
                  {.is = nature::pure, .work = work_kind::tiled, .narrow = narrow_rule::moves, .values = {1, 1}}, [](shape_context& c) {
                    shape extent = c.input(0).extent;
                    const auto multiples = c.numbers(1);
                    if (!extent.has_rank()) return;
                    if (multiples && multiples->size() != static_cast<std::size_t>(extent.rank))
                      c.fail("Shape must be rank " + std::to_string(multiples->size()) + " but is rank " + std::to_string(extent.rank));
                    for (int i = 0; i < extent.rank; ++i) {
                      const std::int64_t times = multiples ? (*multiples)[static_cast<std::size_t>(i)] : -1;
                      if (extent[i] < 0 || times < 0) extent.dim[i] = unknown_dimension;
                      else if (!multiplies(extent[i], times, extent.dim[i]))
                        c.fail("a result of more than 2^44 elements, which no memory holds");
                    }
                    c.set(0, extent);
                  });
  define_operator("TileGrad(input: T, multiples: int32) -> (output: T)",
                  {.is = nature::pure, .work = work_kind::elements, .values = {1, 1}}, [](shape_context& c) {
                    shape extent = c.input(0).extent;
                    if (!extent.has_rank()) return;
                    for (int i = 0; i < extent.rank; ++i) extent.dim[i] = unknown_dimension;
                    c.set(0, extent);
                  });
  define_operator(
      "StridedSlice(input: T, begin: Index, end: Index, strides: Index) -> (output: T); Index: {int32, int64}; begin_mask: int = 0; "
      "end_mask: int = 0; ellipsis_mask: int = 0; new_axis_mask: int = 0; shrink_axis_mask: int = 0",
      {.is = nature::pure, .work = work_kind::none, .integers = integer_rule::slice, .narrow = narrow_rule::moves, .values = {1, 3}},
      strided_slice_shape);
  define_operator(
      "StridedSliceGrad(shape: Index, begin: Index, end: Index, strides: Index, dy: T) -> (output: T); Index: {int32, int64}; "
      "begin_mask: int = 0; end_mask: int = 0; ellipsis_mask: int = 0; new_axis_mask: int = 0; shrink_axis_mask: int = 0",
      {.is = nature::pure, .values = {0, 4}}, [](shape_context& c) { c.set(0, shapes::from_numbers(c, 0)); });
  const auto define_segments = [](const std::string& type, narrow_rule narrow) {
    define_operator(type + "(data: T, segment_ids: Tindices) -> (output: T); Tindices: {int32, int64}",
                    {.is = nature::pure, .narrow = narrow}, [](shape_context& c) {
                      shapes::want_rank(c, 1, 1);
                      shape extent = c.input(0).extent;
                      if (!extent.has_rank()) return;
                      if (extent.rank == 0) c.fail("Shape must be at least rank 1 but is rank 0");
                      extent.dim[0] = unknown_dimension;
                      c.set(0, extent);
                    });
  };
  for (const char* type : {"SegmentSum", "SegmentProd"}) define_segments(type, narrow_rule::exact);
  for (const char* type : {"SegmentMean", "SegmentMax", "SegmentMin"}) define_segments(type, narrow_rule::computes);
  define_operator("ReverseV2(tensor: T, axis: Tidx) -> (output: T); Tidx: {int32, int64} = int32", moves, shapes::like<0>);
  define_operator("Reverse(tensor: T, dims: bool) -> (output: T)", moves, shapes::like<0>);
  define_operator("BroadcastGradientArgs(s0: T, s1: T) -> (r0: T, r1: T); T: {int32, int64} = int32",
                  {.is = nature::pure, .stops_gradient = true}, [](shape_context& c) { c.set_all(vector_of(-1)); });
  define_operator("BroadcastArgs(s0: T, s1: T) -> (r0: T); T: {int32, int64} = int32", {.is = nature::pure, .stops_gradient = true},
                  [](shape_context& c) {
                    const shape &a = c.input(0).extent, &b = c.input(1).extent;
                    for (const int k : {0, 1}) shapes::want_rank(c, k, 1);
                    const bool is_known = a.has_rank() && b.has_rank() && a[0] >= 0 && b[0] >= 0;
                    c.set(0, vector_of(is_known ? std::max(a[0], b[0]) : unknown_dimension));
                  });
  define_operator("Empty(shape: int32) -> (output: dtype); init: bool = false",
                  {.is = nature::pure, .narrow = narrow_rule::exact, .stops_gradient = true},
                  [](shape_context& c) { c.set(0, shapes::from_numbers(c, 0)); });
  define_operator("DeepCopy(x: T) -> (y: T)", {.is = nature::pure, .narrow = narrow_rule::any}, shapes::like<0>);
  define_operator("ParallelConcat(values: N*T) -> (output: T); shape: shape", {.is = nature::pure}, [](shape_context& c) {
    const auto* a = c.attribute("shape");
    const auto* said = a != nullptr ? a->get_if<tensor_shape_proto>() : nullptr;
    if (said == nullptr) return;
    const shape whole = to_shape(*said);
    if (!whole.is_static()) c.fail("shape attr must be fully defined.");
    if (whole.rank == 0) c.fail("Shape must be at least rank 1 but is rank 0");
    shape row = whole;
    row.dim[0] = 1;
    for (int k = 0; k < c.input_count(); ++k)
      if (!may_equal(c.input(k).extent, row))
        c.fail("All input shapes must be " + leat::shape_text(row) + ", not " + leat::shape_text(c.input(k).extent));
    c.set(0, whole);
  });
  define_operator("Where(input: T) -> (index: int64); T: type = bool",
                  {.is = nature::pure, .narrow = narrow_rule::exact, .stops_gradient = true}, [](shape_context& c) {
                    shape s = vector_of(-1);
                    s.push(c.input(0).extent.has_rank() ? c.input(0).extent.rank : unknown_dimension);
                    c.set(0, s);
                  });
  define_operator("Select(condition: bool, t: T, e: T) -> (output: T)", moves, [](shape_context& c) {
    if (!may_equal(c.input(1).extent, c.input(2).extent))
      c.fail("Dimensions must be equal: " + leat::shape_text(c.input(1).extent) + " and " + leat::shape_text(c.input(2).extent));
    c.set(0, known_of(c.input(1).extent, c.input(2).extent));
  });
  define_operator(
      "Gather(params: Tparams, indices: Tindices) -> (output: Tparams); validate_indices: bool = true; Tindices: {int32, int64}",
      {.is = nature::pure, .work = work_kind::gathered, .narrow = narrow_rule::moves}, [](shape_context& c) {
        const shape& params = c.input(0).extent;
        const shape& indices = c.input(1).extent;
        if (!params.has_rank() || !indices.has_rank()) return;
        if (params.rank == 0) c.fail("Shape must be at least rank 1 but is rank 0");
        shape result = indices;
        for (int i = 1; i < params.rank; ++i) result.push(params[i]);
        c.set(0, result);
      });
  define_operator("GatherNd(params: Tparams, indices: Tindices) -> (output: Tparams); Tindices: {int32, int64}",
                  {.is = nature::pure, .work = work_kind::gathered, .narrow = narrow_rule::moves}, [](shape_context& c) {
                    const shape& params = c.input(0).extent;
                    const shape& indices = c.input(1).extent;
                    if (!params.has_rank() || !indices.has_rank() || indices.rank == 0 || indices[indices.rank - 1] < 0) return;
                    const auto depth = indices[indices.rank - 1];
                    if (depth > params.rank) c.fail("indices.shape[-1] must be <= params.rank");
                    shape result;
                    for (int i = 0; i + 1 < indices.rank; ++i) result.push(indices[i]);
                    for (int i = static_cast<int>(depth); i < params.rank; ++i) result.push(params[i]);
                    c.set(0, result);
                  });
  define_operator("ScatterNd(indices: Tindices, updates: T, shape: Tindices) -> (output: T); Tindices: {int32, int64}",
                  {.is = nature::pure, .work = work_kind::scattered, .narrow = narrow_rule::exact},
                  [](shape_context& c) { c.set(0, shapes::from_numbers(c, 2)); });
  define_operator(
      "ReverseSequence(input: T, seq_lengths: Tlen) -> (output: T); seq_dim: int; batch_dim: int = 0; Tlen: {int32, int64} = int64",
      {.is = nature::pure}, shapes::like<0>);
  define_operator("InvertPermutation(x: T) -> (y: T); T: {int32, int64} = int32", {.is = nature::pure, .stops_gradient = true},
                  shapes::like<0>);
  define_operator(
      "DynamicPartition(data: T, partitions: int32) -> (outputs: num_partitions*T); num_partitions: int >= 1", moves, [](shape_context& c) {
        const shape& data = c.input(0).extent;
        const shape& partitions = c.input(1).extent;
        if (!data.has_rank() || !partitions.has_rank()) return;
        for (int i = 0; i < partitions.rank; ++i)
          if (partitions.rank > data.rank || !may_equal(partitions[i], data[i]))
            c.fail("data.shape must start with partitions.shape: " + leat::shape_text(data) + " and " + leat::shape_text(partitions));
        shape part = vector_of(-1);
        for (int i = partitions.rank; i < data.rank; ++i) part.push(data[i]);
        c.set_all(part);
      });
  const auto stitched = [](shape_context& c) {
    const int n = c.input_count() / 2;
    const shape& indices = c.input(0).extent;
    const shape& data = c.input(n).extent;
    if (!data.has_rank() || !indices.has_rank()) return;
    std::int64_t largest = -1;
    bool known = true;
    for (int k = 0; k < n; ++k) {
      const auto numbers = c.numbers(k);
      known = known && numbers && c.constant(k);
      if (known)
        for (auto i : *numbers) largest = std::max(largest, std::min(i, max_elements));
    }
    shape result = vector_of(known ? largest + 1 : -1);
    for (int i = indices.rank; i < data.rank; ++i) result.push(data[i]);
    c.set(0, result);
  };
  define_operator("DynamicStitch(indices: N*int32, data: N*T) -> (merged: T)", moves, stitched);
  define_operator("ParallelDynamicStitch(indices: N*int32, data: N*T) -> (merged: T)", {.is = nature::pure}, stitched);
  define_operator(
      "TopKV2(input: T, k: Tk) -> (values: T, indices: index_type); sorted: bool = true; Tk: type = int32; index_type: type = int32",
      ordered, [](shape_context& c) {
        shape extent = c.input(0).extent;
        if (!extent.has_rank() || extent.rank == 0) return;
        extent.dim[extent.rank - 1] = std::max(shapes::number(c, 1).value_or(unknown_dimension), unknown_dimension);
        c.set_all(extent);
      });
  define_operator("TopK(input: T) -> (values: T, indices: int32); k: int >= 0; sorted: bool = true", ordered, [](shape_context& c) {
    shape extent = c.input(0).extent;
    if (!extent.has_rank() || extent.rank == 0) return;
    extent.dim[extent.rank - 1] = c.integer("k");
    c.set_all(extent);
  });
  define_operator("InTopK(predictions: float32, targets: T) -> (precision: bool); k: int; T: {int32, int64} = int32",
                  {.is = nature::pure, .stops_gradient = true}, shapes::like<1>);
  define_operator("InTopKV2(predictions: float32, targets: T, k: T) -> (precision: bool); T: {int32, int64} = int32",
                  {.is = nature::pure, .stops_gradient = true}, shapes::like<1>);
  define_operator("NthElement(input: T, n: int32) -> (values: T); reverse: bool = false", {.is = nature::pure}, [](shape_context& c) {
    shapes::want_rank(c, 1, 0);
    shape extent = c.input(0).extent;
    if (!extent.has_rank()) return;
    if (extent.rank == 0) c.fail("Shape must be at least rank 1 but is rank 0");
    const auto n = shapes::number(c, 1);
    const std::int64_t columns = extent[extent.rank - 1];
    if (n && c.constant(1) && columns >= 0 && *n >= columns)
      c.fail("Input must have last dimension > n = " + std::to_string(*n) + " but is " + std::to_string(columns));
    --extent.rank;
    c.set(0, extent);
  });
  define_operator("Unique(x: T) -> (y: T, idx: out_idx); out_idx: type = int32", exact, [](shape_context& c) {
    c.set(0, vector_of(-1));
    c.set(1, c.input(0).extent);
  });
  define_operator("ListDiff(x: T, y: T) -> (out: T, idx: out_idx); out_idx: type = int32", {.is = nature::pure},
                  [](shape_context& c) { c.set_all(vector_of(-1)); });
  define_operator("PlaceholderV2() -> (output: dtype); shape: shape", {.is = nature::effect, .work = work_kind::none},
                  [](shape_context& c) {
                    const auto* a = c.attribute("shape");
                    if (a != nullptr && a->get_if<tensor_shape_proto>() != nullptr) c.set(0, to_shape(*a->get_if<tensor_shape_proto>()));
                  });
  define_operator(
      "PlaceholderWithDefault(input: dtype) -> (output: dtype); shape: shape",
      {.is = nature::inert, .work = work_kind::none, .forwards = true}, [](shape_context& c) {
        const auto* a = c.attribute("shape");
        const auto* said = a != nullptr ? a->get_if<tensor_shape_proto>() : nullptr;
        if (said == nullptr) return;
        const shape extent = to_shape(*said);
        if (!may_equal(c.input(0).extent, extent))
          c.fail("the input has shape " + leat::shape_text(c.input(0).extent) + ", the attribute shape is " + leat::shape_text(extent));
        c.set(0, extent);
      });
}

}  // namespace leat::detail
