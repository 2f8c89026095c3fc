#pragma once
// Complex numbers in named graphs: from their parts, and back. The other functions of named graphs (sums, products, exp, matmul, ...) take
// complex tensors, too, where TensorFlow's do; `abs` gives magnitudes. Parts of complex64 are float32, those of complex128 are float64.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/array.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/functions/operand.hpp>

namespace leat {

/// real + i imaginary, element by element. Shapes broadcast. Dtypes: both float32, or both float64; result complex64 or complex128.
/// Errors: invalid_argument for other dtypes, or shapes that do not broadcast. Source: TensorFlow `complex`.
output complex(const operand_value& real, const operand_value& imaginary, std::string_view name = "Complex",
               const std::source_location& where = std::source_location::current());
/// The real parts; of a real tensor, the tensor itself. Shapes: result like x. Dtypes: float32 of complex64, float64 of complex128.
/// Source: TensorFlow `real`.
output real(const output& x, std::string_view name = "Real", const std::source_location& where = std::source_location::current());
/// The imaginary parts; of a real tensor, zeros. Shapes and dtypes: as for `real`. Source: TensorFlow `imag`.
output imag(const output& x, std::string_view name = "Imag", const std::source_location& where = std::source_location::current());
/// The conjugates: imaginary parts negated; of a real tensor, the tensor itself. Shapes and dtypes: result like x. Source: TensorFlow
/// `conj`.
output conj(const output& x, std::string_view name = "Conj", const std::source_location& where = std::source_location::current());
/// The angles atan2(imaginary, real), in radians from -π to π; of a real tensor, π where x < 0 and 0 elsewhere. Shapes and dtypes: as for
/// `real`. Source: TensorFlow `angle`.
output angle(const output& x, std::string_view name = "Angle", const std::source_location& where = std::source_location::current());

/// x with permuted axes and conjugated. Shapes and errors: as for `transpose`. Source: TensorFlow `transpose` with `conjugate`.
output conjugate_transpose(const output& x, const index_list& perm, std::string_view name = "transpose",
                           const std::source_location& where = std::source_location::current());

/// Arithmetic of a complex tensor and a complex number, `x * std::complex<float>(0, 1)`, which takes the tensor's dtype. Errors:
/// invalid_argument for a tensor of another dtype.
template <complex_number C>
output operator+(const output& x, const C& c) {
  return add(x, c, "add");
}
template <complex_number C>
output operator+(const C& c, const output& x) {
  return add(c, x, "add");
}
template <complex_number C>
output operator-(const output& x, const C& c) {
  return subtract(x, c, "sub");
}
template <complex_number C>
output operator-(const C& c, const output& x) {
  return subtract(c, x, "sub");
}
template <complex_number C>
output operator*(const output& x, const C& c) {
  return multiply(x, c, "mul");
}
template <complex_number C>
output operator*(const C& c, const output& x) {
  return multiply(c, x, "mul");
}
template <complex_number C>
output operator/(const output& x, const C& c) {
  return divide(x, c, "truediv");
}
template <complex_number C>
output operator/(const C& c, const output& x) {
  return divide(c, x, "truediv");
}

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/functions/impl/complex.hpp>
#endif
