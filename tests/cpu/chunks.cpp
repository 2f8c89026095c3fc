#include <leat/cpu/chunks.hpp>

#include "support/check.hpp"
#include "support/interpreted.hpp"

using namespace leat;
using namespace leat::instructions;
using namespace leat_test;

TEST_CASE("the range of a chunk") {
  const auto range = [](std::int64_t rows, std::int64_t inner, std::int64_t rows_per_chunk, std::int64_t inner_per_chunk,
                        std::int64_t chunk) {
    std::int64_t plan[plan_numbers]{};
    plan[plan_rows] = rows;
    plan[plan_inner] = inner;
    plan[plan_rows_per_chunk] = rows_per_chunk;
    plan[plan_inner_per_chunk] = inner_per_chunk;
    const auto r = cpu::detail::range_of_chunk(plan, chunk);
    return std::array{r.row_begin, r.row_end, r.begin, r.end};
  };
  using numbers = std::array<std::int64_t, 4>;
  CHECK(range(10, 5, 4, 5, 0) == numbers{0, 4, 0, 5});
  CHECK(range(10, 5, 4, 5, 2) == numbers{8, 10, 0, 5});
  CHECK(range(1, 1000, 0, 300, 1) == numbers{0, 1, 300, 600});
  CHECK(range(1, 1000, 0, 300, 3) == numbers{0, 1, 900, 1000});
}

// More operands in a cluster than a node may have. Each row of one array is an operand, a view at its own offset.

namespace {

constexpr int rows = static_cast<int>(graph::max_operands) + 6;
constexpr int length = 40'000;  // cut into chunks

const auto x = placeholder<"x", float, rows, length>();

template <int K>
constexpr auto row() {
  return slice<begins<K, 0>, sizes<1, length>>(x);
}
template <int First, int Last>
constexpr auto sum_of_rows() {
  if constexpr (First == Last)
    return row<First>();
  else
    return sum_of_rows<First, (First + Last) / 2>() + sum_of_rows<(First + Last) / 2 + 1, Last>();
}
template <int K>
constexpr auto running_sum() {
  if constexpr (K == 0)
    return row<0>();
  else
    return running_sum<K - 1>() + row<K>();
}
// Numbers whose sums are exact in every order.
xt::xtensor<float, 2> small_numbers() {
  auto values = filled<float, 2>({rows, length}, 0, 3, 1);
  for (float& v : values) v = std::floor(v);
  return values;
}
double sum_of(const xt::xtensor<float, 2>& values, int row) {
  double sum = 0;
  for (int j = 0; j < length; ++j) sum += static_cast<double>(values(row, j));
  return sum;
}
// Operands and combined results of the largest cluster.
struct counts {
  int operands = 0;
  std::int64_t results = 0;
};
counts largest_cluster(const program& p) {
  counts most;
  for (const auto& s : p.steps)
    if (s.is_cluster && static_cast<int>(s.operands.size()) > most.operands)
      most = {static_cast<int>(s.operands.size()), s.instructions[accumulating_total]};
  return most;
}

}  // namespace

TEST_CASE("a cluster of many operands that is reduced in chunks") {
  const auto sum = reduce_sum(sum_of_rows<0, rows - 1>());
  session compiled{sum};
  interpreted code(fetch(sum));
  const auto have = largest_cluster(code.program());
  CHECK(have.operands > static_cast<int>(graph::max_operands));
  CHECK(have.results == 1);
  auto xs = small_numbers();
  double expected = 0;
  for (int k = 0; k < rows; ++k) expected += sum_of(xs, k);
  code.with(x, xs);
  for (const int threads : {1, 2}) {
    cpu::set_thread_count(threads);
    const auto [result] = compiled.run(fetch(sum), x = xs);
    CHECK(static_cast<double>(result) == expected);
    CHECK(code.run().same(0, result));
  }
  cpu::set_thread_count(1);
}

TEST_CASE("a cluster of many results that are combined over chunks") {
  auto xs = small_numbers();
  [&]<int... K>(std::integer_sequence<int, K...>) {
    session compiled{reduce_sum(running_sum<K>())...};
    const auto sums = fetch(reduce_sum(running_sum<K>())...);
    interpreted code(sums);
    CHECK(largest_cluster(code.program()).results == rows);
    code.with(x, xs);
    for (const int threads : {1, 2}) {
      cpu::set_thread_count(threads);
      const auto results = compiled.run(sums, x = xs);
      code.run();
      double expected = 0;
      const auto check = [&](int k, float result) {
        INFO(k);
        expected += sum_of(xs, k);
        CHECK(static_cast<double>(result) == expected);
        CHECK(code.same(k, result));
      };
      (check(K, std::get<K>(results)), ...);
    }
    cpu::set_thread_count(1);
  }(std::make_integer_sequence<int, rows>{});
}
