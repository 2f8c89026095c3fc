// Short rows, which the interpreter computes several at once (interpret/tile_code.hpp): the bytes that the compiled session gives, the
// bytes that one row after the other gives, and what loops give but for rounding. Compiled without contraction of a b + c, which a
// compiled cluster may do across operators.

#include <leat/cpu/interpret.hpp>

#include "support/check.hpp"
#include "support/interpreted.hpp"

#include <leat/cpu/parallel.hpp>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

using sizes = std::array<std::size_t, 2>;

/// Rows and their length: every short length, those around where rows are no longer short, and numbers of rows around those of a tile.
std::vector<sizes> row_sizes() {
  std::vector<sizes> all;
  for (std::size_t length = 1; length <= 40; ++length) {
    all.push_back({1 + length % 7, length});
    all.push_back({64 + length % 5, length});
  }
  for (const std::size_t length : {63, 64, 65, 100, 127, 128, 129, 200, 300, 511, 512, 513, 600}) {
    all.push_back({2, length});
    all.push_back({31, length});
  }
  for (const sizes& more : {sizes{1500, 1}, sizes{1027, 2}, sizes{515, 3}, sizes{0, 5}, sizes{20'001, 4}, sizes{3001, 17}})
    all.push_back(more);
  return all;
}

/// Checks the results that are arrays or numbers against those of the compiled session.
template <class Compiled, std::size_t... K>
bool all_same(const interpreted& code, const Compiled& want, std::index_sequence<K...>) {
  return (code.same(static_cast<int>(K), std::get<K>(want)) && ...);
}
template <class... T>
bool all_same(const interpreted& code, const std::tuple<T...>& want) {
  return all_same(code, want, std::make_index_sequence<sizeof...(T)>{});
}

xt::xtensor<float, 2> row_of(const xt::xtensor<float, 2>& x, std::size_t i) {
  auto row = xt::xtensor<float, 2>::from_shape({1, x.shape()[1]});
  std::copy_n(x.data() + i * row.size(), row.size(), row.data());
  return row;
}

template <class T>
std::vector<T> values(const interpreted& code, int fetch) {
  const auto& bytes = code.bytes(fetch);
  std::vector<T> all((bytes.size() - 1) / sizeof(T));
  if (!all.empty()) std::memcpy(all.data(), bytes.data(), all.size() * sizeof(T));
  return all;
}

// Labels of so many classes: a loss, its gradient by the bias, and the losses.
template <int Classes>
void check_labels() {
  const auto x = placeholder<"x", float, "n", Classes>();
  const auto labels = placeholder<"labels", std::int32_t, "n">();
  const auto bias = placeholder<"bias", float, Classes>();
  const auto losses = sparse_softmax_cross_entropy_with_logits(labels, x + bias);
  const auto loss = reduce_mean(losses);
  const auto [slope] = gradients(loss, bias);
  session compiled{losses, loss, slope};
  interpreted code(fetch(losses, loss, slope));
  for (const std::size_t n : {1, 2, 5, 64, 67, 3001}) {
    CAPTURE(n);
    auto xs = filled<float, 2>({n, Classes}, -4, 4, 1);
    auto ls = filled<std::int32_t, 1>({n}, 0, Classes, 2);
    auto bs = filled<float, 1>({Classes}, -1, 1, 3);
    const auto want = compiled.run(fetch(losses, loss, slope), x = xs, labels = ls, bias = bs);
    CHECK(all_same(code.with(x, xs).with(labels, ls).with(bias, bs).run(), want));
    const auto got = values<float>(code, 0);
    bool right = true;
    for (std::size_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < Classes; ++j) sum += std::exp(static_cast<double>(xs(i, j) + bs(j)));
      const auto l = static_cast<std::size_t>(ls(i));
      right = right && close(static_cast<double>(got[i]), std::log(sum) - static_cast<double>(xs(i, l) + bs(l)), 1e-5);
    }
    CHECK(right);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("reductions of rows, of columns and of everything", T, float, double, std::int32_t, std::int64_t, std::uint8_t) {
  const auto x = placeholder<"x", T, "n", "m">();
  const auto y = placeholder<"y", T, "n", "m">();
  const auto z = x * y - x;
  const auto sums = reduce_sum<1>(z);
  const auto most = reduce_max<1>(x + y);
  const auto least = reduce_min_keep<1>(z);
  const auto products = reduce_prod<1>(maximum(x, y));
  const auto centered = (z - least) * reduce_max_keep<1>(y) + reduce_sum_keep<1>(x);
  const auto columns = reduce_sum<0>(x * x);
  const auto weighted = reduce_sum<0>(z * reduce_sum_keep<1>(y));
  const auto lowest = reduce_min<0>(z - y);
  const auto all = reduce_sum(x * reduce_max_keep<1>(y));
  const auto total = reduce_max(sums + most);
  session compiled{sums, most, least, products, centered, columns, weighted, lowest, all, total};
  interpreted code(fetch(sums, most, least, products, centered, columns, weighted, lowest, all, total));
  for (const auto& [n, m] : row_sizes()) {
    CAPTURE(n);
    CAPTURE(m);
    auto xs = filled<T, 2>({n, m}, -2, 3, 1);
    auto ys = filled<T, 2>({n, m}, -1, 2, 2);
    const auto want = compiled.run(fetch(sums, most, least, products, centered, columns, weighted, lowest, all, total), x = xs, y = ys);
    CHECK(all_same(code.with(x, xs).with(y, ys).run(), want));
    const auto got_sums = values<T>(code, 0), got_most = values<T>(code, 1), got_least = values<T>(code, 2);
    bool right = true;
    for (std::size_t i = 0; i < n; ++i) {
      T sum = 0, high = std::numeric_limits<T>::lowest(), low = std::numeric_limits<T>::max();
      for (std::size_t j = 0; j < m; ++j) {
        const T v = static_cast<T>(xs(i, j) * ys(i, j) - xs(i, j));
        sum = static_cast<T>(sum + v);
        high = std::max(high, static_cast<T>(xs(i, j) + ys(i, j)));
        low = std::min(low, v);
      }
      right = right && close(static_cast<double>(got_sums[i]), static_cast<double>(sum), std::is_same_v<T, float> ? 1e-4 : 1e-12);
      right = right && got_most[i] == high && got_least[i] == low;
    }
    CHECK(right);
  }
}

TEST_CASE("columns without rows, which are added in fours, and sums alone") {
  const auto x = placeholder<"x", float, "n", "m">();
  const auto columns = reduce_sum<0>(x * x);
  const auto lowest = reduce_min<0>(x - 1_c);
  const auto all = reduce_sum(x * 3_c);
  const auto sums = reduce_sum<1>(x);
  session compiled{columns, lowest, all, sums};
  interpreted one(fetch(columns)), three(fetch(columns, lowest, all)), rows(fetch(sums));
  for (const auto& [n, m] : row_sizes()) {
    CAPTURE(n);
    CAPTURE(m);
    auto xs = filled<float, 2>({n, m}, -2, 3, 1);
    CHECK(all_same(one.with(x, xs).run(), compiled.run(fetch(columns), x = xs)));
    CHECK(all_same(three.with(x, xs).run(), compiled.run(fetch(columns, lowest, all), x = xs)));
    CHECK(all_same(rows.with(x, xs).run(), compiled.run(fetch(sums), x = xs)));
  }
}

TEST_CASE_TEMPLATE("softmax, its logarithm, cross entropies and means", T, float, double) {
  const auto x = placeholder<"x", T, "n", "m">();
  const auto targets = placeholder<"targets", T, "n", "m">();
  const auto scale = placeholder<"scale", T, "m">();
  const auto soft = softmax(x);
  const auto logarithm = log_softmax(x * scale);
  const auto dense = softmax_cross_entropy_with_logits(targets, x);
  const auto loss = reduce_mean(dense);
  const auto [slope] = gradients(reduce_mean(softmax_cross_entropy_with_logits(targets, x * scale)), scale);
  const auto mean = reduce_mean_keep<1>(x);
  const auto normal = (x - mean) / sqrt(reduce_mean_keep<1>(square(x - mean)) + 0.5_c) * scale;
  session compiled{soft, logarithm, dense, loss, slope, normal};
  interpreted code(fetch(soft, logarithm, dense, loss, slope, normal));
  for (const auto& [n, m] : row_sizes()) {
    if (n == 0) continue;
    CAPTURE(n);
    CAPTURE(m);
    auto xs = filled<T, 2>({n, m}, -4, 4, 1);
    auto ts = filled<T, 2>({n, m}, 0, 1, 2);
    auto ss = filled<T, 1>({m}, 0, 2, 3);
    const auto want = compiled.run(fetch(soft, logarithm, dense, loss, slope, normal), x = xs, targets = ts, scale = ss);
    code.with(x, xs).with(targets, ts).with(scale, ss).run();
    CHECK(all_same(code, want));

    const auto got_soft = values<T>(code, 0), got_dense = values<T>(code, 2);
    const double tolerance = std::is_same_v<T, float> ? 2e-4 : 1e-11;
    bool right = true;
    for (std::size_t i = 0; i < n; ++i) {
      double sum = 0, entropy = 0;
      for (std::size_t j = 0; j < m; ++j) sum += std::exp(static_cast<double>(xs(i, j)));
      for (std::size_t j = 0; j < m; ++j) {
        entropy -= static_cast<double>(ts(i, j)) * (static_cast<double>(xs(i, j)) - std::log(sum));
        right = right && close(static_cast<double>(got_soft[i * m + j]), std::exp(static_cast<double>(xs(i, j))) / sum, tolerance);
      }
      right = right && close(static_cast<double>(got_dense[i]), entropy, tolerance);
    }
    CHECK(right);
  }
}

TEST_CASE("cross entropies of labels") {
  check_labels<3>();
  check_labels<10>();
  check_labels<16>();
  check_labels<37>();
}

TEST_CASE("rows at once are rows one by one, also where values are special") {
  const auto x = placeholder<"x", float, "n", "m">();
  const auto soft = softmax(x);
  const auto most = reduce_max<1>(x);
  const auto least = reduce_min<1>(x * 2_c);
  const auto sums = reduce_sum<1>(x);
  const auto exponents = exp(reduce_sum_keep<1>(x) * 0.01_c) * tanh(x);
  interpreted code(fetch(soft, most, least, sums, exponents)), single(fetch(soft, most, least, sums, exponents));
  const float special[]{-0.0f, 0.0f, std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                        std::numeric_limits<float>::quiet_NaN(), 1e-40f, std::numeric_limits<float>::max()};
  for (const std::size_t m : {1, 3, 10, 16, 17, 70, 130}) {
    CAPTURE(m);
    auto xs = filled<float, 2>({45, m}, -3, 3, m);
    for (std::size_t i = 0; i < 45; i += 2) xs(i, i % m) = special[i / 2 % std::size(special)];
    for (std::size_t j = 0; j < m; ++j) xs(44, j) = -0.0f;
    code.with(x, xs).run();
    for (std::size_t i = 0; i < 45; ++i) {
      auto row = row_of(xs, i);
      single.with(x, row).run();
      CAPTURE(i);
      for (int f = 0; f < 5; ++f) {
        const std::size_t bytes = single.bytes(f).size() - 1;
        CHECK(std::memcmp(code.bytes(f).data() + i * bytes, single.bytes(f).data(), bytes) == 0);
      }
    }
  }
}

TEST_CASE("rows of mixed dtypes and of bools") {
  const auto x = placeholder<"x", float, "n", "m">();
  const auto k = placeholder<"k", std::uint8_t, "n", "m">();
  const auto rounded = cast<std::int32_t>(x * 10_c);
  const auto counts = reduce_sum<1>(rounded);
  const auto wide = reduce_sum<1>(cast<double>(x) * cast<double>(k));
  const auto any = reduce_any<1>(x > 1.5_c);
  const auto both = reduce_all<1>(cast<float>(k) > x);
  const auto chosen = select(x > reduce_mean_keep<1>(x), cast<float>(k), x);
  const auto bytes = reduce_max<1>(k);
  const auto shifted = k + reduce_min_keep<1>(k);
  session compiled{counts, wide, any, both, chosen, bytes, shifted};
  interpreted code(fetch(counts, wide, any, both, chosen, bytes, shifted));
  for (const auto& [n, m] : row_sizes()) {
    CAPTURE(n);
    CAPTURE(m);
    auto xs = filled<float, 2>({n, m}, -1, 2, 1);
    auto ks = filled<std::uint8_t, 2>({n, m}, 0, 9, 2);
    const auto want = compiled.run(fetch(counts, wide, any, both, chosen, bytes, shifted), x = xs, k = ks);
    CHECK(all_same(code.with(x, xs).with(k, ks).run(), want));
  }
}

TEST_CASE("rows of several loops, repeated and transposed operands, counted axes") {
  const auto x = placeholder<"x", float, "a", "b", "c">();
  const auto y = placeholder<"y", float, "b", "c">();
  const auto across = placeholder<"across", float, "c", "b">();
  const auto column = placeholder<"column", float, "a", 1, 1>();
  const auto between = placeholder<"between", float, "b", 1>();
  const auto which = placeholder<"which", std::int32_t, "a", "b">();
  const auto sums = reduce_sum<2>(x * y + column);
  const auto outer = reduce_sum<0, 2>(x - y);
  const auto middle = reduce_max<1>(x * between);
  const auto scaled = softmax(x + transpose<1, 0>(across)) * column;
  const auto elements = relu(x + y) * column - between;
  const auto picked = reduce_sum<2>(one_hot<20>(which) * 3_c);
  session compiled{sums, outer, middle, scaled, elements, picked};
  interpreted code(fetch(sums, outer, middle, scaled, elements, picked));
  interpreted alone[]{interpreted(fetch(sums)),   interpreted(fetch(outer)),    interpreted(fetch(middle)),
                      interpreted(fetch(scaled)), interpreted(fetch(elements)), interpreted(fetch(picked))};
  using extents = std::array<std::size_t, 3>;
  for (const auto& [a, b, c] : {extents{3, 5, 7}, extents{2, 33, 10}, extents{7, 1, 16}, extents{1, 70, 17}, extents{40, 3, 3},
                                extents{5, 6, 130}, extents{9, 8, 1}, extents{60, 60, 12}}) {
    CAPTURE(a);
    CAPTURE(b);
    CAPTURE(c);
    auto xs = filled<float, 3>({a, b, c}, -2, 2, 1);
    auto ys = filled<float, 2>({b, c}, -2, 2, 2);
    auto as = filled<float, 2>({c, b}, -2, 2, 3);
    auto cs = filled<float, 3>({a, 1, 1}, -2, 2, 4);
    auto bs = filled<float, 2>({b, 1}, -2, 2, 5);
    auto ws = filled<std::int32_t, 2>({a, b}, 0, 20, 6);
    const auto check = [&](interpreted& one, const auto& fetches) {
      one.with(x, xs).with(y, ys).with(across, as).with(column, cs).with(between, bs).with(which, ws).run();
      CHECK(all_same(one, compiled.run(fetches, x = xs, y = ys, across = as, column = cs, between = bs, which = ws)));
    };
    check(code, fetch(sums, outer, middle, scaled, elements, picked));
    check(alone[0], fetch(sums));
    check(alone[1], fetch(outer));
    check(alone[2], fetch(middle));
    check(alone[3], fetch(scaled));
    check(alone[4], fetch(elements));
    check(alone[5], fetch(picked));
  }
}

TEST_CASE("variables that are read and written row by row") {
  const auto w = variable<"w", float, 67, 9>(zeros);
  const auto total = variable<"total", float, 67, 1>(zeros);
  const auto columns = variable<"columns", float, 9>(zeros);
  const auto soft = softmax(w + columns);
  const auto step = group(assign_sub(w, soft * reduce_sum_keep<1>(w)), assign_add(total, reduce_max_keep<1>(soft)),
                          assign_add(columns, reduce_sum<0>(soft)));
  session compiled{w, soft, step};
  interpreted code(fetch(w, soft, step));
  auto ws = filled<float, 2>({67, 9}, -1, 1, 1);
  auto ts = filled<float, 2>({67, 1}, -1, 1, 2);
  auto cs = filled<float, 1>({9}, -1, 1, 3);
  compiled.assign(w, ws);
  compiled.assign(total, ts);
  compiled.assign(columns, cs);
  code.with(w, ws).with(total, ts).with(columns, cs);
  for (int k = 0; k < 3; ++k) {
    const auto want = compiled.run(fetch(w, soft, step));
    code.run();
    CHECK(code.same(0, std::get<0>(want)));
    CHECK(code.same(1, std::get<1>(want)));
    CHECK(std::memcmp(compiled.value(w).data(), ws.data(), sizeof(float) * ws.size()) == 0);
    CHECK(std::memcmp(compiled.value(total).data(), ts.data(), sizeof(float) * ts.size()) == 0);
    CHECK(std::memcmp(compiled.value(columns).data(), cs.data(), sizeof(float) * cs.size()) == 0);
  }
}

TEST_CASE("short rows in chunks, on any number of threads") {
  const auto x = placeholder<"x", float, "n", 10>();
  const auto soft = softmax(x);
  const auto columns = reduce_sum<0>(soft * x);
  const auto plain = reduce_sum<0>(square(x));
  const auto all = reduce_sum(square(x) - reduce_max_keep<1>(x));
  session compiled{soft, columns, plain, all};
  interpreted code(fetch(soft, columns, plain, all));
  auto xs = filled<float, 2>({50'003, 10}, -2, 2, 1);
  cpu::set_thread_count(1);
  const auto want = compiled.run(fetch(soft, columns, plain, all), x = xs);
  for (const int threads : {1, 2, 3}) {
    cpu::set_thread_count(threads);
    CHECK(all_same(code.with(x, xs).run(), want));
  }
  cpu::set_thread_count(1);
}

TEST_CASE("so many values at once that a tile has few elements") {
  const auto x = placeholder<"x", float, "n", "m">();
  const auto y = placeholder<"y", float, "m">();
  graph g;
  const output first{g, flatten<std::remove_cvref_t<decltype(x)>>(g)};
  const output second{g, flatten<std::remove_cvref_t<decltype(y)>>(g)};
  std::vector<output> kept;  // all of them are needed again at the end
  for (int k = 0; k < 300; ++k) kept.push_back(tanh(kept.empty() ? first + second : kept.back() + first));
  output sum = first;
  for (std::size_t k = kept.size(); k-- > 0;) sum = sum * kept[k] + kept[(k + 7) % kept.size()];
  interpreted code(g, {sum.index()}), single(g, {sum.index()});
  for (const std::size_t m : {3, 20, 100}) {
    auto xs = filled<float, 2>({11, m}, -1, 1, 1);
    auto ys = filled<float, 1>({m}, -1, 1, 2);
    code.with(x, xs).with(y, ys).run();
    for (std::size_t i = 0; i < 11; ++i) {
      auto row = row_of(xs, i);
      single.with(x, row).with(y, ys).run();
      CHECK(std::memcmp(code.bytes(0).data() + i * m * sizeof(float), single.bytes(0).data(), m * sizeof(float)) == 0);
    }
  }
}
