#pragma once
// Ordinary differential equations y' = f(t, y) with control of the error: `solve_dormand_prince<1000>(f, y0, t0, t1, 1e-6_c, 1e-9_c)`. Two
// results of neighboring orders, made of the same slopes, tell the error of a step, and so the length of the next one; a step whose error
// is too large is repeated with a shorter length. Gradients go back through the steps, with lengths that do not move, except that of the
// last step, which ends at t1. Source: Dormand and Prince (1980); Hairer, Nørsett and Wanner, "Solving Ordinary Differential Equations I".

#include <leat/ops/converged.hpp>
#include <leat/passes/while_loop.hpp>
#include <leat/train/ode.hpp>

#include <limits>
#include <tuple>

namespace leat {

namespace detail {

// How near each step comes: a tensor, or a number as `1e-6_c`.
template <class N, class Y>
concept tolerance_for = same_scalar<Y, N> || (is_compile_time_number<N> && requires { requires N::value >= 0; });
template <class Y, class N>
constexpr auto tolerance_like(const N& n) {
  if constexpr (is_compile_time_number<N>) return constant<static_cast<typename Y::element>(N::value)>();
  else return n;
}
template <class F, class Y, class T, class End, class Relative, class Absolute>
concept controlled_differential = differential<F, Y, T, T> && (Y::type == dtype::float32 || Y::type == dtype::float64) &&
                                  same_scalar<Y, End> && tolerance_for<Relative, Y> && tolerance_for<Absolute, Y>;
template <class F, class Y, class T, class Times, class Relative, class Absolute>
concept controlled_path = controlled_differential<F, Y, T, T, Relative, Absolute> && Y::rank < max_rank && tensor_expression<Times> &&
                          requires { requires Times::rank == 1 && Times::type == Y::type; };

template <class E>
struct dormand_prince {
  template <double N>
  static constexpr auto number() {
    return constant<static_cast<E>(N)>();
  }
  // The result of a step of length h, the slope there, and the difference from the result of fourth order. `k1`: the slope at the
  // beginning.
  template <class F, class T, class Y, class K, class H>
  static constexpr auto step(const F& f, const T& t, const Y& y, const K& k1, const H& h) {
    const auto k2 = f(t + h * number<1.0 / 5>(), y + h * (number<1.0 / 5>() * k1));
    const auto k3 = f(t + h * number<3.0 / 10>(), y + h * (number<3.0 / 40>() * k1 + number<9.0 / 40>() * k2));
    const auto k4 = f(t + h * number<4.0 / 5>(), y + h * (number<44.0 / 45>() * k1 + number<-56.0 / 15>() * k2 + number<32.0 / 9>() * k3));
    const auto k5 = f(t + h * number<8.0 / 9>(), y + h * (number<19372.0 / 6561>() * k1 + number<-25360.0 / 2187>() * k2 +
                                                          number<64448.0 / 6561>() * k3 + number<-212.0 / 729>() * k4));
    const auto k6 = f(t + h, y + h * (number<9017.0 / 3168>() * k1 + number<-355.0 / 33>() * k2 + number<46732.0 / 5247>() * k3 +
                                      number<49.0 / 176>() * k4 + number<-5103.0 / 18656>() * k5));
    const auto next = y + h * (number<35.0 / 384>() * k1 + number<500.0 / 1113>() * k3 + number<125.0 / 192>() * k4 +
                               number<-2187.0 / 6784>() * k5 + number<11.0 / 84>() * k6);
    const auto k7 = f(t + h, next);
    const auto off = h * (number<71.0 / 57600>() * k1 + number<-71.0 / 16695>() * k3 + number<71.0 / 1920>() * k4 +
                          number<-17253.0 / 339200>() * k5 + number<22.0 / 525>() * k6 + number<-1.0 / 40>() * k7);
    return std::tuple(next, k7, off);
  }
  // The root of the mean square; 0 if there are no elements, of which any step is right.
  template <class X>
  static constexpr auto mean_size(const X& x) {
    const auto mean = reduce_mean(square(x));
    if constexpr (X::extent.is_static() && X::extent.elements() > 0) return sqrt(mean);
    else return sqrt(select(equal(reduce_sum(square(x)), number<0.0>()), number<0.0>(), mean));
  }
  // The error that is allowed. Where a value is 0, and the absolute tolerance, too, it is not 0, because the quotient of an error of 0 and
  // what is allowed must be 0.
  template <class Y, class Relative, class Absolute>
  static constexpr auto allowed(const Y& size, const Relative& relative, const Absolute& absolute) {
    return maximum(absolute + relative * size, number<static_cast<double>(std::numeric_limits<E>::min())>());
  }

  // A first length, by which a step of Euler's method goes about a hundredth of the way that y allows for.
  template <class F, class T, class End, class Y, class K, class Relative, class Absolute>
  static constexpr auto first_length(const F& f, const T& t, const End& end, const Y& y, const K& slope, const Relative& relative,
                                     const Absolute& absolute) {
    const auto scale = absolute + relative * abs(y);  // 0 makes the length NaN or 0
    const auto whole = abs(end - t);
    const auto size = mean_size(y / scale);
    const auto speed = mean_size(slope / scale);
    const auto small = logical_or(less(size, number<1e-5>()), less(speed, number<1e-5>()));
    const auto try_length = minimum(select(small, number<1e-6>(), number<0.01>() * size / select(small, number<1.0>(), speed)), whole);
    const auto ahead = select(less(end, t), -try_length, try_length);
    const auto bend = mean_size((f(t + ahead, y + ahead * slope) - slope) / scale) /
                      select(greater(try_length, number<0.0>()), try_length, number<1.0>());
    const auto change = maximum(speed, bend);
    const auto by_change = select(greater(change, number<1e-15>()), pow(number<0.01>() / change, number<0.2>()),
                                  maximum(number<1e-6>(), try_length * number<1e-3>()));
    const auto length = minimum(number<100.0>() * try_length, by_change);
    return stop_gradient(select(logical_and(is_finite(length), greater(length, number<0.0>())), length, whole * number<1e-3>()));
  }

  // One step, or, if its error is too large, none. The state: the time, y, the slope there, the length of the next step, and whether the
  // last one was refused.
  template <class F, class State, class End, class Relative, class Absolute>
  static constexpr auto attempt(const F& f, const State& state, const End& end, const Relative& relative, const Absolute& absolute) {
    const auto& [t, y, slope, length, was_refused] = state;
    const auto left = end - t;
    const auto is_last = greater_equal(length, abs(left));
    const auto h = select(is_last, left, select(less(left, number<0.0>()), -length, length));
    const auto [next, next_slope, off] = step(f, t, y, slope, h);
    const auto error = mean_size(off / allowed(maximum(abs(y), abs(next)), relative, absolute));
    const auto holds = less_equal(error, number<1.0>());
    const auto most = select(logical_or(was_refused, logical_not(holds)), number<1.0>(), number<10.0>());
    const auto by_error = minimum(most, maximum(number<0.2>(), number<0.9>() * pow(error, number<-0.2>())));
    const auto factor = select(is_finite(error), by_error, number<0.2>());
    // A step that was cut short, because it is the last one, says nothing against a longer one.
    const auto kept = select(logical_and(is_last, holds), length, number<0.0>());
    return std::tuple(select(holds, select(is_last, end, t + h), t), select(holds, next, y), select(holds, next_slope, slope),
                      stop_gradient(maximum(kept, abs(h) * factor)), logical_not(holds));
  }
  template <std::int64_t Maximum, class F, class State, class End, class Relative, class Absolute>
  static constexpr auto run(const F& f, const State& state, const End& end, const Relative& relative, const Absolute& absolute) {
    return counted_while_loop<Maximum>([&](const auto& s) { return not_equal(std::get<0>(s), end); },
                                       [&](const auto& s) { return attempt(f, s, end, relative, absolute); }, state);
  }
  template <std::int64_t Maximum, class Y, class Left>
  static constexpr auto checked(const Y& y, const Left& left) {
    return make<check_converged_op, attributes<0, Maximum, static_cast<std::int64_t>(approach::end_of_time)>>(y, stop_gradient(left));
  }
};

template <std::int64_t Maximum, class F, class Y, class T, class End, class Relative, class Absolute>
constexpr auto solve_controlled(const F& f, const Y& y0, const T& t0, const End& t1, const Relative& relative, const Absolute& absolute) {
  using method = dormand_prince<typename Y::element>;
  const auto r = tolerance_like<Y>(relative);
  const auto a = tolerance_like<Y>(absolute);
  const auto slope = f(t0, y0);
  const auto start = std::tuple(t0, y0, slope, method::first_length(f, t0, t1, y0, slope, r, a), constant<false>());
  const auto [last, steps] = method::template run<Maximum>(f, start, t1, r, a);
  return std::tuple(method::template checked<Maximum>(std::get<1>(last), abs(t1 - std::get<0>(last))), steps);
}
template <std::int64_t Maximum, class F, class Y, class T, class Times, class Relative, class Absolute>
constexpr auto solve_controlled_path(const F& f, const Y& y0, const T& t0, const Times& times, const Relative& relative,
                                     const Absolute& absolute) {
  using method = dormand_prince<typename Y::element>;
  const auto r = tolerance_like<Y>(relative);
  const auto a = tolerance_like<Y>(absolute);
  const auto slope = f(t0, y0);
  const auto length = stop_gradient(method::first_length(f, t0, t0 + method::template number<1.0>(), y0, slope, r, a));
  const auto [last, given] = scan(
      [&](const auto& state, const auto& end) {
        const auto next = std::get<0>(method::template run<Maximum>(f, state, end, r, a));
        return std::tuple(next, std::tuple(std::get<1>(next), abs(end - std::get<0>(next))));
      },
      std::tuple(t0, y0, slope, length, constant<false>()), times);
  const auto left = reduce_sum(std::get<1>(given));
  return std::tuple(method::template checked<Maximum>(std::get<1>(last), left),
                    method::template checked<Maximum>(std::get<0>(given), left));
}

}  // namespace detail

/// The state at time t1 by the method of Dormand and Prince, of fifth order, with steps whose lengths follow from the error that is
/// allowed: `solve_dormand_prince<1000>(f, y0, t0, t1, relative, absolute)`. `f(t, y)`: the slope. An element's error in a step is compared
/// with `absolute + relative |y|`, and of these quotients the root of the mean of the squares is at most 1; `absolute` may be 0, which asks
/// an element that is 0 for a step without error. t1 may lie before t0. At most
/// `Maximum` steps, counting those that were repeated. Gradients flow to y0, t0, t1 and what f captures; they keep memory for the states
/// of `Maximum` steps. Shapes: y0 any, result as y0; times scalars; tolerances scalars, or numbers as `1e-6_c`. Dtypes: float32 or float64,
/// the same for all. Errors: failed_precondition at run time, with the time that is left, if the steps are too few, as they are where a
/// slope is NaN; at compile time, a slope of another shape. Source: Dormand and Prince (1980).
template <std::int64_t Maximum, class F, class Y, class T, class End, class Relative, class Absolute>
  requires(Maximum > 0 && detail::controlled_differential<F, Y, T, End, Relative, Absolute>)
[[nodiscard("a loop is an expression: fetch what it gives, or compute with it")]] constexpr auto solve_dormand_prince(
    const F& f, const Y& y0, const T& t0, const End& t1, const Relative& relative, const Absolute& absolute) {
  return std::get<0>(detail::solve_controlled<Maximum>(f, y0, t0, t1, relative, absolute));
}
/// The same, and the number of steps: `auto [y, steps] = counted_solve_dormand_prince<1000>(f, y0, t0, t1, relative, absolute)`, int64.
template <std::int64_t Maximum, class F, class Y, class T, class End, class Relative, class Absolute>
  requires(Maximum > 0 && detail::controlled_differential<F, Y, T, End, Relative, Absolute>)
[[nodiscard("a loop is an expression: fetch what it gives, or compute with it")]] constexpr auto counted_solve_dormand_prince(
    const F& f, const Y& y0, const T& t0, const End& t1, const Relative& relative, const Absolute& absolute) {
  return detail::solve_controlled<Maximum>(f, y0, t0, t1, relative, absolute);
}
/// The state at the last of the times, a vector, and the states at all of them [times, ...]: `auto [last, path] =
/// solve_dormand_prince_path<100>(f, y0, t0, times, relative, absolute)`, with at most `Maximum` steps from one time to the next. Gradients
/// keep the states at the times, and repeat the steps in between. Otherwise as `solve_dormand_prince`.
template <std::int64_t Maximum, class F, class Y, class T, class Times, class Relative, class Absolute>
  requires(Maximum > 0 && detail::controlled_path<F, Y, T, Times, Relative, Absolute>)
[[nodiscard("a loop is an expression: fetch what it gives, or compute with it")]] constexpr auto solve_dormand_prince_path(
    const F& f, const Y& y0, const T& t0, const Times& times, const Relative& relative, const Absolute& absolute) {
  return detail::solve_controlled_path<Maximum>(f, y0, t0, times, relative, absolute);
}
#define LEAT_CONTROLLED_WORDS(function, time)                                                                                              \
  #function                                                                                                                                \
      "<maximum>(f, y0, t0, " time ", relative, absolute) takes a function of time and state, [](auto t, auto y) { return slope; }, "      \
      "the first state, of float or double, times of its dtype, and two tolerances: scalars of its dtype, or numbers as 1e-6_c; "          \
      "maximum is the greatest number of steps; " LEAT_TENSORS
template <LEAT_ANY_NUMBER Maximum>
LEAT_OTHERWISE(LEAT_CONTROLLED_WORDS(solve_dormand_prince, "t1")) solve_dormand_prince(...) LEAT_DELETED;
template <LEAT_ANY_NUMBER Maximum>
LEAT_OTHERWISE(LEAT_CONTROLLED_WORDS(counted_solve_dormand_prince, "t1")) counted_solve_dormand_prince(...) LEAT_DELETED;
template <LEAT_ANY_NUMBER Maximum>
LEAT_OTHERWISE(LEAT_CONTROLLED_WORDS(solve_dormand_prince_path, "times")) solve_dormand_prince_path(...) LEAT_DELETED;
#undef LEAT_CONTROLLED_WORDS

}  // namespace leat
