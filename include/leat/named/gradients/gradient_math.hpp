#pragma once
// Gradients of element-wise operators, products and reductions in graphs with names, node for node as TensorFlow 1.x writes
// them. The gradient of an operand that was broadcast is summed: over axes known from the shapes, or computed at run time
// (`BroadcastGradientArgs`), so that the rank may be unknown. Source: TensorFlow's gradients of the operators of the same names; for
// the formulas Griewank and Walther, "Evaluating Derivatives".

#include <leat/core/fill.hpp>
#include <leat/graph/infer.hpp>
#include <leat/named/functions/named_array.hpp>
#include <leat/named/functions/named_math.hpp>
#include <leat/named/gradients/gradient_nodes.hpp>
#include <leat/named/graph/known_value.hpp>

#include <numbers>

namespace leat::detail {

// ---- broadcast operands ----------------------------------------------------------------------------------------------

/// The axes of the result along which each of two operands was broadcast, if the shapes are known.
struct repeated_axes {
  bool known = false;
  std::vector<std::int32_t> x;
  std::vector<std::int32_t> y;
};
inline repeated_axes axes_repeated(const shape& x, const shape& y) {
  repeated_axes axes;
  if (!x.has_rank() || !y.has_rank()) return axes;
  const int rank = std::max(x.rank, y.rank);
  for (int i = 0; i < rank; ++i) {
    const std::int64_t a = i < rank - x.rank ? 1 : x[i - (rank - x.rank)];
    const std::int64_t b = i < rank - y.rank ? 1 : y[i - (rank - y.rank)];
    if (a == 1 && b != 1) axes.x.push_back(i);
    else if (b == 1 && a != 1) axes.y.push_back(i);
    else if (a < 0 || b < 0) return {};
  }
  axes.known = true;
  return axes;
}

inline std::array<output, 2> broadcast_gradient_args(const output& x_shape, const output& y_shape) {
  graph& g = x_shape.owner();
  shape any;
  any.push(unknown_dimension);
  const graph_operation axes = g.named().raw(g, "BroadcastGradientArgs", std::array{x_shape, y_shape}, {{"T", x_shape.type()}},
                                             {{x_shape.type(), any}, {x_shape.type(), any}});
  return {axes.result(0), axes.result(1)};
}
/// A gradient summed over axes, in the operand's shape.
inline output reduced_to(const output& gradient, const index_list& axes, const output& its_shape) {
  return reshape(reduce_sum(gradient, axes, keep_dims::yes), its_shape);
}
/// The gradients of two operands, each in its operand's shape.
inline gradient_list reduced(const gradient_call& c, const output& gx, const output& gy) {
  const output x = c.input(0);
  const output y = c.input(1);
  const output x_shape = shape_of(x);
  const output y_shape = shape_of(y);
  const repeated_axes axes = axes_repeated(x.extent(), y.extent());
  if (!axes.known) {
    const auto both = broadcast_gradient_args(x_shape, y_shape);
    const output first = reduced_to(gx, both[0], x_shape);
    return {first, reduced_to(gy, both[1], y_shape)};
  }
  const bool x_must = !axes.x.empty() || x.extent().rank < y.extent().rank;
  const bool y_must = !axes.y.empty() || y.extent().rank < x.extent().rank;
  const output first = x_must ? reduced_to(gx, axes.x, x_shape) : gx;
  return {first, y_must ? reduced_to(gy, axes.y, y_shape) : gy};
}
inline bool same_static(const output& a, const output& b, const output& c) {
  return a.extent().is_static() && a.extent() == b.extent() && a.extent() == c.extent();
}

// ---- two operands -----------------------------------------------------------------------------------------------------

inline gradient_list gradient_of_add(const gradient_call& c) {
  const output dy = c.dy();
  if (same_static(c.input(0), c.input(1), dy)) return {dy, dy};
  return reduced(c, dy, dy);
}
inline gradient_list gradient_of_sub(const gradient_call& c) {
  const output dy = c.dy();
  const output minus = -dy;
  if (same_static(c.input(0), c.input(1), dy)) return {dy, minus};
  return reduced(c, dy, minus);
}
inline gradient_list gradient_of_mul(const gradient_call& c) {
  const output dy = c.dy();
  if (same_static(c.input(0), c.input(1), dy) && dy.type() == dtype::float32) {
    const output gx = multiply(dy, c.input(1));
    return {gx, multiply(dy, c.input(0))};
  }
  const output gx = multiply(dy, c.input(1));
  const output gy = multiply(c.input(0), dy);
  return reduced(c, gx, gy);
}
inline gradient_list gradient_of_real_div(const gradient_call& c) {
  const output dy = c.dy();
  const output gx = divide(dy, c.input(1), "RealDiv");
  const output minus = -c.input(0);
  const output once = divide(minus, c.input(1), "RealDiv");
  const output twice = divide(once, c.input(1), "RealDiv");
  const output gy = dy * twice;
  return reduced(c, gx, gy);
}
/// As RealDiv's, with the names that `div` gives.
inline gradient_list gradient_of_div(const gradient_call& c) {
  const output dy = c.dy();
  if (!is_floating(dy.type())) return {};
  const output gx = divide(dy, c.input(1));
  const output minus = -c.input(0);
  const output once = divide(minus, c.input(1));
  const output twice = divide(once, c.input(1));
  const output gy = dy * twice;
  return reduced(c, gx, gy);
}
inline gradient_list gradient_of_atan2(const gradient_call& c) {
  const output dy = c.dy();
  const control_dependencies wait({dy});
  const output y = c.input(0);
  const output x = c.input(1);
  const output first = square(y, {});
  const output squares = first + square(x, {});
  const output share = divide(dy, squares);
  const output gy = x * share;
  const output minus = -y;
  const output gx = minus * share;
  return reduced(c, gy, gx);
}
inline output div_no_nan(const output& x, const output& y, std::string_view name = "div_no_nan") {
  const auto extent = infer_result(info_of<real_div_op>, std::array{info_like(x), info_like(y)}, {}).extent;
  return gradient_node("DivNoNan", {x, y}, {{"T", x.type()}}, {x.type(), extent}, name);
}
inline gradient_list gradient_of_div_no_nan(const gradient_call& c) {
  const output dy = c.dy();
  const output gx = div_no_nan(dy, c.input(1));
  const output minus = -c.input(0);
  const output once = div_no_nan(minus, c.input(1));
  const output twice = div_no_nan(once, c.input(1));
  const output gy = dy * twice;
  return reduced(c, gx, gy);
}
inline gradient_list gradient_of_floor_mod(const gradient_call& c) {
  const output dy = c.dy();
  const output count = floordiv(c.input(0), c.input(1), "FloorDiv");
  const output minus = -count;
  const output gy = dy * minus;
  return reduced(c, dy, gy);
}
inline gradient_list gradient_of_squared_difference(const gradient_call& c) {
  const output dy = c.dy();
  output gx;
  {
    const control_dependencies wait({dy});
    const output two = c.owner().named().make_constant(c.owner(), {dy.type(), {}, 2}, "scalar");
    const output twice = multiply(two, dy);
    const output difference = c.input(0) - c.input(1);
    gx = twice * difference;
  }
  const output minus = -gx;
  if (same_static(c.input(0), c.input(1), dy)) return {gx, minus};
  return reduced(c, gx, minus);
}
// Xlogy and Xdivy: x log y and x / y, 0 where x is 0. By x, what it is multiplied by, 0 where x is 0; by y, a quotient that is 0 there.
inline gradient_list of_zero_times(const gradient_call& c, bool of_logarithm) {
  const output dy = c.dy();
  const output x = c.input(0);
  const output y = c.input(1);
  const output x_shape = shape_of(x);
  const output y_shape = shape_of(y);
  const auto axes = broadcast_gradient_args(x_shape, y_shape);
  const auto node = [&](std::string_view type, const output& a, const output& b) {
    const auto extent = infer_result(info_of<real_div_op>, std::array{info_like(a), info_like(b)}, {}).extent;
    return gradient_node(type, {a, b}, {{"T", a.type()}}, {a.type(), extent});
  };
  output by_x, by_y;
  {
    const control_dependencies wait({dy});
    output zero;
    {
      const name_scope scope(c.owner(), "Cast");
      zero = c.owner().named().make_constant(c.owner(), 0.0f, "x");
      zero = cast(zero, x.type(), scope.text());
    }
    const output there = cast(not_equal(x, zero), x.type());
    by_x = node(c.operation().type(), there, y);
    by_y = of_logarithm ? node("Xdivy", x, y) : [&] {
      const output minus = -x;
      return node("Xdivy", minus, pow(y, 2));
    }();
  }
  const auto reduce = [&](const output& slope, const output& along, const output& its_shape) {
    const output product = slope * dy;
    return reshape(reduce_sum(product, along), its_shape);
  };
  const output gx = reduce(by_x, axes[0], x_shape);
  return {gx, reduce(by_y, axes[1], y_shape)};
}
inline gradient_list gradient_of_xlogy(const gradient_call& c) { return of_zero_times(c, true); }
inline gradient_list gradient_of_xdivy(const gradient_call& c) { return of_zero_times(c, false); }
inline gradient_list of_extremum(const gradient_call& c, const output& first_wins) {
  const output dy = c.dy();
  const output zero = zeros_like(dy);
  const output gx = select(first_wins, dy, zero, "SelectV2");
  const output gy = select(first_wins, zero, dy, "SelectV2");
  return reduced(c, gx, gy);
}
inline gradient_list gradient_of_maximum(const gradient_call& c) { return of_extremum(c, greater_equal(c.input(0), c.input(1))); }
inline gradient_list gradient_of_minimum(const gradient_call& c) { return of_extremum(c, less_equal(c.input(0), c.input(1))); }
inline gradient_list gradient_of_pow(const gradient_call& c) {
  const output dy = c.dy();
  const output x = c.input(0);
  const output gx = pow_op::base_slope(dy, x, c.input(1));
  const auto filled = [](const output& like, double value) { return value == 1 ? ones_like_nodes(like) : zeros_like(like); };
  return reduced(c, gx, pow_op::exponent_slope(dy, x, c.result(), select_rows, filled));
}

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

// ---- one operand ------------------------------------------------------------------------------------------------------

/// For operators whose gradient is one node of dy and the result, or the operand.
inline gradient_list of_own_operator(const gradient_call& c, std::string_view type, const output& a, const output& b) {
  return {gradient_node(type, {a, b}, {{"T", a.type()}}, info_like(c.input(0)))};
}
inline gradient_list gradient_of_neg(const gradient_call& c) { return {-c.dy()}; }
inline gradient_list gradient_of_reciprocal(const gradient_call& c) { return of_own_operator(c, "ReciprocalGrad", c.result(), c.dy()); }
inline gradient_list gradient_of_sqrt(const gradient_call& c) { return of_own_operator(c, "SqrtGrad", c.result(), c.dy()); }
inline gradient_list gradient_of_rsqrt(const gradient_call& c) { return of_own_operator(c, "RsqrtGrad", c.result(), c.dy()); }
inline gradient_list gradient_of_tanh(const gradient_call& c) {
  const output dy = c.dy();
  const control_dependencies wait({dy});
  return of_own_operator(c, "TanhGrad", c.result(), dy);
}
inline gradient_list gradient_of_sigmoid(const gradient_call& c) {
  const output dy = c.dy();
  const control_dependencies wait({dy});
  return of_own_operator(c, "SigmoidGrad", c.result(), dy);
}

// Of operators that are gradients themselves: a formula of the first operand a, times the second, b.

inline gradient_list gradient_of_square_times(const gradient_call& c) {  // ReciprocalGrad: -b a²; TanhGrad: b (1 - a²)
  const output dy = c.dy();
  const control_dependencies wait({dy});
  const output a = c.input(0);
  const output b = c.input(1);
  const output twice = dy * -2.0f;
  const output by_b = twice * b;
  const output da = by_b * a;
  return {da, gradient_node(c.operation().type(), {a, dy}, {{"T", a.type()}}, info_like(b))};
}
inline gradient_list gradient_of_sqrt_grad(const gradient_call& c) {  // b / 2a
  const output dy = c.dy();
  const control_dependencies wait({dy});
  const output quotient = dy / c.input(0);
  const output minus = -quotient;
  const output da = minus * c.result();
  return {da, 0.5f * quotient};
}
inline gradient_list gradient_of_rsqrt_grad(const gradient_call& c) {  // -b a³ / 2
  const output dy = c.dy();
  const control_dependencies wait({dy});
  const output a = c.input(0);
  const output b = c.input(1);
  const output scaled = -1.5f * dy;
  const output by_b = scaled * b;
  const output da = by_b * square(a, {});
  return {da, gradient_node("RsqrtGrad", {a, dy}, {{"T", a.type()}}, info_like(b))};
}
inline gradient_list gradient_of_sigmoid_grad(const gradient_call& c) {  // b a (1 - a)
  const output dy = c.dy();
  const control_dependencies wait({dy});
  const output a = c.input(0);
  const output b = c.input(1);
  const output by_b = dy * b;
  const output twice = 2.0f * by_b;
  const output by_a = twice * a;
  const output da = by_b - by_a;
  return {da, gradient_node("SigmoidGrad", {a, dy}, {{"T", a.type()}}, info_like(b))};
}

inline gradient_list gradient_of_abs(const gradient_call& c) {
  const output dy = c.dy();
  return {dy * sign(c.input(0), {})};
}
/// Of a function of steps: zeros, which are a gradient.
inline gradient_list gradient_of_sign(const gradient_call& c) { return {zeros_like(c.input(0))}; }
inline gradient_list gradient_of_square(const gradient_call& c) {
  const output dy = c.dy();
  const control_dependencies wait({dy});
  const output two = c.owner().named().make_constant(c.owner(), {dy.type(), {}, 2}, "Const");
  return {multiply(dy, multiply(c.input(0), two))};
}
inline gradient_list gradient_of_exp(const gradient_call& c) {
  const output dy = c.dy();
  const control_dependencies wait({dy});
  return {dy * c.result()};
}
inline gradient_list gradient_of_expm1(const gradient_call& c) {
  const output dy = c.dy();
  const control_dependencies wait({dy});
  return {dy * exp(c.input(0), {})};
}
inline gradient_list gradient_of_log(const gradient_call& c) {
  const output dy = c.dy();
  const control_dependencies wait({dy});
  return {dy * reciprocal(c.input(0), {})};
}
inline gradient_list gradient_of_log1p(const gradient_call& c) {
  const output dy = c.dy();
  const control_dependencies wait({dy});
  const output shifted = 1 + c.input(0);
  return {dy * reciprocal(shifted, {})};
}
inline gradient_list gradient_of_sin(const gradient_call& c) {
  const output dy = c.dy();
  const control_dependencies wait({dy});
  return {dy * cos(c.input(0), {})};
}
inline gradient_list gradient_of_cos(const gradient_call& c) {
  const output dy = c.dy();
  const control_dependencies wait({dy});
  const output minus = -dy;
  return {minus * sin(c.input(0), {})};
}
inline gradient_list gradient_of_tan(const gradient_call& c) {
  const output dy = c.dy();
  const control_dependencies wait({dy});
  const output secant = reciprocal(cos(c.input(0), {}), {});
  const output squared = square(secant, {});
  return {squared * dy};
}
// 1 / sqrt(1 - x²), for asin and acos.
inline output slope_of_arcs(const output& x) {
  const output squared = square(x, {});
  const output one = x.owner().named().make_constant(x.owner(), {x.type(), {}, 1}, "Const");
  return reciprocal(sqrt(subtract(one, squared), {}), {});
}
inline gradient_list gradient_of_asin(const gradient_call& c) {
  const output dy = c.dy();
  const control_dependencies wait({dy});
  const output slope = slope_of_arcs(c.input(0));
  return {dy * slope};
}
inline gradient_list gradient_of_acos(const gradient_call& c) {
  const output dy = c.dy();
  const control_dependencies wait({dy});
  const output slope = slope_of_arcs(c.input(0));
  const output minus = -dy;
  return {minus * slope};
}
inline gradient_list gradient_of_atan(const gradient_call& c) {
  const output dy = c.dy();
  const control_dependencies wait({dy});
  const output squared = square(c.input(0), {});
  const output one = c.owner().named().make_constant(c.owner(), {dy.type(), {}, 1}, "Const");
  const output slope = reciprocal(add(one, squared), {});
  return {dy * slope};
}
inline gradient_list gradient_of_sinh(const gradient_call& c) {
  const output dy = c.dy();
  const control_dependencies wait({dy});
  const output slope = call_named(info_of<cosh_op>, {c.input(0)}, {}, {}, "Cosh", std::source_location());
  return {dy * slope};
}
inline gradient_list gradient_of_cosh(const gradient_call& c) {
  const output dy = c.dy();
  const control_dependencies wait({dy});
  const output slope = call_named(info_of<sinh_op>, {c.input(0)}, {}, {}, "Sinh", std::source_location());
  return {dy * slope};
}
// Of the error function, or of 1 less it.
inline gradient_list of_error_function(const gradient_call& c, double sign) {
  const output dy = c.dy();
  const output factor = c.owner().named().make_constant(c.owner(), {dy.type(), {}, sign * 2 * std::numbers::inv_sqrtpi}, "Const");
  const control_dependencies wait({dy});
  const output scaled = dy * factor;
  const output squared = square(c.input(0), {});
  const output minus = -squared;
  return {scaled * exp(minus, {})};
}
inline gradient_list gradient_of_erf(const gradient_call& c) { return of_error_function(c, 1); }
inline gradient_list gradient_of_erfc(const gradient_call& c) { return of_error_function(c, -1); }
inline gradient_list gradient_of_cast(const gradient_call& c) {
  if (!is_floating(c.input(0).type()) || !is_floating(c.result().type())) return {};
  return {cast(c.dy(), c.input(0).type())};
}

// ---- products and reductions ------------------------------------------------------------------------------------------

inline gradient_list gradient_of_matmul(const gradient_call& c) {
  const output dy = c.dy();
  const output a = c.input(0);
  const output b = c.input(1);
  const bool ta = c.flag("transpose_a");
  const bool tb = c.flag("transpose_b");
  if (!ta && !tb) {
    const output da = matmul(dy, b, {.transpose_b = true});
    return {da, matmul(a, dy, {.transpose_a = true})};
  }
  if (!ta) {
    const output da = matmul(dy, b);
    return {da, matmul(dy, a, {.transpose_a = true})};
  }
  if (!tb) {
    const output da = matmul(b, dy, {.transpose_b = true});
    return {da, matmul(a, dy)};
  }
  const output da = matmul(b, dy, {.transpose_a = true, .transpose_b = true});
  return {da, matmul(dy, a, {.transpose_a = true, .transpose_b = true})};
}

/// The elements of an integer tensor that is a constant or follows from known shapes.
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
/// The same, computed at run time. Source: TensorFlow's `reduced_shape`.
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

/// dy of a sum, broadcast along the summed axes.
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
        // For an empty shape TensorFlow makes an unused float constant first.
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
inline gradient_list gradient_of_l2_loss(const gradient_call& c) {
  const output dy = c.dy();
  return {c.input(0) * dy};
}
inline gradient_list gradient_of_add_n(const gradient_call& c) {
  return gradient_list(static_cast<std::size_t>(c.input_count()), gradient_value(c.dy()));
}

LEAT_FILL(fill_math_gradients) {
  enter_gradients({
    {"Add", gradient_of_add}, {"AddV2", gradient_of_add}, {"Sub", gradient_of_sub}, {"Mul", gradient_of_mul},
    {"RealDiv", gradient_of_real_div}, {"DivNoNan", gradient_of_div_no_nan}, {"FloorMod", gradient_of_floor_mod},
    {"SquaredDifference", gradient_of_squared_difference}, {"Maximum", gradient_of_maximum}, {"Minimum", gradient_of_minimum},
    {"Pow", gradient_of_pow}, {"Select", gradient_of_select}, {"SelectV2", gradient_of_select_v2},
    {"Neg", gradient_of_neg}, {"Reciprocal", gradient_of_reciprocal}, {"Inv", gradient_of_reciprocal},
    {"Sqrt", gradient_of_sqrt}, {"Rsqrt", gradient_of_rsqrt},
    {"ReciprocalGrad", gradient_of_square_times}, {"InvGrad", gradient_of_square_times}, {"SqrtGrad", gradient_of_sqrt_grad},
    {"RsqrtGrad", gradient_of_rsqrt_grad}, {"TanhGrad", gradient_of_square_times}, {"SigmoidGrad", gradient_of_sigmoid_grad},
    {"Tanh", gradient_of_tanh}, {"Sigmoid", gradient_of_sigmoid}, {"Abs", gradient_of_abs}, {"Square", gradient_of_square},
    {"Exp", gradient_of_exp}, {"Expm1", gradient_of_expm1}, {"Log", gradient_of_log}, {"Log1p", gradient_of_log1p},
    {"Sin", gradient_of_sin}, {"Cos", gradient_of_cos}, {"Tan", gradient_of_tan}, {"Asin", gradient_of_asin},
    {"Acos", gradient_of_acos}, {"Atan", gradient_of_atan}, {"Sinh", gradient_of_sinh}, {"Cosh", gradient_of_cosh},
    {"Erf", gradient_of_erf}, {"Erfc", gradient_of_erfc}, {"Sign", gradient_of_sign}, {"Div", gradient_of_div},
    {"Atan2", gradient_of_atan2}, {"Xlogy", gradient_of_xlogy}, {"Xdivy", gradient_of_xdivy},
    {"Cast", gradient_of_cast}, {"MatMul", gradient_of_matmul}, {"Sum", gradient_of_sum},
    {"Mean", gradient_of_mean}, {"Max", gradient_of_max}, {"Min", gradient_of_max}, {"L2Loss", gradient_of_l2_loss},
    {"AddN", gradient_of_add_n},
});
}

}  // namespace leat::detail
