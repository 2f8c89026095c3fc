#include <leat/leat.hpp>
#include <leat/planned.hpp>
#include <leat/train/accumulate.hpp>

#include <doctest/doctest.h>

using namespace leat;
using namespace leat::literals;

TEST_CASE("several small batches make the step of a large one") {
  const auto x = placeholder<"x", float, "batch">();
  const auto w = variable<"w", float, 2>(ones);
  const auto b = variable<"b", float>(0.5f);
  const auto loss = reduce_mean(square(x * reduce_sum(w) + b));
  const auto steps = global_step();
  const auto o = adam(0.1f);
  const auto small = accumulate_gradients<"sums">(o, o.compute_gradients(loss), steps);
  const auto large = o.minimize(loss, steps);
  const auto check = [&](auto& s, auto& other) {
    s.initialize();
    other.initialize();
    for (int step = 0; step < 3; ++step) {
      s.run(fetch(small.add), x = std::vector{1.0f, 2.0f});
      s.run(fetch(small.add), x = std::vector{-1.0f, 0.5f});
      s.run(fetch(small.apply));
      other.run(fetch(large), x = std::vector{1.0f, 2.0f, -1.0f, 0.5f});
      CHECK(s.value(w)(0) == doctest::Approx(other.value(w)(0)).epsilon(1e-6));
      CHECK(s.value(b) == doctest::Approx(other.value(b)).epsilon(1e-6));
      CHECK(s.value(steps) == step + 1);
      CHECK(s.value(untrainable_variable<"sums/w", float, 2>(zeros))(0) == 0.0f);
      CHECK(s.value(untrainable_variable<"sums/count", float>(zeros)) == 0.0f);
    }
  };
  session s{small.add, small.apply};
  session other{large};
  check(s, other);
  planned_session p{small.add, small.apply};
  planned_session other_planned{large};
  check(p, other_planned);
}
