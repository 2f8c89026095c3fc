#include <leat/ops/nn.hpp>

#include "support/check.hpp"
#include "support/interpreted_session.hpp"

#include <cstdint>
#include <limits>
#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

// log softmax of one row.
std::vector<double> log_softmax_of(const std::vector<double>& row) {
  double high = -std::numeric_limits<double>::infinity();
  for (const double v : row) high = std::max(high, v);
  double sum = 0;
  for (const double v : row) sum += std::exp(v - high);
  std::vector<double> result;
  for (const double v : row) result.push_back(v - high - std::log(sum));
  return result;
}

template <class A>
std::vector<double> row_of(const A& a, std::size_t i, std::size_t width) {
  std::vector<double> row;
  for (std::size_t k = 0; k < width; ++k) row.push_back(static_cast<double>(a.data()[i * width + k]));
  return row;
}

}  // namespace

TEST_CASE_TEMPLATE("activations", T, float, double) {
  const auto x = placeholder<"x", T, "n">();
  const auto y = relu(x) + relu6(x * 4_c) * 0.1_c;
  const auto e = elu(x);
  const auto l = leaky_relu(x) + leaky_relu(x, 0.5_c);
  const auto [dl] = gradients(l, x);
  const auto [dy] = gradients(y, x);
  const auto [de] = gradients(e, x);
  session s{y, e, l, dy, de, dl};
  for (const auto n : lengths) {
    const auto xs = filled<T, 1>({n}, -2, 2);
    const auto [ys, es, ls, dys, des, dls] = s.run(fetch(y, e, l, dy, de, dl), x = xs);
    const auto v = [&](std::size_t i) { return static_cast<double>(xs(i)); };
    check_each("y", ys, tolerance_of<T>, [&](std::size_t i) { return std::max(v(i), 0.0) + 0.1 * std::min(std::max(4 * v(i), 0.0), 6.0); });
    check_each("elu", es, tolerance_of<T>, [&](std::size_t i) { return v(i) > 0 ? v(i) : std::expm1(v(i)); });
    check_each("leaky", ls, tolerance_of<T>, [&](std::size_t i) { return v(i) > 0 ? 2 * v(i) : (0.5 + static_cast<double>(0.2f)) * v(i); });
    check_each("dleaky", dls, tolerance_of<T>, [&](std::size_t i) { return v(i) > 0 ? 2 : 0.5 + static_cast<double>(0.2f); });
    check_each("dy", dys, tolerance_of<T>, [&](std::size_t i) { return v(i) <= 0 ? 0 : v(i) < 1.5 ? 1.4 : 1; });
    check_each("delu", des, tolerance_of<T>, [&](std::size_t i) { return v(i) > 0 ? 1 : std::exp(v(i)); });
  }
}

TEST_CASE_TEMPLATE("selu and softsign; second derivatives of activations and of gradients for what comes back", T, float, double) {
  const auto x = placeholder<"x", T, "n">();
  const auto w = placeholder<"w", T, "n">();
  const auto check = [&](const auto& y, const char* name, auto value) {
    CAPTURE(name);
    const auto [dx] = gradients(y * w, x);
    const auto [dxx, dxw] = gradients(dx * dx, x, w);
    session s{y, dx, dxx, dxw};
    for (const auto n : lengths) {
      const auto xs = filled<T, 1>({n}, -2, 2), ws = filled<T, 1>({n}, 0.5, 1.5, 3);
      const auto [ys, dxs, dxxs, dxws] = s.run(fetch(y, dx, dxx, dxw), x = xs, w = ws);
      const double near = std::is_same_v<T, float> ? 5e-4 : 1e-6;
      const auto at = [&](std::size_t i) { return static_cast<double>(xs(i)); };
      const auto by = [&](std::size_t i) { return static_cast<double>(ws(i)); };
      const auto first = [&](double v) { return slope(value, v); };
      check_each("y", ys, tolerance_of<T>, [&](std::size_t i) { return value(at(i)); });
      check_each("dx", dxs, near, [&](std::size_t i) { return by(i) * first(at(i)); });
      check_each("dxw", dxws, near, [&](std::size_t i) { return 2 * by(i) * first(at(i)) * first(at(i)); });
      check_each("dxx", dxxs, 10 * near, [&](std::size_t i) {
        const double h = 1e-3;
        return 2 * by(i) * by(i) * first(at(i)) * (first(at(i) + h) - first(at(i) - h)) / (2 * h);
      });
    }
  };
  check(selu(x), "selu", [](double v) { return v < 0 ? 1.7580993408473766 * std::expm1(v) : 1.0507009873554805 * v; });
  check(softsign(x), "softsign", [](double v) { return v / (1 + std::abs(v)); });
  check(elu(x), "elu", [](double v) { return v < 0 ? std::expm1(v) : v; });
  check(tanh(x), "tanh", [](double v) { return std::tanh(v); });
  check(sigmoid(x), "sigmoid", [](double v) { return 1 / (1 + std::exp(-v)); });
  check(softplus(x), "softplus", [](double v) { return std::log1p(std::exp(v)); });
}

TEST_CASE("the gradient of relu and relu6 is dy times 0 or 1, so that a dy that is no number is none behind a shut unit") {
  const auto x = placeholder<"x", float, "n">();
  const auto w = placeholder<"w", float, "n">();
  const auto [plain] = gradients(relu(x) * w, x);
  const auto [limited] = gradients(relu6(x) * w, x);
  session s{plain, limited};
  const float inf = std::numeric_limits<float>::infinity();
  const xt::xtensor<float, 1> xs{-1, -1, -1, 2, 2, 7}, ws{std::numeric_limits<float>::quiet_NaN(), inf, -3, inf, -3, inf};
  const auto [a, b] = s.run(fetch(plain, limited), x = xs, w = ws);
  for (const xt::xtensor<float, 1>& d : {a, b}) {
    CHECK(std::isnan(d(0)));
    CHECK(std::isnan(d(1)));
    CHECK(d(2) == 0);
    CHECK(std::signbit(d(2)));
    CHECK(d(3) == inf);
    CHECK(d(4) == -3);
  }
  CHECK(a(5) == inf);
  CHECK(std::isnan(b(5)));
}

TEST_CASE("at 0 relu has the gradient 0, and no number stays no number") {
  const auto x = placeholder<"x", float, 3>();
  const auto y = relu(x);
  const auto [dx] = gradients(y, x);
  session s{y, dx};
  const auto [ys, dxs] = s.run(fetch(y, dx), x = xt::xtensor<float, 1>{0, -0.0f, std::numeric_limits<float>::quiet_NaN()});
  CHECK(std::isnan(ys(2)));
  CHECK(dxs(0) == 0);
  CHECK(dxs(1) == 0);
}

TEST_CASE_TEMPLATE("softmax and log softmax along the last axis", T, float, double) {
  const auto x = placeholder<"x", T, "rows", "columns">();
  const auto p = softmax(x);
  const auto l = log_softmax(x);
  session s{p, l};
  const std::array<std::array<std::size_t, 2>, 7> areas{{{0, 3}, {1, 1}, {3, 1}, {2, 10}, {5, 17}, {33, 16}, {3, 1000}}};
  for (const auto& [rows, columns] : areas) {
    const std::size_t width = columns;
    auto xs = filled<T, 2>({rows, columns}, -5, 5);
    if (rows == 5)
      for (std::size_t k = 0; k < width; ++k) xs(1, k) += T(1000);  // far beyond what eˣ can hold
    const auto [ps, ls] = s.run(fetch(p, l), x = xs);
    check_each("softmax", ps, 2 * tolerance_of<T>,
               [&](std::size_t i) { return std::exp(log_softmax_of(row_of(xs, i / width, width))[i % width]); });
    check_each("log softmax", ls, 10 * tolerance_of<T>,
               [&](std::size_t i) { return log_softmax_of(row_of(xs, i / width, width))[i % width]; });
  }
}

TEST_CASE("softmax along other axes, and gradients") {
  const auto x = placeholder<"x", double, 3, 4, 5>();
  const auto w = placeholder<"w", double, 3, 4, 5>();
  const auto first = softmax<0>(x);
  const auto middle = log_softmax<1>(x);
  const auto loss =
      reduce_sum(w * first) + reduce_sum(square(middle) * w) + reduce_sum(square(softmax(x)) * w) + reduce_sum(w * log_softmax(x));
  const auto [dx] = gradients(loss, x);
  session s{first, middle, loss, dx};
  const auto xs = filled<double, 3>({3, 4, 5});
  const auto ws = filled<double, 3>({3, 4, 5}, -1, 1, 7);
  const auto [f, m, dxs] = s.run(fetch(first, middle, dx), x = xs, w = ws);
  check_each("first", f, 1e-14, [&](std::size_t i) {
    std::vector<double> column;
    for (std::size_t k = 0; k < 3; ++k) column.push_back(xs.data()[k * 20 + i % 20]);
    return std::exp(log_softmax_of(column)[i / 20]);
  });
  check_each("middle", m, 1e-14, [&](std::size_t i) {
    std::vector<double> column;
    for (std::size_t k = 0; k < 4; ++k) column.push_back(xs.data()[i / 20 * 20 + k * 5 + i % 5]);
    return log_softmax_of(column)[i / 5 % 4];
  });
  check_close("dx", dxs, slopes(xs, [&](const auto& p) { return std::get<0>(s.run(fetch(loss), x = p, w = ws)); }), 1e-7);
}

TEST_CASE("cross entropies of every rank, with infinities, and of broadcast labels") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  const auto x = placeholder<"x", float, 1, 2, 3>();
  const auto z = placeholder<"z", float, 1, 2, 3>();
  const auto k = placeholder<"k", std::int32_t, 1, 2>();
  const auto row = reshape<3>(slice<begins<0, 1, 0>, sizes<1, 1, 3>>(x));
  const auto certain = reshape<3>(slice<begins<0, 0, 0>, sizes<1, 1, 3>>(z));
  const auto dense = softmax_cross_entropy_with_logits(z, x);
  const auto sparse = sparse_softmax_cross_entropy_with_logits(k, x);
  const auto single = softmax_cross_entropy_with_logits(certain, row);
  const auto spread = softmax_cross_entropy_with_logits(certain, reshape<2, 3>(x));
  const auto [ddense] = gradients(dense, x);
  const auto [dspread] = gradients(spread, z);
  session s{dense, sparse, single, spread, ddense, dspread};
  const auto [d, sp, si, wide, dd, ds] =
      s.run(fetch(dense, sparse, single, spread, ddense, dspread), x = xt::xtensor<float, 3>{{{1, -inf, 2}, {1, 0, 2}}},
            z = xt::xtensor<float, 3>{{{1, 0, 0}, {0, 0, 0}}}, k = xt::xtensor<std::int32_t, 2>{{0, 1}});
  CHECK(std::isnan(d(0, 0)));  // 0 times infinity
  CHECK(d(0, 1) == 0);
  CHECK_FALSE(std::signbit(d(0, 1)));
  CHECK(sp(0, 0) == doctest::Approx(1.3132616));
  CHECK(sp(0, 1) == doctest::Approx(2.4076059));
  CHECK(si == doctest::Approx(1.4076059));
  CHECK(std::isnan(wide(0)));
  CHECK(wide(1) == doctest::Approx(1.4076059));
  check_close("logits'", dd, xt::xtensor<float, 3>{{{-0.7310586f, 0, 0.7310586f}, {0.24472848f, 0.09003057f, 0.66524094f}}}, 1e-6);
  CHECK(ds(0, 0, 0) == doctest::Approx(1.3132616 + 1.4076059));  // of both rows
  CHECK(ds(0, 0, 1) == inf);
}

TEST_CASE_TEMPLATE("cross entropies", T, float, double) {
  const auto logits = placeholder<"logits", T, "batch", 10>();
  const auto labels = placeholder<"labels", T, "batch", 10>();
  const auto classes = placeholder<"classes", std::int32_t, "batch">();
  const auto dense = softmax_cross_entropy_with_logits(labels, logits);
  const auto sparse = sparse_softmax_cross_entropy_with_logits(classes, logits);
  const auto independent = sigmoid_cross_entropy_with_logits(labels, logits);
  const auto [ddense, dlabels] = gradients(dense, logits, labels);
  const auto [dsparse] = gradients(sparse, logits);
  const auto [dindependent] = gradients(independent, logits);
  session s{dense, sparse, independent, ddense, dlabels, dsparse, dindependent};
  for (const auto batch : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{64}}) {
    const auto xs = filled<T, 2>({batch, 10}, -4, 4);
    auto ls = filled<T, 2>({batch, 10}, 0, 1, 3);
    for (std::size_t r = 0; r < batch; ++r) {
      T total = 0;
      for (std::size_t k = 0; k < 10; ++k) total += ls(r, k);
      for (std::size_t k = 0; k < 10; ++k) ls(r, k) /= total;
    }
    const auto cs = filled<std::int32_t, 1>({batch}, 0, 10, 5);
    const auto [d, sp, in, dd, dl, ds, di] =
        s.run(fetch(dense, sparse, independent, ddense, dlabels, dsparse, dindependent), logits = xs, labels = ls, classes = cs);
    const auto lsm = [&](std::size_t i) { return log_softmax_of(row_of(xs, i / 10, 10))[i % 10]; };
    const double tolerance = 20 * tolerance_of<T>;
    check_each("dense", d, tolerance, [&](std::size_t r) {
      double sum = 0;
      for (std::size_t k = 0; k < 10; ++k) sum -= static_cast<double>(ls(r, k)) * lsm(r * 10 + k);
      return sum;
    });
    check_each("sparse", sp, tolerance, [&](std::size_t r) { return -lsm(r * 10 + static_cast<std::size_t>(cs(r))); });
    const auto x = [&](std::size_t i) { return static_cast<double>(xs.data()[i]); };
    const auto z = [&](std::size_t i) { return static_cast<double>(ls.data()[i]); };
    check_each("independent", in, tolerance,
               [&](std::size_t i) { return -z(i) * -std::log1p(std::exp(-x(i))) - (1 - z(i)) * -std::log1p(std::exp(x(i))); });
    check_each("dense'", dd, tolerance, [&](std::size_t i) { return std::exp(lsm(i)) - z(i); });
    check_each("labels'", dl, tolerance, [&](std::size_t i) { return -lsm(i); });
    check_each("sparse'", ds, tolerance, [&](std::size_t i) {
      return std::exp(lsm(i)) - (static_cast<std::size_t>(cs(i / 10)) == i % 10 ? 1 : 0);
    });
    check_each("independent'", di, tolerance, [&](std::size_t i) { return 1 / (1 + std::exp(-x(i))) - z(i); });
  }
}

TEST_CASE("a label out of range is refused") {
  const auto logits = placeholder<"logits", float, 2, 3>();
  const auto labels = placeholder<"labels", std::int64_t, 2>();
  const auto loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(labels, logits));
  session s{loss};
  const auto xs = filled<float, 2>({2, 3});
  CHECK_THROWS_AS(s.run(fetch(loss), logits = xs, labels = xt::xtensor<std::int64_t, 1>{0, 3}), invalid_argument);
  CHECK_THROWS_AS(s.run(fetch(loss), logits = xs, labels = xt::xtensor<std::int64_t, 1>{-1, 0}), invalid_argument);
  const auto [l] = s.run(fetch(loss), logits = xs, labels = xt::xtensor<std::int64_t, 1>{2, 0});
  CHECK(std::isfinite(l));
}

TEST_CASE_TEMPLATE("positions of the largest and smallest, the first of equals", T, float, double, std::int32_t, std::int64_t,
                   std::uint8_t) {
  const auto x = placeholder<"x", T, "rows", "columns">();
  const auto along = argmax<1>(x);
  const auto across = argmax<0, std::int32_t>(x);
  const auto low = argmin<-1>(x);
  static_assert(std::is_same_v<typename decltype(along)::element, std::int64_t>);
  static_assert(std::is_same_v<typename decltype(across)::element, std::int32_t>);
  session s{along, across, low};
  const std::array<std::array<std::size_t, 2>, 5> areas{{{1, 1}, {3, 17}, {16, 16}, {33, 5}, {2, 1000}}};
  for (const auto& [rows, columns] : areas) {
    const std::size_t width = columns;
    const std::size_t height = rows;
    const auto xs = filled<T, 2>({rows, columns}, 0, std::is_integral_v<T> ? 5 : 100);
    const auto [a, b, c] = s.run(fetch(along, across, low), x = xs);
    check_each("along", a, 0, [&](std::size_t r) {
      std::size_t best = 0;
      for (std::size_t k = 1; k < width; ++k)
        if (xs(r, k) > xs(r, best)) best = k;
      return best;
    });
    check_each("across", b, 0, [&](std::size_t k) {
      std::size_t best = 0;
      for (std::size_t r = 1; r < height; ++r)
        if (xs(r, k) > xs(best, k)) best = r;
      return best;
    });
    check_each("low", c, 0, [&](std::size_t r) {
      std::size_t best = 0;
      for (std::size_t k = 1; k < width; ++k)
        if (xs(r, k) < xs(r, best)) best = k;
      return best;
    });
  }
}

TEST_CASE_TEMPLATE("one-hot rows; an index out of range hits nothing", I, std::int32_t, std::int64_t, std::uint8_t) {
  const auto labels = placeholder<"labels", I, "n">();
  const auto hot = one_hot<10>(labels);
  const auto other = one_hot<3, double, 5, -1>(labels);
  const auto whole = one_hot<4, std::int32_t>(labels);
  const auto across = one_hot<4, float, 1, 0, 0>(labels);
  session s{hot, other, whole, across};
  for (const auto n : lengths) {
    const auto ls = filled<I, 1>({n}, std::is_signed_v<I> ? -1 : 0, 12);
    const auto [h, o, w, a] = s.run(fetch(hot, other, whole, across), labels = ls);
    check_each("hot", h, 0, [&](std::size_t i) { return ls(i / 10) == static_cast<I>(i % 10) ? 1 : 0; });
    check_each("other", o, 0, [&](std::size_t i) { return ls(i / 3) == static_cast<I>(i % 3) ? 5 : -1; });
    check_each("whole", w, 0, [&](std::size_t i) { return ls(i / 4) == static_cast<I>(i % 4) ? 1 : 0; });
    check_each("across", a, 0, [&](std::size_t i) { return ls(i % n) == static_cast<I>(i / n) ? 1 : 0; });
  }
}

TEST_CASE("moments") {
  const auto x = placeholder<"x", double, "rows", "columns">();
  const auto [mean, variance] = moments<1>(x);
  const auto [mean_all, variance_all] = moments(x);
  const auto [mean_first, variance_first] = moments<0>(x);
  const auto normalized = (x - expand_dims<1>(mean)) * rsqrt(expand_dims<1>(variance) + 0.1_c);
  session s{mean, variance, mean_all, variance_all, mean_first, variance_first, normalized};
  const std::array<std::array<std::size_t, 2>, 4> areas{{{1, 1}, {3, 17}, {16, 33}, {5, 1000}}};
  for (const auto& [rows, columns] : areas) {
    const std::size_t width = columns;
    const std::size_t height = rows;
    const auto xs = filled<double, 2>({rows, columns}, 3, 9);
    const auto [m, v, ma, va, mf, vf, nn] =
        s.run(fetch(mean, variance, mean_all, variance_all, mean_first, variance_first, normalized), x = xs);
    const auto over = [](std::size_t count, auto at) {
      double sum = 0;
      for (std::size_t k = 0; k < count; ++k) sum += at(k);
      const double middle = sum / static_cast<double>(count);
      double squares = 0;
      for (std::size_t k = 0; k < count; ++k) squares += (at(k) - middle) * (at(k) - middle);
      return std::array<double, 2>{middle, squares / static_cast<double>(count)};
    };
    const auto along = [&](std::size_t r) { return over(width, [&](std::size_t k) { return xs(r, k); }); };
    const auto across = [&](std::size_t k) { return over(height, [&](std::size_t r) { return xs(r, k); }); };
    const auto all = over(xs.size(), [&](std::size_t i) { return xs.data()[i]; });
    check_each("mean", m, 1e-12, [&](std::size_t r) { return along(r)[0]; });
    check_each("variance", v, 1e-12, [&](std::size_t r) { return along(r)[1]; });
    check_each("mean of all", ma, 1e-12, [&](std::size_t) { return all[0]; });
    check_each("variance of all", va, 1e-12, [&](std::size_t) { return all[1]; });
    check_each("mean along the first", mf, 1e-12, [&](std::size_t k) { return across(k)[0]; });
    check_each("variance along the first", vf, 1e-12, [&](std::size_t k) { return across(k)[1]; });
    check_each("normalized", nn, 1e-12,
               [&](std::size_t i) { return (xs.data()[i] - along(i / width)[0]) / std::sqrt(along(i / width)[1] + 0.1); });
  }
}

TEST_CASE_TEMPLATE("half the sum of squares", T, float, double) {
  const auto x = placeholder<"x", T, 3, 7>();
  const auto loss = l2_loss(x);
  const auto [dx] = gradients(loss, x);
  session s{loss, dx};
  const auto xs = filled<T, 2>({3, 7});
  const auto [value, slope] = s.run(fetch(loss, dx), x = xs);
  double sum = 0;
  for (std::size_t i = 0; i < xs.size(); ++i) sum += static_cast<double>(xs.data()[i]) * static_cast<double>(xs.data()[i]) / 2;
  CHECK(static_cast<double>(value) == doctest::Approx(sum).epsilon(1e-6));
  CHECK(slope == xs);
}

TEST_CASE("the gradient of the variance is that of the whole, though its mean is held") {
  const auto x = placeholder<"x", double, 3, 7>();
  const auto w = placeholder<"w", double, 3>();
  const auto [mean, variance] = moments<1>(x);
  const auto loss = reduce_sum(w * variance) + reduce_sum(square(mean));
  const auto [dx] = gradients(loss, x);
  session s{loss, dx};
  const auto xs = filled<double, 2>({3, 7});
  const auto ws = filled<double, 1>({3});
  const auto [dxs] = s.run(fetch(dx), x = xs, w = ws);
  check_close("dx", dxs, slopes(xs, [&](const auto& p) { return std::get<0>(s.run(fetch(loss), x = p, w = ws)); }), 1e-7);
}
