#pragma once
// Gradients of element-wise operators, products and reductions in graphs with names, node for node as TensorFlow 1.x makes them: by the
// operators' classes if these make the same nodes, by functions otherwise. Source: TensorFlow's gradients of the operators of the same
// names; for the formulas Griewank and Walther, "Evaluating Derivatives".

#include <leat/core/fill.hpp>
#include <leat/graph/infer.hpp>
#include <leat/named/gradients/class_gradient.hpp>
#include <leat/named/graph/known_value.hpp>

#include <numbers>

namespace leat::detail {

// ---- a choice of two --------------------------------------------------------------------------------------------------

inline gradient_list gradient_of_select(const gradient_call& c) {
  const output dy = c.dy();
  const output zero = zeros_like(c.input(1));
  const output gx = select_rows(c.input(0), dy, zero);
  return {{}, gx, select_rows(c.input(0), zero, dy)};
}
inline gradient_list gradient_of_select_v2(const gradient_call& c) {
  const output dy = c.dy();
  const output zero = c.owner().named().make_constant(c.owner(), {dy.type(), {}, 0}, "zeros");
  const auto one = [&](const output& chosen, int k) {
    const output its_shape = shape_of(c.input(k));
    const auto axes = broadcast_gradient_args(its_shape, shape_of(c.result()));
    return reduced_to(chosen, axes[0], its_shape);
  };
  const output gx = one(select(c.input(0), dy, zero, "SelectV2"), 1);
  return {{}, gx, one(select(c.input(0), zero, dy, "SelectV2"), 2)};
}

// ---- products and reductions ------------------------------------------------------------------------------------------

/// The elements of an integer tensor, if it is a constant or follows from known shapes.
inline std::optional<std::vector<std::int64_t>> constant_integers(const output& o) {
  const tensor_proto* p = o.port() == 0 ? o.owner().named().contents_of(o.owner(), o.index()) : nullptr;
  return p == nullptr ? fully_known_numbers(o) : integers_of(*p);
}
inline std::vector<std::int32_t> sizes_of(const shape& s) {
  std::vector<std::int32_t> sizes;
  for (int i = 0; i < s.rank; ++i) sizes.push_back(static_cast<std::int32_t>(s[i]));
  return sizes;
}
/// The shape after a reduction along constant axes, with the reduced dimensions as 1.
inline std::vector<std::int32_t> kept_shape(const shape& x, const std::vector<std::int64_t>& axes) {
  std::vector<std::int32_t> kept = sizes_of(x);
  for (auto axis : axes) kept[static_cast<std::size_t>(axis < 0 ? axis + x.rank : axis)] = 1;
  return kept;
}
inline output floor_mod(const output& x, const output& y) {
  return call_named(info_of<floor_mod_op>, {x, y}, {}, {}, "mod", std::source_location());
}
/// The shape after a reduction, with the reduced dimensions as 1, computed at run time. Source: TensorFlow's `reduced_shape`.
inline output computed_kept_shape(const output& x_shape, const output& axes) {
  graph& g = x_shape.owner();
  const colocate_with there(x_shape);
  const output rank = element_count_of(x_shape);
  const output shifted = cast(axes, dtype::int32) + rank;
  const output positive = floor_mod(shifted, rank);
  const output count = shape_of(positive);
  output all;
  {
    const name_scope scope(g, "range");
    const output start = g.named().make_constant(g, std::int32_t{0}, "start");
    const output delta = g.named().make_constant(g, std::int32_t{1}, "delta");
    all = g.named()
              .raw(g, "Range", std::array{start, rank, delta}, {{"Tidx", dtype::int32}},
                   {{dtype::int32, vector_of(x_shape.extent().has_rank() ? x_shape.extent()[0] : unknown_dimension)}}, scope.text())
              .result();
  }
  output ones;
  {
    const name_scope scope(g, "ones");
    const output one = g.named().make_constant(g, std::int32_t{1}, "Const");
    ones = g.named()
               .raw(g, "Fill", std::array{count, one}, {{"T", dtype::int32}, {"index_type", dtype::int32}}, {info_like(positive)},
                    scope.text())
               .result();
  }
  return g.named()
      .raw(g, "DynamicStitch", std::array{all, positive, x_shape, ones}, {{"N", 2}, {"T", dtype::int32}},
           {{dtype::int32, x_shape.extent()}})
      .result();
}
inline output tile_node(const output& x, const number_argument& multiples, const shape& result) {
  const name_scope scope(x.owner(), "Tile");
  graph& g = x.owner();
  const output times = std::holds_alternative<output>(multiples)
                           ? std::get<output>(multiples)
                           : g.named().make_constant(g, std::get<tensor_literal>(multiples), "multiples");
  return g.named()
      .raw(g, "Tile", std::array{x, times}, {{"T", x.type()}, {"Tmultiples", times.type()}}, {{x.type(), result}}, scope.text())
      .result();
}

/// The dy of a sum, broadcast along the summed axes.
inline output repeated_along(const gradient_call& c) {
  const output dy = c.dy();
  const output x = c.input(0);
  graph& g = c.owner();
  const auto axes = constant_integers(c.input(1));
  if (x.extent().has_rank() && axes) {
    bool all = static_cast<int>(axes->size()) == x.extent().rank;
    for (std::size_t k = 0; k < axes->size() && all; ++k) all = (*axes)[k] == static_cast<std::int64_t>(k);
    if (all) {
      const std::vector<std::int32_t> ones(axes->size(), 1);
      output flat;
      {
        const name_scope scope(g, "Reshape");
        // For an empty shape TensorFlow first makes a float constant that it does not use.
        if (ones.empty()) g.named().make_constant(g, {dtype::float32, vector_of(0), 0}, "shape");
        const output to = g.named().make_constant(g, tensor_literal(ones), "shape");
        flat = reshape(dy, to, scope.text());
      }
      const output times = x.extent().is_static() ? shape_constant(g, x.extent(), "Const") : shape_of(x);
      return tile_node(flat, times, x.extent());
    }
    if (x.extent().is_static()) {
      const std::vector<std::int32_t> kept = kept_shape(x.extent(), *axes);
      std::vector<std::int32_t> times = sizes_of(x.extent());
      for (std::size_t k = 0; k < times.size(); ++k) times[k] /= std::max(kept[k], 1);
      return tile_node(reshape(dy, kept), tensor_literal(times), x.extent());
    }
  }
  const output its_shape = shape_of(x);
  const output kept = c.flag("keep_dims") ? dy : reshape(dy, computed_kept_shape(its_shape, c.input(1)));
  return broadcast_to(kept, its_shape, {});
}
inline gradient_list gradient_of_sum(const gradient_call& c) { return {repeated_along(c)}; }
inline gradient_list gradient_of_mean(const gradient_call& c) {
  const output sum = repeated_along(c);
  const output x = c.input(0);
  graph& g = c.owner();
  if (x.extent().is_static() && c.result().extent().is_static()) {
    const auto ratio = x.extent().elements() / std::max<std::int64_t>(c.result().extent().elements(), 1);
    return {divide(sum, g.named().make_constant(g, {sum.type(), {}, static_cast<double>(ratio)}, "Const"))};
  }
  const output its_shape = shape_of(x);
  const output rank = element_count_of(its_shape);
  const output shifted = cast(c.input(1), dtype::int32) + rank;
  const output axes = floor_mod(shifted, rank);
  const output sizes = gather(its_shape, axes, "GatherV2");
  const output ratio = reduce_prod(sizes, all_axes);
  return {divide(sum, cast(ratio, sum.type()))};
}
inline gradient_list gradient_of_max(const gradient_call& c) {
  const output dy = c.dy();
  const output x = c.input(0);
  const auto axes = constant_integers(c.input(1));
  output y = c.result();
  output slope = dy;
  number_argument kept = tensor_literal(std::int32_t{0});
  const output its_shape = shape_of(x);
  if (c.flag("keep_dims")) {
    kept = shape_of(y);
  } else {
    if (x.extent().is_static() && axes) kept = tensor_literal(kept_shape(x.extent(), *axes));
    else kept = computed_kept_shape(its_shape, c.input(1));
  }
  const auto in_kept = [&](const output& o) {
    if (const auto* tensor = std::get_if<output>(&kept)) return reshape(o, *tensor);
    return reshape(o, std::get<tensor_literal>(kept));
  };
  if (!c.flag("keep_dims")) {
    y = in_kept(y);
    slope = in_kept(slope);
  }
  const output chosen = cast(equal(y, x), dy.type());
  const output count = in_kept(reduce_sum(chosen, c.input(1)));
  const output share = chosen / count;
  return {share * slope};
}

/// A conversion between real and complex numbers takes the gradient back: of a real operand it is the real part.
inline gradient_list gradient_of_cast(const gradient_call& c) {
  const dtype from = c.input(0).type();
  if (!is_complex(c.slices().values.type()) && !is_complex(from)) return run_class_gradient<cast_op, sums::with_shapes>(c);
  const output dy = c.dy();
  return {is_differentiable(from) && is_differentiable(dy.type()) ? cast(dy, from) : output{}};
}
/// The powers of complex numbers, whose logarithm is known everywhere but at 0.
inline gradient_list gradient_of_pow(const gradient_call& c) {
  if (!is_complex(c.slices().values.type())) return run_class_gradient<pow_op, sums::with_shapes>(c);
  const output dy = c.dy(), x = conj(c.input(0)), y = conj(c.input(1));
  const output by_x = dy * y * pow(x, y - 1);
  const output is_there = not_equal(x, 0);
  const output logarithm = select(is_there, log(select_rows(is_there, x, ones_like_nodes(x))), zeros_like(x), "Select");
  return reduced(c, by_x, dy * conj(c.result()) * logarithm);
}

LEAT_FILL(fill_math_gradients) {
  enter_gradients({
    {"AddV2", linear_gradient<add_op, sums::left_out_if_equal>},
    {"Sub", linear_gradient<sub_op, sums::left_out_if_equal>}, {"Mul", conjugate_gradient<mul_op, sums::left_out_if_simple>},
    {"RealDiv", conjugate_gradient<real_div_op>}, {"DivNoNan", conjugate_gradient<div_no_nan_op>}, {"FloorMod", class_gradient<floor_mod_op>},
    {"SquaredDifference", class_gradient<squared_difference_op, sums::left_out_if_equal>}, {"Maximum", class_gradient<maximum_op>},
    {"Minimum", class_gradient<minimum_op>}, {"Pow", library_gradient(gradient_of_pow, true)}, {"Select", gradient_of_select},
    {"SelectV2", gradient_of_select_v2}, {"Neg", linear_gradient<neg_op>}, {"Reciprocal", linear_gradient<reciprocal_op>},
    {"Sqrt", linear_gradient<sqrt_op>}, {"Rsqrt", linear_gradient<rsqrt_op>},
    {"ReciprocalGrad", class_gradient<reciprocal_grad_op>},
    {"SqrtGrad", class_gradient<sqrt_grad_op>}, {"RsqrtGrad", class_gradient<rsqrt_grad_op>}, {"TanhGrad", class_gradient<tanh_grad_op>},
    {"SigmoidGrad", class_gradient<sigmoid_grad_op>}, {"Tanh", conjugate_gradient<tanh_op>}, {"Sigmoid", conjugate_gradient<sigmoid_op>},
    {"Abs", class_gradient<abs_op>}, {"Square", conjugate_gradient<square_op>}, {"Exp", conjugate_gradient<exp_op>},
    {"Expm1", conjugate_gradient<expm1_op>}, {"Log", conjugate_gradient<log_op>}, {"Log1p", conjugate_gradient<log1p_op>},
    {"Sin", conjugate_gradient<sin_op>}, {"Cos", conjugate_gradient<cos_op>}, {"Tan", conjugate_gradient<tan_op>}, {"Asin", conjugate_gradient<asin_op>},
    {"Acos", conjugate_gradient<acos_op>}, {"Atan", conjugate_gradient<atan_op>}, {"Sinh", conjugate_gradient<sinh_op>},
    {"Cosh", conjugate_gradient<cosh_op>}, {"Erf", class_gradient<erf_op>}, {"Erfc", class_gradient<erfc_op>},
    {"Sign", class_gradient<sign_op>}, {"Div", conjugate_gradient<div_op>}, {"Atan2", class_gradient<atan2_op>}, {"Xlogy", class_gradient<xlogy_op, sums::over_computed_axes>},
    {"Xdivy", class_gradient<xdivy_op, sums::over_computed_axes>}, {"Cast", library_gradient(gradient_of_cast, true)}, {"MatMul", conjugate_gradient<matmul_op>}, {"Sum", gradient_of_sum},
    {"Mean", gradient_of_mean}, {"Max", gradient_of_max}, {"Min", gradient_of_max}, {"L2Loss", class_gradient<l2_loss_op>},
    {"AddN", linear_gradient<add_n_op>},
});
}

}  // namespace leat::detail
