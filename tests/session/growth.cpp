// Large graphs: planning takes time in proportion to them (with time that grows with a power these would not end), and nodes may have
// more inputs than a row of a table takes.

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include <doctest/doctest.h>
#include <vector>

using namespace leat;

namespace {

constexpr int many = 4000;

using numbers = std::vector<float>;

// The elements of all fetches, one after the other.
numbers run(graph& g, const std::vector<output>& fetches, bool fuse = true) {
  graph_session s(g, {.fuse = fuse});
  s.run(global_variables_initializer());
  numbers all;
  for (const auto& r : s.run(fetches)) all.insert(all.end(), r.values<float>().begin(), r.values<float>().end());
  return all;
}

// Writes a variable many times: `write` takes the number of the write, the variable, the last write, and what is fetched before the last.
template <class Write>
numbers run_writes(bool fuse, Write write) {
  graph g;
  const auto scope = g.as_default();
  const output v = variable(0.0f, "v");
  output last = v;
  std::vector<output> fetches;
  for (int k = 0; k < many; ++k) last = write(k, v, last, fetches);
  fetches.push_back(last);
  return run(g, fetches, fuse);
}

}  // namespace

TEST_CASE("thousands of ordered writes of one variable") {
  for (const bool fuse : {true, false}) {
    CAPTURE(fuse);
    const numbers results = run_writes(fuse, [](int, const output& v, const output& last, std::vector<output>&) {
      const auto behind = control_dependencies({last});
      return assign_add(v, 1.0f);
    });
    CHECK(results == numbers{many});
  }
}

TEST_CASE("thousands of writes, each of what the one before gave") {
  for (const bool fuse : {true, false}) {
    CAPTURE(fuse);
    const numbers results = run_writes(fuse, [](int k, const output& v, const output& last, std::vector<output>& fetches) {
      const output next = assign(v, last + 1.0f);
      if (k % 1000 == 0) fetches.push_back(next * 2.0f);
      return next;
    });
    CHECK(results == numbers{2, 2002, 4002, 6002, many});
  }
}

TEST_CASE("thousands of writes that nothing orders, of writes along a chain beside them, and of reads between") {
  graph g;
  const auto scope = g.as_default();
  const output v = variable(0.0f, "v"), w = variable(0.0f, "w");
  std::vector<graph_operation> sums;
  for (int k = 0; k < many; ++k) sums.push_back(assign_add(v, 1.0f).operation());
  output last = w;
  graph_operation side = no_op();
  std::vector<output> reads;
  for (int k = 0; k < many; ++k) {
    const auto behind = control_dependencies({side});
    last = assign_add(w, 2.0f);
    const auto behind_it = control_dependencies({last});
    side = no_op();
    if (k % 500 == 0) reads.push_back(identity(w) + 1.0f);
  }
  graph_session s(g);
  s.run(global_variables_initializer());
  s.run(group(sums));
  CHECK(s.run<float>(v) == many);
  reads.push_back(last);
  const auto results = s.run(reads);
  CHECK(results.back().as<float>() == 2 * many);
}

TEST_CASE("thousands of arrays that live at once, and of steps that do not") {
  graph g;
  const auto scope = g.as_default();
  const output x = variable({1.0f, 2.0f}, "x");
  const output m = variable({{1.0f, 0.0f}, {0.0f, 1.0f}}, "m");
  std::vector<output> wide;
  output chain = m;
  for (int k = 0; k < many; ++k) {
    wide.push_back(x * static_cast<float>(k));
    chain = matmul(chain, m) * 0.5f + 0.5f;
  }
  const auto results = run(g, {reduce_sum(concat(wide, 0), {0}), chain});
  CHECK(results[0] == doctest::Approx(3.0 * many * (many - 1) / 2));
  CHECK(results[1] == doctest::Approx(1));
}

TEST_CASE("sums and concatenations of more tensors than a row takes") {
  for (const int count : {64, 65, 200, 1000})
    for (const bool fuse : {true, false}) {
      CAPTURE(count);
      CAPTURE(fuse);
      graph g;
      const auto scope = g.as_default();
      const output x = variable({1.0f, 2.0f}, "x");
      std::vector<output> parts;
      for (int k = 0; k < count; ++k) parts.push_back(x * static_cast<float>(k % 7));
      float expected = 0;
      for (int k = 0; k < count; ++k) expected += static_cast<float>(k % 7);
      const output sum = add_n(parts), joined = concat(parts, 0), stacked = stack(parts);
      const output slope = gradients({reduce_sum(sum, {0})}, {x})[0];
      const auto results = run(g, {sum, reduce_sum(joined, {0}), reduce_sum(stacked, {0, 1}), slope}, fuse);
      CHECK(results == numbers{expected, 2 * expected, 3 * expected, 3 * expected, expected, expected});
    }
}

TEST_CASE("a sum of many tensors whose shapes differ is refused, by whatever way it is computed") {
  for (const bool fuse : {true, false}) {
    graph g;
    const auto scope = g.as_default();
    const output x = placeholder(dtype::float32, {-1}, "x"), y = placeholder(dtype::float32, {-1}, "y");
    std::vector<output> parts(100, x);
    parts.push_back(y);
    const output sum = add_n(parts);
    graph_session s(g, {.fuse = fuse});
    CHECK_THROWS_AS(s.run(sum, {{x, {1.0f, 2.0f}}, {y, {1.0f}}}), invalid_argument);
    CHECK(s.run<numbers>(sum, {{x, {1.0f, 2.0f}}, {y, {5.0f, 5.0f}}}) == numbers{105, 205});
  }
}
