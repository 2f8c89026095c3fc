#include <leat/leat.hpp>
#include <leat/train/metrics.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace leat;

TEST_CASE("metrics of all batches so far, and of those after beginning anew") {
  auto z = placeholder<"z", std::int32_t, "batch">();
  auto p = placeholder<"p", std::int64_t, "batch">();
  auto w = placeholder<"w", float, "batch">();
  auto right = metrics::accuracy<"right">(z, p);
  auto weighted = metrics::accuracy<"weighted">(z, p, w);
  auto precise = metrics::precision<"precise">(z, p, w);
  auto recalled = metrics::recall<"recalled">(z, p);
  auto error = metrics::mean_squared_error<"error">(z, p);
  auto mean = metrics::mean<"mean">(p, 2.0f);
  session s{right.value, right.update, weighted.value, weighted.update, precise.update, recalled.update, error.update, mean.update};
  s.initialize();
  auto [none] = s.run(fetch(right.value));
  CHECK(none == 0.0f);
  const std::vector<std::int32_t> labels{1, 0, 1, 1}, more_labels{0, 0};
  const std::vector<std::int64_t> guesses{1, 1, 0, 1}, more_guesses{0, 1};
  const std::vector<float> weights{1, 0, 0, 2}, more_weights{1, 1};
  auto [first] = s.run(fetch(right.update), z = labels, p = guesses);
  CHECK(first == doctest::Approx(0.5));
  auto [second] = s.run(fetch(right.update), z = more_labels, p = more_guesses);
  CHECK(second == doctest::Approx(0.5));
  s.run(fetch(weighted.update, precise.update, recalled.update, error.update, mean.update), z = labels, p = guesses, w = weights);
  auto [a, b, c, d, e] = s.run(fetch(weighted.update, precise.update, recalled.update, error.update, mean.update), z = more_labels,
                               p = more_guesses, w = more_weights);
  CHECK(a == doctest::Approx(4.0 / 5));
  CHECK(b == doctest::Approx(3.0 / 4));
  CHECK(c == doctest::Approx(2.0 / 3));
  CHECK(d == doctest::Approx(3.0 / 6));
  CHECK(e == doctest::Approx(4.0 / 6));
  CHECK(s.value(weighted.count) == 5.0f);
  s.assign(weighted.total, 0.0f);
  s.assign(weighted.count, 0.0f);
  auto [after] = s.run(fetch(weighted.value));
  CHECK(after == 0.0f);
  auto [anew] = s.run(fetch(weighted.update), z = more_labels, p = more_guesses, w = more_weights);
  CHECK(anew == doctest::Approx(0.5));
}
