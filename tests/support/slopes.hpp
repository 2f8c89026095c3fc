#pragma once
// Gradients of graphs with names against differences.

#include "support/evaluate.hpp"

#include <leat/named/gradients/gradient.hpp>

#include <doctest/doctest.h>

namespace leat_test {

/// The gradients of `y`, summed, against differences, for the values given; each x by the name of its node.
inline void check_slopes(const leat::output& y, const std::vector<leat::output>& xs, const std::map<std::string, array>& given) {
  const auto made = leat::gradients({y}, xs);
  REQUIRE(made.size() == xs.size());
  for (std::size_t k = 0; k < xs.size(); ++k) {
    const std::string name = xs[k].operation().name();
    INFO(name);
    REQUIRE(static_cast<bool>(made[k]));
    CHECK(made[k].type() == xs[k].type());
    CHECK(leat::may_equal(made[k].extent(), xs[k].extent()));
    const array got = evaluator(given)(made[k]);
    CHECK(got.dims == given.at(name).dims);
    REQUIRE(got.at.size() == given.at(name).at.size());
    for (std::size_t i = 0; i < got.at.size(); ++i) {
      const auto sum = [&](double step) {
        auto moved = given;
        moved.at(name).at[i] += step;
        double all = 0;
        for (double v : evaluator(moved)(y).at) all += v;
        return all;
      };
      CHECK(got.at[i] == doctest::Approx((sum(1e-5) - sum(-1e-5)) / 2e-5).epsilon(1e-6));
    }
  }
}

}  // namespace leat_test
