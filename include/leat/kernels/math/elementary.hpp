#pragma once
// exp, log, tanh, sigmoid and related functions as polynomial kernels, written once over a policy M (scalar_math or batch_math) that
// supplies the arithmetic, so that a remainder computed by scalars equals the result of batches.
//
// Model: x is reduced to r in [-ln2/2, ln2/2] and a power of two. To find the power, a constant is added that is so large that the sum's
// low bits are the rounded quotient; a shift turns these into 2^n without any conversion to integer. The minimax polynomials were fitted
// for these intervals. sigmoid and tanh are quotients of such exponentials with one division:
//   sigmoid(x) = 1 / (1 + exp(-x)),   tanh|x| = u / (2 - u) with u = 1 - exp(-2|x|).
// log splits x into 2^k (1 + f), with 1 + f in [sqrt(1/2), sqrt(2)). Denormal results may be flushed to zero. The tables of errors are at
// the head of cpu/math.hpp.

#include <leat/kernels/math/polynomial.hpp>

#include <cstdint>
#include <type_traits>

namespace leat::kernels::elementary {

template <class T>
struct constants;

template <>
struct constants<float> {
  using integer = std::int32_t;
  static constexpr int mantissa_bits = 23;
  static constexpr float round_to_low_bits = 0x1.8p23f;  // adding it rounds to an integer, which is then in the low bits
  static constexpr float exponent_bias = 127.0f;
  static constexpr float log2_e = 0x1.715476p+0f;
  static constexpr float ln2_high = 0x1.62e4p-1f;  // has so few bits that n * ln2_high is exact
  static constexpr float ln2_low = 0x1.7f7d1cp-20f;
  static constexpr float half_ln2 = 0x1.62e43p-2f;
  static constexpr float exp_overflow = 0x1.62e42ep+6f;    // the largest x with a finite exponential
  static constexpr float exp_underflow = -0x1.5d589ep+6f;  // the smallest x with a normal exponential
  static constexpr float exp_clamp = 88.9f;                // above exp_overflow, where 2^n is still 2^128
  static constexpr float tanh_clamp = 10.0f;               // tanh rounds to 1 from 9.02 on
  static constexpr float least_normal = 0x1p-126f;
  static constexpr float denormal_scale = 0x1p23f;
  static constexpr integer one_bits = 0x3f800000;
  static constexpr integer sqrt_half_bits = 0x3f3504f3;
  static constexpr integer mantissa_mask = 0x007fffff;
  static constexpr integer sign_bit = static_cast<integer>(0x80000000U);
};

template <>
struct constants<double> {
  using integer = std::int64_t;
  static constexpr int mantissa_bits = 52;
  static constexpr double round_to_low_bits = 0x1.8p52;
  static constexpr double exponent_bias = 1023.0;
  static constexpr double log2_e = 0x1.71547652b82fep+0;
  static constexpr double ln2_high = 0x1.62e42fefa0000p-1;
  static constexpr double ln2_low = 0x1.cf79abc9e3b3ap-40;
  static constexpr double half_ln2 = 0x1.62e42fefa39efp-2;
  static constexpr double exp_overflow = 0x1.62e42fefa39efp+9;
  static constexpr double exp_underflow = -0x1.6232bdd7abcd2p+9;
  static constexpr double exp_clamp = 709.9;
  static constexpr double tanh_clamp = 20.0;
  static constexpr double least_normal = 0x1p-1022;
  static constexpr double denormal_scale = 0x1p52;
  static constexpr integer one_bits = 0x3ff0000000000000;
  static constexpr integer sqrt_half_bits = 0x3fe6a09e667f3bcd;
  static constexpr integer mantissa_mask = 0x000fffffffffffff;
  static constexpr integer sign_bit = static_cast<integer>(0x8000000000000000U);
};

/// (exp(s r) - 1 - s r) / r^2 for |r| <= ln2 / 2. s is 1 or -1, and costs nothing, because it is folded into the coefficients.
template <class M, class V>
[[gnu::always_inline]] constexpr V exp_tail(V r, typename M::value_type s) {
  if constexpr (std::is_same_v<typename M::value_type, float>)
    return horner<M>(r, 0.00139262134663f, s * 0.00836320297158f, 0.0416665544377f, s * 0.16666576846f, 0.5f);
  else
    return horner<M>(r, s * 2.5100424157005066788e-8, 2.7620138719733995569e-7, s * 2.7557268378684192873e-6,
                     2.4801521190217727651e-5, s * 1.9841269863105968748e-4, 1.3888888917281793308e-3,
                     s * 8.3333333333300513464e-3, 4.1666666666623991516e-2, s * 0.16666666666666667456, 0.5);
}

/// exp(s r) for |r| <= ln2 / 2.
template <class M, class V>
[[gnu::always_inline]] constexpr V exp_near_zero(V r, typename M::value_type s) {
  return M::fma(M::fma(exp_tail<M>(r, s), r, V(s)), r, V(typename M::value_type(1)));
}

/// The reduction x = s (power ln2 + rest) with s = 1 or -1.
template <class V>
struct reduced {
  V rest;     // in [-ln2/2, ln2/2]
  V power;    // the integer n
  V shifted;  // n plus `added`, in the low bits
};

/// Reduces x. The integer `added` is added to n in `shifted` only.
template <class M, class V>
[[gnu::always_inline]] constexpr reduced<V> reduce(V x, typename M::value_type s, typename M::value_type added) {
  using c = constants<typename M::value_type>;
  const typename M::value_type magic = c::round_to_low_bits + added;
  const V shifted = M::fma(x, V(s * c::log2_e), V(magic));
  const V power = M::subtract(shifted, V(magic));
  const V rest = M::fma(power, V(-s * c::ln2_low), M::fma(power, V(-s * c::ln2_high), x));
  return {rest, power, shifted};
}

/// (1 - exp(-2 r)) / r for |r| <= ln2 / 4.
template <class M, class V>
[[gnu::always_inline]] constexpr V tanh_factor(V r) {
  if constexpr (std::is_same_v<typename M::value_type, float>)
    return horner<M>(r, -64 * 0.00139262134663f, 32 * 0.00836320297158f, -16 * 0.0416665544377f, 8 * 0.16666576846f,
                     -4 * 0.5f, 2.0f);
  else
    return horner<M>(r, 2048 * 2.5100424157005066788e-8, -1024 * 2.7620138719733995569e-7,
                     512 * 2.7557268378684192873e-6, -256 * 2.4801521190217727651e-5, 128 * 1.9841269863105968748e-4,
                     -64 * 1.3888888917281793308e-3, 32 * 8.3333333333300513464e-3, -16 * 4.1666666666623991516e-2,
                     8 * 0.16666666666666667456, -4 * 0.5, 2.0);
}

/// 2^n for n + exponent_bias in the low bits of `shifted`; zero and infinity at the ends of the range.
template <class M, class V>
[[gnu::always_inline]] constexpr V power_of_two(V shifted) {
  return M::from_bits(M::template shift_left<constants<typename M::value_type>::mantissa_bits>(M::bits(shifted)));
}

template <class M, class V>
[[gnu::always_inline]] constexpr V exp(V x) {
  using c = constants<typename M::value_type>;
  const reduced<V> x_ = reduce<M>(M::min_or_second(V(c::exp_clamp), x), 1, 0);
  return M::scale_exponential(x, exp_near_zero<M>(x_.rest, 1), x_.power, x_.shifted);
}

template <class M, class V>
[[gnu::always_inline]] constexpr V expm1(V x) {
  using c = constants<typename M::value_type>;
  using T = typename M::value_type;
  // Below -40 the result is -1. The result is computed with half the power, so that the largest results do not overflow.
  const V clamped = M::min_or_second(V(c::exp_clamp), M::max_or_second(V(T(-40)), x));
  const reduced<V> x_ = reduce<M>(clamped, 1, c::exponent_bias - 1);
  const V half_power = power_of_two<M>(x_.shifted);
  const V near_zero = M::fma(exp_tail<M>(x_.rest, 1), M::multiply(x_.rest, x_.rest), x_.rest);
  const V half = M::fma(half_power, near_zero, M::subtract(half_power, V(T(0.5))));
  const V result = M::add(half, half);
  return M::select(M::equal(x, V(T(0))), x, result);  // keeps -0
}

template <class M, class V>
[[gnu::always_inline]] constexpr V sigmoid(V x) {
  using c = constants<typename M::value_type>;
  using T = typename M::value_type;
  const V clamped = M::min_or_second(V(-c::exp_underflow), M::max_or_second(V(-c::exp_clamp), x));
  const reduced<V> x_ = reduce<M>(clamped, -1, c::exponent_bias);
  return M::divide(V(T(1)), M::fma(power_of_two<M>(x_.shifted), exp_near_zero<M>(x_.rest, -1), V(T(1))));
}

template <class M, class V>
[[gnu::always_inline]] constexpr V tanh(V x) {
  using c = constants<typename M::value_type>;
  using T = typename M::value_type;
  // u = 1 - exp(-2|x|) = 1 - 2^n - 2^n expm1(-2 rest), where |x| = rest - n ln2 / 2. One word for ln2 / 2 is accurate enough: where its
  // error is largest, at large |n|, the factor 2^n is small.
  const V size = M::min_or_second(V(c::tanh_clamp), M::abs(x));
  const T magic = c::round_to_low_bits + c::exponent_bias;
  const V shifted = M::fma(size, V(-2 * c::log2_e), V(magic));
  const V rest = M::fma(M::subtract(shifted, V(magic)), V(c::half_ln2), size);
  const V power = power_of_two<M>(shifted);
  const V near_zero = M::multiply(rest, tanh_factor<M>(rest));
  const V u = M::fma(power, near_zero, M::subtract(V(T(1)), power));
  return M::copy_sign_to_positive(M::divide(u, M::subtract(V(T(2)), u)), x);
}

/// log(1 + f) - f + f^2/2 for 1 + f in [sqrt(1/2), sqrt(2)).
template <class M, class V>
[[gnu::always_inline]] constexpr V log_tail(V f, V square) {
  if constexpr (std::is_same_v<typename M::value_type, float>) {
    return M::multiply(M::multiply(f, square),
                       horner<M>(f, 0.0697161147145f, -0.114797338466f, 0.116854199235f, -0.124256873315f,
                                 0.142490576457f, -0.166678023195f, 0.200007157489f, -0.24999996958f, 0.3333333118f));
  } else {
    // With s = f / (2 + f): log(1 + f) = 2 atanh(s) = 2 s + s^3 (2/3 + …), and 2 s = f - s f.
    const V s = M::divide(f, M::add(f, V(2)));
    const V z = M::multiply(s, s);
    const V series =
        horner<M>(z, 0.13100721383503491392, 0.13267418596474883398, 0.15386290534658991988, 0.18181794700897799585,
                  0.22222222400547757297, 0.28571428570764450117, 0.40000000000000941266, 0.66666666666666666448);
    const V half_square = M::multiply(square, V(0.5));
    return M::multiply(s, M::fma(z, series, half_square));
  }
}

template <class M, class V>
[[gnu::always_inline]] constexpr V log(V x) {
  using c = constants<typename M::value_type>;
  using T = typename M::value_type;
  using I = typename c::integer;
  const auto denormal = M::less(x, V(c::least_normal));
  const V normal = M::select(denormal, M::multiply(x, V(c::denormal_scale)), x);
  // Moves the mantissa's range from [1, 2) to [sqrt(1/2), sqrt(2)); the exponent k stays biased and positive.
  const auto moved = M::add_bits(M::bits(normal), I(c::one_bits - c::sqrt_half_bits));
  const V f = M::subtract(M::from_bits(M::add_bits(M::and_bits(moved, c::mantissa_mask), c::sqrt_half_bits)), V(T(1)));
  const V biased =
      M::from_bits(M::or_bits(M::template shift_right<c::mantissa_bits>(moved), M::bits_of(c::denormal_scale)));
  const V offset = M::select(denormal, V(c::denormal_scale + c::exponent_bias + T(c::mantissa_bits)),
                             V(c::denormal_scale + c::exponent_bias));
  const V k = M::subtract(biased, offset);
  const V square = M::multiply(f, f);
  const V tail = M::fma(k, V(c::ln2_low), log_tail<M>(f, square));
  const V result = M::fma(k, V(c::ln2_high), M::add(f, M::fma(square, V(T(-0.5)), tail)));
  // Special cases: zero gives -infinity, negative numbers give NaN, and infinity gives infinity.
  const V infinity(M::infinity());
  V special = M::select(M::equal(x, infinity), x, result);
  special = M::select(M::equal(x, V(T(0))), M::negate(infinity), special);
  return M::select(M::greater_equal(x, V(T(0))), special, V(M::quiet_nan()));
}

template <class M, class V>
[[gnu::always_inline]] constexpr V log1p(V x) {
  using T = typename M::value_type;
  // Compensates the rounding error of 1 + x to first order.
  const V sum = M::add(x, V(T(1)));
  const V lost = M::subtract(x, M::subtract(sum, V(T(1))));
  const V result = M::add(log<M>(sum), M::divide(lost, sum));
  const auto plain = M::logical_or(M::equal(sum, V(T(1))), M::equal(x, V(M::infinity())));
  return M::select(plain, x, M::select(M::equal(sum, V(T(0))), log<M>(sum), result));
}

template <class M, class V>
[[gnu::always_inline]] constexpr V softplus(V x) {
  using T = typename M::value_type;
  return M::add(M::maximum(x, V(T(0))), log1p<M>(exp<M>(M::negate(M::abs(x)))));
}

}  // namespace leat::kernels::elementary
