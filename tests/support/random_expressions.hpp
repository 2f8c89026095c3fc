#pragma once
// Typed expressions drawn by a seed: `grow<Seed, 0, Steps>(std::tuple(x, y))` adds one expression after the other to a list, each
// made of two that are in it. `random_results<Seed, Columns>()` are five results of some leaves, for which there are arrays.

#include "support/check.hpp"

#include <leat/leat.hpp>

#include <cstdint>
#include <tuple>

namespace leat_test {

using namespace leat::literals;

constexpr std::uint64_t draw(unsigned seed, int step, unsigned what) {
  return leat::mix(leat::mix(seed + 1, static_cast<std::uint64_t>(step)), what) >> 7;
}

// The next expression of a list, made of two that are there.
template <unsigned Seed, int Step, class... Es>
constexpr auto next(const std::tuple<Es...>& have) {
  constexpr auto n = sizeof...(Es);
  // the latest more often than the others
  constexpr auto pick = [](unsigned what) {
    const auto r = draw(Seed, Step, what) % (2 * n);
    return r < n ? r : n - 1 - (r - n) % (n < 3 ? n : 3);
  };
  const auto& a = std::get<pick(1)>(have);
  const auto& b = std::get<pick(2)>(have);
  constexpr auto op = draw(Seed, Step, 0) % 22;
  if constexpr (op == 0) return a + b;
  else if constexpr (op == 1) return a - b;
  else if constexpr (op == 2) return a * b;
  else if constexpr (op == 3) return maximum(a, b);
  else if constexpr (op == 4) return minimum(a, b) * 0.5_c;
  else if constexpr (op == 5) return tanh(a);
  else if constexpr (op == 6) return sigmoid(a - b);
  else if constexpr (op == 7) return exp(-square(a));
  else if constexpr (op == 8) return relu(a + b);
  else if constexpr (op == 9) return select(a < b, a, b + 1_c);
  else if constexpr (op == 10) return a / (1_c + square(b));
  else if constexpr (op == 11) return reduce_sum_keep<1>(a) * 0.125_c;
  else if constexpr (op == 12) return reduce_max_keep<1>(a + b);
  else if constexpr (op == 13) return reduce_sum_keep<0>(a * b) * 0.0625_c;
  else if constexpr (op == 14) return reduce_min_keep<0>(a);
  else if constexpr (op == 15) return softmax(a + b);
  else if constexpr (op == 16) return cast<float>(cast<double>(a) * cast<double>(b));
  else if constexpr (op == 17) return cast<float>(cast<std::int32_t>(a * 8_c)) - b;
  else if constexpr (op == 18) return tanh(a * b + a);
  else if constexpr (op == 19) return log(1_c + square(a - b));
  else if constexpr (op == 20) return squared_difference(a, b);
  else return a * b - 0.25_c * a;
}
template <unsigned Seed, int Step, int Steps, class... Es>
constexpr auto grow(const std::tuple<Es...>& have) {
  if constexpr (Step == Steps)
    return have;
  else
    return grow<Seed, Step + 1, Steps>(std::tuple_cat(have, std::tuple(next<Seed, Step>(have))));
}

/// What random programs are made of: arrays of n rows, a row, a column, a number.
template <int Columns>
struct random_leaves {
  static constexpr auto x = leat::placeholder<"x", float, "n", Columns>();
  static constexpr auto y = leat::placeholder<"y", float, "n", Columns>();
  static constexpr auto row = leat::placeholder<"row", float, 1, Columns>();
  static constexpr auto column = leat::placeholder<"column", float, "n", 1>();
  static constexpr auto s = leat::placeholder<"s", float>();
};
/// Three arrays, a number, and a row: the last of the arrays needs every leaf.
template <unsigned Seed, int Columns>
constexpr auto random_results() {
  using in = random_leaves<Columns>;
  const auto all = grow<Seed, 0, 9>(std::tuple(in::x, in::y, in::row + 0_c, in::column + 0_c, in::x * in::s));
  constexpr std::size_t n = std::tuple_size_v<std::remove_cvref_t<decltype(all)>>;
  const auto p = std::get<n - 1>(all);
  const auto q = std::get<n - 2>(all) + std::get<n - 4>(all);
  const auto r = reduce_sum(std::get<n - 3>(all)) + in::s;
  const auto t = leat::reduce_sum<0>(p + in::x);
  const auto needs = in::x * in::y + in::row * in::column * in::s;
  return std::tuple(p, q, r, t, needs);
}
/// Arrays and the number for these leaves.
struct random_arrays {
  random_arrays(std::size_t size, std::size_t columns)
      : x(filled<float, 2>({size, columns}, -2, 2, 1)),
        y(filled<float, 2>({size, columns}, -1, 1, 2)),
        row(filled<float, 2>({1, columns}, -1, 1, 3)),
        column(filled<float, 2>({size, 1}, -1, 1, 4)) {}
  xt::xtensor<float, 2> x, y, row, column;
  float s = 0.75f;
};

}  // namespace leat_test
