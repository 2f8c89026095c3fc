#include <leat/cpu/matmul.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

using namespace leat::cpu;

namespace {

struct product {
  bool transpose_a, transpose_b;
  std::int64_t m, n, k;
  std::int64_t padding;  // of every row beyond its columns
  int alpha, beta;
};

// Small integers, so that every order of summation gives the same; what must not be read is NaN.
template <class T, std::int64_t M = -1, std::int64_t N = -1, std::int64_t K = -1>
bool correct(const product& s) {
  std::mt19937 random(7);
  const auto next = [&] { return static_cast<T>(static_cast<int>(random() % 7) - 3); };
  const std::int64_t lda = (s.transpose_a ? s.m : s.k) + s.padding;
  const std::int64_t ldb = (s.transpose_b ? s.k : s.n) + s.padding;
  const std::int64_t ldc = s.n + s.padding;
  std::vector<T> a(static_cast<std::size_t>((s.transpose_a ? s.k : s.m) * lda));
  std::vector<T> b(static_cast<std::size_t>((s.transpose_b ? s.n : s.k) * ldb));
  std::vector<T> c(static_cast<std::size_t>(s.m * ldc));
  for (T& each : a) each = next();
  for (T& each : b) each = next();
  for (T& each : c) each = next();
  if constexpr (std::is_floating_point_v<T>)
    if (s.beta == 0)
      for (T& each : c) each = std::numeric_limits<T>::quiet_NaN();
  const std::vector<T> before = c;
  matmul<T, M, N, K>(s.transpose_a, s.transpose_b, s.m, s.n, s.k, static_cast<T>(s.alpha), a.data(), lda, b.data(), ldb,
                     static_cast<T>(s.beta), c.data(), ldc);
  for (std::int64_t i = 0; i < s.m; ++i)
    for (std::int64_t j = 0; j < ldc; ++j) {
      const T got = c[static_cast<std::size_t>(i * ldc + j)];
      const T old = before[static_cast<std::size_t>(i * ldc + j)];
      if (j >= s.n) {
        if (!(got == old || (got != got && old != old))) return false;
        continue;
      }
      T sum(0);
      for (std::int64_t p = 0; p < s.k; ++p)
        sum = static_cast<T>(sum + a[static_cast<std::size_t>(s.transpose_a ? p * lda + i : i * lda + p)] *
                                       b[static_cast<std::size_t>(s.transpose_b ? j * ldb + p : p * ldb + j)]);
      sum = static_cast<T>(sum * static_cast<T>(s.alpha));
      if (s.beta != 0) sum = static_cast<T>(sum + static_cast<T>(s.beta) * old);
      if (got != sum) return false;
    }
  return true;
}

}  // namespace

TEST_CASE_TEMPLATE("products of all shapes and transpositions", T, float, double, std::int32_t, std::int64_t) {
  int scales = 0;
  for (const std::int64_t m : {1, 2, 3, 7, 8, 9, 12, 33, 64})
    for (const std::int64_t n : {1, 2, 5, 10, 16, 17, 32, 37, 65})
      for (const std::int64_t k : {0, 1, 2, 10, 17, 64, 270})
        for (const int transposed : {0, 1, 2, 3}) {
          ++scales;
          const product s{(transposed & 1) != 0,
                          (transposed & 2) != 0,
                          m,
                          n,
                          k,
                          scales % 3,
                          scales % 5 == 0 ? -2 : 1,
                          scales % 4 == 0 ? 2 : scales % 4 - 1};
          CAPTURE(m);
          CAPTURE(n);
          CAPTURE(k);
          CAPTURE(transposed);
          CHECK(correct<T>(s));
        }
}

TEST_CASE_TEMPLATE("more rows than one block", T, float, std::int32_t) {
  CHECK(correct<T>({false, false, 1100, 33, 40, 0, 1, 0}));
  CHECK(correct<T>({true, true, 1100, 33, 40, 1, -2, 1}));
}

TEST_CASE_TEMPLATE("extents known when compiling", T, float, double, std::int64_t) {
  for (const bool transpose_a : {false, true})
    for (const bool transpose_b : {false, true})
      for (const std::int64_t padding : {0, 2}) {
        CHECK(correct<T, -1, 1, 10>({transpose_a, transpose_b, 21, 1, 10, padding, 1, 0}));
        CHECK(correct<T, 1, -1, -1>({transpose_a, transpose_b, 1, 21, 10, padding, 3, 2}));
        CHECK(correct<T, 10, 1, -1>({transpose_a, transpose_b, 10, 1, 100, padding, -1, 1}));
        CHECK(correct<T, 4, 4, 4>({transpose_a, transpose_b, 4, 4, 4, padding, 1, 0}));
        CHECK(correct<T, -1, -1, 1>({transpose_a, transpose_b, 20, 19, 1, padding, 1, 1}));
      }
}

TEST_CASE("a NaN in an operand stays in its row and column") {
  std::vector<float> a(16 * 16, 1.0f), b(16 * 16, 1.0f), c(16 * 16);
  a[3 * 16 + 5] = std::numeric_limits<float>::quiet_NaN();
  matmul<float>(false, false, 16, 16, 16, 1.0f, a.data(), 16, b.data(), 16, 0.0f, c.data(), 16);
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) CHECK(std::isnan(c[static_cast<std::size_t>(i * 16 + j)]) == (i == 3));
}

TEST_CASE("integer products wrap around") {
  const std::int32_t a[] = {1 << 20, 1};
  const std::int32_t b[] = {1 << 20, 5};
  std::int32_t c = 0;
  matmul<std::int32_t>(false, false, 1, 1, 2, 1, a, 2, b, 1, 0, &c, 1);
  CHECK(c == 5);
}

TEST_CASE("blocks of C cover it once, in whole tiles, as many as there are threads where it is large enough") {
  using detail::blocks_of_c;
  for (const std::int64_t m : {1, 7, 64, 100, 784})
    for (const std::int64_t n : {1, 10, 33, 128, 256})
      for (std::int64_t parts = 1; parts <= 9; ++parts) {
        CAPTURE(m);
        CAPTURE(n);
        CAPTURE(parts);
        const blocks_of_c b = detail::even_blocks<float>(m, n, parts);
        CHECK(b.rows.parts * b.columns.parts <= parts);
        for (const auto& [d, whole, step] :
             {std::tuple(b.rows, m, std::int64_t(detail::tile_rows)),
              std::tuple(b.columns, n, std::int64_t(detail::tile_columns<float>))}) {
          CHECK((d.parts - 1) * d.size < whole);
          CHECK(d.parts * d.size >= whole);
          if (d.parts > 1) CHECK(d.size % step == 0);
        }
      }
  // The products of a step on two threads: halves that read the least.
  const auto parts_of = [](std::int64_t m, std::int64_t n) {
    const blocks_of_c b = detail::even_blocks<float>(m, n, 2);
    return std::pair(b.rows.parts, b.columns.parts);
  };
  CHECK(parts_of(64, 256) == std::pair<std::int64_t, std::int64_t>(1, 2));
  // 392 rows are whole tiles where registers are wide, and none are computed for nothing.
  const bool rows_fit = 392 % detail::tile_rows == 0;
  CHECK(parts_of(784, 256) == (rows_fit ? std::pair<std::int64_t, std::int64_t>(2, 1) : std::pair<std::int64_t, std::int64_t>(1, 2)));
}
