#pragma once
// Slices of named graphs, by positions, ranges and steps along each axis: `index(x, {0})` is NumPy's x[0], `index(x, {along::all(),
// along::from(1)})` is x[:, 1:]. Each becomes one StridedSlice node. Source: TensorFlow `strided_slice`.

#include <leat/named/functions/named_shape.hpp>

namespace leat {

/// An entry of `index`: a position, which removes its axis, or a result of the functions in `along`.
class axis_index {
 public:
  enum class kind { position, range, new_axis, rest };
  axis_index(std::int32_t position) : kind_(kind::position), begin_(position) {}
  axis_index(kind k, std::optional<std::int32_t> begin, std::optional<std::int32_t> end, std::int32_t step)
      : kind_(k), begin_(begin), end_(end), step_(step) {}
  kind what() const { return kind_; }
  const std::optional<std::int32_t>& begin() const { return begin_; }
  const std::optional<std::int32_t>& end() const { return end_; }
  std::int32_t step() const { return step_; }

 private:
  kind kind_;
  std::optional<std::int32_t> begin_;
  std::optional<std::int32_t> end_;
  std::int32_t step_ = 1;
};

namespace along {
/// The whole axis, `:`, or each `step`-th element of it, `::step`.
inline axis_index all(std::int32_t step = 1) { return {axis_index::kind::range, {}, {}, step}; }
/// `begin:`; negative numbers count from the end.
inline axis_index from(std::int32_t begin, std::int32_t step = 1) { return {axis_index::kind::range, begin, {}, step}; }
/// `:end`.
inline axis_index until(std::int32_t end, std::int32_t step = 1) { return {axis_index::kind::range, {}, end, step}; }
/// `begin:end`.
inline axis_index between(std::int32_t begin, std::int32_t end, std::int32_t step = 1) {
  return {axis_index::kind::range, begin, end, step};
}
/// A new axis of size 1.
inline axis_index new_axis() { return {axis_index::kind::new_axis, {}, {}, 1}; }
/// All axes that the other entries do not name, `...`; at most once.
inline axis_index rest() { return {axis_index::kind::rest, {}, {}, 1}; }
}  // namespace along

/// The masks of a strided slice as in TensorFlow, one bit per entry: omitted begin or end, ellipsis, new axis, removed axis.
struct slice_options {
  std::int64_t begin_mask = 0;
  std::int64_t end_mask = 0;
  std::int64_t ellipsis_mask = 0;
  std::int64_t new_axis_mask = 0;
  std::int64_t shrink_axis_mask = 0;
};

/// The elements from `begin` to before `end` in steps of `strides`, along the first axes. Source: `strided_slice`.
/// Errors: invalid_argument for a step of 0, a position out of range, more entries than axes.
inline output strided_slice(const operand_value& x, const index_list& begin, const index_list& end, const index_list& strides,
                            const slice_options& masks = {}, std::string_view name = "StridedSlice",
                            const std::source_location& where = std::source_location::current()) {
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

/// x[entries...]. Errors: as `strided_slice`.
inline output index(const output& x, const std::vector<axis_index>& entries, std::string_view name = "strided_slice",
                    const std::source_location& where = std::source_location::current()) {
  graph& g = x.owner();
  const source_scope line(g, where);
  const name_scope scope(g, name);
  std::vector<std::int32_t> begin, end, strides;
  slice_options masks;
  for (std::size_t k = 0; k < entries.size(); ++k) {
    const axis_index& e = entries[k];
    const std::int64_t bit = std::int64_t{1} << k;
    switch (e.what()) {
      case axis_index::kind::position:
        begin.push_back(*e.begin());
        end.push_back(*e.begin() + 1);
        masks.shrink_axis_mask |= bit;
        break;
      case axis_index::kind::range:
        begin.push_back(e.begin().value_or(0));
        end.push_back(e.end().value_or(0));
        if (!e.begin()) masks.begin_mask |= bit;
        if (!e.end()) masks.end_mask |= bit;
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
    strides.push_back(e.step());
  }
  if (masks.shrink_axis_mask != 0)  // the end of position -1 would be 0; TensorFlow masks it, too
    for (std::size_t k = 0; k < entries.size(); ++k)
      if (entries[k].what() == axis_index::kind::position && *entries[k].begin() == -1) masks.end_mask |= std::int64_t{1} << k;
  named_part& nodes = g.named();
  const output b = nodes.make_constant(g, begin, "stack");
  const output e = nodes.make_constant(g, end, "stack");
  const output s = nodes.make_constant(g, strides, "stack");
  return strided_slice(x, b, e, s, masks, scope.text(), where);
}

/// The elements or slices of `params` at the index tuples in the last axis of `indices`. Shapes: params [d0, …, dn], indices [..., k];
/// result [..., dk, …, dn]. Dtypes: indices int32 or int64. Source: `gather_nd`.
inline output gather_nd(const operand_value& params, const operand_value& indices, std::string_view name = "GatherNd",
                        const std::source_location& where = std::source_location::current()) {
  const output t = detail::raw_tensor(params);
  const source_scope line(t.owner(), where);
  const number_argument second = indices.tensor() != nullptr ? number_argument(*indices.tensor()) : number_argument(*indices.literal());
  return call_operator(t.owner(), "GatherNd", {t, second}, {}, name).result();
}

/// The `k` largest elements along the last axis, and their indices, int32: both sorted from the largest down, whatever `sorted` says.
/// The lower index comes first among equals; NaN is above all numbers. Shapes: x [..., n]; results [..., k]. Dtypes: numbers.
/// Errors in a run: invalid_argument unless 0 ≤ k ≤ n. Source: `top_k`.
inline std::pair<output, output> top_k(const operand_value& x, std::int32_t k = 1, bool sorted = true, std::string_view name = "TopKV2",
                                       const std::source_location& where = std::source_location::current()) {
  const output t = detail::raw_tensor(x);
  const source_scope line(t.owner(), where);
  const graph_operation made = call_operator(t.owner(), "TopKV2", {t, tensor_literal(k)}, {{"sorted", sorted}}, name);
  return {made.result(0), made.result(1)};
}

/// The indices at which a bool tensor is true, int64 [count, rank]. Source: `where` of one argument.
inline output where_true(const operand_value& condition, std::string_view name = "Where",
                         const std::source_location& where = std::source_location::current()) {
  const output t = detail::raw_tensor(condition);
  const source_scope line(t.owner(), where);
  return call_operator(t.owner(), "Where", {t}, {}, name).result();
}
/// x where the condition holds, y elsewhere, all of one shape; a condition of rank 1 selects rows. Source: `where` of TensorFlow 1.x.
/// `select` broadcasts.
inline output choose(const output& condition, const output& x, const output& y, std::string_view name = "Select",
                     const std::source_location& where = std::source_location::current()) {
  const source_scope line(condition.owner(), where);
  return call_operator(condition.owner(), "Select", {condition, x, y}, {}, name).result();
}

/// The elements, or rows, of x where the mask, over its first k dimensions, is true. Shapes: x [d0, …, dn], mask [d0, …]; result
/// [count, dk, …, dn]. Source: `boolean_mask`.
/// Errors: invalid_argument if the rank of the mask is 0 or unknown, or its shape does not fit.
inline output boolean_mask(const output& x, const output& mask, std::string_view name = "boolean_mask",
                           const std::source_location& where = std::source_location::current()) {
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

/// Options of cumulative functions.
struct cumulative_options {
  bool exclusive = false;  // excludes the element itself
  bool reverse = false;    // starts at the end
};
/// The cumulative sum along an axis. Shapes: result like x. Source: `cumsum`.
inline output cumsum(const operand_value& x, std::int32_t axis = 0, cumulative_options options = {}, std::string_view name = "Cumsum",
                     const std::source_location& where = std::source_location::current()) {
  const output t = detail::raw_tensor(x);
  const source_scope line(t.owner(), where);
  return call_operator(t.owner(), "Cumsum", {t, tensor_literal(axis)}, {{"exclusive", options.exclusive}, {"reverse", options.reverse}},
                       name)
      .result();
}
/// The cumulative product along an axis. Shapes: result like x. Source: `cumprod`.
inline output cumprod(const operand_value& x, std::int32_t axis = 0, cumulative_options options = {}, std::string_view name = "Cumprod",
                      const std::source_location& where = std::source_location::current()) {
  const output t = detail::raw_tensor(x);
  const source_scope line(t.owner(), where);
  return call_operator(t.owner(), "Cumprod", {t, tensor_literal(axis)}, {{"exclusive", options.exclusive}, {"reverse", options.reverse}},
                       name)
      .result();
}
/// x reversed along these axes. Source: `reverse`.
inline output reverse(const operand_value& x, const index_list& axes, std::string_view name = "ReverseV2",
                      const std::source_location& where = std::source_location::current()) {
  const output t = detail::raw_tensor(x);
  const source_scope line(t.owner(), where);
  return call_operator(t.owner(), "ReverseV2", {t, axes.argument()}, {}, name).result();
}

/// Ones of the shape and dtype of x. Source: `ones_like`.
inline output ones_like(const output& x, std::string_view name = "ones_like",
                        const std::source_location& where = std::source_location::current()) {
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

/// Rows of `depth` numbers, `on` at the index and `off` elsewhere. Shapes: indices [...]; result [..., depth]. Source: `one_hot`.
inline output one_hot(const operand_value& indices, std::int32_t depth, const tensor_literal& on = 1.0f, const tensor_literal& off = 0.0f,
                      std::string_view name = "one_hot", const std::source_location& where = std::source_location::current()) {
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
  const std::int64_t numbers[]{depth, static_cast<std::int64_t>(on.type()), 0, 0};
  return nodes.build(g, info_of<one_hot_op>, only, numbers, scope.text(), rest);
}

}  // namespace leat
