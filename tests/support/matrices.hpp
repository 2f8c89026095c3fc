#pragma once
// What the tests of matrices share: well-conditioned matrices, comparison with lists, gradients against differences.

#include "support/check.hpp"

#include <initializer_list>
#include <vector>

namespace leat_test {

using namespace leat;

/// Stacks of matrices with large diagonals, which have inverses.
inline xt::xtensor<double, 3> dominant(std::size_t count, std::size_t n) {
  auto made = filled<double, 3>({count, n, n});
  for (std::size_t m = 0; m < count; ++m)
    for (std::size_t i = 0; i < n; ++i) made(m, i, i) += i % 2 == 0 ? 2.5 : -2;
  return made;
}
inline xt::xtensor<double, 2> dominant_one(std::size_t n) {
  const auto all = dominant(1, n);
  auto one = xt::xtensor<double, 2>::from_shape({n, n});
  for (std::size_t i = 0; i < one.size(); ++i) one.data()[i] = all.data()[i];
  return one;
}
/// Stacks of symmetric matrices whose eigenvalues are positive and differ.
inline xt::xtensor<double, 3> positive(std::size_t count, std::size_t n) {
  auto made = filled<double, 3>({count, n, n});
  for (std::size_t m = 0; m < count; ++m)
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < i; ++j) made(m, i, j) = made(m, j, i);
      made(m, i, i) += 2.0 * static_cast<double>(n) + static_cast<double>(i);
    }
  return made;
}

template <class A>
void check_values(const A& got, std::initializer_list<double> wanted, double tolerance = 1e-12) {
  REQUIRE(elements(got) == wanted.size());
  check_each("values", got, tolerance, [&](std::size_t i) { return wanted.begin()[i]; });
}

/// The gradients of a number by two placeholders, against differences.
template <class L, class A, class B, class As, class Bs>
void check_matrix_slopes(const L& loss, A a, B b, const As& as, const Bs& bs, double tolerance = 2e-6) {
  const auto [da, db] = leat::gradients(loss, a, b);
  session s{loss, da, db};
  const auto at = [&](const auto& x, const auto& y) { return std::get<0>(s.run(leat::fetch(loss), a = x, b = y)); };
  const auto [got_a, got_b] = s.run(leat::fetch(da, db), a = as, b = bs);
  check_close("first", got_a, slopes(as, [&](const auto& x) { return at(x, bs); }), tolerance);
  check_close("second", got_b, slopes(bs, [&](const auto& y) { return at(as, y); }), tolerance);
}

}  // namespace leat_test
