#include <leat/cpu/math.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

using namespace leat::cpu;

namespace {

template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();
template <class T>
constexpr T not_a_number = std::numeric_limits<T>::quiet_NaN();

// The distance of a result from the true value in units of the last place of that value.
template <class T>
double error_in_ulp(T result, long double truth) {
  if (std::isnan(result) || std::isnan(truth)) return std::isnan(result) && std::isnan(truth) ? 0 : 1e30;
  const T rounded = static_cast<T>(truth);
  if (result == rounded) return 0;
  if (std::isinf(result) || std::isinf(rounded)) return 1e30;
  int exponent = 0;
  std::frexp(std::fabs(rounded), &exponent);
  const int last = std::max(exponent, std::numeric_limits<T>::min_exponent) - std::numeric_limits<T>::digits;
  return static_cast<double>(std::fabs(static_cast<long double>(result) - truth) / std::ldexp(1.0L, last));
}

template <class T>
bool same(T a, T b) {
  return a == b ? std::signbit(a) == std::signbit(b) : std::isnan(a) && std::isnan(b);
}

struct range {
  double low, high;
};

// Numbers spread evenly over the range, and others spread over all orders of magnitude toward zero.
template <class T>
std::vector<T> samples(range r, std::size_t count) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> even(r.low, r.high);
  std::uniform_real_distribution<double> exponent(std::is_same_v<T, float> ? -40 : -80, 0);
  std::vector<T> result;
  while (result.size() < count) {
    result.push_back(static_cast<T>(even(random)));
    result.push_back(static_cast<T>(even(random) * std::exp2(exponent(random))));
  }
  return result;
}

// Batch and scalar agree bit by bit, and no result is further than `bound` from the truth. Denormal results may be
// zero.
template <class T, class Scalar, class Batch, class Truth>
void sweep(const char* name, range r, double bound, Scalar scalar, Batch on_batch, Truth truth) {
  CAPTURE(name);
  std::size_t count = 40000;
  double worst = 0;
  T worst_at(0);
  long different = 0;
  const std::vector<T> xs = samples<T>(r, count);
  for (std::size_t i = 0; i + lanes<T> <= xs.size(); i += lanes<T>) {
    T results[lanes<T>];
    store(results, on_batch(load(xs.data() + i)));
    for (std::size_t j = 0; j < lanes<T>; ++j) {
      const T x = xs[i + j];
      if (!same(scalar(x), results[j])) ++different;
      const long double expected = truth(static_cast<long double>(x));
      if (std::fabs(expected) < std::numeric_limits<T>::min()) {
        if (std::fabs(results[j]) > std::numeric_limits<T>::min()) worst = 1e30;
        continue;
      }
      if (const double error = error_in_ulp(results[j], expected); error > worst) worst = error, worst_at = x;
    }
  }
  CAPTURE(worst_at);
  CHECK(worst <= bound);
  CHECK(different == 0);
}

template <class T>
std::vector<T> special_values() {
  using limits = std::numeric_limits<T>;
  return {T(0), T(-0.0), infinity<T>, -infinity<T>, not_a_number<T>, limits::max(), limits::lowest(), limits::min(),
          T(1), T(-1),   T(0.5),      T(-0.5),      T(100),          T(-100),       T(800),           T(-800)};
}

template <class V>
auto first(const V& v) {
  return v.get(0);
}

}  // namespace

#define LEAT_SWEEP(function, low, high, bound, truth)                                 \
  sweep<T>(                                                                           \
      #function, {low, high}, bound, [](T x) { return scalar_math<T>::function(x); }, \
      [](const batch<T>& x) { return batch_math<T>::function(x); },                   \
      [](long double x) -> long double { return truth; })

TEST_CASE_TEMPLATE("elementary functions are within their stated errors", T, float, double) {
  const double big = std::is_same_v<T, float> ? 88.7 : 709.7;
  LEAT_SWEEP(exp, -big, big, 1.5, std::exp(x));
  LEAT_SWEEP(exp, -2, 2, 1.5, std::exp(x));
  LEAT_SWEEP(expm1, -big, big, 2.0, std::expm1(x));
  LEAT_SWEEP(expm1, -2, 2, 2.0, std::expm1(x));
  LEAT_SWEEP(log, 0, 3, 1.0, std::log(x));
  LEAT_SWEEP(log, 0, 1e30, 1.0, std::log(x));
  LEAT_SWEEP(log1p, -1, 3, 2.0, std::log1p(x));
  LEAT_SWEEP(tanh, -12, 12, 3.0, std::tanh(x));
  LEAT_SWEEP(tanh, -1, 1, 3.0, std::tanh(x));
  LEAT_SWEEP(sigmoid, -big, big, 2.5, 1 / (1 + std::exp(-x)));
  LEAT_SWEEP(sigmoid, -3, 3, 2.5, 1 / (1 + std::exp(-x)));
  LEAT_SWEEP(softplus, -20, 20, 2.5, std::fmax(x, 0.0L) + std::log1p(std::exp(-std::fabs(x))));
  LEAT_SWEEP(sin, -10, 10, 1.5, std::sin(x));
  LEAT_SWEEP(cos, -10, 10, 1.5, std::cos(x));
  LEAT_SWEEP(tan, -1.5, 1.5, 1.5, std::tan(x));
  LEAT_SWEEP(asin, -1, 1, 1.5, std::asin(x));
  LEAT_SWEEP(acos, -1, 1, 1.5, std::acos(x));
  LEAT_SWEEP(atan, -30, 30, 1.5, std::atan(x));
  LEAT_SWEEP(sinh, -20, 20, 2.5, std::sinh(x));
  LEAT_SWEEP(cosh, -20, 20, 2.5, std::cosh(x));
  LEAT_SWEEP(erf, -5, 5, 1.5, std::erf(x));
  LEAT_SWEEP(sqrt, 0, 100, 0.501, std::sqrt(x));
  LEAT_SWEEP(rsqrt, 0.01, 100, 1.5, 1 / std::sqrt(x));
  LEAT_SWEEP(reciprocal, 0.01, 100, 0.501, 1 / x);
}

TEST_CASE_TEMPLATE("special values", T, float, double) {
  using S = scalar_math<T>;
  using B = batch_math<T>;
  const T inf = infinity<T>;
  const T nan = not_a_number<T>;
  CHECK(same(S::exp(T(0)), T(1)));
  CHECK(same(S::exp(inf), inf));
  CHECK(same(S::exp(-inf), T(0)));
  CHECK(same(S::exp(std::numeric_limits<T>::max()), inf));
  CHECK(same(S::exp(std::numeric_limits<T>::lowest()), T(0)));
  CHECK(same(S::expm1(T(-0.0)), T(-0.0)));
  CHECK(same(S::expm1(-inf), T(-1)));
  CHECK(same(S::expm1(inf), inf));
  CHECK(same(S::log(T(0)), -inf));
  CHECK(same(S::log(T(-0.0)), -inf));
  CHECK(same(S::log(T(1)), T(0)));
  CHECK(same(S::log(inf), inf));
  CHECK(std::isnan(S::log(T(-1))));
  CHECK(std::isnan(S::log(-inf)));
  CHECK(same(S::log1p(T(-0.0)), T(-0.0)));
  CHECK(same(S::log1p(T(-1)), -inf));
  CHECK(same(S::log1p(inf), inf));
  CHECK(std::isnan(S::log1p(T(-2))));
  CHECK(same(S::tanh(T(0)), T(0)));
  CHECK(same(S::tanh(T(-0.0)), T(-0.0)));
  CHECK(same(S::tanh(inf), T(1)));
  CHECK(same(S::tanh(-inf), T(-1)));
  CHECK(same(S::sigmoid(T(0)), T(0.5)));
  CHECK(same(S::sigmoid(inf), T(1)));
  CHECK(same(S::sigmoid(-inf), T(0)));
  CHECK(same(S::sigmoid(std::numeric_limits<T>::lowest()), T(0)));
  CHECK(same(S::softplus(-inf), T(0)));
  CHECK(same(S::softplus(inf), inf));
  for (T (*function)(T) : {S::exp, S::expm1, S::log, S::log1p, S::tanh, S::sigmoid, S::softplus})
    CHECK(std::isnan(function(nan)));

  for (const T x : special_values<T>()) {
    CAPTURE(x);
    const batch<T> v(x);
    CHECK(same(S::exp(x), first(B::exp(v))));
    CHECK(same(S::expm1(x), first(B::expm1(v))));
    CHECK(same(S::log(x), first(B::log(v))));
    CHECK(same(S::log1p(x), first(B::log1p(v))));
    CHECK(same(S::tanh(x), first(B::tanh(v))));
    CHECK(same(S::sigmoid(x), first(B::sigmoid(v))));
    CHECK(same(S::softplus(x), first(B::softplus(v))));
    CHECK(same(S::abs(x), first(B::abs(v))));
    CHECK(same(S::sign(x), first(B::sign(v))));
    CHECK(same(S::round(x), first(B::round(v))));
    CHECK(S::is_nan(x) == (mask_bits<T>(B::is_nan(v)) == (1U << lanes<T>)-1U));
    CHECK(S::is_inf(x) == (mask_bits<T>(B::is_inf(v)) != 0));
    CHECK(S::is_finite(x) == (mask_bits<T>(B::is_finite(v)) != 0));
    for (const T y : special_values<T>()) {
      CAPTURE(y);
      const batch<T> w(y);
      CHECK(same(S::maximum(x, y), first(B::maximum(v, w))));
      CHECK(same(S::minimum(x, y), first(B::minimum(v, w))));
      CHECK(S::less(x, y) == (mask_bits<T>(B::less(v, w)) != 0));
      CHECK(S::less_equal(x, y) == (mask_bits<T>(B::less_equal(v, w)) != 0));
      CHECK(S::greater(x, y) == (mask_bits<T>(B::greater(v, w)) != 0));
      CHECK(S::greater_equal(x, y) == (mask_bits<T>(B::greater_equal(v, w)) != 0));
      CHECK(S::equal(x, y) == (mask_bits<T>(B::equal(v, w)) != 0));
      CHECK(S::not_equal(x, y) == (mask_bits<T>(B::not_equal(v, w)) != 0));
      CHECK(same(S::floor_mod(x, y), first(B::floor_mod(v, w))));
      CHECK(same(S::truncate_div(x, y), first(B::truncate_div(v, w))));
      CHECK(same(S::pow(x, y), first(B::pow(v, w))));
      if (x != x || y != y) CHECK(std::isnan(S::maximum(x, y)));
    }
  }
}

TEST_CASE_TEMPLATE("integer arithmetic wraps, and divides without trapping", T, std::int32_t, std::int64_t) {
  using S = scalar_math<T>;
  using B = batch_math<T>;
  const T least_value = std::numeric_limits<T>::min();
  const T greatest_value = std::numeric_limits<T>::max();
  CHECK(S::add(greatest_value, T(1)) == least_value);
  CHECK(S::negate(least_value) == least_value);
  CHECK(S::floor_div(T(-7), T(2)) == T(-4));
  CHECK(S::floor_mod(T(-7), T(2)) == T(1));
  CHECK(S::floor_mod(T(7), T(-2)) == T(-1));
  CHECK(S::truncate_div(T(-7), T(2)) == T(-3));
  CHECK(S::truncate_mod(T(-7), T(2)) == T(-1));
  CHECK(S::floor_div(T(5), T(0)) == T(0));
  CHECK(S::floor_mod(T(5), T(0)) == T(0));
  CHECK(S::floor_div(least_value, T(-1)) == least_value);
  CHECK(S::floor_mod(least_value, T(-1)) == T(0));
  CHECK(S::pow(T(3), T(5)) == T(243));
  CHECK(S::pow(T(-1), T(-3)) == T(-1));
  CHECK(S::pow(T(2), T(-1)) == T(0));
  const T samples[] = {T(0),
                       T(1),
                       T(-1),
                       T(2),
                       T(-2),
                       T(7),
                       T(-7),
                       T(123456789),
                       T(-123456789),
                       greatest_value,
                       least_value,
                       T(least_value + 1),
                       T(greatest_value - 1)};
  for (const T x : samples)
    for (const T y : samples) {
      CAPTURE(x);
      CAPTURE(y);
      // Different values in the lanes, so that a shuffled result shows.
      T left[lanes<T>], right[lanes<T>];
      for (int i = 0; i < lanes<T>; ++i) {
        left[i] = S::add(x, static_cast<T>(i * 3));
        right[i] = S::subtract(y, static_cast<T>(i));
      }
      const batch<T> v = load(left);
      const batch<T> w = load(right);
      const auto agree = [&](auto on_scalars, const batch<T>& result) {
        T results[lanes<T>];
        store(results, result);
        for (int i = 0; i < lanes<T>; ++i) CHECK(results[i] == on_scalars(left[i], right[i]));
      };
      agree(S::add, B::add(v, w));
      agree(S::subtract, B::subtract(v, w));
      agree(S::multiply, B::multiply(v, w));
      agree(S::maximum, B::maximum(v, w));
      agree(S::minimum, B::minimum(v, w));
      agree(S::truncate_div, B::truncate_div(v, w));
      agree(S::truncate_mod, B::truncate_mod(v, w));
      agree(S::floor_div, B::floor_div(v, w));
      agree(S::floor_mod, B::floor_mod(v, w));
      agree([](T a, T) { return S::abs(a); }, B::abs(v));
      agree([](T a, T) { return S::negate(a); }, B::negate(v));
      agree([](T a, T) { return S::sign(a); }, B::sign(v));
      const auto agree_mask = [&](auto on_scalars, const mask<T>& result) {
        for (int i = 0; i < lanes<T>; ++i)
          CHECK((mask_bits<T>(result) >> i & 1U) == unsigned(on_scalars(left[i], right[i])));
      };
      agree_mask(S::less, B::less(v, w));
      agree_mask(S::less_equal, B::less_equal(v, w));
      agree_mask(S::greater, B::greater(v, w));
      agree_mask(S::greater_equal, B::greater_equal(v, w));
      agree_mask(S::equal, B::equal(v, w));
      agree_mask(S::not_equal, B::not_equal(v, w));
    }
}

TEST_CASE("small types and truth values") {
  using byte = scalar_math<std::uint8_t>;
  CHECK(byte::add(200, 100) == 44);
  CHECK(byte::subtract(1, 2) == 255);
  CHECK(byte::floor_div(7, 0) == 0);
  CHECK(byte::floor_mod(7, 4) == 3);
  CHECK(byte::maximum(7, 200) == 200);
  CHECK(byte::abs(200) == 200);
  CHECK(byte::cast<float>(200) == 200.0f);
  CHECK(scalar_math<float>::cast<std::uint8_t>(200.9f) == 200);
  CHECK(scalar_math<float>::cast<bool>(0.25f));
  CHECK_FALSE(scalar_math<float>::cast<bool>(-0.0f));
  CHECK(scalar_math<bool>::cast<double>(true) == 1.0);
  CHECK(scalar_math<bool>::logical_xor(true, false));
}

TEST_CASE_TEMPLATE("masks: logic, selection, casts", T, float, double, std::int32_t, std::int64_t) {
  using B = batch_math<T>;
  const auto low = B::less(iota<T>(), batch<T>(T(2)));
  const auto first_only = B::equal(iota<T>(), batch<T>(T(0)));
  const unsigned all = (1U << lanes<T>)-1U;
  CHECK(mask_bits<T>(B::logical_and(low, first_only)) == 1U);
  CHECK(mask_bits<T>(B::logical_or(low, first_only)) == 3U);
  CHECK(mask_bits<T>(B::logical_xor(low, first_only)) == 2U);
  CHECK(mask_bits<T>(B::logical_not(low)) == (all & ~3U));
  CHECK(reduce_add(B::from_mask(low)) == T(2));
  CHECK(mask_bits<T>(B::to_mask(iota<T>())) == (all & ~1U));
  CHECK(mask_bits<T>(B::template cast<bool>(iota<T>())) == (all & ~1U));
  CHECK(reduce_max(B::select(low, iota<T>(), batch<T>(T(0)))) == T(1));
}

TEST_CASE("scalars are usable in constant evaluation") {
  static_assert(scalar_math<float>::exp(0.0f) == 1.0f);
  static_assert(scalar_math<double>::tanh(0.0) == 0.0);
  static_assert(scalar_math<double>::sigmoid(0.0) == 0.5);
  static_assert(scalar_math<float>::log(1.0f) == 0.0f);
  static_assert(scalar_math<std::int32_t>::floor_mod(-7, 2) == 1);
}
