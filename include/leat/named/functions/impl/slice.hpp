#pragma once
// Implementation of named_slice.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/shape.hpp>
#include <leat/named/functions/slice.hpp>
#include <leat/named/graph/lookup.hpp>

namespace leat::detail {

inline number_argument argument_of(const operand_value& v) {
  return v.tensor() != nullptr ? number_argument(*v.tensor()) : number_argument(*v.literal());
}

}  // namespace leat::detail

namespace leat {

namespace detail {
inline output call_by_segment(const op_info& op, const operand_value& data, const operand_value& segment_ids,
                              const operand_value& num_segments, std::string_view name, const std::source_location& where) {
  if (const tensor_literal* number = num_segments.literal(); number != nullptr && number->number(0) < 0)
    throw invalid_argument(std::string(op.type) + ": Input num_segments == " +
                           std::to_string(static_cast<std::int64_t>(number->number(0))) + " must not be negative.");
  const number_argument count[]{argument_of(num_segments)};
  const output made = call_named(op, {data, segment_ids}, {}, name, op.type, where, 2, count);
  if (made.extent().has_rank() || data.tensor() == nullptr) return made;
  // The shape of a row is known although the number of rows is not.
  const shape rows = data.tensor()->extent();
  const shape ids = segment_ids.tensor() != nullptr ? segment_ids.tensor()->extent() : segment_ids.literal()->extent();
  if (!rows.has_rank() || !ids.has_rank()) return made;
  shape extent;
  extent.push(unknown_dimension);
  for (int i = ids.rank; i < rows.rank; ++i) extent.push(rows[i]);
  set_shape(made, extent);
  return made;
}
inline output call_sorted(std::string_view type, const operand_value& data, const operand_value& ids, std::string_view name,
                          const std::source_location& where) {
  const output t = raw_tensor(data);
  const source_scope line(t.owner(), where);
  return call_operator(t.owner(), type, {t, argument_of(ids)}, {}, name).result();
}
}  // namespace detail

#define LEAT_BY_SEGMENT(function, op)                                                                         \
  LEAT_FUNCTION output function(const operand_value& data, const operand_value& segment_ids,                  \
                                const operand_value& num_segments, std::string_view name,                     \
                                const std::source_location& where) {                                          \
    return detail::call_by_segment(info_of<op>, data, segment_ids, num_segments, name, where);                \
  }
LEAT_BY_SEGMENT(unsorted_segment_sum, segment_sum_op)
LEAT_BY_SEGMENT(unsorted_segment_max, segment_max_op)
LEAT_BY_SEGMENT(unsorted_segment_min, segment_min_op)
LEAT_BY_SEGMENT(unsorted_segment_prod, segment_prod_op)
#undef LEAT_BY_SEGMENT
#define LEAT_SORTED(function, type)                                                                                      \
  LEAT_FUNCTION output function(const operand_value& data, const operand_value& segment_ids, std::string_view name,      \
                                const std::source_location& where) {                                                     \
    return detail::call_sorted(type, data, segment_ids, name, where);                                                    \
  }
LEAT_SORTED(segment_sum, "SegmentSum")
LEAT_SORTED(segment_mean, "SegmentMean")
LEAT_SORTED(segment_prod, "SegmentProd")
LEAT_SORTED(segment_max, "SegmentMax")
LEAT_SORTED(segment_min, "SegmentMin")
#undef LEAT_SORTED

LEAT_FUNCTION output lin_space(const operand_value& start, const operand_value& stop, std::int32_t num, std::string_view name,
                               const std::source_location& where) {
  const std::int64_t numbers[]{num};
  return detail::call_named(info_of<linspace_op>, {start, stop}, numbers, name, "LinSpace", where);
}

LEAT_FUNCTION output strided_slice(const operand_value& x, const index_list& begin, const index_list& end, const index_list& strides,
                                   const slice_options& masks, std::string_view name, const std::source_location& where) {
  const output t = detail::raw_tensor(x);
  const source_scope line(t.owner(), where);
  return call_operator(t.owner(), "StridedSlice", {t, begin.argument(), end.argument(), strides.argument()},
                       {{"begin_mask", masks.begin_mask},
                        {"end_mask", masks.end_mask},
                        {"ellipsis_mask", masks.ellipsis_mask},
                        {"new_axis_mask", masks.new_axis_mask},
                        {"shrink_axis_mask", masks.shrink_axis_mask}},
                       name)
      .result();
}

LEAT_FUNCTION output index(const output& x, const std::vector<axis_index>& entries, std::string_view name,
                           const std::source_location& where) {
  graph& g = x.owner();
  const source_scope line(g, where);
  const name_scope scope(g, name);
  std::vector<std::int32_t> begin, end, strides;
  slice_options masks;
  for (std::size_t k = 0; k < entries.size(); ++k) {
    const axis_index& e = entries[k];
    const std::int64_t bit = std::int64_t{1} << k;
    switch (e.what) {
      case axis_index::kind::position:
        begin.push_back(e.begin);
        end.push_back(e.begin + 1);
        masks.shrink_axis_mask |= bit;
        break;
      case axis_index::kind::range:
        begin.push_back(e.begin);
        end.push_back(e.end);
        if (!e.has_begin) masks.begin_mask |= bit;
        if (!e.has_end) masks.end_mask |= bit;
        break;
      case axis_index::kind::new_axis:
        begin.push_back(0);
        end.push_back(0);
        masks.new_axis_mask |= bit;
        break;
      case axis_index::kind::rest:
        begin.push_back(0);
        end.push_back(0);
        masks.ellipsis_mask |= bit;
        break;
    }
    strides.push_back(e.step);
  }
  if (masks.shrink_axis_mask != 0)  // the end of position -1 would be 0; TensorFlow sets the end mask, too
    for (std::size_t k = 0; k < entries.size(); ++k)
      if (entries[k].what == axis_index::kind::position && entries[k].begin == -1) masks.end_mask |= std::int64_t{1} << k;
  named_part& nodes = g.named();
  const output b = nodes.make_constant(g, begin, "stack");
  const output e = nodes.make_constant(g, end, "stack");
  const output s = nodes.make_constant(g, strides, "stack");
  return strided_slice(x, b, e, s, masks, scope.text(), where);
}

LEAT_FUNCTION output gather_nd(const operand_value& params, const operand_value& indices, std::string_view name,
                               const std::source_location& where) {
  const output t = detail::raw_tensor(params);
  const source_scope line(t.owner(), where);
  return call_operator(t.owner(), "GatherNd", {t, detail::argument_of(indices)}, {}, name).result();
}

LEAT_FUNCTION std::pair<output, output> top_k(const operand_value& x, const operand_value& k, bool sorted, std::string_view name,
                                              const std::source_location& where) {
  const output t = detail::raw_tensor(x);
  const source_scope line(t.owner(), where);
  const graph_operation made = call_operator(t.owner(), "TopKV2", {t, detail::argument_of(k)}, {{"sorted", sorted}}, name);
  return {made.result(0), made.result(1)};
}

LEAT_FUNCTION output where_true(const operand_value& condition, std::string_view name, const std::source_location& where) {
  const output t = detail::raw_tensor(condition);
  const source_scope line(t.owner(), where);
  return call_operator(t.owner(), "Where", {t}, {}, name).result();
}

LEAT_FUNCTION output boolean_mask(const output& x, const output& mask, std::string_view name, const std::source_location& where) {
  graph& g = x.owner();
  named_part& nodes = g.named();
  const source_scope line(g, where);
  const name_scope scope(g, name);
  const output t = nodes.value_of(x);
  const int rank = mask.extent().rank;
  if (!mask.extent().has_rank())
    throw invalid_argument("Number of mask dimensions must be specified, even if some dimensions are None: " + describe(mask));
  if (rank == 0) throw invalid_argument("mask cannot be scalar.");
  if (t.extent().has_rank())
    for (int i = 0; i < rank; ++i)
      if (i >= t.extent().rank || !may_equal(mask.extent()[i], t.extent()[i]))
        throw invalid_argument("boolean_mask: " + describe(mask) + " does not fit " + describe(t));
  const output masked = shape_of(t, "Shape", where);
  const output outer = index(masked, {along::between(0, rank)}, "strided_slice", where);
  const output count = reduce_prod(outer, index_list{std::vector<std::int32_t>{0}}, keep_dims::no, "Prod", where);
  const output before = index(shape_of(t, "Shape", where), {along::until(0)}, "strided_slice", where);
  const output after = index(shape_of(t, "Shape", where), {along::from(rank)}, "strided_slice", where);
  output whole;
  {
    const name_scope part(g, "concat");
    const output leading = call_operator(g, "Pack", {count}, {}, "values_1").result();
    const output all[]{before, leading, after};
    const std::int64_t numbers[]{0};
    whole = nodes.build(g, info_of<concat_op>, all, numbers, part.text());
  }
  const output rows = reshape(t, whole, "Reshape", where);
  const output flat = reshape(mask, index_list{std::vector<std::int32_t>{-1}}, "Reshape", where);
  const output places = squeeze(where_true(flat, "Where", where), {1}, "Squeeze", where);
  return gather(rows, places, "GatherV2", where);
}

LEAT_FUNCTION output cumsum(const operand_value& x, std::int32_t axis, cumulative_options options, std::string_view name,
                            const std::source_location& where) {
  const output t = detail::raw_tensor(x);
  const source_scope line(t.owner(), where);
  return call_operator(t.owner(), "Cumsum", {t, tensor_literal(axis)}, {{"exclusive", options.exclusive}, {"reverse", options.reverse}},
                       name)
      .result();
}

LEAT_FUNCTION output cumprod(const operand_value& x, std::int32_t axis, cumulative_options options, std::string_view name,
                             const std::source_location& where) {
  const output t = detail::raw_tensor(x);
  const source_scope line(t.owner(), where);
  return call_operator(t.owner(), "Cumprod", {t, tensor_literal(axis)}, {{"exclusive", options.exclusive}, {"reverse", options.reverse}},
                       name)
      .result();
}

LEAT_FUNCTION output reverse(const operand_value& x, const index_list& axes, std::string_view name, const std::source_location& where) {
  const output t = detail::raw_tensor(x);
  const source_scope line(t.owner(), where);
  return call_operator(t.owner(), "ReverseV2", {t, axes.argument()}, {}, name).result();
}

LEAT_FUNCTION output ones_like(const output& x, std::string_view name, const std::source_location& where) {
  graph& g = x.owner();
  const source_scope line(g, where);
  const name_scope scope(g, name);
  const output t = g.named().value_of(x);
  output sizes;
  if (t.extent().is_static()) {
    std::vector<std::int32_t> list;
    for (int i = 0; i < t.extent().rank; ++i) list.push_back(static_cast<std::int32_t>(t.extent()[i]));
    sizes = g.named().make_constant(g, list, "Shape/shape_as_tensor");
  } else {
    sizes = shape_of(t, "Shape", where);
  }
  const output one = g.named().make_constant(g, {t.type(), {}, 1}, "Const");
  return call_operator(g, "Fill", {sizes, one}, {}, scope.text()).result();
}

LEAT_FUNCTION output one_hot(const operand_value& indices, std::int32_t depth, const tensor_literal& on, const tensor_literal& off,
                             std::string_view name, const std::source_location& where) {
  return one_hot(indices, depth, on, off, -1, name, where);
}
LEAT_FUNCTION output one_hot(const operand_value& indices, std::int32_t depth, const tensor_literal& on, const tensor_literal& off,
                             std::int32_t axis, std::string_view name, const std::source_location& where) {
  graph& g = detail::graph_of(std::span(&indices, 1));
  const source_scope line(g, where);
  const name_scope scope(g, name);
  named_part& nodes = g.named();
  const output high = nodes.make_constant(g, on, "on_value");
  const output low = nodes.make_constant(g, off, "off_value");
  const output from =
      indices.tensor() != nullptr ? nodes.value_of(*indices.tensor()) : nodes.make_constant(g, *indices.literal(), "indices");
  const output count = nodes.make_constant(g, depth, "depth");
  const output only[]{from};
  const number_argument rest[]{count, high, low};
  const std::int64_t numbers[]{depth, static_cast<std::int64_t>(on.type()), 0, 0, axis};
  return nodes.build(g, info_of<one_hot_op>, only, numbers, scope.text(), rest);
}

LEAT_FUNCTION output choose(const output& condition, const output& x, const output& y, std::string_view name,
                            const std::source_location& where) {
  const source_scope line(condition.owner(), where);
  return call_operator(condition.owner(), "Select", {condition, x, y}, {}, name).result();
}

}  // namespace leat
