#pragma once
// Arithmetic and functions on batches, with the same members as scalar_math. exp, log, tanh, sigmoid and functions composed of them are the
// kernels of elementary.hpp, with the same operations in the same order as for scalars; less frequent functions apply the scalar function
// to each lane.

#include <leat/cpu/batch.hpp>
#include <leat/kernels/math/elementary.hpp>
#include <leat/kernels/math/scalar_math.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace leat::cpu {

namespace elementary = kernels::elementary;
using kernels::scalar_math;

template <class T>
struct batch_math {
  using value_type = T;
  using value = batch<T>;
  using mask = cpu::mask<T>;
  using scalar = scalar_math<T>;
  static constexpr bool is_float = std::is_floating_point_v<T>;
  using integer = detail::same_width_integer<T>;
  using integers = batch<integer>;

  // ---- Arithmetic ----
  [[gnu::always_inline]] static value add(const value& a, const value& b) {
    return wrapped(a, b, [](auto x, auto y) { return x + y; });
  }
  [[gnu::always_inline]] static value subtract(const value& a, const value& b) {
    return wrapped(a, b, [](auto x, auto y) { return x - y; });
  }
  [[gnu::always_inline]] static value multiply(const value& a, const value& b) {
    return wrapped(a, b, [](auto x, auto y) { return x * y; });
  }
  [[gnu::always_inline]] static value divide(const value& a, const value& b) {
    if constexpr (is_float) return wrapped(a, b, [](auto x, auto y) { return x / y; });
    else return truncate_div(a, b);
  }
  [[gnu::always_inline]] static value negate(const value& a) {
    if constexpr (is_float) return detail::from_native<T>(-detail::to_native(a));
    else return subtract(value(T(0)), a);
  }
  [[gnu::always_inline]] static value fma(const value& a, const value& b, const value& c) {
    if constexpr (is_float) return fused_multiply_add(a, b, c);
    else return add(multiply(a, b), c);
  }
  [[gnu::always_inline]] static value abs(const value& a) {
    if constexpr (is_float) return from_bits(and_bits(bits(a), integer(~scalar::sign_bit())));
    else return select(less(a, value(T(0))), negate(a), a);
  }
  [[gnu::always_inline]] static value sign(const value& a) {
    const value zero(T(0));
    if constexpr (is_float) return select(greater(a, zero), value(T(1)), select(less(a, zero), value(T(-1)), a));
    else return select(greater(a, zero), value(T(1)), select(less(a, zero), value(T(-1)), zero));
  }
  [[gnu::always_inline]] static value square(const value& a) { return multiply(a, a); }
  [[gnu::always_inline]] static value reciprocal(const value& a) { return divide(value(T(1)), a); }
  [[gnu::always_inline]] static value sqrt(const value& a) { return square_root(a); }
  [[gnu::always_inline]] static value rsqrt(const value& a) { return divide(value(T(1)), square_root(a)); }

  // ---- Division with remainder ----
  [[gnu::always_inline]] static value truncate_div(const value& a, const value& b) {
    if constexpr (is_float) return trunc(divide(a, b));
    else return by_lane(a, b, [](T x, T y) { return scalar::truncate_div(x, y); });
  }
  [[gnu::always_inline]] static value truncate_mod(const value& a, const value& b) {
    return by_lane(a, b, [](T x, T y) { return scalar::truncate_mod(x, y); });
  }
  [[gnu::always_inline]] static value floor_div(const value& a, const value& b) {
    if constexpr (is_float) return floor(divide(a, b));
    else return by_lane(a, b, [](T x, T y) { return scalar::floor_div(x, y); });
  }
  [[gnu::always_inline]] static value floor_mod(const value& a, const value& b) {
    return by_lane(a, b, [](T x, T y) { return scalar::floor_mod(x, y); });
  }

  // ---- Bits of integers ----
  [[gnu::always_inline]] static value bitwise_and(const value& a, const value& b) {
    return detail::from_native<T>(detail::to_native(a) & detail::to_native(b));
  }
  [[gnu::always_inline]] static value bitwise_or(const value& a, const value& b) {
    return detail::from_native<T>(detail::to_native(a) | detail::to_native(b));
  }
  [[gnu::always_inline]] static value bitwise_xor(const value& a, const value& b) {
    return detail::from_native<T>(detail::to_native(a) ^ detail::to_native(b));
  }
  [[gnu::always_inline]] static value invert(const value& a) { return detail::from_native<T>(~detail::to_native(a)); }
  static value left_shift(const value& x, const value& y) {
    return by_lane(x, y, [](T a, T b) { return scalar::left_shift(a, b); });
  }
  static value right_shift(const value& x, const value& y) {
    return by_lane(x, y, [](T a, T b) { return scalar::right_shift(a, b); });
  }

  // ---- Rounding; integers are unchanged ----
  [[gnu::always_inline]] static value floor(const value& a) {
    if constexpr (is_float) return round_down(a);
    else return a;
  }
  [[gnu::always_inline]] static value ceil(const value& a) {
    if constexpr (is_float) return round_up(a);
    else return a;
  }
  [[gnu::always_inline]] static value trunc(const value& a) {
    if constexpr (is_float) return round_to_zero(a);
    else return a;
  }
  [[gnu::always_inline]] static value round(const value& a) {
    if constexpr (is_float) return round_to_even(a);
    else return a;
  }

  // ---- Comparison and selection ----
  [[gnu::always_inline]] static value maximum(const value& a, const value& b) {
    if constexpr (is_float) return select(not_equal(a, a), a, max_or_second(a, b));
    else return select(greater(a, b), a, b);
  }
  [[gnu::always_inline]] static value minimum(const value& a, const value& b) {
    if constexpr (is_float) return select(not_equal(a, a), a, min_or_second(a, b));
    else return select(less(a, b), a, b);
  }
  [[gnu::always_inline]] static mask less(const value& a, const value& b) { return as_mask(a < b); }
  [[gnu::always_inline]] static mask less_equal(const value& a, const value& b) { return as_mask(a <= b); }
  [[gnu::always_inline]] static mask greater(const value& a, const value& b) { return as_mask(a > b); }
  [[gnu::always_inline]] static mask greater_equal(const value& a, const value& b) { return as_mask(a >= b); }
  [[gnu::always_inline]] static mask equal(const value& a, const value& b) { return as_mask(a == b); }
  [[gnu::always_inline]] static mask not_equal(const value& a, const value& b) { return differs(a, b); }
  [[gnu::always_inline]] static value select(const mask& m, const value& a, const value& b) {
    return cpu::select<T>(m, a, b);
  }
  [[gnu::always_inline]] static mask is_nan(const value& a) { return not_equal(a, a); }
  [[gnu::always_inline]] static mask is_inf(const value& a) {
    if constexpr (is_float) return equal(abs(a), value(scalar::infinity()));
    else return mask(false);
  }
  [[gnu::always_inline]] static mask is_finite(const value& a) {
    if constexpr (is_float) return less(abs(a), value(scalar::infinity()));
    else return mask(true);
  }
  [[gnu::always_inline]] static mask logical_and(const mask& a, const mask& b) { return a & b; }
  [[gnu::always_inline]] static mask logical_or(const mask& a, const mask& b) { return a | b; }
  [[gnu::always_inline]] static mask logical_xor(const mask& a, const mask& b) {
    return (a | b) & ~(a & b);  // xsimd 8.1 computes ^ of AVX-512 masks as |
  }
  [[gnu::always_inline]] static mask logical_not(const mask& a) { return ~a; }
  [[gnu::always_inline]] static value from_mask(const mask& m) { return select(m, value(T(1)), value(T(0))); }
  [[gnu::always_inline]] static mask to_mask(const value& a) { return not_equal(a, value(T(0))); }
  /// Conversion to a type of the same width, or to bool, which is a mask.
  template <class To>
  [[gnu::always_inline]] static auto cast(const value& a) {
    if constexpr (std::is_same_v<To, bool>) return to_mask(a);
    else return convert<To>(a);
  }

  // ---- Elementary functions ----
  [[gnu::always_inline]] static value exp(const value& x) { return elementary::exp<batch_math>(x); }
  [[gnu::always_inline]] static value expm1(const value& x) { return elementary::expm1<batch_math>(x); }
  [[gnu::always_inline]] static value log(const value& x) { return elementary::log<batch_math>(x); }
  [[gnu::always_inline]] static value log1p(const value& x) { return elementary::log1p<batch_math>(x); }
  [[gnu::always_inline]] static value tanh(const value& x) { return elementary::tanh<batch_math>(x); }
  [[gnu::always_inline]] static value sigmoid(const value& x) { return elementary::sigmoid<batch_math>(x); }
  [[gnu::always_inline]] static value softplus(const value& x) { return elementary::softplus<batch_math>(x); }
  static value sin(const value& x) {
    return by_lane(x, [](T a) { return scalar::sin(a); });
  }
  static value cos(const value& x) {
    return by_lane(x, [](T a) { return scalar::cos(a); });
  }
  static value tan(const value& x) {
    return by_lane(x, [](T a) { return scalar::tan(a); });
  }
  static value asin(const value& x) {
    return by_lane(x, [](T a) { return scalar::asin(a); });
  }
  static value acos(const value& x) {
    return by_lane(x, [](T a) { return scalar::acos(a); });
  }
  static value atan(const value& x) {
    return by_lane(x, [](T a) { return scalar::atan(a); });
  }
  static value atan2(const value& y, const value& x) {
    return by_lane(y, x, [](T a, T b) { return scalar::atan2(a, b); });
  }
  static value sinh(const value& x) {
    return by_lane(x, [](T a) { return scalar::sinh(a); });
  }
  static value cosh(const value& x) {
    return by_lane(x, [](T a) { return scalar::cosh(a); });
  }
  static value erf(const value& x) {
    return by_lane(x, [](T a) { return scalar::erf(a); });
  }
  static value erfc(const value& x) {
    return by_lane(x, [](T a) { return scalar::erfc(a); });
  }
  static value asinh(const value& x) {
    return by_lane(x, [](T a) { return scalar::asinh(a); });
  }
  static value acosh(const value& x) {
    return by_lane(x, [](T a) { return scalar::acosh(a); });
  }
  static value atanh(const value& x) {
    return by_lane(x, [](T a) { return scalar::atanh(a); });
  }
  static value lgamma(const value& x) {
    return by_lane(x, [](T a) { return scalar::lgamma(a); });
  }
  static value digamma(const value& x) {
    return by_lane(x, [](T a) { return scalar::digamma(a); });
  }
  static value polygamma(const value& x, const value& y) {
    return by_lane(x, y, [](T a, T b) { return scalar::polygamma(a, b); });
  }
  static value zeta(const value& x, const value& y) {
    return by_lane(x, y, [](T a, T b) { return scalar::zeta(a, b); });
  }
  static value pow(const value& x, const value& y) {
    return by_lane(x, y, [](T a, T b) { return scalar::pow(a, b); });
  }

  // ---- Building blocks of the elementary functions ----
  static constexpr T infinity() { return scalar::infinity(); }
  static constexpr T quiet_nan() { return scalar::quiet_nan(); }
  [[gnu::always_inline]] static integers bits(const value& a) { return bits_as<integer>(a); }
  static constexpr integer bits_of(T a) { return scalar::bits(a); }
  [[gnu::always_inline]] static value from_bits(const integers& a) { return bits_as<T>(a); }
  [[gnu::always_inline]] static integers add_bits(const integers& a, integer b) {
    return batch_math<integer>::add(a, integers(b));
  }
  [[gnu::always_inline]] static integers add_bits(const integers& a, const integers& b) {
    return batch_math<integer>::add(a, b);
  }
  [[gnu::always_inline]] static integers and_bits(const integers& a, integer b) {
    return detail::from_native<integer>(detail::to_native(a) & b);
  }
  [[gnu::always_inline]] static integers or_bits(const integers& a, integer b) {
    return detail::from_native<integer>(detail::to_native(a) | b);
  }
  template <int N>
  [[gnu::always_inline]] static integers shift_left(const integers& a) {
    using unsigned_native = detail::native<std::make_unsigned_t<integer>>;
    return detail::from_native<integer>((detail::native<integer>)((unsigned_native)detail::to_native(a) << N));
  }
  template <int N>
  [[gnu::always_inline]] static integers shift_right(const integers& a) {
    using unsigned_native = detail::native<std::make_unsigned_t<integer>>;
    return detail::from_native<integer>((detail::native<integer>)((unsigned_native)detail::to_native(a) >> N));
  }
  [[gnu::always_inline]] static value copy_sign_to_positive(const value& size, const value& signed_value) {
    const auto sign = detail::to_native(and_bits(bits(signed_value), scalar::sign_bit()));
    return from_bits(detail::from_native<integer>(detail::to_native(bits(size)) | sign));
  }
  [[gnu::always_inline]] static value min_or_second(const value& a, const value& b) { return least(a, b); }
  [[gnu::always_inline]] static value max_or_second(const value& a, const value& b) { return greatest(a, b); }
  [[gnu::always_inline]] static value scale_exponential(const value& x, const value& p, const value& power,
                                                        const value& shifted) {
    using c = elementary::constants<T>;
    if constexpr (has_scale) {
      static_cast<void>(shifted);
      return scale_where<T>(logical_not(less(x, value(c::exp_underflow))), p, power);
    } else {
      static_cast<void>(power);
      const value scaled = from_bits(add_bits(bits(p), shift_left<c::mantissa_bits>(bits(shifted))));
      const value bounded = select(less_equal(x, value(c::exp_overflow)), scaled, add(x, value(infinity())));
      return select(less(x, value(c::exp_underflow)), value(T(0)), bounded);
    }
  }

 private:
  // Computes integers as unsigned ones, so that overflow wraps.
  template <class F>
  [[gnu::always_inline]] static value wrapped(const value& a, const value& b, F f) {
    if constexpr (is_float) {
      return detail::from_native<T>(f(detail::to_native(a), detail::to_native(b)));
    } else {
      using unsigned_native = detail::native<std::make_unsigned_t<T>>;
      return detail::from_native<T>(
          (detail::native<T>)f((unsigned_native)detail::to_native(a), (unsigned_native)detail::to_native(b)));
    }
  }

  template <class F>
  static value by_lane(const value& x, F f) {
    alignas(value) T in[lanes<T>];
    x.store_aligned(in);
    for (T& each : in) each = f(each);
    return value::load_aligned(in);
  }

  template <class F>
  static value by_lane(const value& x, const value& y, F f) {
    alignas(value) T left[lanes<T>];
    alignas(value) T right[lanes<T>];
    x.store_aligned(left);
    y.store_aligned(right);
    for (int i = 0; i < lanes<T>; ++i) left[i] = f(left[i], right[i]);
    return value::load_aligned(left);
  }
};

}  // namespace leat::cpu
