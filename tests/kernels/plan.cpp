#include <leat/kernels/program_plan.hpp>

#include "support/check.hpp"
#include "support/graphs.hpp"

#include <numeric>
#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

TEST_CASE("no two buffers that live at the same time share bytes, and the arena is smaller than their sum") {
  const auto x = placeholder<"x", float, "batch", 64>();
  const auto labels = placeholder<"labels", std::int32_t, "batch">();
  const auto w1 = variable<"w1", float, 64, 128>(zeros);
  const auto w2 = variable<"w2", float, 128, 128>(zeros);
  const auto w3 = variable<"w3", float, 128, 10>(zeros);
  const auto logits = matmul(relu(matmul(relu(matmul(x, w1)), w2)), w3);
  const auto loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(labels, logits));
  const auto [d1, d2, d3] = gradients(loss, w1, w2, w3);
  const auto data = pack(program_of(loss, group(assign_sub(w1, 0.1_c * d1), assign_sub(w2, 0.1_c * d2), assign_sub(w3, 0.1_c * d3))));
  const program_view view(data.data());
  REQUIRE(view.names() == 1);
  for (const std::int64_t batch : {1, 64, 1000}) {
    program_plan plan;
    make_plan(data.data(), &batch, chunk_limits{}, plan);
    std::int64_t sum = 0;
    int blocks = 0;
    for (int a = 0; a < view.buffers(); ++a) {
      const auto p = view.buffer_at(a);
      if (p.where != storage::arena) continue;
      ++blocks;
      const std::int64_t bytes = view.elements(p.extent, &batch) * size_of(p.type);
      const std::int64_t offset = plan.offsets[static_cast<std::size_t>(a)];
      sum += bytes;
      CHECK(offset % 64 == 0);
      CHECK(offset + bytes <= plan.arena_bytes);
      for (int b = 0; b < a; ++b) {
        const auto q = view.buffer_at(b);
        if (q.where != storage::arena || q.first > p.last || p.first > q.last) continue;
        const std::int64_t other = plan.offsets[static_cast<std::size_t>(b)];
        const std::int64_t other_bytes = view.elements(q.extent, &batch) * size_of(q.type);
        CHECK((other + other_bytes <= offset || offset + bytes <= other));
      }
    }
    CHECK(blocks >= 4);
    if (batch >= 64) CHECK(plan.arena_bytes < sum + 64 * blocks);
  }
}

TEST_CASE("a chain of products needs two arrays, however long it is") {
  const auto x = placeholder<"x", double, 50, 50>();
  const auto y = matmul(matmul(matmul(matmul(matmul(matmul(x, x), x), x), x), x), x);
  const auto data = pack(program_of(y));
  program_plan plan;
  const std::int64_t nothing = 0;
  make_plan(data.data(), &nothing, chunk_limits{}, plan);
  CHECK(plan.arena_bytes <= 2 * (50 * 50 * 8 + 64));
}

TEST_CASE("how results are written follows from their size, and from the last cache") {
  const auto rule = [](const auto& e, std::int64_t rows, std::int64_t last_cache) {
    const auto data = pack(program_of(e));
    program_plan plan;
    make_plan(data.data(), &rows, chunk_limits{.last_cache = last_cache}, plan);
    return plan.numbers[plan_stores];
  };
  const auto x = placeholder<"x", float, "rows", 1024>();
  constexpr std::int64_t megabyte = 1 << 20;
  CHECK(rule(softmax(x), 256, 0) == stores_plainly);
  CHECK(rule(softmax(x), 1024, 0) == stores_fetched);
  CHECK(rule(softmax(x), 4096, 0) == stores_past_caches);
  CHECK(rule(softmax(x), 4096, 32 * megabyte) == stores_past_caches);
  CHECK(rule(softmax(x), 4096, 256 * megabyte) == stores_fetched);  // reads and writes 32 MB, and a little of each row
  // there is nothing to do meanwhile
  CHECK(rule(exp(x), 1024, 256 * megabyte) == stores_plainly);
  CHECK(rule(exp(x), 4096, 256 * megabyte) == stores_past_caches);
}

TEST_CASE("many reductions in one loop that is cut into chunks") {
  const auto x = placeholder<"x", double, "rows", 3>();
  const auto r = [&]<int... K>(std::integer_sequence<int, K...>) {
    return std::tuple(reduce_sum<0>(x * constant<static_cast<double>(K + 1)>())...);
  }(std::make_integer_sequence<int, 12>{});
  const auto run = [&](const auto&... es) {
    session s{es...};
    for (const std::size_t rows : {5u, 40000u}) {
      const auto xs = filled<double, 2>({rows, 3}, 0, 1);
      double sums[3]{};
      for (std::size_t i = 0; i < xs.size(); ++i) sums[i % 3] += xs.data()[i];
      const auto results = s.run(fetch(es...), x = xs);
      const auto one = [&](const auto& got, double factor) {
        check_each("sum", got, 1e-11, [&](std::size_t i) { return factor * sums[i]; });
      };
      [&]<std::size_t... K>(std::index_sequence<K...>) {
        (one(std::get<K>(results), static_cast<double>(K + 1)), ...);
      }(std::make_index_sequence<12>{});
    }
  };
  std::apply(run, r);
}

TEST_CASE("large arrays, streamed past the caches, wherever they begin") {
  const auto x = placeholder<"x", float, "n">();
  const auto y = x * 2_c + 1_c;
  session s{y};
  for (const std::size_t n : {std::size_t{3000000}, std::size_t{3000001}}) {
    const auto xs = filled<float, 1>({n});
    std::vector<float> to(n + 16);
    for (const std::size_t offset : {0, 1, 5}) {
      std::span<float> part(to.data() + offset, n);
      s.run(fetch(into(y, part)), x = xs);
      check_each("y", part, 1e-6, [&](std::size_t i) { return 2 * xs(i) + 1; });
    }
  }
}
