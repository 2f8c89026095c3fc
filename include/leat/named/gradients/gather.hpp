#pragma once
// Gradients of operators that take elements by index, or store them by index, in graphs with names, node for node as TensorFlow makes them:
// gathers and scatters, the largest elements, segments, and partitions. The gradient of gathered rows is sparse. Source: TensorFlow's
// gradients of the operators of the same names.

#include <leat/core/fill.hpp>
#include <leat/named/functions/slice.hpp>
#include <leat/named/gradients/array.hpp>

namespace leat::detail {

// ---- computations on sizes and axes --------------------------------------------------------------------------------------

/// A part of a vector: a vector tensor, a scalar tensor, or a plain value.
struct vector_part {
  enum class kind { vector, scalar, number };
  kind what = kind::number;
  output tensor{};
  std::int32_t number = 0;

  static vector_part of(const output& vector) { return {kind::vector, vector}; }
  static vector_part scalar(const output& tensor) { return {kind::scalar, tensor}; }
  vector_part(kind k, const output& t) : what(k), tensor(t) {}
  vector_part(std::int32_t n) : number(n) {}
};
/// The parts concatenated to one vector, "concat". Scalars and plain values become nodes in its scope.
inline output vector_of_parts(graph& g, const std::vector<vector_part>& parts) {
  const name_scope scope(g, "concat");
  std::vector<output> values;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const vector_part& p = parts[k];
    const std::string name = "values_" + std::to_string(k);
    switch (p.what) {
      case vector_part::kind::vector: values.push_back(p.tensor); break;
      case vector_part::kind::scalar: values.push_back(stack({p.tensor}, 0, name)); break;
      case vector_part::kind::number: values.push_back(g.named().make_constant(g, tensor_literal({p.number}), name)); break;
    }
  }
  const output axis = g.named().make_constant(g, std::int32_t{0}, "axis");
  const number_argument only[]{axis};
  return g.named().build(g, info_of<concat_op>, values, {}, scope.text(), only);
}
/// "strided_slice" of a vector, between bounds that are scalar tensors. A bound is empty exactly if the masks say that it is omitted.
inline output part_between(const output& x, const output& begin, const output& end, const slice_options& masks) {
  graph& g = x.owner();
  const auto constant_of = [&](std::int32_t value) { return g.named().make_constant(g, value, "Const"); };
  const output from = static_cast<bool>(begin) ? begin : constant_of(0);
  const output to = static_cast<bool>(end) ? end : constant_of(0);
  const output step = constant_of(1);
  const name_scope scope(g, "strided_slice");
  const output b = stack({from}), e = stack({to}), s = stack({step});
  return call_operator(g, "StridedSlice", {x, b, e, s}, {{"begin_mask", masks.begin_mask}, {"end_mask", masks.end_mask}}, scope.text())
      .result();
}
/// The element of a vector at a position given by a tensor.
inline output element_at(const output& x, const output& position) {
  graph& g = x.owner();
  const output next = position + 1;
  const name_scope scope(g, "strided_slice");
  const output b = stack({position}), e = stack({next});
  const output s = g.named().make_constant(g, tensor_literal({1}), "stack");
  return call_operator(g, "StridedSlice", {x, b, e, s}, {{"shrink_axis_mask", std::int64_t{1}}}, scope.text()).result();
}
/// "range" from a plain value or a scalar tensor to a scalar tensor.
inline output range_to(const vector_part& from, const output& limit) {
  graph& g = limit.owner();
  const name_scope scope(g, "range");
  const output start =
      from.what == vector_part::kind::number ? g.named().make_constant(g, from.number, "start") : from.tensor;
  const output delta = g.named().make_constant(g, std::int32_t{1}, "delta");
  return call_operator(g, "Range", {start, limit, delta}, {}, scope.text()).result();
}
/// The shape of x as a vector of the given integer dtype.
inline output shape_as(const output& x, dtype type) {
  if (type == dtype::int32) return shape_of(x);
  graph& g = x.owner();
  const shape extent = x.extent();
  if (extent.is_static())
    return g.named().make_constant(g, tensor_literal(std::vector<std::int64_t>(extent.dim, extent.dim + extent.rank)), "Shape");
  return g.named()
      .raw(g, "Shape", std::array{x}, {{"T", x.type()}, {"out_type", type}},
           {{type, vector_of(extent.has_rank() ? extent.rank : unknown_dimension)}})
      .result();
}

// ---- gathers and scatters -----------------------------------------------------------------------------------------------

// The sparse gradient of a tensor whose rows were gathered along its first axis, `count` of them.
inline gradient_value gradient_of_rows(const gradient_call& c, const output& dy, const output& its_shape, const output& count) {
  const output params = c.input(0);
  const output indices = c.input(1);
  const output tail = index(its_shape, {along::from(1)});
  const output rows_shape = concat_node({count, tail}, tensor_literal(std::int32_t{0}));
  const output rows = reshape(dy, rows_shape);
  shape extent = params.extent();
  if (extent.rank > 0) extent.dim[0] = indices.extent().is_static() ? indices.extent().elements() : unknown_dimension;
  set_shape(rows, extent);
  return {rows, reshape(indices, count), its_shape};
}
// Converts indices within each batch to indices into the slices of all batches, stored one after another. Source: `_GetBatchIndices`.
inline output indices_across_batches(const output& indices, const output& sizes, std::int32_t batch_dims) {
  graph& g = indices.owner();
  const output typed_sizes = cast(sizes, indices.type());
  const auto scalar = [&](std::int32_t value, std::string_view name) {
    return g.named().make_constant(g, {indices.type(), {}, static_cast<double>(value)}, name);
  };
  const auto ones = [&](const output& count, std::int32_t number) {
    const name_scope scope(g, "Tile");
    const output one = g.named().make_constant(g, tensor_literal({1}), "input");
    const output times =
        static_cast<bool>(count) ? stack({count}, 0, "multiples") : g.named().make_constant(g, tensor_literal({number}), "multiples");
    return call_operator(g, "Tile", {one, times}, {}, scope.text()).result();
  };
  output all = indices;
  output stride = scalar(1, "ones");
  for (std::int32_t dim = batch_dims; dim > 0; --dim) {
    const output size = index(typed_sizes, {dim - 1});
    stride = stride * index(typed_sizes, {dim});
    const output start = scalar(0, "zeros");
    const output step = scalar(1, "ones");
    const output places = call_operator(g, "Range", {start, size, step}, {}, "range").result() * stride;
    const output before = ones({}, dim - 1);
    const output behind = ones(rank_of(indices) - dim, 0);
    const output extent = vector_of_parts(
        g, {vector_part::of(before), vector_part::scalar(cast(size, dtype::int32)), vector_part::of(behind)});
    all = all + reshape(places, extent);
  }
  return all;
}
// Sums dy, whose axis after the batch dimensions counts the gathered slices, by the slices' indices. Source: `_BatchGatherGrad`.
inline output sum_of_gathered(const output& dy, const output& indices, const output& params_shape, std::int32_t batch_dims,
                              const output& size) {
  const output count = expand_dims(element_count_of(indices), 0);
  const auto add_up = [&](const output& values, const output& at, const output& segments) {
    const output flat = reshape(at, count);
    shape extent = values.extent();
    if (extent.rank > 0) extent.dim[0] = unknown_dimension;
    return dy.owner()
        .named()
        .raw(dy.owner(), "UnsortedSegmentSum", std::array{values, flat, segments},
             {{"T", values.type()}, {"Tindices", flat.type()}, {"Tnumsegments", segments.type()}}, {{values.type(), extent}})
        .result();
  };
  if (batch_dims == 0) return add_up(dy, indices, size);
  graph& g = dy.owner();
  const output values_shape = shape_of(dy);
  const output outer = index(values_shape, {along::until(batch_dims)});
  const output behind = index(values_shape, {along::from(batch_dims)});
  const output inner = index(behind, {along::from(1)});
  const output batches = reduce_prod(outer, index_list{std::vector<std::int32_t>{0}});
  const output flat_shape = vector_of_parts(g, {-1, vector_part::of(inner)});
  const output segments = size * batches;
  const output at = indices_across_batches(indices, params_shape, batch_dims);
  const output values = reshape(dy, flat_shape);
  const output sums = add_up(values, at, segments);
  return reshape(sums, vector_of_parts(g, {vector_part::of(outer), vector_part::of(flat_shape)}));
}
/// The shape of the variable whose handle is the first input.
inline output shape_by_handle(const gradient_call& c, dtype type) {
  const output variable = c.input(0);
  const shape& s = variable.extent();
  if (s.is_static()) return type == dtype::int32 ? shape_of(variable) : shape_as(variable, type);
  return c.owner()
      .named()
      .raw(c.owner(), "VariableShape", std::array{variable}, {{"out_type", type}}, {{type, vector_of(s.has_rank() ? s.rank : -1)}})
      .result();
}
/// The gradient of rows that are gathered from a variable by its handle.
inline gradient_list gradient_of_gather_by_handle(const gradient_call& c) {
  const output its_shape = shape_by_handle(c, dtype::int32);
  const output count = expand_dims(element_count_of(c.input(1)), 0);
  return {gradient_of_rows(c, c.dy(), its_shape, count)};
}
/// The gradient of a gather. It is sparse for rows of a tensor. Another axis is moved to the front, after the batch dimensions, and back
/// again afterwards.
inline gradient_list gradient_of_gather(const gradient_call& c) {
  const output dy = c.dy();
  const output params = c.input(0);
  const output indices = c.input(1);
  graph& g = c.owner();
  output its_shape;
  {
    const colocate_with there(params);
    its_shape = shape_of(params);
  }
  const output count = expand_dims(element_count_of(indices), 0);
  const auto known_axis = c.input_count() > 2 ? constant_integers(c.input(2)) : std::vector<std::int64_t>{0};
  if (known_axis == std::vector<std::int64_t>{0}) return {gradient_of_rows(c, dy, its_shape, count)};
  std::int64_t batch_dims = c.integer("batch_dims");
  if (batch_dims < 0) {
    if (!indices.extent().has_rank()) refuse_gradient(g, c.operation().index(), "its batch_dims count from an unknown rank");
    batch_dims += indices.extent().rank;
  }
  const auto batches = static_cast<std::int32_t>(batch_dims);
  const output axis = cast(c.input(2), dtype::int32);
  const output outer = part_between(its_shape, {}, axis, {.begin_mask = 1});
  const output behind = part_between(its_shape, axis, {}, {.end_mask = 1});
  if (known_axis && known_axis->size() == 1 && params.extent().has_rank()) {
    const std::int64_t at = axis_of(known_axis->front(), params.extent().rank);
    set_shape(outer, vector_of(at));
    set_shape(behind, vector_of(params.extent().rank - at));
  }
  const output inner = index(behind, {along::from(1)});
  const output values_shape = vector_of_parts(g, {vector_part::of(outer), -1, vector_part::of(inner)});
  const output rank = element_count_of(values_shape);
  const output place = element_count_of(outer);
  const output batch_axes = range(0, batches);
  const output outer_axes = range_to(batches, place);
  const output inner_axes = range_to(vector_part::scalar(place + 1), rank);
  const output values = reshape(dy, values_shape);
  const output to_front = vector_of_parts(
      g, {vector_part::of(batch_axes), vector_part::scalar(place), vector_part::of(outer_axes), vector_part::of(inner_axes)});
  const output in_front = transpose(values, to_front);
  const output sizes = gather(its_shape, to_front, "GatherV2");
  const output sums = sum_of_gathered(in_front, indices, sizes, batches, element_at(its_shape, axis));
  const output moved = outer_axes + 1;
  const output back = vector_of_parts(g, {vector_part::of(batch_axes), vector_part::of(moved), batches, vector_part::of(inner_axes)});
  const output made = transpose(sums, back);
  return {reshape(made, shape_of(params))};
}

template <bool ByHandle>
gradient_list gradient_of_gather_nd(const gradient_call& c) {
  const output dy = c.dy();
  const output indices = c.input(1);
  const output its_shape = ByHandle ? shape_by_handle(c, indices.type()) : shape_as(c.input(0), indices.type());
  const shape& places = indices.extent();
  if (places.has_rank() && places.rank == 2 && places[1] == 1) return {{dy, squeeze(indices, std::vector<std::int64_t>{-1}), its_shape}};
  return {call_operator(c.owner(), "ScatterNd", {indices, dy, its_shape}).result()};
}
inline gradient_list gradient_of_scatter_nd(const gradient_call& c) { return {{}, gather_nd(c.dy(), c.input(0))}; }

/// Elements of a row that are equal to its n-th share the gradient.
inline gradient_list gradient_of_nth_element(const gradient_call& c) {
  const output chosen = cast(equal(expand_dims(c.result(), -1), c.input(0)), c.dy().type());
  const output dy = expand_dims(c.dy(), -1);
  const output count = expand_dims(reduce_sum(chosen, -1), -1);
  return {divide(chosen, count) * dy};
}
/// Each element of dy goes to the position among all elements to which its index in the last axis refers.
inline gradient_list gradient_of_top_k(const gradient_call& c) {
  const output dy = c.dy();
  const output places = c.result(1);
  graph& g = c.owner();
  const auto last_size = [](const output& sizes) {
    const output wide = cast(sizes, dtype::int64);
    return gather(wide, element_count_of(sizes) - 1, "GatherV2");
  };
  const output its_shape = shape_of(c.input(0));
  const output k = last_size(shape_of(places));
  output rows_shape;
  {
    const name_scope scope(g, "stack");
    const output any = g.named().make_constant(g, std::int64_t{-1}, "0");
    rows_shape = stack({any, k}, 0, scope.text());
  }
  const output rows = reshape(places, rows_shape);
  const shape& s = places.extent();
  if (s.is_static() && s.rank > 0 && s[s.rank - 1] > 0) {
    shape known = vector_of(s.elements() / s[s.rank - 1]);
    known.push(s[s.rank - 1]);
    set_shape(rows, known);
  }
  const output size = last_size(its_shape);
  const output limit = cast(index(shape_of(rows), {0}), dtype::int64) * size;
  output begins;
  {
    const name_scope scope(g, "range");
    const output zero = g.named().make_constant(g, std::int32_t{0}, "start");
    const output start = cast(zero, dtype::int64);
    begins = call_operator(g, "Range", {start, limit, size}, {}, scope.text()).result();
  }
  const output column = expand_dims(begins, -1);
  const output at = rows + cast(column, places.type());
  const output flat = expand_dims(reshape(at, {-1}), -1);
  const output slopes = reshape(dy, {-1});
  const output count = reduce_prod(its_shape, all_axes);
  output scattered;
  {
    const name_scope scope(g, "ScatterNd");
    const output whole = stack({cast(count, places.type())}, 0, "shape");
    scattered = call_operator(g, "ScatterNd", {flat, slopes, whole}, {}, scope.text()).result();
  }
  const output made = reshape(scattered, its_shape);
  if (c.input_count() < 2) return {made};  // TopK has k as an attribute
  return {made, g.named().make_constant(g, std::int32_t{0}, "zeros")};
}

// ---- segments and partitions --------------------------------------------------------------------------------------------

inline gradient_list gradient_of_segment_sum(const gradient_call& c) {
  const output dy = c.dy();
  const output ids = c.input(1);
  // Rows with negative ids are in no segment.
  const output zero = zeros_like(ids);
  const output rows = gather(dy, maximum(ids, zero), "GatherV2");
  output kept = greater_equal(ids, zero);
  if (ids.extent().has_rank() && dy.extent().has_rank()) {
    for (int i = 1; i < dy.extent().rank; ++i) kept = expand_dims(kept, -1);
  } else {  // one dimension of 1 for each dimension of a row
    graph& g = c.owner();
    const output more = stack({rank_of(rows) - rank_of(kept)});
    const output ones = call_operator(g, "Fill", {more, tensor_literal(std::int32_t{1})}).result();
    kept = reshape(kept, vector_of_parts(g, {vector_part::of(shape_of(kept)), vector_part::of(ones)}));
  }
  return {select(kept, rows, zeros_like(rows), "SelectV2")};
}
inline gradient_list gradient_of_sorted_segment_sum(const gradient_call& c) { return {gather(c.dy(), c.input(1), "GatherV2")}; }
inline output sorted_segments(std::string_view type, const output& data, const output& ids) {
  return call_operator(data.owner(), type, {data, ids}).result();
}
inline gradient_list gradient_of_segment_mean(const gradient_call& c) {
  const output dy = c.dy();
  const output ids = c.input(1);
  graph& g = c.owner();
  const output more = rank_of(c.input(0)) - std::int32_t{1};
  const output ones = call_operator(g, "Fill", {expand_dims(more, 0), tensor_literal(std::int32_t{1})}).result();
  const output extent = concat_node({shape_of(ids), ones}, tensor_literal(std::int32_t{0}));
  const output one = g.named().make_constant(g, {dy.type(), {}, 1}, "Const");
  const output each = call_operator(g, "Fill", {extent, one}).result();
  return {gather(divide(dy, sorted_segments("SegmentSum", each, ids)), ids, "GatherV2")};
}
/// The gradient of a segment's maximum or minimum: elements that are equal to it share its gradient.
inline gradient_list gradient_of_segment_extremum(const gradient_call& c) {
  const output dy = c.dy();
  const output ids = c.input(1);
  const output zeros = zeros_like(c.input(0));
  const output chosen = equal(c.input(0), gather(c.result(), ids, "GatherV2"));
  const output share = divide(dy, sorted_segments("SegmentSum", cast(chosen, dy.type()), ids));
  return {select(chosen, gather(share, ids, "GatherV2"), zeros, "SelectV2")};
}
/// The gradient of a segment's product. That of an element 0 is the product of the other elements, unless another one is 0.
inline gradient_list gradient_of_segment_prod(const gradient_call& c) {
  const output x = c.input(0);
  const output ids = c.input(1);
  const output is_zero = equal(x, 0.0f);
  const output zeros = sorted_segments("SegmentSum", cast(is_zero, dtype::int32), ids);
  const output several = greater(zeros, std::int32_t{1});
  const output dy = select(several, zeros_like(c.dy()), c.dy(), "SelectV2");
  const output others_of = select(is_zero, ones_like_nodes(x), x, "SelectV2");
  const output others = sorted_segments("SegmentProd", others_of, ids);
  const output whole = gather(c.result(), ids, "GatherV2");
  const output of_zero = gather(others, ids, "GatherV2");
  const output slope = select(is_zero, of_zero, divide(whole, others_of), "SelectV2");
  return {gather(dy, ids, "GatherV2") * slope};
}
/// The gradient of segments of gathered rows; TensorFlow has one operator each for the sum, the mean, and the sum divided by the root of
/// the count.
inline gradient_list gradient_of_sparse_segment(const gradient_call& c) {
  graph& g = c.owner();
  if (c.flag("sparse_gradient")) refuse_gradient(g, c.operation().index(), "its gradient as rows (sparse_gradient)");
  const output dy = c.dy();
  const output x = c.input(0);
  const output rows = index(shape_of(x), {0});
  constexpr std::string_view with_count = "WithNumSegments";
  std::string type(c.operation().type());
  if (type.ends_with(with_count)) type.resize(type.size() - with_count.size());
  type += "Grad";
  const std::array inputs{dy, c.input(1), c.input(2), rows};
  return {g.named().raw(g, type, inputs, c.attributes({"T", "Tidx", "Tsegmentids"}), {info_like(x)}).result()};
}

/// Rows go back to the positions that they came from.
inline gradient_list gradient_of_partition(const gradient_call& c) {
  const output data = c.input(0);
  const output partitions = c.input(1);
  graph& g = c.owner();
  const std::int64_t count = c.integer("num_partitions", 1);
  const output prefix = shape_of(partitions);
  const output rows = reduce_prod(prefix, all_axes);
  output numbers;
  {
    const name_scope scope(g, "range");
    const output start = g.named().make_constant(g, std::int32_t{0}, "start");
    const output delta = g.named().make_constant(g, std::int32_t{1}, "delta");
    numbers = g.named()
                  .raw(g, "Range", std::array{start, rows, delta}, {{"Tidx", dtype::int32}}, {{dtype::int32, vector_of(unknown_dimension)}},
                       scope.text())
                  .result();
  }
  const output places = reshape(numbers, prefix);
  set_shape(places, partitions.extent());
  const auto whose = call_operator(g, "DynamicPartition", {places, partitions}, {{"num_partitions", count}}).outputs();
  std::vector<number_argument> both(whose.begin(), whose.end());
  for (int k = 0; k < static_cast<int>(count); ++k) {
    const bool has_gradient = static_cast<bool>(c.slices(k));
    both.emplace_back(has_gradient ? c.dy(k) : zeros_like(c.result(k)));
  }
  const output together = call_operator(g, "ParallelDynamicStitch", both).result();
  return {reshape(together, shape_of(data))};
}

/// Each operand gets the rows at its indices.
inline gradient_list gradient_of_stitch(const gradient_call& c) {
  const int count = c.input_count() / 2;
  gradient_list result(static_cast<std::size_t>(count));
  const output dy = c.dy();
  for (int k = 0; k < count; ++k) result.emplace_back(gather(dy, c.input(k), "GatherV2"));
  return result;
}

LEAT_FILL(fill_gather_gradients) {
  enter_gradients({
      {"GatherV2", gradient_of_gather},
      {"Gather", gradient_of_gather},
      {"ResourceGather", gradient_of_gather_by_handle},
      {"GatherNd", gradient_of_gather_nd<false>},
      {"ResourceGatherNd", gradient_of_gather_nd<true>},
      {"ScatterNd", gradient_of_scatter_nd},
      {"NthElement", gradient_of_nth_element},
      {"TopKV2", gradient_of_top_k},
      {"TopK", gradient_of_top_k},
      {"UnsortedSegmentSum", gradient_of_segment_sum},
      {"SegmentSum", gradient_of_sorted_segment_sum},
      {"SegmentMean", gradient_of_segment_mean},
      {"SegmentMax", gradient_of_segment_extremum},
      {"SegmentMin", gradient_of_segment_extremum},
      {"SegmentProd", gradient_of_segment_prod},
      {"SparseSegmentSum", gradient_of_sparse_segment},
      {"SparseSegmentMean", gradient_of_sparse_segment},
      {"SparseSegmentSqrtN", gradient_of_sparse_segment},
      {"SparseSegmentSumWithNumSegments", gradient_of_sparse_segment},
      {"SparseSegmentMeanWithNumSegments", gradient_of_sparse_segment},
      {"SparseSegmentSqrtNWithNumSegments", gradient_of_sparse_segment},
      {"DynamicPartition", gradient_of_partition},
      {"DynamicStitch", gradient_of_stitch},
      {"ParallelDynamicStitch", gradient_of_stitch},
  });
}

}  // namespace leat::detail
