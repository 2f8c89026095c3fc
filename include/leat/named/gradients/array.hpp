#pragma once
// Gradients of operators that rearrange arrays, in graphs with names, node for node as TensorFlow 1.x makes them. The gradient of a gather
// is sparse: only the gathered rows. Source: TensorFlow's gradients of the operators of the same names.

#include <leat/core/fill.hpp>
#include <leat/named/control/control_flow.hpp>
#include <leat/named/functions/shape.hpp>
#include <leat/named/gradients/math.hpp>
#include <leat/named/graph/call.hpp>
#include <leat/named/graph/known_value.hpp>
#include <leat/named/graph/lookup.hpp>

namespace leat::detail {

[[noreturn]] inline gradient_list prevented_gradient(const gradient_call& c) {
  const auto* message = c.operation().attributes().find("message");
  const auto* reason = message != nullptr ? message->get_if<std::string>() : nullptr;
  refuse_gradient(c.owner(), c.operation().index(),
                  "Gradient explicitly disabled. Reason: " + (reason != nullptr ? *reason : std::string("none given")));
}

inline gradient_list gradient_of_transpose(const gradient_call& c) {
  const output dy = c.dy();
  const output order = c.input(1);
  const output inverse = gradient_node("InvertPermutation", {order}, {{"T", order.type()}}, info_like(order));
  return {transpose(dy, inverse)};
}
inline gradient_list gradient_of_broadcast_to(const gradient_call& c) {
  const output dy = c.dy();
  const output its_shape = shape_of(c.input(0));
  const auto to = constant_integers(c.input(1));
  if (to && c.input(0).extent().is_static()) {
    shape wide;
    for (auto size : *to) wide.push(size);
    const repeated_axes axes = axes_repeated(wide, c.input(0).extent());
    if (axes.known) return {reduced_to(dy, axes.y, its_shape)};
  }
  const auto axes = broadcast_gradient_args(c.input(1), its_shape);
  return {reduced_to(dy, axes[1], its_shape)};
}
inline gradient_list gradient_of_fill(const gradient_call& c) { return {{}, reduce_sum(c.dy(), all_axes)}; }

inline gradient_list gradient_of_tile(const gradient_call& c) {
  const output dy = c.dy();
  const output x = c.input(0);
  const output its_shape = shape_of(x);
  const output both = stack({c.input(1), its_shape});
  const output in_turn = transpose(both, {1, 0});
  const output split_shape = reshape(in_turn, {-1});
  graph& g = c.owner();
  output axes;
  if (x.extent().has_rank()) {
    axes = range(0, 2 * x.extent().rank, 2);
  } else {
    const name_scope scope(g, "range");
    const output count = element_count_of(split_shape);
    const output start = g.named().make_constant(g, std::int32_t{0}, "start");
    const output delta = g.named().make_constant(g, std::int32_t{2}, "delta");
    axes = g.named()
               .raw(g, "Range", std::array{start, count, delta}, {{"Tidx", dtype::int32}}, {{dtype::int32, vector_of(unknown_dimension)}},
                    scope.text())
               .result();
  }
  return {reduce_sum(reshape(dy, split_shape), axes)};
}
inline gradient_list gradient_of_pack(const gradient_call& c) {
  const auto count = c.input_count();
  const auto axis = c.integer("axis");
  const output dy = c.dy();
  graph& g = c.owner();
  shape part = shape::unknown();
  if (dy.extent().has_rank()) {
    part = {};
    for (int i = 0; i < dy.extent().rank; ++i)
      if (i != axis_of(axis, dy.extent().rank)) part.push(dy.extent()[i]);
  }
  const auto parts = g.named()
                         .raw(g, "Unpack", std::array{dy}, {{"num", static_cast<std::int64_t>(count)}, {"T", dy.type()}, {"axis", axis}},
                              std::vector<tensor_info>(static_cast<std::size_t>(count), {dy.type(), part}), "unstack")
                         .outputs();
  return {parts.begin(), parts.end()};
}
inline std::vector<output> all_dense(const gradient_call& c) {
  std::vector<output> list;
  for (std::size_t k = 0; k < c.all().size(); ++k) list.push_back(c.dy(static_cast<int>(k)));
  return list;
}
inline gradient_list gradient_of_unpack(const gradient_call& c) { return {stack(all_dense(c), c.integer("axis"))}; }

inline gradient_list gradient_of_split(const gradient_call& c) { return {{}, concat_node(all_dense(c), c.input(0))}; }
inline gradient_list gradient_of_split_v(const gradient_call& c) { return {concat_node(all_dense(c), c.input(2))}; }

inline output slice_node(const output& x, const output& begin, const output& size, const shape& result) {
  const output made = slice(x, begin, size);
  set_shape(made, result);
  return made;
}
// The gradients of concatenated values; the last input is the axis.
inline gradient_list gradient_of_concat(const gradient_call& c) {
  const output dy = c.dy();
  const int count = c.input_count() - 1;
  if (count == 1) return {dy};
  gradient_list result;
  graph& g = c.owner();
  const auto value = [&](int k) { return c.input(k); };
  output given = c.input(count);
  // The constant of a loop, or of a branch, is made again where the gradient is.
  if (const auto known = known_numbers(given);
      known && known->size() == 1 && result_context(g, given.index()) != result_context(g, dy.index()) &&
      g.named().contents_of(g, given.index()) != nullptr)
    given = given.type() == dtype::int64 ? g.named().make_constant(g, known->front(), "Const")
                                         : g.named().make_constant(g, static_cast<std::int32_t>(known->front()), "Const");
  const output axis = floor_mod(given, rank_of(value(0)));
  // The shapes are constants if all are static.
  std::vector<output> shapes;
  for (int k = 0; k < count && value(k).extent().is_static(); ++k) shapes.push_back(shape_of(value(k)));
  if (static_cast<int>(shapes.size()) != count) {
    std::vector<output> values;
    std::vector<tensor_info> infos;
    for (int k = 0; k < count; ++k) {
      values.push_back(value(k));
      infos.push_back({dtype::int32, vector_of(value(k).extent().has_rank() ? value(k).extent().rank : unknown_dimension)});
    }
    shapes = g.named()
                 .raw(g, "ShapeN", values, {{"N", static_cast<std::int64_t>(count)}, {"T", dy.type()}, {"out_type", dtype::int32}}, infos)
                 .outputs();
  }
  std::vector<output> inputs{axis};
  std::vector<tensor_info> infos;
  for (const output& s : shapes) {
    inputs.push_back(s);
    infos.push_back({dtype::int32, s.extent()});
  }
  const graph_operation offsets =
      g.named().raw(g, "ConcatOffset", inputs, {{"N", static_cast<std::int64_t>(count)}, {"shape_type", dtype::int32}}, infos);
  for (int k = 0; k < count; ++k)
    result.emplace_back(slice_node(dy, offsets.result(k), shapes[static_cast<std::size_t>(k)], value(k).extent()));
  return result;
}
inline gradient_list gradient_of_slice(const gradient_call& c) {
  const output dy = c.dy();
  const output x = c.input(0);
  graph& g = c.owner();
  const output rank = rank_of(x);
  const output taken = shape_of(c.result());
  output column;
  {
    const name_scope scope(g, "stack");
    const output one = g.named().make_constant(g, std::int32_t{1}, "1");
    column = stack({rank, one}, 0, scope.text());
  }
  const output before = reshape(c.input(1), column);
  const output whole = shape_of(x);
  const output rest = whole - taken;
  const output behind = rest - c.input(1);
  const output after = reshape(behind, column);
  const output paddings = concat_node({before, after}, tensor_literal(std::int32_t{1}));
  const number_argument only[]{paddings};
  const output made = call_with(info_of<pad_op>, dy, only, {}, {}, "Pad", std::source_location());
  return {made};
}
inline gradient_list gradient_of_strided_slice(const gradient_call& c) {
  const output x = c.input(0);
  graph& g = c.owner();
  const output its_shape = shape_of(x);
  attribute_map attributes = c.attributes({"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask", "Index", "T"});
  const name_scope scope(g, "StridedSliceGrad");
  std::vector<output> inputs{its_shape};
  constexpr std::string_view names[]{"begin", "end", "strides"};
  for (int k = 1; k <= 3; ++k) {  // constants are repeated in the gradient's scope
    const tensor_proto* p = c.input(k).port() == 0 ? g.named().contents_of(g, c.input(k).index()) : nullptr;
    const auto values = constant_integers(c.input(k));
    if (p == nullptr || !values || p->dtype != data_type::int32) {
      inputs.push_back(c.input(k));
      continue;
    }
    std::vector<std::int32_t> list(values->begin(), values->end());
    inputs.push_back(g.named().make_constant(g, tensor_literal(list), names[k - 1]));
  }
  inputs.push_back(c.dy());
  return {g.named().raw(g, "StridedSliceGrad", inputs, std::move(attributes), {info_like(x)}, scope.text()).result()};
}
inline gradient_list gradient_of_strided_slice_grad(const gradient_call& c) {
  const output dy = c.dy();
  const output taken = c.input(4);
  attribute_map attributes = c.attributes({"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask", "Index", "T"});
  const std::array inputs{dy, c.input(1), c.input(2), c.input(3)};
  const output made = c.owner().named().raw(c.owner(), "StridedSlice", inputs, std::move(attributes), {info_like(taken)}).result();
  return {{}, {}, {}, {}, made};
}
/// The gradient of an array whose slice was replaced, and of the slice, over which its value was broadcast.
inline gradient_list gradient_of_replaced_slice(const gradient_call& c) {
  const output dy = c.dy(), value = c.input(4);
  const attribute_map attributes = c.attributes({"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"});
  const output of_slice = call_operator(c.owner(), "StridedSlice", {dy, c.input(1), c.input(2), c.input(3)}, attributes).result();
  const output rest =
      call_operator(c.owner(), "TensorStridedSliceUpdate", {dy, c.input(1), c.input(2), c.input(3), zeros_like(of_slice)}, attributes)
          .result();
  const auto axes = broadcast_gradient_args(shape_of(of_slice), shape_of(value));
  return {rest, {}, {}, {}, reshape(reduce_sum(of_slice, axes[1]), shape_of(value))};
}
inline gradient_list gradient_of_pad(const gradient_call& c) {
  const output dy = c.dy();
  const output x = c.input(0);
  graph& g = c.owner();
  const output rank = rank_of(x);
  output sizes;
  {
    const name_scope scope(g, "stack");
    const output one = g.named().make_constant(g, std::int32_t{1}, "1");
    sizes = stack({rank, one}, 0, scope.text());
  }
  const number_argument first_column[]{tensor_literal({0, 0}), sizes};
  const output before = call_with(info_of<slice_op>, c.input(1), first_column, {}, {}, "Slice", std::source_location());
  const output begin = reshape(before, {-1});
  const output its_shape = shape_of(x);
  return {slice_node(dy, begin, its_shape, x.extent())};
}

/// The gradients of two stacks of matrices, summed over the axes before the matrices that were broadcast.
inline gradient_list summed_over_stacks(const gradient_call& c, const output& dx, const output& dy_of_y) {
  const output x = c.input(0);
  const output y = c.input(1);
  const shape& a = x.extent();
  const shape& b = y.extent();
  bool equal_stacks = a.has_rank() && b.has_rank() && a.rank == b.rank;
  for (int i = 0; i + 2 < a.rank && equal_stacks; ++i) equal_stacks = a[i] >= 0 && a[i] == b[i];
  if (equal_stacks || (a.rank == 2 && b.rank == 2)) return {dx, dy_of_y};
  const output x_shape = shape_of(x);
  const output y_shape = shape_of(y);
  const auto stack_part = [&](const output& whole, const shape& extent) {
    return raw_named(
               c.owner(), "StridedSlice", "strided_slice",
               {{"input", whole}, {"stack", tensor_literal({0})}, {"stack_1", tensor_literal({-2})}, {"stack_2", tensor_literal({1})}},
               {{"T", dtype::int32},
                {"Index", dtype::int32},
                {"begin_mask", 1},
                {"end_mask", 0},
                {"ellipsis_mask", 0},
                {"new_axis_mask", 0},
                {"shrink_axis_mask", 0}},
               {{dtype::int32, vector_of(extent.has_rank() ? extent.rank - 2 : unknown_dimension)}}, std::source_location())
        .result();
  };
  const output x_stack = stack_part(x_shape, a);
  const auto axes = broadcast_gradient_args(x_stack, stack_part(y_shape, b));
  const output first = reshape(reduce_sum(dx, axes[0]), x_shape);
  return {first, reshape(reduce_sum(dy_of_y, axes[1]), y_shape)};
}

/// The gradient of a batched matrix product, summed over the batch dimensions that were broadcast.
inline gradient_list gradient_of_stacked_product(const gradient_call& c) {
  const output dy = c.dy();
  const output x = c.input(0);
  const output y = c.input(1);
  const bool tx = c.flag("adj_x");
  const bool ty = c.flag("adj_y");
  const auto product = [&](const output& a, const output& b, bool ta, bool tb) {
    const std::int64_t transposed[]{ta, tb};
    return stacked_product(c.owner(), std::array{a, b}, transposed, {});
  };
  const output dx = tx ? product(y, dy, ty, true) : product(dy, y, false, !ty);
  const output dy_of_y = ty ? product(dy, x, true, tx) : product(x, dy, !tx, false);
  return summed_over_stacks(c, dx, dy_of_y);
}

// ---- along an axis ----------------------------------------------------------------------------------------------------

inline gradient_list gradient_of_reverse(const gradient_call& c) {
  const output dy = c.dy();
  const std::array inputs{dy, c.input(1)};
  attribute_map settings = c.attributes({"T", "Tidx", "Tlen", "seq_dim", "batch_dim"});
  return {c.owner().named().raw(c.owner(), c.operation().type(), inputs, std::move(settings), {info_like(dy)}).result()};
}

/// Rotated back.
inline gradient_list gradient_of_roll(const gradient_call& c) {
  const output dy = c.dy();
  const std::array inputs{dy, negative(c.input(1)), c.input(2)};
  return {c.owner().named().raw(c.owner(), "Roll", inputs, c.attributes({"T", "Tshift", "Taxis"}), {info_like(dy)}).result()};
}

// ---- passed on --------------------------------------------------------------------------------------------------------

inline gradient_list gradient_of_each(const gradient_call& c) { return c.all(); }
inline gradient_list gradient_of_accumulated(const gradient_call& c) {
  return gradient_list(static_cast<std::size_t>(c.input_count()), c.slices());
}

LEAT_FILL(fill_array_gradients) {
  enter_gradients({
      {"Identity", class_gradient<identity_op>},
      {"RefIdentity", class_gradient<identity_op>},
      {"ReadVariableOp", class_gradient<identity_op>},
      {"PlaceholderWithDefault", class_gradient<identity_op>},
      {"PreventGradient", prevented_gradient},
      {"Print", class_gradient<identity_op>},
      {"CheckNumerics", class_gradient<identity_op>},
      {"Reshape", class_gradient<reshape_op>},
      {"ExpandDims", class_gradient<expand_dims_op>},
      {"Squeeze", class_gradient<squeeze_op>},
      {"Transpose", gradient_of_transpose},
      {"BroadcastTo", gradient_of_broadcast_to},
      {"Fill", gradient_of_fill},
      {"Tile", gradient_of_tile},
      {"Pack", gradient_of_pack},
      {"Unpack", gradient_of_unpack},
      {"ConcatV2", gradient_of_concat},
      {"Split", gradient_of_split},
      {"SplitV", gradient_of_split_v},
      {"Cumsum", linear_gradient<cumsum_op>},
      {"Cumprod", class_gradient<cumprod_op>},
      {"ReverseV2", gradient_of_reverse},
      {"Reverse", gradient_of_reverse},
      {"ReverseSequence", gradient_of_reverse},
      {"Roll", gradient_of_roll},
      {"IdentityN", gradient_of_each},
      {"EnsureShape", gradient_of_each},
      {"AccumulateNV2", gradient_of_accumulated},
      {"Slice", gradient_of_slice},
      {"StridedSlice", gradient_of_strided_slice},
      {"StridedSliceGrad", gradient_of_strided_slice_grad},
      {"TensorStridedSliceUpdate", gradient_of_replaced_slice},
      {"Pad", gradient_of_pad},
      {"PadV2", gradient_of_pad},
      {"BatchMatMulV2", gradient_of_stacked_product},
      {"BatchMatMulV3", gradient_of_stacked_product},
  });
}

}  // namespace leat::detail
