#pragma once
// Gradients of complex numbers' parts and of Fourier transforms, in graphs with names, as TensorFlow makes them. The gradient of a real
// loss by a complex number x + iy is the loss's derivative by x plus i times that by y. Source: TensorFlow's gradients of the operators of
// the same names.

#include <leat/core/fill.hpp>
#include <leat/named/functions/complex.hpp>
#include <leat/named/functions/fourier.hpp>
#include <leat/named/functions/slice.hpp>
#include <leat/named/gradients/math.hpp>
#include <leat/named/graph/call.hpp>

#include <numbers>

namespace leat::detail {

// ---- parts ------------------------------------------------------------------------------------------------------------

inline output zero_part(const output& like) { return like.owner().named().make_constant(like.owner(), {like.type(), {}, 0}, "Const"); }

inline gradient_list gradient_of_complex(const gradient_call& c) {
  const output dy = c.dy();
  const output by_real = real(dy);
  return reduced(c, by_real, imag(dy));
}
inline gradient_list gradient_of_real(const gradient_call& c) {
  const output dy = c.dy();
  return {complex(dy, zero_part(dy))};
}
inline gradient_list gradient_of_imag(const gradient_call& c) {
  const output dy = c.dy();
  return {complex(zero_part(dy), dy)};
}
inline gradient_list gradient_of_angle(const gradient_call& c) {
  const output dy = c.dy(), x = c.input();
  const control_dependencies after({dy});
  const output re = real(x);
  const output im = imag(x);
  const output inverse = reciprocal(complex(im, re));
  const output along = complex(dy, zero_part(dy));
  return {-along * inverse};
}
inline gradient_list gradient_of_conj(const gradient_call& c) { return {conj(c.dy())}; }
inline gradient_list gradient_of_magnitude(const gradient_call& c) {
  const output dy = c.dy(), x = c.input(), y = c.result();
  const output along = complex(dy, zeros_like(dy)) * x;
  return {div_no_nan(along, complex(y, zeros_like(y)))};
}
inline gradient_list gradient_of_conjugate_transpose(const gradient_call& c) {
  const output dy = c.dy(), order = c.input(1);
  const output inverse = gradient_node("InvertPermutation", {order}, {{"T", order.type()}}, info_like(order));
  return {conjugate_transpose(dy, inverse)};
}

// ---- transforms -------------------------------------------------------------------------------------------------------

/// The number of elements along the last `axes` axes.
inline output transformed_count(const output& x, int axes) {
  return reduce_prod(index(shape_of(x), {along::from(-axes)}), all_axes);
}
/// The gradient of a transform of complex numbers is the inverse transform, times their count.
template <int Axes>
gradient_list gradient_of_transform(const gradient_call& c) {
  const output dy = c.dy();
  const output count = cast(transformed_count(dy, Axes), dy.type());
  return {(Axes == 1 ? ifft(dy) : Axes == 2 ? ifft2d(dy) : ifft3d(dy)) * count};
}
template <int Axes>
gradient_list gradient_of_inverse_transform(const gradient_call& c) {
  const output dy = c.dy();
  const output count = cast(transformed_count(dy, Axes), part_dtype(dy.type()));
  const output share = cast(1 / count, dy.type());
  return {(Axes == 1 ? fft(dy) : Axes == 2 ? fft2d(dy) : fft3d(dy)) * share};
}

inline output remainder_by(const output& x, std::int32_t divisor) {
  return floor_mod(x, x.owner().named().make_literal(x.owner(), divisor));
}
/// 1, -1, 1, ... as complex numbers.
inline output alternating_signs(const output& count, dtype type) {
  graph& g = count.owner();
  const output positions =
      call_operator(g, "Range", {tensor_literal(std::int32_t{0}), count, tensor_literal(std::int32_t{1})}, {}, "range").result();
  return cast(1 - 2 * remainder_by(positions, 2), type);
}
/// The matrix e^(-2πi jk / n).
inline output transform_matrix(const output& n, dtype type) {
  graph& g = n.owner();
  const output positions =
      call_operator(g, "Range", {tensor_literal(std::int32_t{0}), n, tensor_literal(std::int32_t{1})}, {}, "range").result();
  const output products = expand_dims(positions, 1) * expand_dims(positions, 0);
  const dtype part = part_dtype(type);
  // The product is reduced by the period first, so that its angle is exact for long axes.
  const output angles = cast(floor_mod(products, n), part) * (-2 * std::numbers::pi) / cast(n, part);
  return complex(cos(angles), sin(angles));
}

/// The gradient of a transform of real numbers: the inverse transform counts each frequency but the first and, of an even length, the last
/// twice, so that these are added once more.
template <int Axes>
gradient_list gradient_of_real_transform(const gradient_call& c) {
  const output dy = c.dy(), x = c.input(), lengths = c.input(1);
  const dtype type = dy.type(), part = part_dtype(type);
  const output sizes = shape_of(x);
  const output is_even = cast(1 - remainder_by(index(lengths, {-1}), 2), type);
  const output first = index(dy, {along::rest(), along::between(0, 1)});
  const output last = index(dy, {along::rest(), along::from(-1)});
  output more;
  if constexpr (Axes == 1) {
    const output even_last = is_even * last;
    more = first + even_last * alternating_signs(index(sizes, {-1}), type);
  } else {
    const output signs = alternating_signs(index(sizes, {-1}), type);
    const output matrix = transform_matrix(index(sizes, {-2}), type);
    const auto along_columns = [&](const output& column) {
      return call_operator(c.owner(), "BatchMatMulV2", {matrix, conj(column)}, {{"adj_x", false}, {"adj_y", false}}, "MatMul").result();
    };
    more = along_columns(first) + is_even * (along_columns(last) * signs);
  }
  const output count = cast(transformed_count(x, Axes), part);
  const output back = Axes == 1 ? irfft(dy, lengths) : irfft2d(dy, lengths);
  return {0.5 * (back * count + real(more)), {}};
}

/// The gradient of an inverse transform to real numbers: the transform, with each frequency doubled that stands for two.
template <int Axes>
gradient_list gradient_of_inverse_real_transform(const gradient_call& c) {
  const output dy = c.dy(), lengths = c.input(1);
  const dtype part = dy.type();
  const output is_odd = remainder_by(index(lengths, {-1}), 2);
  const output frequencies = index(shape_of(c.input()), {-1});
  const auto repeated = [&](double value, const output& count) {
    return call_operator(c.owner(), "Fill", {expand_dims(count, 0), tensor_literal(part, {}, value)}, {{"index_type", dtype::int32}})
        .result();
  };
  graph& g = c.owner();
  const output doubled = repeated(2, frequencies - 2 + is_odd), once = repeated(1, 1 - is_odd);
  const output mask = concat({g.named().make_constant(g, tensor_literal(part, vector_of(1), 1), "Const"), doubled, once}, 0);
  const output share = reciprocal(cast(transformed_count(dy, Axes), part));
  const output forward = Axes == 1 ? rfft(dy, lengths) : rfft2d(dy, lengths);
  return {forward * cast(share * mask, complex_of(part)), {}};
}

LEAT_FILL(fill_complex_gradients) {
  enter_gradients({
      {"Complex", gradient_of_complex},
      {"Real", gradient_of_real},
      {"Imag", gradient_of_imag},
      {"Angle", gradient_of_angle},
      {"Conj", gradient_of_conj},
      {"ComplexAbs", gradient_of_magnitude},
      {"ConjugateTranspose", gradient_of_conjugate_transpose},
      {"FFT", gradient_of_transform<1>},
      {"IFFT", gradient_of_inverse_transform<1>},
      {"FFT2D", gradient_of_transform<2>},
      {"IFFT2D", gradient_of_inverse_transform<2>},
      {"FFT3D", gradient_of_transform<3>},
      {"IFFT3D", gradient_of_inverse_transform<3>},
      {"RFFT", gradient_of_real_transform<1>},
      {"RFFT2D", gradient_of_real_transform<2>},
      {"IRFFT", gradient_of_inverse_real_transform<1>},
      {"IRFFT2D", gradient_of_inverse_real_transform<2>},
  });
}

}  // namespace leat::detail
