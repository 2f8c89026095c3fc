#pragma once
// Compares what `vmap` computes for many lanes with what each lane computes alone.

#include <leat/vmap.hpp>

#include "support/check.hpp"

#include <array>
#include <cmath>
#include <tuple>
#include <type_traits>
#include <utility>

namespace leat_test {

// An array for a placeholder, with `lanes` for a named dimension; the part of it that one lane has.
template <class P>
auto array_for(const P&, std::size_t lanes, double first) {
  using T = typename P::element;
  std::array<std::size_t, static_cast<std::size_t>(P::rank)> extent{};
  for (std::size_t a = 0; a < extent.size(); ++a)
    extent[a] = P::extent[static_cast<int>(a)] < 0 ? lanes : static_cast<std::size_t>(P::extent[static_cast<int>(a)]);
  auto all = xt::xtensor<T, static_cast<std::size_t>(P::rank)>::from_shape(extent);
  for (std::size_t i = 0; i < all.size(); ++i) all.data()[i] = static_cast<T>(0.7 * std::sin(first + 1.3 * static_cast<double>(i)));
  return all;
}
template <class P, class All>
auto lane_of(const P& one, const All& all, std::size_t lane) {
  auto mine = array_for(one, 0, 0);
  for (std::size_t i = 0; i < mine.size(); ++i) mine.data()[i] = all.data()[lane * mine.size() + i];
  return mine;
}
template <class T, class All, class One>
void check_lane(const All& all, std::size_t lanes, std::size_t lane, const One& one) {
  const double near = sizeof(T) == 4 ? 2e-5 : 1e-12;
  if constexpr (std::is_arithmetic_v<One>) {
    REQUIRE(all.size() == lanes);
    CHECK(static_cast<double>(all.data()[lane]) == doctest::Approx(static_cast<double>(one)).epsilon(near));
  } else {
    REQUIRE(all.size() == lanes * one.size());
    for (std::size_t i = 0; i < one.size(); ++i)
      CHECK(static_cast<double>(all.data()[lane * one.size() + i]) == doctest::Approx(static_cast<double>(one.data()[i])).epsilon(near));
  }
}

// Runs f of the operands of all lanes by vmap, and for each lane alone.
template <class F, class... Many, class... Ones>
void check_like_alone(std::size_t lanes, const F& f, const std::tuple<Many...>& many, const std::tuple<Ones...>& ones) {
  const auto all = std::apply([&](const auto&... x) { return leat::vmap(f)(x...); }, many);
  const auto alone = std::apply([&](const auto&... x) { return f(x...); }, ones);
  using T = typename std::tuple_element_t<0, std::tuple<Many...>>::element;
  [&]<std::size_t... R, std::size_t... K>(std::index_sequence<R...>, std::index_sequence<K...>) {
    leat::session together{std::get<R>(all)...};
    leat::session single{std::get<R>(alone)...};
    const std::tuple feeds{array_for(std::get<K>(many), lanes, 1.0 + 2.0 * static_cast<double>(K))...};
    const auto got = together.run(leat::fetch(std::get<R>(all)...), (std::get<K>(many) = std::get<K>(feeds))...);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      CAPTURE(lane);
      const auto expected =
          single.run(leat::fetch(std::get<R>(alone)...), (std::get<K>(ones) = lane_of(std::get<K>(ones), std::get<K>(feeds), lane))...);
      const auto check = [&]<std::size_t I>() {
        CAPTURE(I);
        check_lane<T>(std::get<I>(got), lanes, lane, std::get<I>(expected));
      };
      (check.template operator()<R>(), ...);
    }
  }(std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<decltype(alone)>>>{}, std::index_sequence_for<Many...>{});
}

}  // namespace leat_test
