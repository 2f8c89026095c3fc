#include <leat/passes/vmap.hpp>
#include <leat/vmap.hpp>

#include "support/check.hpp"
#include "support/graphs.hpp"

#include <array>
#include <tuple>
#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

template <class T, std::size_t Rank>
xt::xtensor<T, Rank> counted(const std::array<std::size_t, Rank>& extent, double scale = 0.37, double shift = -1.3) {
  xt::xtensor<T, Rank> all(extent);
  double v = shift;
  for (auto& to : all) {
    to = static_cast<T>(v);
    v += scale;
    if (v > 2) v -= 4.1;
  }
  return all;
}

// Element by element, what a batch has of model `k` against what the model gives alone.
template <class All, class One>
double apart(const All& all, std::size_t k, const One& one) {
  double most = 0;
  if constexpr (std::is_arithmetic_v<One>) {
    return std::abs(static_cast<double>(all.data()[k]) - static_cast<double>(one));
  } else {
    for (std::size_t i = 0; i < one.size(); ++i)
      most = std::max(most, std::abs(static_cast<double>(all.data()[k * one.size() + i]) - static_cast<double>(one.data()[i])));
    return most;
  }
}

constexpr std::size_t models = 11;
const auto x = placeholder<"x", float, models, 3, 2>();
const auto one = placeholder<"one", float, 3, 2>();
const auto w = placeholder<"w", float, 2, 4>();
const auto row = placeholder<"row", float, 2>();
const auto labels = placeholder<"labels", std::int64_t, models, 3>();
const auto one_labels = placeholder<"one_labels", std::int64_t, 3>();

// Runs a function of (x, labels) with vmap and for each model alone; all results agree.
template <class F>
void check_like_alone(const F& f) {
  const auto all = vmap(f)(x, labels);
  const auto alone = f(one, one_labels);
  const auto xs = counted<float, 3>({models, 3, 2});
  const auto ws = counted<float, 2>({2, 4}, 0.53);
  const auto rows = counted<float, 1>({2}, 0.8, 0.5);
  xt::xtensor<std::int64_t, 2> all_labels(std::array<std::size_t, 2>{models, 3});
  for (std::size_t i = 0; i < all_labels.size(); ++i) all_labels.data()[i] = static_cast<std::int64_t>(i * i % 2);
  std::apply(
      [&](const auto&... es) {
        session many{es...};
        std::apply(
            [&](const auto&... ones) {
              session single{ones...};
              const auto got = many.run(fetch(es...), x = xs, labels = all_labels, w = ws, row = rows);
              for (std::size_t k = 0; k < models; ++k) {
                CAPTURE(k);
                xt::xtensor<float, 2> mine(std::array<std::size_t, 2>{3, 2});
                for (std::size_t i = 0; i < 6; ++i) mine.data()[i] = xs.data()[6 * k + i];
                xt::xtensor<std::int64_t, 1> my_labels(std::array<std::size_t, 1>{3});
                for (std::size_t i = 0; i < 3; ++i) my_labels(i) = all_labels(k, i);
                const auto expected = single.run(fetch(ones...), one = mine, one_labels = my_labels, w = ws, row = rows);
                [&]<std::size_t... I>(std::index_sequence<I...>) {
                  const double most[]{apart(std::get<I>(got), k, std::get<I>(expected))...};
                  for (std::size_t i = 0; i < sizeof...(I); ++i) {
                    CAPTURE(i);
                    CHECK(most[i] < 2e-6);
                  }
                }(std::index_sequence_for<decltype(ones)...>{});
              }
            },
            alone);
      },
      all);
}

}  // namespace

TEST_CASE("arithmetic, broadcasts and reductions: as each model alone") {
  check_like_alone([](const auto& m, const auto& l) {
    const auto tall = reduce_sum<1>(m);  // [3]
    const auto wide = reduce_max<0>(m);  // [2]
    const auto single = reduce_mean(m);  // []
    return std::tuple(m * row + 1_c, m - wide, wide * single, single * m, exp(m) * expand_dims<1>(tall), reduce_sum_keep<0>(m) * row,
                      select(greater(m, single), m, row), cast<float>(l) * tall, squared_difference(m, row), reduce_prod(m),
                      reduce_any(greater(m, 1.5_c)), leaky_relu(m), elu(m) + single, row * 2_c, w);
  });
}

TEST_CASE("views, parts and rows: as each model alone") {
  check_like_alone([](const auto& m, const auto& l) {
    const auto flat = reshape<-1>(m);
    return std::tuple(transpose(m), transpose<0, 1>(m), flat, slice<begins<1, 0>, sizes<2, -1>>(m), pad<before<1, 0>, behind<0, 2>>(m),
                      concat<0>(m, expand_dims<0>(row)), concat<-1>(m, m), stack<0>(row, slice<begins<2>, sizes<2>>(flat)),
                      squeeze(slice<begins<1, 1>, sizes<1, 1>>(m)), broadcast_to<4, 3, 2>(m), gather(m, l), gather(w, l), one_hot<2>(l),
                      one_hot<2, float, 1, 0, 0>(l), identity(m) + stop_gradient(m));
  });
}

TEST_CASE("products, softmax, losses: as each model alone") {
  check_like_alone([](const auto& m, const auto& l) {
    const auto product = matmul(m, w);  // [3, 4]
    return std::tuple(product, matmul<true, false>(m, m), matmul<false, true>(m, m), matmul<false, true>(product, w),
                      matmul<true, true>(w, m), matmul(matmul<false, true>(m, m), m), softmax(m), log_softmax<0>(m), argmax<1>(m),
                      argmin<-1, std::int32_t>(m), sparse_softmax_cross_entropy_with_logits(l, m),
                      softmax_cross_entropy_with_logits(softmax(m), m * row), softmax_cross_entropy_with_logits(row, m), l2_loss(m));
  });
}

TEST_CASE("gradients: of what each model has by model, of what they share summed") {
  const auto f = [](const auto& m) { return reduce_sum(square(matmul(tanh(matmul(m, w)), transpose(w)) - m)) + l2_loss(softmax(m)); };
  const auto losses = vmap(f)(x);
  CHECK(decltype(losses)::extent == shape{1, {models}});
  const auto [dx, dw] = gradients(losses, x, w);
  const auto alone = f(one);
  const auto [d_one, dw_one] = gradients(alone, one, w);
  session many{losses, dx, dw};
  session single{alone, d_one, dw_one};
  const auto xs = counted<float, 3>({models, 3, 2});
  const auto ws = counted<float, 2>({2, 4}, 0.53);
  const auto [l, by_x, by_w] = many.run(fetch(losses, dx, dw), x = xs, w = ws);
  xt::xtensor<float, 2> sum = xt::zeros<float>({2, 4});
  for (std::size_t k = 0; k < models; ++k) {
    CAPTURE(k);
    xt::xtensor<float, 2> mine(std::array<std::size_t, 2>{3, 2});
    for (std::size_t i = 0; i < 6; ++i) mine.data()[i] = xs.data()[6 * k + i];
    const auto [l_one, by_one, by_w_one] = single.run(fetch(alone, d_one, dw_one), one = mine, w = ws);
    CHECK(apart(l, k, l_one) < 1e-5);
    CHECK(apart(by_x, k, by_one) < 1e-5);
    sum += by_w_one;
  }
  CHECK(apart(by_w, 0, sum) < 1e-4);
}

TEST_CASE("gradients within the function: one for each model") {
  const auto slopes = vmap([](const auto& m) {
    const auto [d] = gradients(reduce_sum(square(matmul(m, w))), m);
    return d;
  })(x);
  const auto [expected] = gradients(vmap([](const auto& m) { return reduce_sum(square(matmul(m, w))); })(x), x);
  session s{slopes, expected};
  const auto xs = counted<float, 3>({models, 3, 2});
  const auto ws = counted<float, 2>({2, 4}, 0.53);
  const auto [a, b] = s.run(fetch(slopes, expected), x = xs, w = ws);
  CHECK(apart(a, 0, b) < 1e-6);
}

TEST_CASE("axes: the last, another for one operand, and operands that are shared") {
  const auto last = placeholder<"last", float, 3, 2, models>();
  const auto f = [](const auto& m, const auto& n, const auto& v) { return matmul(m, v) * reduce_sum(n); };
  const auto by_last = vmap<-1>(f)(last, models_along<0>(x), shared(w));
  const auto by_first = vmap(f)(models_along<2>(last), x, shared(w));
  CHECK(decltype(by_last)::extent == shape{3, {3, 4, models}});
  CHECK(decltype(by_first)::extent == shape{3, {models, 3, 4}});
  session s{by_last, by_first};
  const auto xs = counted<float, 3>({models, 3, 2});
  const auto ws = counted<float, 2>({2, 4}, 0.53);
  xt::xtensor<float, 3> turned(std::array<std::size_t, 3>{3, 2, models});
  for (std::size_t k = 0; k < models; ++k)
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 2; ++j) turned(i, j, k) = xs(k, i, j);
  const auto [a, b] = s.run(fetch(by_last, by_first), last = turned, x = xs, w = ws);
  for (std::size_t k = 0; k < models; ++k)
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 4; ++j) {
        float product = 0, sum = 0;
        for (std::size_t p = 0; p < 2; ++p) product += xs(k, i, p) * ws(p, j);
        for (std::size_t p = 0; p < 6; ++p) sum += xs.data()[6 * k + p];
        CHECK(b(k, i, j) == doctest::Approx(product * sum).epsilon(1e-5));
        CHECK(a(i, j, k) == b(k, i, j));
      }
}

TEST_CASE("a named dimension of models") {
  const auto many = placeholder<"many", float, "models", 3, 2>();
  const auto [product, mean] = vmap([](const auto& m) { return std::tuple(matmul(m, w), reduce_mean(matmul<true, false>(m, m))); })(many);
  session s{product, mean};
  const auto ws = counted<float, 2>({2, 4}, 0.53);
  for (const std::size_t count : std::initializer_list<std::size_t>{0, 1, 5, 300}) {
    CAPTURE(count);
    const auto xs = counted<float, 3>({count, 3, 2});
    const auto [p, m] = s.run(fetch(product, mean), many = xs, w = ws);
    CHECK(p.shape(0) == count);
    CHECK(m.size() == count);
    for (std::size_t k = 0; k < count; ++k)
      CHECK(p(k, 2, 3) == doctest::Approx(xs(k, 2, 0) * ws(0, 3) + xs(k, 2, 1) * ws(1, 3)).epsilon(1e-5));
  }
}

TEST_CASE("functions within functions: all pairs of rows") {
  const auto points = placeholder<"points", float, 6, 3>();
  const auto distances =
      vmap([&](const auto& a) { return vmap([&](const auto& b) { return reduce_sum(square(a - b)); })(points); })(points);
  CHECK(decltype(distances)::extent == shape{2, {6, 6}});
  session s{distances};
  const auto ps = counted<float, 2>({6, 3});
  const auto [d] = s.run(fetch(distances), points = ps);
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 6; ++j) {
      float sum = 0;
      for (std::size_t k = 0; k < 3; ++k) sum += (ps(i, k) - ps(j, k)) * (ps(i, k) - ps(j, k));
      CHECK(d(i, j) == doctest::Approx(sum).epsilon(1e-5));
    }
}

TEST_CASE("training: each model finds its own weights, by an optimizer with slots") {
  constexpr int customers = 40;
  const auto weights = variable<"weights", double, 2, 1, customers>(zeros);
  const auto bias = variable<"bias", double, customers>(zeros);
  const auto inputs = placeholder<"inputs", double, 8, 2, customers>();
  const auto targets = placeholder<"targets", double, 8, 1, customers>();
  const auto losses = vmap<-1>([](const auto& v, const auto& b, const auto& i, const auto& t) {
    return reduce_mean(square(matmul(i, v) + b - t));
  })(weights, bias, inputs, targets);
  const auto loss = reduce_sum(losses);
  const auto train = adam(0.05).minimize(loss);
  session s{losses, train};
  s.initialize();
  xt::xtensor<double, 3> is(std::array<std::size_t, 3>{8, 2, customers}), ts(std::array<std::size_t, 3>{8, 1, customers});
  for (std::size_t c = 0; c < customers; ++c)
    for (std::size_t r = 0; r < 8; ++r) {
      is(r, 0, c) = std::sin(static_cast<double>(r + c));
      is(r, 1, c) = std::cos(static_cast<double>(3 * r + c));
      ts(r, 0, c) = is(r, 0, c) * static_cast<double>(c) * 0.05 - is(r, 1, c) + 0.5;
    }
  for (int step = 0; step < 3000; ++step) s.run(fetch(train), inputs = is, targets = ts);
  const auto got = s.value(weights);
  const auto biases = s.value(bias);
  for (std::size_t c = 0; c < customers; ++c) {
    CHECK(got(0, 0, c) == doctest::Approx(0.05 * static_cast<double>(c)).epsilon(1e-3));
    CHECK(got(1, 0, c) == doctest::Approx(-1).epsilon(1e-3));
    CHECK(biases(c) == doctest::Approx(0.5).epsilon(1e-3));
  }
}

TEST_CASE("what the function carries: numbers of its own, arrays and variables that start from them") {
  const auto start = variable<"start">(std::array<std::array<double, 2>, 3>{{{1, 2}, {3, 4}, {5, 6}}});
  const auto table = constant(std::array<double, 2>{10, 20});
  const auto scaled = vmap([&](const auto& v) { return v * 0.5 + table; })(start);
  const auto update = assign(start, scaled);
  session s{update, scaled};
  s.initialize();
  const auto [now, done] = s.run(fetch(scaled, update));
  static_cast<void>(done);
  CHECK(now(2, 1) == 23);
  CHECK(s.value(start)(0, 0) == 10.5);
}

TEST_CASE("many models of small products are one step, and written where they lie") {
  const auto p = variable<"p", double, 2, 2, 100>(ones);
  const auto q = variable<"q", double, 100, 2, 2>(ones);
  const auto f = constant(std::array<std::array<double, 2>, 2>{{{1, 2}, {0, 1}}});
  const auto step = [&](const auto& m) { return matmul<false, true>(matmul(f, m), f) * 0.5_c; };
  const auto next = vmap<-1>(step)(p);
  const auto next_first = vmap(step)(q);
  const auto traces = vmap<-1>([&](const auto& m) { return reduce_sum(step(m)); })(p);
  CHECK(steps_of(program_of(group(assign(p, next)))) == "cluster");
  CHECK(steps_of(program_of(group(assign(q, next_first)))) == "cluster");
  CHECK(steps_of(program_of(group(assign_sub(p, next)), traces, reduce_sum(traces))) == "cluster");
  session s{assign(p, next), assign_sub(q, next_first)};
  s.initialize();
  const auto [now, rest] = s.run(fetch(assign(p, next), assign_sub(q, next_first)));
  for (std::size_t k = 0; k < 100; ++k) {
    CHECK(now(0, 0, k) == 4.5);
    CHECK(now(0, 1, k) == 1.5);
    CHECK(s.value(p)(1, 1, k) == 0.5);
    CHECK(rest(k, 0, 0) == -3.5);
    CHECK(s.value(q)(k, 1, 1) == 0.5);
  }
}
