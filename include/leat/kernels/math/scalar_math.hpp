#pragma once
// Arithmetic and functions on single values, with the same members as batch_math. An operator's element function is written once over a
// policy M, and serves vector loops, their remainders, mixed types and CUDA device code (under nvcc with --expt-relaxed-constexpr).
// Integers wrap around on overflow, and integer division by zero gives zero.

#include <leat/kernels/math/elementary.hpp>
#include <leat/kernels/math/special.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace leat::kernels {

template <class T>
struct scalar_math {
  using value_type = T;
  using value = T;
  using mask = bool;
  static constexpr bool is_float = std::is_floating_point_v<T>;
  using integer = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  using unsigned_integer = std::make_unsigned_t<integer>;

  // ---- Arithmetic ----
  static constexpr T add(T a, T b) {
    if constexpr (is_float) return a + b;
    else return static_cast<T>(unsigned_of(a) + unsigned_of(b));
  }
  static constexpr T subtract(T a, T b) {
    if constexpr (is_float) return a - b;
    else return static_cast<T>(unsigned_of(a) - unsigned_of(b));
  }
  static constexpr T multiply(T a, T b) {
    if constexpr (is_float) return a * b;
    else return static_cast<T>(unsigned_of(a) * unsigned_of(b));
  }
  static constexpr T divide(T a, T b) {
    if constexpr (is_float) return a / b;
    else return truncate_div(a, b);
  }
  static constexpr T negate(T a) {
    if constexpr (is_float) return -a;
    else return static_cast<T>(unsigned_integer(0) - unsigned_of(a));
  }
  /// a b + c, rounded once if the instruction set supports that.
  static constexpr T fma(T a, T b, T c) {
    if constexpr (!is_float) {
      return add(multiply(a, b), c);
    } else {
#if defined(__clang__) && !defined(__CUDACC__)
      // clang cannot evaluate a fused multiply-add at compile time; the next wider type approximates it.
      using wider = std::conditional_t<sizeof(T) == 4, double, long double>;
      if (__builtin_is_constant_evaluated()) return static_cast<T>(static_cast<wider>(a) * b + c);
#endif
#if defined(__CUDACC__) || defined(__FMA__) || defined(__aarch64__)
#if defined(__CUDACC__)
      if constexpr (sizeof(T) == 4) return ::fmaf(a, b, c);
      else return ::fma(a, b, c);
#else
      if constexpr (sizeof(T) == 4) return __builtin_fmaf(a, b, c);
      else return __builtin_fma(a, b, c);
#endif
#else
      return a * b + c;
#endif
    }
  }
  static constexpr T abs(T a) {
    if constexpr (is_float) return from_bits(and_bits(bits(a), integer(~sign_bit())));
    else if constexpr (std::is_unsigned_v<T>) return a;
    else return a < 0 ? negate(a) : a;
  }
  /// -1, 0 or 1; NaN for NaN.
  static constexpr T sign(T a) {
    if constexpr (is_float) return a > T(0) ? T(1) : a < T(0) ? T(-1) : a;
    else return static_cast<T>((a > T(0)) - (a < T(0)));
  }
  static constexpr T square(T a) { return multiply(a, a); }
  static constexpr T reciprocal(T a) { return divide(T(1), a); }
  static constexpr T sqrt(T a) {
#if defined(__CUDACC__)
    if constexpr (sizeof(T) == 4) return ::sqrtf(a);
    else return ::sqrt(a);
#else
    if constexpr (sizeof(T) == 4) return __builtin_sqrtf(a);
    else return __builtin_sqrt(a);
#endif
  }
  static constexpr T rsqrt(T a) { return T(1) / sqrt(a); }

  // ---- Division with remainder ----
  /// The quotient rounded toward zero; 0 for integers divided by zero. Source: TensorFlow `TruncateDiv`.
  static constexpr T truncate_div(T a, T b) {
    if constexpr (is_float) return trunc(a / b);
    else if constexpr (std::is_signed_v<T>) return b == T(0) ? T(0) : b == T(-1) ? negate(a) : static_cast<T>(a / b);
    else return b == T(0) ? T(0) : static_cast<T>(a / b);
  }
  /// The remainder of truncate_div, with the sign of a. Source: TensorFlow `TruncateMod`.
  static constexpr T truncate_mod(T a, T b) {
    if constexpr (is_float) {
      if constexpr (sizeof(T) == 4) return ::fmodf(a, b);
      else return ::fmod(a, b);
    } else if constexpr (std::is_signed_v<T>) {
      return b == T(0) || b == T(-1) ? T(0) : static_cast<T>(a % b);
    } else {
      return b == T(0) ? T(0) : static_cast<T>(a % b);
    }
  }
  /// The quotient rounded toward minus infinity; 0 for integers divided by zero. Source: TensorFlow `FloorDiv`.
  static constexpr T floor_div(T a, T b) {
    if constexpr (is_float) {
      return floor(a / b);
    } else {
      const T quotient = truncate_div(a, b);
      return truncate_mod(a, b) != T(0) && (a < T(0)) != (b < T(0)) ? static_cast<T>(quotient - T(1)) : quotient;
    }
  }
  /// The remainder of floor_div, with the sign of b. Source: TensorFlow `FloorMod`.
  static constexpr T floor_mod(T a, T b) {
    const T rest = truncate_mod(a, b);
    return rest != T(0) && (a < T(0)) != (b < T(0)) ? static_cast<T>(rest + b) : rest;
  }

  // ---- Bits of integers ----
  static constexpr T bitwise_and(T a, T b) { return static_cast<T>(a & b); }
  static constexpr T bitwise_or(T a, T b) { return static_cast<T>(a | b); }
  static constexpr T bitwise_xor(T a, T b) { return static_cast<T>(a ^ b); }
  static constexpr T invert(T a) { return static_cast<T>(~a); }
  /// a shifted left by b bits; b is first limited to 0 … (bits of the type) - 1. Source: TensorFlow `LeftShift`.
  static constexpr T left_shift(T a, T b) { return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) << shift_of(b)); }
  /// a shifted right by b bits, which are limited as by `left_shift`; the sign bit is repeated. Source: TensorFlow `RightShift`.
  static constexpr T right_shift(T a, T b) { return static_cast<T>(a >> shift_of(b)); }

  // ---- Rounding; integers are unchanged ----
  static constexpr T floor(T a) {
    if constexpr (!is_float) {
      return a;
    } else {
#if defined(__CUDACC__)
      if constexpr (sizeof(T) == 4) return ::floorf(a);
      else return ::floor(a);
#else
      if constexpr (sizeof(T) == 4) return __builtin_floorf(a);
      else return __builtin_floor(a);
#endif
    }
  }
  static constexpr T ceil(T a) {
    if constexpr (!is_float) {
      return a;
    } else {
#if defined(__CUDACC__)
      if constexpr (sizeof(T) == 4) return ::ceilf(a);
      else return ::ceil(a);
#else
      if constexpr (sizeof(T) == 4) return __builtin_ceilf(a);
      else return __builtin_ceil(a);
#endif
    }
  }
  static constexpr T trunc(T a) {
    if constexpr (!is_float) {
      return a;
    } else {
#if defined(__CUDACC__)
      if constexpr (sizeof(T) == 4) return ::truncf(a);
      else return ::trunc(a);
#else
      if constexpr (sizeof(T) == 4) return __builtin_truncf(a);
      else return __builtin_trunc(a);
#endif
    }
  }
  /// Rounded to the nearest integer, ties to even.
  static constexpr T round(T a) {
    if constexpr (!is_float) {
      return a;
    } else {
#if defined(__CUDACC__)
      if constexpr (sizeof(T) == 4) return ::rintf(a);
      else return ::rint(a);
#else
      if constexpr (sizeof(T) == 4) return __builtin_rintf(a);
      else return __builtin_rint(a);
#endif
    }
  }

  // ---- Comparison and selection ----
  /// The maximum; NaN if either is NaN.
  static constexpr T maximum(T a, T b) { return a > b || a != a ? a : b; }
  /// The minimum; NaN if either is NaN.
  static constexpr T minimum(T a, T b) { return a < b || a != a ? a : b; }
  static constexpr bool less(T a, T b) { return a < b; }
  static constexpr bool less_equal(T a, T b) { return a <= b; }
  static constexpr bool greater(T a, T b) { return a > b; }
  static constexpr bool greater_equal(T a, T b) { return a >= b; }
  static constexpr bool equal(T a, T b) { return a == b; }
  static constexpr bool not_equal(T a, T b) { return a != b; }
  static constexpr T select(bool m, T a, T b) { return m ? a : b; }
  static constexpr bool is_nan(T a) { return a != a; }
  static constexpr bool is_inf(T a) {
    if constexpr (is_float) return abs(a) == infinity();
    else return false;
  }
  static constexpr bool is_finite(T a) {
    if constexpr (is_float) return abs(a) < infinity();
    else return true;
  }
  static constexpr bool logical_and(bool a, bool b) { return a && b; }
  static constexpr bool logical_or(bool a, bool b) { return a || b; }
  static constexpr bool logical_xor(bool a, bool b) { return a != b; }
  static constexpr bool logical_not(bool a) { return !a; }
  /// 1 where the mask is true, 0 elsewhere.
  static constexpr T from_mask(bool m) { return static_cast<T>(m); }
  static constexpr bool to_mask(T a) { return a != T(0); }
  /// static_cast, except that a cast to bool compares with zero. Floating-point values outside of an integer's range give its minimum, as
  /// x86 instructions do; a device with other instructions gives its own result.
  template <class To>
  static constexpr To cast(T a) {
    if constexpr (std::is_same_v<To, bool>) return a != T(0);
    else if constexpr (is_float && std::is_integral_v<To> && sizeof(To) < 4)
      return static_cast<To>(cast<std::int32_t>(a));
    else if constexpr (is_float && std::is_integral_v<To>) {
      constexpr T end = sizeof(To) == 8 ? T(9223372036854775808.0) : T(2147483648.0);
      return a >= -end && a < end ? static_cast<To>(a) : static_cast<To>(std::int64_t{-1} - (sizeof(To) == 8 ? INT64_MAX : INT32_MAX));
    } else {
      return static_cast<To>(a);
    }
  }

  // ---- Elementary functions ----
  static constexpr T exp(T x) { return elementary::exp<scalar_math>(x); }
  static constexpr T expm1(T x) { return elementary::expm1<scalar_math>(x); }
  static constexpr T log(T x) { return elementary::log<scalar_math>(x); }
  static constexpr T log1p(T x) { return elementary::log1p<scalar_math>(x); }
  static constexpr T tanh(T x) { return elementary::tanh<scalar_math>(x); }
  static constexpr T sigmoid(T x) { return elementary::sigmoid<scalar_math>(x); }
  static constexpr T softplus(T x) { return elementary::softplus<scalar_math>(x); }
  static constexpr T sin(T x) {
    if constexpr (sizeof(T) == 4) return ::sinf(x);
    else return ::sin(x);
  }
  static constexpr T cos(T x) {
    if constexpr (sizeof(T) == 4) return ::cosf(x);
    else return ::cos(x);
  }
  static constexpr T tan(T x) {
    if constexpr (sizeof(T) == 4) return ::tanf(x);
    else return ::tan(x);
  }
  static constexpr T asin(T x) {
    if constexpr (sizeof(T) == 4) return ::asinf(x);
    else return ::asin(x);
  }
  static constexpr T acos(T x) {
    if constexpr (sizeof(T) == 4) return ::acosf(x);
    else return ::acos(x);
  }
  static constexpr T atan(T x) {
    if constexpr (sizeof(T) == 4) return ::atanf(x);
    else return ::atan(x);
  }
  static constexpr T atan2(T y, T x) {
    if constexpr (sizeof(T) == 4) return ::atan2f(y, x);
    else return ::atan2(y, x);
  }
  static constexpr T sinh(T x) {
    if constexpr (sizeof(T) == 4) return ::sinhf(x);
    else return ::sinh(x);
  }
  static constexpr T cosh(T x) {
    if constexpr (sizeof(T) == 4) return ::coshf(x);
    else return ::cosh(x);
  }
  static constexpr T erf(T x) {
    if constexpr (sizeof(T) == 4) return ::erff(x);
    else return ::erf(x);
  }
  static constexpr T erfc(T x) {
    if constexpr (sizeof(T) == 4) return ::erfcf(x);
    else return ::erfc(x);
  }
  static constexpr T asinh(T x) {
    if constexpr (sizeof(T) == 4) return ::asinhf(x);
    else return ::asinh(x);
  }
  static constexpr T acosh(T x) {
    if constexpr (sizeof(T) == 4) return ::acoshf(x);
    else return ::acosh(x);
  }
  static constexpr T atanh(T x) {
    if constexpr (sizeof(T) == 4) return ::atanhf(x);
    else return ::atanh(x);
  }
  static constexpr T lgamma(T x) { return special::lgamma(x); }
  static constexpr T digamma(T x) { return static_cast<T>(special::digamma(x)); }
  static constexpr T polygamma(T n, T x) { return static_cast<T>(special::polygamma(n, x)); }
  static constexpr T zeta(T x, T q) { return static_cast<T>(special::zeta(x, q)); }
  /// aᵇ. Integer powers are computed by squaring, and wrap; a negative exponent gives 0 except for bases 1 and -1.
  static constexpr T pow(T a, T b) {
    if constexpr (is_float) {
      if constexpr (sizeof(T) == 4) return ::powf(a, b);
      else return ::pow(a, b);
    } else {
      if (b < T(0)) {
        const bool odd = (b & T(1)) != T(0);
        return a == T(1) ? T(1) : a == T(-1) ? (odd ? a : T(1)) : T(0);
      }
      T result(1);
      for (; b != T(0); b = static_cast<T>(b >> 1)) {
        if ((b & T(1)) != T(0)) result = multiply(result, a);
        a = multiply(a, a);
      }
      return result;
    }
  }

  // ---- Building blocks of the elementary functions ----
  static constexpr T infinity() { return std::numeric_limits<T>::infinity(); }
  static constexpr T quiet_nan() { return std::numeric_limits<T>::quiet_NaN(); }
  static constexpr integer sign_bit() { return std::numeric_limits<integer>::min(); }
  static constexpr integer bits(T a) { return __builtin_bit_cast(integer, a); }
  static constexpr integer bits_of(T a) { return bits(a); }
  static constexpr T from_bits(integer a) { return __builtin_bit_cast(T, a); }
  static constexpr integer add_bits(integer a, integer b) {
    return static_cast<integer>(static_cast<unsigned_integer>(a) + static_cast<unsigned_integer>(b));
  }
  static constexpr integer and_bits(integer a, integer b) { return a & b; }
  static constexpr integer or_bits(integer a, integer b) { return a | b; }
  template <int N>
  static constexpr integer shift_left(integer a) {
    return static_cast<integer>(static_cast<unsigned_integer>(a) << N);
  }
  template <int N>
  static constexpr integer shift_right(integer a) {
    return static_cast<integer>(static_cast<unsigned_integer>(a) >> N);
  }
  /// The positive value `size` with the sign of `signed_value`.
  static constexpr T copy_sign_to_positive(T size, T signed_value) {
    return from_bits(or_bits(bits(size), and_bits(bits(signed_value), sign_bit())));
  }
  /// The minimum (maximum), or b if either is NaN, as the processor's instruction computes it.
  static constexpr T min_or_second(T a, T b) { return a < b ? a : b; }
  static constexpr T max_or_second(T a, T b) { return a > b ? a : b; }
  /// The exponential of x, computed as p 2^n: infinity above the range of results, zero below that of normal results, NaN for NaN.
  static constexpr T scale_exponential(T x, T p, T, T shifted) {
    using c = elementary::constants<T>;
    const T scaled = from_bits(add_bits(bits(p), shift_left<c::mantissa_bits>(bits(shifted))));
    return x < c::exp_underflow ? T(0) : x <= c::exp_overflow ? scaled : x + infinity();
  }

 private:
  static constexpr int shift_of(T b) {
    constexpr T most = static_cast<T>(8 * sizeof(T) - 1);
    return static_cast<int>(b < T(0) ? T(0) : b > most ? most : b);
  }
  static constexpr unsigned_integer unsigned_of(T a) { return static_cast<unsigned_integer>(a); }
};

/// bool has selection, comparison and casts, but no arithmetic.
template <>
struct scalar_math<bool> {
  using value_type = bool;
  using value = bool;
  using mask = bool;
  static constexpr bool equal(bool a, bool b) { return a == b; }
  static constexpr bool not_equal(bool a, bool b) { return a != b; }
  static constexpr bool select(bool m, bool a, bool b) { return m ? a : b; }
  static constexpr bool logical_and(bool a, bool b) { return a && b; }
  static constexpr bool logical_or(bool a, bool b) { return a || b; }
  static constexpr bool logical_xor(bool a, bool b) { return a != b; }
  static constexpr bool logical_not(bool a) { return !a; }
  static constexpr bool from_mask(bool m) { return m; }
  static constexpr bool to_mask(bool a) { return a; }
  template <class To>
  static constexpr To cast(bool a) {
    return static_cast<To>(a);
  }
};

}  // namespace leat::kernels
