#include <leat/session/typed/evaluate.hpp>

#include <doctest/doctest.h>

#include <leat/leat.hpp>

using namespace leat;
using namespace leat::literals;

TEST_CASE("expressions are evaluated at once") {
  const auto x = placeholder<"x", float, "n">();
  const xt::xtensor<float, 1> xs{1, 2, 3};
  const xt::xtensor<float, 1> y = evaluate(square(x) + 1_c, x = xs);
  CHECK(y == xt::xtensor<float, 1>{2, 5, 10});
  CHECK(evaluate(reduce_sum(x), x = xs) == 6);
  const auto [mean, most] = evaluate(fetch(reduce_mean(x), reduce_max(x)), x = xs);
  CHECK(mean == 2);
  CHECK(most == 3);
  const auto w = variable<"w", float>(4.0f);
  CHECK(evaluate(w * reduce_sum(x), x = xs) == 24);
  CHECK(evaluate(std::get<0>(gradients(reduce_sum(x * x * w), w)), x = xs) == 14);
}
