#pragma once
// Fourier transforms in named graphs, along the last axes. A transform of real numbers gives the frequencies from 0 to n / 2 along the last
// axis, n / 2 + 1 complex numbers, because the others are their conjugates; the inverse one takes these. Inverse transforms divide by the
// number of elements. Any length is transformed in O(n log n) time. Dtypes: complex64 with float32, complex128 with float64.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/operand.hpp>

#include <vector>

namespace leat {

/// The discrete Fourier transform along the last axis, Σ x[j] e^(-2πi jk / n), or along the last two or three axes; and its inverse.
/// Shapes: result like x. Dtypes: complex64, complex128. Errors: invalid_argument for other dtypes, or fewer axes.
/// Source: TensorFlow functions of the same names.
output fft(const output& x, std::string_view name = "FFT", const std::source_location& where = std::source_location::current());
output ifft(const output& x, std::string_view name = "IFFT", const std::source_location& where = std::source_location::current());
output fft2d(const output& x, std::string_view name = "FFT2D", const std::source_location& where = std::source_location::current());
output ifft2d(const output& x, std::string_view name = "IFFT2D", const std::source_location& where = std::source_location::current());
output fft3d(const output& x, std::string_view name = "FFT3D", const std::source_location& where = std::source_location::current());
output ifft3d(const output& x, std::string_view name = "IFFT3D", const std::source_location& where = std::source_location::current());

/// The lengths of a transform of real numbers, one for each axis, or a tensor of them, int32. Without lengths they are those of x; for an
/// inverse transform, 2 (m - 1) along the last axis of m frequencies.
class fft_length {
 public:
  fft_length() = default;
  fft_length(std::int32_t one) : sizes_{one} {}
  fft_length(std::initializer_list<std::int32_t> sizes) : sizes_(sizes) {}
  fft_length(std::vector<std::int32_t> sizes) : sizes_(std::move(sizes)) {}
  fft_length(const output& tensor) : tensor_(tensor) {}
  const std::vector<std::int32_t>& sizes() const { return sizes_; }
  const output& tensor() const { return tensor_; }

 private:
  std::vector<std::int32_t> sizes_;
  output tensor_;
};

/// The transform of real numbers along the last axis, or the last two or three. x is cut off, or padded with zeros, to `length`.
/// Shapes: x [..., n]; result [..., length / 2 + 1], along the other axes `length`. Dtypes: float32, float64; result complex.
/// Errors: invalid_argument for other dtypes, fewer axes, or another number of lengths; in a run also for a length below 0.
/// Source: TensorFlow `signal.rfft`, `signal.rfft2d`, `signal.rfft3d`.
output rfft(const output& x, const fft_length& length = {}, std::string_view name = "rfft",
            const std::source_location& where = std::source_location::current());
output rfft2d(const output& x, const fft_length& length = {}, std::string_view name = "rfft2d",
              const std::source_location& where = std::source_location::current());
output rfft3d(const output& x, const fft_length& length = {}, std::string_view name = "rfft3d",
              const std::source_location& where = std::source_location::current());
/// The inverse transform to real numbers, of the frequencies from 0 to length / 2 along the last axis; x is cut off, or padded with zeros,
/// to these. Shapes: x [..., m]; result [..., length]. Dtypes: complex64, complex128; result real. Errors: as for `rfft`.
/// Source: TensorFlow `signal.irfft`, `signal.irfft2d`, `signal.irfft3d`.
output irfft(const output& x, const fft_length& length = {}, std::string_view name = "irfft",
             const std::source_location& where = std::source_location::current());
output irfft2d(const output& x, const fft_length& length = {}, std::string_view name = "irfft2d",
               const std::source_location& where = std::source_location::current());
output irfft3d(const output& x, const fft_length& length = {}, std::string_view name = "irfft3d",
               const std::source_location& where = std::source_location::current());

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/functions/impl/fourier.hpp>
#endif
