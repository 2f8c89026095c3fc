#include <leat/passes/lower.hpp>

#include "support/check.hpp"
#include "support/graphs.hpp"

#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {
const auto x = placeholder<"x", float, "batch", 64>();
const auto w1 = variable<"w1", float, 64, 128>(zeros);
const auto w2 = variable<"w2", float, 128, 128>(zeros);
const auto w3 = variable<"w3", float, 128, 10>(zeros);
const auto b1 = variable<"b1", float, 128>(zeros);
const auto labels = placeholder<"labels", std::int32_t, "batch">();

auto network() {
  const auto logits = matmul(relu(matmul(relu(matmul(x, w1) + b1), w2)), w3);
  return reduce_mean(sparse_softmax_cross_entropy_with_logits(labels, logits));
}
}  // namespace

TEST_CASE("a program knows its feeds, variables, names and fetches") {
  const auto p = program_of(reduce_sum<0>(x), matmul(x, w1));
  CHECK(p.problem.size == 0);
  REQUIRE(p.names.size() == 1);
  CHECK(p.names[0] == named_dimension("batch"));
  REQUIRE(p.fetches.size() == 2);
  int feeds = 0;
  int variables = 0;
  for (const auto& b : p.buffers) {
    feeds += b.where == storage::feed ? 1 : 0;
    variables += b.where == storage::variable && b.read ? 1 : 0;
  }
  CHECK(feeds == 1);
  CHECK(variables == 1);
  CHECK(p.buffers[static_cast<std::size_t>(p.fetches[0])].where == storage::fetch);
}

TEST_CASE("each step reads only what was written before") {
  const auto loss = network();
  const auto [d1, d2, d3, e1] = gradients(loss, w1, w2, w3, b1);
  const auto p = program_of(
      loss, group(assign_sub(w1, 0.1_c * d1), assign_sub(w2, 0.1_c * d2), assign_sub(w3, 0.1_c * d3), assign_sub(b1, 0.1_c * e1)));
  for (const auto& b : p.buffers) {
    if (b.where != storage::arena) continue;
    CHECK(b.first < static_cast<int>(p.steps.size()));
    CHECK(b.last >= b.first);
  }
}

TEST_CASE("packing keeps the program") {
  const auto p = program_of(softmax(x), matmul(x, w1));
  const auto data = pack(p);
  const program_view view(data.data());
  REQUIRE(view.buffers() == static_cast<int>(p.buffers.size()));
  REQUIRE(view.steps() == static_cast<int>(p.steps.size()));
  for (int k = 0; k < view.steps(); ++k) {
    const auto s = view.step_at(k);
    const auto& was = p.steps[static_cast<std::size_t>(k)];
    CHECK(s.is_cluster == was.is_cluster);
    CHECK(s.loop_count == static_cast<int>(was.loops.size()));
    for (int l = 0; l < s.loop_count; ++l) CHECK(s.loop(l) == was.loops[static_cast<std::size_t>(l)]);
    for (int o = 0; o < s.operand_count; ++o) CHECK(s.operand_buffer(o) == was.operands[static_cast<std::size_t>(o)].buffer);
  }
  for (int b = 0; b < view.buffers(); ++b) CHECK(view.buffer_at(b).extent == p.buffers[static_cast<std::size_t>(b)].extent);
}

TEST_CASE("loops that all operands walk alike are one") {
  const auto a = placeholder<"a", float, 4, 5, 6>();
  const auto b = placeholder<"b", float, 4, 5, 6>();
  const auto p = program_of(a * b);
  REQUIRE(p.steps.size() == 1);
  REQUIRE(p.steps[0].loops.size() == 1);
  CHECK(p.steps[0].loops[0].factor == 120);
  const auto row = placeholder<"row", float, 6>();
  const auto q = program_of(a * row);
  REQUIRE(q.steps.size() == 1);
  REQUIRE(q.steps[0].loops.size() == 2);
  CHECK(q.steps[0].loops[0].factor == 20);
  CHECK(q.steps[0].loops[1].factor == 6);
}

namespace {
// The same passes, in constant evaluation.
template <class... Es>
struct compiled {
  static constexpr leat::detail::list<std::int64_t> make() {
    graph g;
    std::vector<int> targets{flatten<Es>(g)...};
    return pack(passes::compile(g, targets));
  }
  static constexpr std::size_t size = make().size();
  static constexpr auto data = [] {
    std::array<std::int64_t, size> fixed{};
    const auto made = make();
    for (std::size_t i = 0; i < size; ++i) fixed[i] = made[i];
    return fixed;
  }();
};
template <class... Es>
bool same_in_both(const Es&... es) {
  const auto at_run_time = pack(program_of(es...));
  return std::equal(at_run_time.begin(), at_run_time.end(), compiled<Es...>::data.begin(), compiled<Es...>::data.end());
}
}  // namespace

TEST_CASE("the compiler and the running program make the same program") {
  const auto loss = network();
  CHECK(same_in_both(loss));
  const auto [d1, d2] = gradients(loss, w1, b1);
  CHECK(same_in_both(loss, group(assign_sub(w1, 0.1_c * d1), assign_sub(b1, 0.1_c * d2))));
  CHECK(same_in_both(softmax(x), reduce_sum<0>(transpose(x) * 2_c)));
}
