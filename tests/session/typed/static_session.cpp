// Static sessions compute what compiled sessions compute, and return errors where those throw.

#include <doctest/doctest.h>
#include <leat/leat.hpp>
#include <leat/static.hpp>

#include <array>
#include <cmath>
#include <span>
#include <vector>

using namespace leat;

namespace {

template <std::size_t N>
std::array<float, N> numbers(std::uint64_t seed, float low = -1, float high = 1) {
  std::array<float, N> all{};
  for (std::size_t i = 0; i < N; ++i) all[i] = low + (high - low) * uniform<float>(seed, i);
  return all;
}

template <class E>
constexpr auto count_of = static_cast<std::size_t>(E::extent.elements());

// Runs a step of one expression in a static and in a compiled session, and compares the values.
template <class E, class... Feeds>
void compare(const E& e, const Feeds&... feeds) {
  using T = typename E::element;
  static_session s{fetch(e)};
  session other{e};
  REQUIRE(s.initialize() == status::ok);
  other.initialize();
  std::array<T, count_of<E>> ours{}, theirs{};
  REQUIRE(s.run(fetch(into(e, ours)), feeds...) == status::ok);
  other.run(fetch(into(e, theirs)), feeds...);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const auto a = static_cast<double>(ours[i]), b = static_cast<double>(theirs[i]);
    if (std::isnan(b)) CHECK(std::isnan(a));
    else CHECK(std::abs(a - b) <= 2e-5 * (1 + std::abs(b)));
  }
}

}  // namespace

TEST_CASE("element-wise operators, broadcasts and reductions") {
  auto x = placeholder<"x", float, 5, 7>();
  auto row = placeholder<"row", float, 7>();
  const auto xs = numbers<35>(1, 0.1f, 2);
  const auto rows = numbers<7>(2);
  compare(x * row + sin(x) / exp(row), x = xs, row = rows);
  compare(reduce_sum<1>(x * row), x = xs, row = rows);
  compare(reduce_max<0>(maximum(x, row)), x = xs, row = rows);
  compare(softmax(log(x) + row), x = xs, row = rows);
  compare(reduce_mean(tanh(x) * sigmoid(row)), x = xs, row = rows);
  compare(select(x > row, x, row * row), x = xs, row = rows);
  compare(cast<std::int32_t>(x * 10.0f), x = xs);
  compare(reduce_all<1>(x > 0.2f), x = xs);
  compare(cumsum<1>(x), x = xs);
  compare(transpose(x) + 1.0f, x = xs);
  compare(slice<begins<1, 2>, sizes<3, 4>>(x), x = xs);
  compare(pad<begins<1, 2>, sizes<0, 3>>(x), x = xs);
}

TEST_CASE("products, images, decompositions") {
  auto a = placeholder<"a", float, 6, 5>();
  auto b = placeholder<"b", float, 5, 9>();
  const auto as = numbers<30>(3);
  const auto bs = numbers<45>(4);
  compare(matmul(a, b), a = as, b = bs);
  compare(matmul<true, false>(transpose(a), b) * 2.0f, a = as, b = bs);
  compare(matmul<true>(a, a), a = as);
  auto image = placeholder<"image", float, 2, 6, 6, 3>();
  auto filter = placeholder<"filter", float, 3, 3, 3, 4>();
  const auto pixels = numbers<216>(5);
  const auto filters = numbers<108>(6);
  compare(conv2d<1, padding::same>(image, filter), image = pixels, filter = filters);
  compare(conv2d<2, padding::valid>(image, filter), image = pixels, filter = filters);
  compare(max_pool<2>(image), image = pixels);
  auto m = placeholder<"m", double, 3, 3>();
  const std::array<double, 9> ms{4, 1, 0.5, 1, 3, 0.25, 0.5, 0.25, 2};
  compare(cholesky(m), m = ms);
  compare(inverse(m), m = ms);
  compare(determinant(m), m = ms);
}

TEST_CASE("indices, orders and random numbers") {
  auto table = placeholder<"table", float, 6, 4>();
  auto at = placeholder<"at", std::int32_t, 5>();
  const auto ts = numbers<24>(7);
  const std::array<std::int32_t, 5> is{5, 0, 3, 3, 1};
  compare(gather(table, at), table = ts, at = is);
  compare(reduce_sum<1>(square(gather(table, at))), table = ts, at = is);
  compare(one_hot<6>(at), at = is);
  compare(argmax<1>(table), table = ts);
  compare(std::get<0>(top_k<2>(table)), table = ts);
  compare(std::get<1>(top_k<2>(table)), table = ts);
  compare(reverse<0>(table), table = ts);
  compare(concat<0>(table, square(table), reverse<1>(table)), table = ts);
  auto seed = placeholder<"seed", std::int64_t, 2>();
  const std::array<std::int64_t, 2> seeds{1, 1ll << 40};
  compare(stateless_random_normal<float, 9>(seed), seed = seeds);
  compare(stateless_random_uniform<double, 3, 2>(seed), seed = seeds);
}

TEST_CASE("variables start as in other sessions") {
  auto u = variable<"u", float, 4, 3>(random_uniform(-0.5, 0.5, 7));
  auto n = variable<"n", double, 4>(random_normal(1.0, 2.0, 8));
  auto t = variable<"t", float, 6>(truncated_normal(0.0, 1.0, 9));
  auto g = variable<"g", float, 4, 3>(glorot_uniform(10));
  auto h = variable<"h", float, 4, 3>(he_normal(11));
  auto i = variable<"i", float, 3, 2>(identity_initializer(2.5));
  auto c = variable<"c", std::int64_t, 3>(-7);
  auto o = variable<"o", double, 2>(ones);
  compare(u + 0.0f);
  compare(n + 0.0);
  compare(t + 0.0f);
  compare(g + h);
  compare(i * 1.0f);
  compare(c * c);
  compare(o * 3.0);
}

TEST_CASE("training: the losses of a compiled session") {
  auto x = placeholder<"x", float, 8, 6>();
  auto y = placeholder<"y", float, 8, 3>();
  auto w1 = variable<"w1", float, 6, 10>(glorot_uniform(1));
  auto b1 = variable<"b1", float, 10>(zeros);
  auto w2 = variable<"w2", float, 10, 3>(glorot_uniform(2));
  auto loss = reduce_mean(square(matmul(relu(matmul(x, w1) + b1), w2) - y));
  const auto xs = numbers<48>(12);
  const auto ys = numbers<24>(13);
  const auto train_by = [&](const auto& optimizer) {
    auto train = optimizer.minimize(loss);
    static_session s{fetch(loss, train), fetch(loss)};
    session other{loss, train};
    REQUIRE(s.initialize() == status::ok);
    other.initialize();
    float ours = 0;
    for (int k = 0; k < 20; ++k) {
      REQUIRE(s.run(fetch(into(loss, ours), train), x = xs, y = ys) == status::ok);
      const auto [theirs] = other.run(fetch(loss, train), x = xs, y = ys);
      CHECK(ours == doctest::Approx(static_cast<double>(theirs)).epsilon(1e-4));
    }
    REQUIRE(s.run(fetch(into(loss, ours)), x = xs, y = ys) == status::ok);
    const auto kernel = other.value(w1);
    const auto ours_too = s.value(w1);
    for (std::size_t i = 0; i < ours_too.size(); ++i)
      CHECK(ours_too[i] == doctest::Approx(static_cast<double>(kernel.data()[i])).epsilon(1e-3));
  };
  train_by(gradient_descent(0.1f));
  train_by(momentum(0.05f, 0.9f));
  train_by(adam(0.01f));
  train_by(rms_prop(0.01f));
  train_by(adagrad(0.1f));
}

TEST_CASE("numbers that expressions carry, and parameters") {
  auto x = placeholder<"x", float, 2>();
  auto rate = parameter<"rate">(0.5f);
  const auto scaled = [&](float by) { return x * by + rate; };
  const auto y = scaled(2);
  static_session s{fetch(y)};
  std::array<float, 2> out{};
  const std::array<float, 2> in{1, 3};
  REQUIRE(s.run(fetch(into(y, out)), x = in) == status::ok);
  CHECK(out == std::array<float, 2>{2.5f, 6.5f});
  const auto other = scaled(4);  // the same expression with another number
  REQUIRE(s.run(fetch(into(other, out)), x = in) == status::ok);
  CHECK(out == std::array<float, 2>{4.5f, 12.5f});
  REQUIRE(s.assign(rate, 1) == status::ok);
  REQUIRE(s.run(fetch(into(y, out)), x = in) == status::ok);
  CHECK(out == std::array<float, 2>{3, 7});
  REQUIRE(s.run(fetch(into(y, out)), x = in, rate = 10) == status::ok);
  CHECK(out == std::array<float, 2>{12, 16});
  REQUIRE(s.run(fetch(into(y, out)), x = in) == status::ok);
  CHECK(out == std::array<float, 2>{3, 7});
  CHECK(s.assign(rate, 1e300) == status::invalid_argument);
  CHECK(s.run(fetch(into(y, out)), x = in, rate = 1e300) == status::invalid_argument);
}

TEST_CASE("errors are returned, and nothing has changed") {
  auto x = placeholder<"x", float, 4>();
  auto at = placeholder<"at", std::int32_t, 2>();
  auto n = placeholder<"n", std::int32_t, 2>();
  auto v = variable<"v", float, 4>(ones);
  auto total = variable<"total", float>(zeros);
  auto step = group(assign_add(v, x), assign(total, reduce_sum(gather(v, at))));
  auto taken = gather(v + x, at);
  auto quotient = n / at;
  static_session s{fetch(taken), fetch(quotient), fetch(step)};
  std::array<float, 4> xs{1, 2, 3, 4};
  std::array<std::int32_t, 2> is{0, 3}, out{};
  std::array<float, 2> ts{};
  CHECK(s.run(fetch(into(taken, ts)), x = xs, at = is) == status::failed_precondition);
  CHECK(!s.is_initialized(v));
  REQUIRE(s.initialize() == status::ok);
  CHECK(s.is_initialized(v));
  CHECK(s.run(fetch(into(taken, ts)), x = xs, at = is) == status::ok);
  CHECK(ts == std::array<float, 2>{2, 5});
  is[1] = 4;
  CHECK(s.run(fetch(into(taken, ts)), x = xs, at = is) == status::invalid_argument);
  CHECK(s.run(fetch(step), x = xs, at = is) == status::invalid_argument);
  CHECK(s.value(v)[3] == 1);
  is = {2, 0};
  CHECK(s.run(fetch(into(quotient, out)), n = std::array<std::int32_t, 2>{7, 7}, at = is) == status::invalid_argument);
  is[1] = -7;
  CHECK(s.run(fetch(into(quotient, out)), n = std::array<std::int32_t, 2>{7, 7}, at = is) == status::ok);
  is[1] = 1;
  const std::vector<float> short_one{1, 2, 3};
  CHECK(s.run(fetch(into(taken, ts)), x = short_one, at = is) == status::invalid_argument);
  CHECK(s.assign(v, short_one) == status::invalid_argument);
  // memory that is read and written
  std::span<float, 2> part(xs.data(), 2);
  CHECK(s.run(fetch(into(taken, part)), x = xs, at = is) == status::invalid_argument);
}

TEST_CASE("the memory is a constant") {
  auto x = placeholder<"x", float, 100>();
  auto v = variable<"v", float, 100>(zeros);
  auto step = group(assign(v, v * 0.5f + x));
  using steps = decltype(fetch(step));
  static_assert(step_memory<steps> >= 400 && step_memory<steps> < 480);
  static static_session s{fetch(step)};
  static_assert(sizeof s == step_memory<steps>);
  REQUIRE(s.assign(v, numbers<100>(3)) == status::ok);
  CHECK(s.run(fetch(step), x = numbers<100>(4)) == status::ok);
}
