// Fourier transforms in runs: against their definition in long double, against numbers of TensorFlow 2.21, and errors.

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include "support/graph_text.hpp"
#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fourier_tests {

using namespace leat;
using leat_test::message_of;
using leat_test::says;
using single = std::complex<float>;
using number = std::complex<double>;
using exact = std::complex<long double>;

namespace {

// Numbers between -1 and 1 that float32 represents.
double number_at(std::int64_t i, int seed) {
  const std::uint64_t bits = static_cast<std::uint64_t>(i * 2654435761 + seed * 40503 + 12345) * 0x9e3779b97f4a7c15u;
  return static_cast<double>(static_cast<float>(static_cast<std::int32_t>(bits >> 40)) / 8388608.0f - 1.0f);
}
std::vector<number> numbers_of(std::int64_t n, int seed = 0) {
  std::vector<number> all;
  for (std::int64_t i = 0; i < n; ++i) all.emplace_back(number_at(2 * i, seed), number_at(2 * i + 1, seed));
  return all;
}
std::vector<double> reals_of(std::int64_t n, int seed = 0) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < n; ++i) all.push_back(number_at(i, seed));
  return all;
}
template <class To, class From>
std::vector<To> as(const std::vector<From>& from) {
  return {from.begin(), from.end()};
}
exact root(std::int64_t k, std::int64_t n) {
  const long double angle = -2 * 3.141592653589793238462643383279502884L * static_cast<long double>(k % n) / static_cast<long double>(n);
  return {std::cos(angle), std::sin(angle)};
}

// The definition along one axis: `sign` -1 is the inverse, with its division.
std::vector<exact> definition(const std::vector<exact>& x, const std::vector<std::int64_t>& sizes, std::size_t axis, bool is_inverse) {
  std::int64_t inner = 1;
  for (std::size_t k = axis + 1; k < sizes.size(); ++k) inner *= sizes[k];
  const std::int64_t n = sizes[axis];
  std::vector<exact> roots;
  for (std::int64_t k = 0; k < n; ++k) roots.push_back(is_inverse ? std::conj(root(k, n)) : root(k, n));
  std::vector<exact> made(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t k = at / inner % n, begin = at - k * inner;
    exact sum = 0;
    for (std::int64_t j = 0; j < n; ++j) sum += x[static_cast<std::size_t>(begin + j * inner)] * roots[static_cast<std::size_t>(j * k % n)];
    made[i] = is_inverse ? sum / static_cast<long double>(n) : sum;
  }
  return made;
}

// The largest error of a result, relative to the largest element.
template <class T>
double error_of(const std::vector<T>& got, const std::vector<exact>& wanted) {
  long double error = 0, most = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    exact its;
    if constexpr (std::is_floating_point_v<T>) its = static_cast<long double>(got[i]);
    else its = exact(got[i]);
    error = std::max(error, std::abs(its - wanted[i]));
    most = std::max(most, std::abs(wanted[i]));
  }
  return static_cast<double>(most > 0 ? error / most : error);
}

// complex64 results are exact up to one rounding of each part; complex128 results up to a few.
constexpr double single_error = 6.5e-8, double_error = 2e-15;

const std::vector<std::int64_t> lengths{1,  2,  3,  4,  5,  6,  7,  8,   9,   10,  11,  12,  13,  15,  16,  17,  18,  20,  21,  24,  25,  27,
                                        30, 32, 36, 37, 43, 47, 49,  60,  64,  77,  94,  97,  100, 128, 169, 200, 202, 211, 256, 257, 500, 512};

}  // namespace

TEST_CASE("fourier: transforms of every kind of length equal their definition") {
  graph g;
  const default_graph_scope here(g);
  const output x = placeholder(complex64_dtype, {-1, -1}), z = placeholder(complex128_dtype, {-1, -1});
  const output r = placeholder(dtype::float32, {-1, -1}), s = placeholder(dtype::float64, {-1, -1});
  const output fx = fft(x), fz = fft(z), bx = ifft(x), bz = ifft(z), rr = rfft(r), rs = rfft(s);
  graph_session session(g);
  for (const std::int64_t n : lengths)
    for (const std::int64_t rows : {1, 3, 20}) {
      INFO("length ", n, ", rows ", rows);
      const shape extent(2, {rows, n});
      const std::vector<number> given = numbers_of(rows * n);
      const auto lines = as<exact>(given);
      const auto forward = definition(lines, {rows, n}, 1, false), back = definition(lines, {rows, n}, 1, true);
      const auto singles = as<single>(given);
      CHECK(error_of(session.run(fx, {{x, tensor_value(extent, singles)}}).as<std::vector<single>>(), forward) < single_error);
      CHECK(error_of(session.run(fz, {{z, tensor_value(extent, given)}}).as<std::vector<number>>(), forward) < double_error);
      CHECK(error_of(session.run(bx, {{x, tensor_value(extent, singles)}}).as<std::vector<single>>(), back) < single_error);
      CHECK(error_of(session.run(bz, {{z, tensor_value(extent, given)}}).as<std::vector<number>>(), back) < double_error);
      // Real numbers: the first half of the frequencies.
      const std::vector<double> real = reals_of(rows * n, 3);
      const auto whole = definition(as<exact>(as<number>(real)), {rows, n}, 1, false);
      std::vector<exact> half;
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t k = 0; k <= n / 2; ++k) half.push_back(whole[static_cast<std::size_t>(i * n + k)]);
      CHECK(error_of(session.run(rr, {{r, tensor_value(extent, as<float>(real))}}).as<std::vector<single>>(), half) < single_error);
      CHECK(error_of(session.run(rs, {{s, tensor_value(extent, real)}}).as<std::vector<number>>(), half) < double_error);
    }
}

TEST_CASE("fourier: inverse transforms to real numbers take the frequencies that they need, and ignore parts that must be 0") {
  graph g;
  const default_graph_scope here(g);
  const output z = placeholder(complex128_dtype, {-1, -1}), n_fed = placeholder(dtype::int32, {1});
  const output back = call_operator(g, "IRFFT", {z, n_fed}, {{"Treal", dtype::float64}}).result();
  graph_session session(g);
  for (const std::int64_t n : lengths) {
    INFO("length ", n);
    for (const std::int64_t more : {0, 2}) {  // frequencies beyond those that are read
      const std::int64_t m = n / 2 + 1 + more;
      const std::vector<number> given = numbers_of(3 * m, 5);
      std::vector<exact> whole(static_cast<std::size_t>(3 * n));
      for (std::int64_t i = 0; i < 3; ++i)
        for (std::int64_t k = 0; k <= n / 2; ++k) {
          exact v(given[static_cast<std::size_t>(i * m + k)]);
          if (k == 0 || 2 * k == n) v = v.real();
          whole[static_cast<std::size_t>(i * n + k)] = v;
          if (k > 0) whole[static_cast<std::size_t>(i * n + n - k)] = std::conj(v);
        }
      const auto wanted = definition(whole, {3, n}, 1, true);
      const auto got = session.run(back, {{z, tensor_value({3, m}, given)}, {n_fed, std::vector<std::int32_t>{static_cast<std::int32_t>(n)}}});
      CHECK(got.extent() == shape(2, {3, n}));
      CHECK(error_of(got.as<std::vector<double>>(), wanted) < double_error);
    }
  }
}

TEST_CASE("fourier: transforms of two and three axes, and along named axes") {
  graph g;
  const default_graph_scope here(g);
  graph_session session(g);
  const std::vector<std::vector<std::int64_t>> shapes{{2, 3, 4, 5}, {1, 7, 1, 6}, {3, 4, 53, 2}, {2, 1, 2, 1}, {1, 2, 9, 100}};
  for (const auto& sizes : shapes) {
    shape extent;
    for (const auto n : sizes) extent.push(n);
    INFO("shape ", leat::shape_text(extent));
    const std::vector<number> given = numbers_of(extent.elements(), 1);
    const std::vector<double> real = reals_of(extent.elements(), 2);
    const output z = placeholder(complex128_dtype, shape_value(extent)), s = placeholder(dtype::float64, shape_value(extent));
    const auto along = [&](std::vector<exact> x, const std::vector<std::size_t>& axes, bool is_inverse) {
      for (const std::size_t axis : axes) x = definition(x, sizes, axis, is_inverse);
      return x;
    };
    const feed_list feeds{{z, tensor_value(extent, given)}, {s, tensor_value(extent, real)}};
    const auto error = [&](const output& y, const std::vector<exact>& wanted) {
      return error_of(session.run(y, feeds).as<std::vector<number>>(), wanted);
    };
    const auto lines = as<exact>(given);
    CHECK(error(fft2d(z), along(lines, {2, 3}, false)) < double_error);
    CHECK(error(ifft2d(z), along(lines, {2, 3}, true)) < double_error);
    CHECK(error(fft3d(z), along(lines, {1, 2, 3}, false)) < double_error);
    CHECK(error(ifft3d(z), along(lines, {1, 2, 3}, true)) < double_error);
    const auto lengths_of = [&](const std::vector<int>& axes) {
      std::vector<std::int32_t> made;
      for (const int a : axes) made.push_back(static_cast<std::int32_t>(sizes[static_cast<std::size_t>(a)]));
      return tensor_literal(made);
    };
    for (const std::vector<int>& axes : std::vector<std::vector<int>>{{0, 2}, {3, 1}, {0, 1, 2, 3}, {1}}) {
      const output y = call_operator(g, "FFTND", {z, lengths_of(axes), tensor_literal(axes)}).result();
      CHECK(y.extent() == extent);
      CHECK(error(y, along(lines, {axes.begin(), axes.end()}, false)) < double_error);
      const output back = call_operator(g, "IFFTND", {y, lengths_of(axes), tensor_literal(axes)}).result();
      CHECK(error(back, lines) < double_error);
    }
    // Real numbers and back.
    const auto halved = [&](const std::vector<exact>& x, std::size_t axis) {
      std::vector<exact> made;
      std::int64_t inner = 1;
      for (std::size_t k = axis + 1; k < sizes.size(); ++k) inner *= sizes[k];
      for (std::size_t i = 0; i < x.size(); ++i)
        if (static_cast<std::int64_t>(i) / inner % sizes[axis] <= sizes[axis] / 2) made.push_back(x[i]);
      return made;
    };
    const auto real_lines = as<exact>(as<number>(real));
    CHECK(error(rfft2d(s), halved(along(real_lines, {2, 3}, false), 3)) < double_error);
    CHECK(error(rfft3d(s), halved(along(real_lines, {1, 2, 3}, false), 3)) < double_error);
    const auto same = [&](const output& y) { return error_of(session.run(y, feeds).as<std::vector<double>>(), real_lines); };
    const auto last = [&](int count) {
      std::vector<std::int32_t> made;
      for (int k = 4 - count; k < 4; ++k) made.push_back(static_cast<std::int32_t>(sizes[static_cast<std::size_t>(k)]));
      return made;
    };
    CHECK(same(irfft(rfft(s), last(1))) < double_error);
    CHECK(same(irfft2d(rfft2d(s), last(2))) < double_error);
    CHECK(same(irfft3d(rfft3d(s), last(3))) < double_error);
    for (const std::vector<int>& axes : std::vector<std::vector<int>>{{0, 2}, {3, 1}, {2}}) {
      const auto wanted = halved(along(real_lines, {axes.begin(), axes.end()}, false), static_cast<std::size_t>(axes.back()));
      const output y =
          call_operator(g, "RFFTND", {s, lengths_of(axes), tensor_literal(axes)}, {{"Tcomplex", complex128_dtype}}).result();
      CHECK(error(y, wanted) < double_error);
      CHECK(same(call_operator(g, "IRFFTND", {y, lengths_of(axes), tensor_literal(axes)}, {{"Treal", dtype::float64}}).result()) <
            double_error);
    }
  }
}

TEST_CASE("fourier: lengths cut off and pad, known while the graph is built or in the run") {
  graph g;
  const default_graph_scope here(g);
  graph_session session(g);
  const std::vector<float> x{1, -2, 0.5f, 3};
  const auto run = [&](const output& y, const feed_list& feeds) { return session.run(y, feeds); };
  const output known = placeholder(dtype::float32, {4}), open = placeholder(dtype::float32), length = placeholder(dtype::int32, {1});
  for (const std::int32_t n : {1, 2, 3, 4, 5, 8}) {
    INFO("length ", n);
    std::vector<exact> lines;
    for (int k = 0; k < n; ++k) lines.push_back(k < 4 ? static_cast<long double>(x[static_cast<std::size_t>(k)]) : 0);
    auto wanted = definition(lines, {n}, 0, false);
    wanted.resize(static_cast<std::size_t>(n / 2 + 1));
    const output a = rfft(known, n), b = rfft(open, n), c = rfft(open, length);
    CHECK(a.extent() == shape(1, {n / 2 + 1}));
    const feed_list feeds{{known, x}, {open, x}, {length, std::vector<std::int32_t>{n}}};
    for (const output& y : {a, b, c}) CHECK(error_of(run(y, feeds).as<std::vector<single>>(), wanted) < 1e-7);
    // Back, of more or fewer frequencies than there are.
    for (const std::int32_t m : {1, 2, 3, 6}) {
      std::vector<exact> whole(static_cast<std::size_t>(m));
      for (int k = 0; k <= m / 2; ++k) {
        exact v = k < static_cast<int>(wanted.size()) ? wanted[static_cast<std::size_t>(k)] : 0;
        if (k == 0 || 2 * k == m) v = v.real();
        whole[static_cast<std::size_t>(k)] = v;
        if (k > 0) whole[static_cast<std::size_t>(m - k)] = std::conj(v);
      }
      const auto back = definition(whole, {m}, 0, true);
      for (const output& y : {a, b, c}) {
        const tensor_value got = run(irfft(y, m), feeds);
        CHECK(got.extent() == shape(1, {m}));
        CHECK(error_of(got.as<std::vector<float>>(), back) < 2e-7);
      }
    }
  }
  // Without a length: that of x; back, of an even number of reals.
  CHECK(irfft(rfft(known)).extent() == shape(1, {4}));
  CHECK(run(irfft(rfft(open)), {{open, x}}).as<std::vector<float>>() == x);
  const output image = placeholder(dtype::float64, {2, 3});
  CHECK(rfft2d(image, {4, 6}).extent() == shape(2, {4, 4}));
  CHECK(run(rfft2d(image, {1, 2}), {{image, tensor_value({2, 3}, std::vector<double>{1, 2, 9, 9, 9, 9})}}).as<std::vector<number>>() ==
        std::vector<number>{3, -1});
}

TEST_CASE("fourier: what does not fit is an error in TensorFlow's words") {
  graph g;
  const default_graph_scope here(g);
  graph_session session(g);
  const output x = placeholder(dtype::float32), z = placeholder(complex64_dtype), n = placeholder(dtype::int32);
  const output forward = call_operator(g, "RFFT", {x, n}).result(), back = call_operator(g, "IRFFT", {z, n}).result();
  const std::vector<float> four(4);
  const auto length = [](std::int32_t k) { return std::vector<std::int32_t>{k}; };
  const auto refused = [&](const output& y, const feed_list& feeds) { return message_of<invalid_argument>([&] { session.run(y, feeds); }); };
  CHECK(says(refused(forward, {{x, four}, {n, length(-1)}}), "fft_length[0] must >= 0, but got: -1", "(RFFT)"));
  CHECK(says(refused(forward, {{x, four}, {n, length(8)}}), "Input dimension 0 must have length of at least 8 but got: 4"));
  CHECK(says(refused(forward, {{x, four}, {n, std::vector<std::int32_t>{4, 4}}}), "fft_length must have shape [1]"));
  CHECK(says(refused(forward, {{x, 1.0f}, {n, length(1)}}), "Input must have rank of at least 1 but got: []"));
  CHECK(says(refused(back, {{z, std::vector<single>(4)}, {n, length(2147483647)}}),
             "Input dimension 0 must have length of at least 1073741824 but got: 4"));
  CHECK(session.run(forward, {{x, four}, {n, length(0)}}).elements() == 0);
  CHECK(session.run(back, {{z, std::vector<single>(4)}, {n, length(0)}}).elements() == 0);
  // No rows, or rows without elements: those that were not given are zeros.
  CHECK(session.run(forward, {{x, tensor_value({0, 4}, std::vector<float>{})}, {n, length(4)}}).extent() == shape(2, {0, 3}));
  CHECK(session.run(forward, {{x, tensor_value({1, 0}, std::vector<float>{})}, {n, length(4)}}).as<std::vector<single>>() ==
        std::vector<single>(3));
  CHECK(says(message_of<invalid_argument>([&] { fft(x); }), "float32"));
  CHECK(says(message_of<invalid_argument>([&] { rfft(z); }), "RFFT requires tf.float32 or tf.float64 inputs"));
  CHECK(says(message_of<invalid_argument>([&] { irfft(x); }), "IRFFT requires tf.complex64 or tf.complex128 inputs"));
  CHECK(says(message_of<invalid_argument>([&] { fft2d(placeholder(complex64_dtype, {4})); }), "at least rank 2"));
  CHECK(says(message_of<invalid_argument>([&] { rfft(placeholder(dtype::float32, {4}), {2, 2}); }), "fft_length must have shape [1]"));

  // A memory limit counts the memory of the transform, not of its result alone.
  graph_session limited(g, {.memory_limit_in_bytes = 1 << 22});
  const output long_one = fft(z);
  CHECK(says(message_of<resource_exhausted>([&] { limited.run(long_one, {{z, std::vector<single>(1 << 18)}}); }), "memory_limit_in_bytes"));
}

TEST_CASE("fourier: a node meets many lengths, and keeps few plans") {
  graph g;
  const default_graph_scope here(g);
  const output z = placeholder(complex128_dtype, {-1});
  const output y = ifft(fft(z));
  graph_session session(g);
  for (int round = 0; round < 3; ++round)
    for (std::int64_t n = 1; n < 20; ++n) {
      const auto given = numbers_of(n, round);
      CHECK(error_of(session.run(y, {{z, given}}).as<std::vector<number>>(), as<exact>(given)) < double_error);
    }
}

}  // namespace fourier_tests
