#include <leat/leat.hpp>
#include <leat/planned.hpp>
#include <leat/train/normalization.hpp>

#include <doctest/doctest.h>

#include <cmath>

using namespace leat;
using namespace leat::literals;

namespace {

xt::xtensor<float, 2> column(float a, float b) {
  auto made = xt::xtensor<float, 2>::from_shape({2, 1});
  made(0, 0) = a;
  made(1, 0) = b;
  return made;
}

}  // namespace

TEST_CASE("batch normalization: outputs of training and afterwards, and averages that training moves") {
  const auto x = placeholder<"x", float, "batch", 1>();
  const auto bn = batch_normalization<"bn">(x, 0.9, 0.0);
  const auto loss = reduce_mean(square(bn.output - 1_c));
  const auto train = gradient_descent(0.1f).minimize(loss);
  const auto check = [&](auto& s) {
    s.initialize();
    const auto before = std::get<0>(s.run(fetch(bn.output), x = column(8, 12)));
    CHECK(before(0, 0) == doctest::Approx(-1));
    CHECK(before(1, 0) == doctest::Approx(1));
    s.run(fetch(train), x = column(8, 12));
    CHECK(s.value(bn.moving_mean)(0) == 0.0f);  // not updated by the step alone
    s.run(fetch(train, bn.update), x = column(8, 12));
    CHECK(s.value(bn.moving_mean)(0) == doctest::Approx(1));
    s.run(fetch(train, bn.update), x = column(10, 14));
    CHECK(s.value(bn.moving_mean)(0) == doctest::Approx(2.1));
    CHECK(s.value(bn.moving_variance)(0) == doctest::Approx(0.81 + 0.36 + 0.4));
    const auto after = std::get<0>(s.run(fetch(bn.evaluated), x = column(8, 12)));
    const double beta = static_cast<double>(s.value(bn.beta)(0)), gamma = static_cast<double>(s.value(bn.gamma)(0));
    CHECK(after(0, 0) == doctest::Approx((8 - 2.1) / std::sqrt(1.57) * gamma + beta));
    CHECK(beta != 0);
  };
  session compiled{train, loss, bn.output, bn.evaluated, bn.update};
  check(compiled);
  planned_session planned{train, loss, bn.output, bn.evaluated, bn.update};
  check(planned);
}

TEST_CASE("moving averages of typed expressions are corrected for starting with 0") {
  const auto x = placeholder<"x", float, 2>();
  const auto smooth = moving_average<"x/average">(x, 0.9f);
  session s{smooth.value, smooth.update};
  s.initialize();
  CHECK(std::get<0>(s.run(fetch(smooth.value), x = std::vector{1.0f, 2.0f}))(0) == 0.0f);
  s.run(fetch(smooth.update), x = std::vector{3.2f, -1.9f});
  auto now = std::get<0>(s.run(fetch(smooth.value), x = std::vector{0.0f, 0.0f}));
  CHECK(now(0) == doctest::Approx(3.2));
  CHECK(now(1) == doctest::Approx(-1.9));
  s.run(fetch(smooth.update), x = std::vector{3.64f, 2.04f});
  now = std::get<0>(s.run(fetch(smooth.value), x = std::vector{0.0f, 0.0f}));
  CHECK(now(0) == doctest::Approx(3.4315789));
  CHECK(now(1) == doctest::Approx(0.1736842));
}
