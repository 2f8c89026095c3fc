#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>
#include <leat/train/named/accumulate.hpp>

#include <doctest/doctest.h>

using namespace leat;

TEST_CASE("gradients of small batches, dense and of rows, make the step of a large one") {
  graph g;
  const auto scope = g.as_default();
  const auto table = variable({{1.0f, 2.0f}, {3.0f, 4.0f}, {5.0f, 6.0f}}, "table");
  const auto w = variable(2.0f, "w");
  const auto unused = variable(1.0f, "unused");
  const auto ids = placeholder(dtype::int32, {-1}, "ids");
  const auto rows = embedding_lookup(table, ids);
  const auto loss = reduce_mean(square(rows * w, {}), all_axes);
  const auto steps = get_or_create_global_step();
  const named_optimizer o = momentum(0.1f, 0.9f);
  const auto pairs = o.compute_gradients(loss);
  const auto small = accumulate_gradients(o, pairs, {.global_step = steps});
  CHECK(small.sums.size() == 2);
  CHECK(small.sums[0].name() == "accumulated/table:0");
  CHECK(small.count.name() == "accumulated/count:0");
  const named_optimizer same = momentum(0.1f, 0.9f);
  const auto large = same.minimize(loss, {.global_step = steps});
  const auto init = global_variables_initializer();
  for (const bool fuse : {true, false}) {
    graph_session s(g, {.fuse = fuse}), other(g, {.fuse = fuse});
    s.run(init);
    other.run(init);
    for (int step = 0; step < 3; ++step) {
      s.run(small.add, {{ids, std::vector<std::int32_t>{0, 1}}});
      s.run(small.add, {{ids, std::vector<std::int32_t>{2, 1}}});
      s.run(small.apply);
      other.run(large, {{ids, std::vector<std::int32_t>{0, 1, 2, 1}}});
      CHECK(s.run<float>(w) == doctest::Approx(other.run<float>(w)).epsilon(1e-5));
      const auto a = s.run<std::vector<float>>(table), b = other.run<std::vector<float>>(table);
      for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == doctest::Approx(b[i]).epsilon(1e-5));
      CHECK(s.run<std::int64_t>(steps) == step + 1);
      CHECK(s.run<float>(small.count) == 0.0f);
      CHECK(s.run<std::vector<float>>(small.sums[0])[0] == 0.0f);
    }
    CHECK(s.run<float>(unused) == 1.0f);
  }
  CHECK_THROWS_AS(accumulate_gradients(o, {}), invalid_argument);
  CHECK_THROWS_AS(accumulate_gradients(o, {{{}, w}}), invalid_argument);
}
