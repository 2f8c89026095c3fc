#pragma once
// Learning rates that fall with the step counter, as part of the program: `gradient_descent(exponential_decay(0.1f, step, 1000,
// 0.96f)).minimize(loss, step)`. Each formula is written once, for operands of typed expressions and of graphs with names
// (train/named/schedules.hpp). A schedule computes in float32, or in the dtype of a rate that is a tensor; it reads the counter
// before the step's update. Source: TensorFlow 1.x `train.exponential_decay` and the other functions of these names.

#include <leat/ops/functions.hpp>
#include <leat/ops/state.hpp>
#include <leat/train/setting.hpp>

#include <numbers>

namespace leat {

/// Whether a rate falls once per period instead of a little in each step.
enum class staircase : bool { no, yes };

namespace schedule {

// The formulas. `w` creates operands: `w.rate` the initial rate, whose dtype is that of the computation; `w.in_dtype` numbers and counters
// in that dtype; `w.product`, `w.sum` and `w.quotient` the result, which has the schedule's name.

template <class W, class X>
constexpr auto in_periods(W& w, bool rounds, const X& x) {
  if constexpr (W::is_typed) {
    if constexpr (W::stairs) return floor(x);
    else return x;
  } else {
    return rounds ? w.rounded_down(x) : x;
  }
}

/// rate decay_rate^(step / period).
template <class W, class Rate, class Step, class Period, class Decay>
constexpr auto exponential(W& w, const Rate& rate, const Step& step, const Period& period, const Decay& decay_rate, bool rounds) {
  const auto first = w.rate(rate);
  const auto steps = w.template in_dtype<1>(period);
  const auto base = w.template in_dtype<2>(decay_rate);
  const auto periods = in_periods(w, rounds, w.template in_dtype<3>(step) / steps);
  return w.product(first, pow(base, periods));
}

/// rate / (1 + decay_rate step / period).
template <class W, class Rate, class Step, class Period, class Decay>
constexpr auto inverse_time(W& w, const Rate& rate, const Step& step, const Period& period, const Decay& decay_rate, bool rounds) {
  const auto first = w.rate(rate);
  const auto steps = w.template in_dtype<1>(period);
  const auto decay = w.template in_dtype<2>(decay_rate);
  const auto periods = in_periods(w, rounds, w.template in_dtype<3>(step) / steps);
  return w.quotient(first, decay * periods + constant_beside<1>(first));
}

/// (rate - end)(1 - step / period)^power + end; with cycles, the period is replaced by its first multiple that is not below the step.
template <class W, class Rate, class Step, class Period, class End, class Power>
constexpr auto polynomial(W& w, const Rate& rate, const Step& step, const Period& period, const End& end_rate, const Power& power,
                          bool cycles) {
  const auto first = w.rate(rate);
  const auto end = w.template in_dtype<2>(end_rate);
  const auto exponent = w.template in_dtype<3>(power);
  const auto now = w.template in_dtype<4>(step);
  const auto steps = w.template in_dtype<1>(period);
  const auto left = [&](const auto& at, const auto& of) {
    return w.sum((first - end) * pow(constant_beside<1>(at) - at / of, exponent), end);
  };
  const auto longer = [&] {
    return left(now, steps * select(equal(now, constant_beside<0>(now)), constant_beside<1>(now), ceil(now / steps)));
  };
  const auto once = [&] { return left(minimum(now, steps), steps); };
  if constexpr (W::is_typed) {
    if constexpr (W::stairs) return longer();
    else return once();
  } else {
    return cycles ? longer() : once();
  }
}

/// (1 + cos(π x)) / 2.
template <class X>
constexpr auto half_wave(const X& x) {
  return detail::beside<void>(x, compile_time_number<std::bit_cast<std::uint64_t>(0.5), true>{}) *
         (constant_beside<1>(x) +
          cos(detail::beside<void>(x, compile_time_number<std::bit_cast<std::uint64_t>(std::numbers::pi), true>{}) * x));
}

/// rate ((1 - alpha)(1 + cos(π step / period)) / 2 + alpha); rate alpha after the period.
template <class W, class Rate, class Step, class Period, class Alpha>
constexpr auto cosine(W& w, const Rate& rate, const Step& step, const Period& period, const Alpha& alpha) {
  const auto first = w.rate(rate);
  const auto steps = w.template in_dtype<1>(period);
  const auto now = minimum(w.template in_dtype<3>(step), steps);
  const auto part = half_wave(now / steps);
  const auto least = w.template in_dtype<2>(alpha);
  return w.inner_product(first, (constant_beside<1>(least) - least) * part + least);
}

/// The same with restarts: each period is t_mul times as long as the one before it and starts at m_mul times its rate.
template <class W, class Rate, class Step, class Period, class T, class M, class Alpha>
constexpr auto cosine_restarts(W& w, const Rate& rate, const Step& step, const Period& period, const T& t_mul, const M& m_mul,
                               const Alpha& alpha) {
  const auto first = w.rate(rate);
  const auto steps = w.template in_dtype<1>(period);
  const auto least = w.template in_dtype<2>(alpha);
  const auto longer = w.template in_dtype<4>(t_mul);
  const auto lower = w.template in_dtype<5>(m_mul);
  const auto periods = w.template in_dtype<3>(step) / steps;
  const auto one = constant_beside<1>(periods);
  const auto even = equal(longer, one);
  // For periods that grow: the number of past periods, their total length, and the fraction of the current one.
  const auto grown = floor(log(one - periods * (one - longer)) / log(longer));
  const auto stretch = pow(longer, grown);
  const auto over = (one - stretch) / (one - longer);
  const auto restarts = select(even, floor(periods), grown);
  const auto part = select(even, periods - floor(periods), (periods - over) / stretch);
  const auto wave = pow(lower, restarts) * half_wave(part);
  return w.product(first, (one - least) * wave + least);
}

/// rate ((alpha + 1 - x)(1 + cos(2 π periods x)) / 2 + beta), x = step / period.
template <class W, class Rate, class Step, class Period, class Periods, class Alpha, class Beta>
constexpr auto linear_cosine(W& w, const Rate& rate, const Step& step, const Period& period, const Periods& num_periods, const Alpha& alpha,
                             const Beta& beta) {
  const auto first = w.rate(rate);
  const auto steps = w.template in_dtype<1>(period);
  const auto waves = w.template in_dtype<2>(num_periods);
  const auto least = w.template in_dtype<4>(alpha);
  const auto above = w.template in_dtype<5>(beta);
  const auto now = minimum(w.template in_dtype<3>(step), steps);
  const auto left = (steps - now) / steps;
  const auto wave = half_wave(constant_beside<2>(waves) * waves * (now / steps));
  return w.product(first, (least + left) * wave + above);
}

}  // namespace schedule

namespace detail {

// Operands of typed schedules. Numbers are settings: those that the compiler does not know travel with the expression.
template <class Rate, class Site, bool Stairs = false>
struct typed_schedule {
  static constexpr bool is_typed = true;
  static constexpr bool stairs = Stairs;
  static constexpr dtype type = [] {
    if constexpr (tensor_expression<Rate>) return is_floating(Rate::type) ? Rate::type : dtype::float32;
    else return dtype::float32;
  }();
  using element = element_of<type>;

  constexpr auto rate(const Rate& r) const { return in_dtype<0>(r); }
  template <int K, class X>
  constexpr auto in_dtype(const X& x) const {
    return cast<element>(as_setting<Site, 50 + K>(x));
  }
  constexpr auto product(const auto& x, const auto& y) const { return x * y; }
  constexpr auto inner_product(const auto& x, const auto& y) const { return x * y; }
  constexpr auto sum(const auto& x, const auto& y) const { return x + y; }
  constexpr auto quotient(const auto& x, const auto& y) const { return x / y; }
};

template <class S>
concept step_expression = tensor_expression<S> && requires { requires S::rank == 0; };

}  // namespace detail

#define LEAT_SCHEDULE_WORDS \
  " takes a rate, the step counter (a scalar tensor) and settings: numbers, parameters such as parameter<\"rate\">(0.1f), or scalar tensors"

/// rate decay_rate^(step / decay_steps); `exponential_decay<staircase::yes>` rounds the exponent down to whole periods. Shapes: all
/// scalars; result [].
/// Dtypes: step any number; result float32, or the dtype of a rate that is a tensor. Source: TensorFlow `train.exponential_decay`.
template <staircase Stairs = staircase::no, detail::optimizer_setting Rate, detail::step_expression Step, detail::optimizer_setting Period,
          detail::optimizer_setting Decay, LEAT_SITE>
constexpr auto exponential_decay(const Rate& rate, const Step& step, const Period& decay_steps, const Decay& decay_rate) {
  detail::typed_schedule<Rate, Site, Stairs == staircase::yes> w;
  return schedule::exponential(w, rate, step, decay_steps, decay_rate, false);
}
LEAT_OTHERWISE_OF(exponential_decay, "(rate, step, decay_steps, decay_rate)" LEAT_SCHEDULE_WORDS);

/// rate e^(-decay_rate step / decay_steps). Shapes and dtypes: as `exponential_decay`. Source: TensorFlow `train.natural_exp_decay`.
template <staircase Stairs = staircase::no, detail::optimizer_setting Rate, detail::step_expression Step, detail::optimizer_setting Period,
          detail::optimizer_setting Decay, LEAT_SITE>
constexpr auto natural_exp_decay(const Rate& rate, const Step& step, const Period& decay_steps, const Decay& decay_rate) {
  detail::typed_schedule<Rate, Site, Stairs == staircase::yes> w;
  return schedule::exponential(w, rate, step, decay_steps, exp(-w.template in_dtype<2>(decay_rate)), false);
}
LEAT_OTHERWISE_OF(natural_exp_decay, "(rate, step, decay_steps, decay_rate)" LEAT_SCHEDULE_WORDS);

/// rate / (1 + decay_rate step / decay_steps). Shapes and dtypes: as `exponential_decay`. Source: TensorFlow `train.inverse_time_decay`.
template <staircase Stairs = staircase::no, detail::optimizer_setting Rate, detail::step_expression Step, detail::optimizer_setting Period,
          detail::optimizer_setting Decay, LEAT_SITE>
constexpr auto inverse_time_decay(const Rate& rate, const Step& step, const Period& decay_steps, const Decay& decay_rate) {
  detail::typed_schedule<Rate, Site, Stairs == staircase::yes> w;
  return schedule::inverse_time(w, rate, step, decay_steps, decay_rate, false);
}
LEAT_OTHERWISE_OF(inverse_time_decay, "(rate, step, decay_steps, decay_rate)" LEAT_SCHEDULE_WORDS);

/// Whether a polynomial decay starts again, over a longer period, after the end of a period.
enum class cycle : bool { no, yes };

/// (rate - end)(1 - step / decay_steps)^power + end, and `end` afterwards; `polynomial_decay<cycle::yes>` replaces decay_steps by its first
/// multiple that is not below the step. Shapes and dtypes: as `exponential_decay`. Source: TensorFlow `train.polynomial_decay`.
template <cycle Cycle = cycle::no, detail::optimizer_setting Rate, detail::step_expression Step, detail::optimizer_setting Period,
          detail::optimizer_setting End = double, detail::optimizer_setting Power = double, LEAT_SITE>
constexpr auto polynomial_decay(const Rate& rate, const Step& step, const Period& decay_steps, const End& end_rate = 0.0001,
                                const Power& power = 1.0) {
  detail::typed_schedule<Rate, Site, Cycle == cycle::yes> w;
  return schedule::polynomial(w, rate, step, decay_steps, end_rate, power, false);
}
LEAT_OTHERWISE_OF(polynomial_decay, "(rate, step, decay_steps, end_rate, power)" LEAT_SCHEDULE_WORDS);

/// rate ((1 - alpha)(1 + cos(π x)) / 2 + alpha), x = step / decay_steps, at most 1. Shapes and dtypes: as `exponential_decay`.
/// Source: TensorFlow `train.cosine_decay`; Loshchilov and Hutter 2016.
template <detail::optimizer_setting Rate, detail::step_expression Step, detail::optimizer_setting Period,
          detail::optimizer_setting Alpha = double, LEAT_SITE>
constexpr auto cosine_decay(const Rate& rate, const Step& step, const Period& decay_steps, const Alpha& alpha = 0.0) {
  detail::typed_schedule<Rate, Site> w;
  return schedule::cosine(w, rate, step, decay_steps, alpha);
}
LEAT_OTHERWISE_OF(cosine_decay, "(rate, step, decay_steps, alpha)" LEAT_SCHEDULE_WORDS);

/// `cosine_decay` with restarts: each period is `t_mul` times as long as the one before it and starts at `m_mul` times its rate. Shapes and
/// dtypes: as `exponential_decay`. Source: TensorFlow `train.cosine_decay_restarts`; Loshchilov and Hutter 2016.
template <detail::optimizer_setting Rate, detail::step_expression Step, detail::optimizer_setting Period,
          detail::optimizer_setting T = double, detail::optimizer_setting M = double, detail::optimizer_setting Alpha = double, LEAT_SITE>
constexpr auto cosine_decay_restarts(const Rate& rate, const Step& step, const Period& first_decay_steps, const T& t_mul = 2.0,
                                     const M& m_mul = 1.0, const Alpha& alpha = 0.0) {
  detail::typed_schedule<Rate, Site> w;
  return schedule::cosine_restarts(w, rate, step, first_decay_steps, t_mul, m_mul, alpha);
}
LEAT_OTHERWISE_OF(cosine_decay_restarts, "(rate, step, first_decay_steps, t_mul, m_mul, alpha)" LEAT_SCHEDULE_WORDS);

/// rate ((alpha + 1 - x)(1 + cos(2 π num_periods x)) / 2 + beta), x = step / decay_steps, at most 1. Shapes and dtypes: as
/// `exponential_decay`. Source: TensorFlow `train.linear_cosine_decay`; Bello et al. 2017.
template <detail::optimizer_setting Rate, detail::step_expression Step, detail::optimizer_setting Period,
          detail::optimizer_setting Periods = double, detail::optimizer_setting Alpha = double, detail::optimizer_setting Beta = double,
          LEAT_SITE>
constexpr auto linear_cosine_decay(const Rate& rate, const Step& step, const Period& decay_steps, const Periods& num_periods = 0.5,
                                   const Alpha& alpha = 0.0, const Beta& beta = 0.001) {
  detail::typed_schedule<Rate, Site> w;
  return schedule::linear_cosine(w, rate, step, decay_steps, num_periods, alpha, beta);
}
LEAT_OTHERWISE_OF(linear_cosine_decay, "(rate, step, decay_steps, num_periods, alpha, beta)" LEAT_SCHEDULE_WORDS);

namespace detail {

template <auto... Boundaries>
struct boundary_list {
  static constexpr std::size_t size = sizeof...(Boundaries);
  static constexpr bool rises = [] {
    const double all[]{static_cast<double>(Boundaries)..., std::numeric_limits<double>::infinity()};
    for (std::size_t k = 0; k + 1 < size; ++k)
      if (!(all[k] < all[k + 1])) return false;
    return true;
  }();
};

template <int K, class W, class Step, class Value>
constexpr auto pieces_from(W& w, const Step&, const boundary_list<>&, const Value& last) {
  return w.template in_dtype<K>(last);
}
template <int K, class W, class Step, auto Boundary, auto... Rest, class Value, class... Values>
constexpr auto pieces_from(W& w, const Step& step, const boundary_list<Boundary, Rest...>&, const Value& value, const Values&... values) {
  const auto limit = beside<void>(
      step, compile_time_number<std::bit_cast<std::uint64_t>(static_cast<double>(Boundary)), !std::is_integral_v<decltype(Boundary)>>{});
  return select(less_equal(step, limit), w.template in_dtype<K>(value), pieces_from<K + 1>(w, step, boundary_list<Rest...>{}, values...));
}

}  // namespace detail

/// The first value while step <= the first boundary, the second while step <= the second, ..., the last afterwards:
/// `piecewise_constant<1000, 2000>(step, 0.1f, 0.01f, 0.001f)`. Boundaries must rise; there is one more value than boundaries.
/// Shapes: all scalars; result []. Dtypes: step any number (floating point if a boundary has a fraction); result float32, or the dtype of
/// the first value if that is a tensor. Source: TensorFlow `train.piecewise_constant`.
template <auto... Boundaries, detail::step_expression Step, detail::optimizer_setting First, detail::optimizer_setting... Values, LEAT_SITE>
  requires(sizeof...(Boundaries) > 0 && sizeof...(Boundaries) == sizeof...(Values) && detail::boundary_list<Boundaries...>::rises &&
           (is_floating(Step::type) || (std::is_integral_v<decltype(Boundaries)> && ...)))
constexpr auto piecewise_constant(const Step& step, const First& first, const Values&... values) {
  detail::typed_schedule<First, Site> w;
  return detail::pieces_from<0>(w, step, detail::boundary_list<Boundaries...>{}, first, values...);
}
LEAT_OTHERWISE_OF(
    piecewise_constant,
    "<boundary, ...>(step, value, ...): boundaries rise, and are whole numbers if the step is one; there is one value more than "
    "boundaries");

#undef LEAT_SCHEDULE_WORDS

}  // namespace leat
