#pragma once
// Definitions of operators on complex numbers: their parts, and Fourier transforms. Other operators (sums, products, functions) take
// complex dtypes by the rules that they have for real ones.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>

#include <string>

namespace leat::detail {

/// Checks that a real dtype, an attribute or that of an input, is that of the parts of a complex one. Errors: invalid_argument.
inline void want_parts(const shape_context& c, std::string_view complex_name, std::string_view real_name) {
  const auto named = [&](std::string_view name) {
    const attribute_value* const a = c.attribute(name);
    const auto* type = a != nullptr ? a->get_if<data_type>() : nullptr;
    return type != nullptr ? static_cast<dtype>(base_of(*type)) : dtype::invalid;
  };
  const dtype complex = named(complex_name), real = named(real_name);
  if (!is_complex(complex) || real == dtype::invalid || part_dtype(complex) == real) return;
  c.fail(std::string(complex_name) + " is " + lower_name_of_data_type(to_data_type(complex)) + ", and " + std::string(real_name) + " is " +
         lower_name_of_data_type(to_data_type(real)) + ": the parts of a complex number have half its size");
}

inline void want_rank_at_least(const shape_context& c, int k, int rank) {
  const shape& s = c.input(k).extent;
  if (s.has_rank() && s.rank < rank)
    c.fail("Shape must be at least rank " + std::to_string(rank) + " but is rank " + std::to_string(s.rank));
}

/// The shape of a transform along the last `Axes` axes of complex numbers.
template <int Axes>
void transformed_shape(shape_context& c) {
  want_rank_at_least(c, 0, Axes);
  c.set(0, c.input(0).extent);
}

/// The size of an axis after a transform of length `length`; of real numbers, half of the frequencies are left out along the last axis.
inline std::int64_t transformed_size(std::int64_t length, bool halves) {
  if (length < 0) return unknown_dimension;
  return halves && length != 0 ? length / 2 + 1 : length;
}

/// The shape of a transform of real numbers, or back to real numbers, along the last `Axes` axes. Source: TensorFlow's `RFFTShape`.
template <int Axes, bool Forward>
void real_transformed_shape(shape_context& c) {
  want_rank_at_least(c, 0, Axes);
  want_parts(c, "Tcomplex", "Treal");
  shapes::want_rank(c, 1, 1);
  if (const shape& lengths = c.input(1).extent; lengths.has_rank() && lengths[0] >= 0 && lengths[0] != Axes)
    c.fail("Dimension must be " + std::to_string(Axes) + " but is " + std::to_string(lengths[0]));
  shape made = c.input(0).extent;
  if (!made.has_rank()) return;
  const auto lengths = c.numbers(1);
  for (int k = 0; k < Axes; ++k) {
    const std::int64_t length =
        lengths && lengths->size() == Axes ? (*lengths)[static_cast<std::size_t>(k)] : static_cast<std::int64_t>(unknown_dimension);
    made.dim[made.rank - Axes + k] = transformed_size(length, Forward && k == Axes - 1);
  }
  c.set(0, made);
}

/// The shape of a transform along axes that an input names. The last of them is that along which real numbers have half of the
/// frequencies.
template <bool IsReal, bool Forward>
void transformed_shape_along(shape_context& c) {
  if constexpr (IsReal) want_parts(c, "Tcomplex", "Treal");
  shapes::want_rank(c, 1, 1);
  shapes::want_rank(c, 2, 1);
  shape made = c.input(0).extent;
  if (!made.has_rank()) return;
  const auto lengths = c.numbers(1), axes = c.numbers(2);
  if (!lengths || !axes || lengths->size() != axes->size() || !c.constant(2)) {
    for (int k = 0; k < made.rank; ++k) made.dim[k] = unknown_dimension;
    return c.set(0, made);
  }
  for (std::size_t k = 0; k < axes->size(); ++k)
    made.dim[shapes::axis(c, (*axes)[k], made.rank)] = transformed_size((*lengths)[k], IsReal && Forward && k + 1 == axes->size());
  c.set(0, made);
}

LEAT_FILL(fill_complex_definitions) {
  constexpr facts pure{.is = nature::pure, .narrow = narrow_rule::any};
  const auto part = [](shape_context& c) {
    want_parts(c, "T", "Tout");
    c.set(0, c.input(0).extent);
  };
  const std::string complex = "{complex64, complex128} = complex64", real = "{float32, float64} = float32";
  define_operator("Complex(real: T, imag: T) -> (out: Tout); T: " + real + "; Tout: " + complex, pure, [](shape_context& c) {
    want_parts(c, "Tout", "T");
    shapes::broadcast(c);
  });
  for (const char* type : {"Real", "Imag", "Angle"})
    define_operator(type + ("(input: T) -> (output: Tout); T: " + complex + "; Tout: " + real), pure, part);
  define_operator("ComplexAbs(x: T) -> (y: Tout); T: " + complex + "; Tout: " + real, pure, part);
  define_operator("Conj(input: T) -> (output: T); T: {complex64, complex128, variant} = complex64", pure, shapes::like<0>);

  const auto of_complex = [&](const std::string& type, const shape_rule& rule) {
    define_operator(type + "(input: Tcomplex) -> (output: Tcomplex); Tcomplex: " + complex, pure, rule);
  };
  of_complex("FFT", transformed_shape<1>);
  of_complex("IFFT", transformed_shape<1>);
  of_complex("FFT2D", transformed_shape<2>);
  of_complex("IFFT2D", transformed_shape<2>);
  of_complex("FFT3D", transformed_shape<3>);
  of_complex("IFFT3D", transformed_shape<3>);
  const std::string kinds = "; Treal: " + real + "; Tcomplex: " + complex;
  const auto of_real = [&](const std::string& axes, const shape_rule& forward, const shape_rule& back) {
    define_operator("RFFT" + axes + "(input: Treal, fft_length: int32) -> (output: Tcomplex)" + kinds, pure, forward);
    define_operator("IRFFT" + axes + "(input: Tcomplex, fft_length: int32) -> (output: Treal)" + kinds, pure, back);
  };
  of_real("", real_transformed_shape<1, true>, real_transformed_shape<1, false>);
  of_real("2D", real_transformed_shape<2, true>, real_transformed_shape<2, false>);
  of_real("3D", real_transformed_shape<3, true>, real_transformed_shape<3, false>);
  for (const char* type : {"FFTND", "IFFTND"})
    define_operator(type + ("(input: Tcomplex, fft_length: int32, axes: int32) -> (output: Tcomplex); Tcomplex: " + complex), pure,
                    transformed_shape_along<false, true>);
  define_operator("RFFTND(input: Treal, fft_length: int32, axes: int32) -> (output: Tcomplex)" + kinds, pure,
                  transformed_shape_along<true, true>);
  define_operator("IRFFTND(input: Tcomplex, fft_length: int32, axes: int32) -> (output: Treal)" + kinds, pure,
                  transformed_shape_along<true, false>);
}

}  // namespace leat::detail
