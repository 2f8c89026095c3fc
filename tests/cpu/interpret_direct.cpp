#include <leat/cpu/interpret/direct.hpp>

#include <leat/cpu/interpret.hpp>
#include <leat/leat.hpp>

#include <doctest/doctest.h>

#include "support/passes.hpp"

#include <cstring>
#include <utility>
#include <vector>

using namespace leat;
using namespace leat::literals;

namespace {

// A program of expressions, with a buffer of its own for all that is bound, run once step by step and once by direct calls.
class both_ways {
 public:
  explicit both_ways(std::vector<std::int64_t> sizes) : sizes_(std::move(sizes)) {}

  template <class... Es>
  void check(const Es&...) {
    graph g;
    std::vector<int> targets{flatten<Es>(g)...};
    const cpu::interpreter code(leat_test::at_run_time::compile(g, targets));
    sizes_.resize(static_cast<std::size_t>(code.view().names()) + 1);
    program_plan plan;
    make_plan(code.data(), sizes_.data(), cpu::device::chunks, plan);
    auto calls = code.direct(plan.numbers.data());
    REQUIRE(calls.has_value());
    int resolved = 0;
    for (const auto& c : calls->calls) resolved += c.what == cpu::direct_call::kind::step ? 0 : 1;
    resolved_ = resolved;
    for (int round = 0; round < 3; ++round) {  // other addresses, too
      CAPTURE(round);
      const auto by_step = run(code, plan, round, [&](const workspace& w) { code.run(w); });
      const auto by_call = run(code, plan, round, [&](const workspace& w) {
        const cpu::flush_denormals mode;
        code.run_direct(w, *calls);
      });
      CHECK(by_step == by_call);
      step_notes notes;
      const auto observed = run(code, plan, round, [&](const workspace& w) { code.run_direct(w, *calls, notes); });
      CHECK(by_step == observed);
      std::vector<int> all;
      for (int k = 0; k < code.view().steps(); ++k) all.insert(all.end(), {k, -1 - k});
      CHECK(notes.seen == all);
    }
  }
  int resolved() const { return resolved_; }

 private:
  // Each step, before and, negative, after it.
  struct step_notes {
    std::vector<int> seen;
    void before(int k) { seen.push_back(k); }
    void after(int k) { seen.push_back(-1 - k); }
  };

  // What all that is written holds after a run.
  template <class Run>
  std::vector<std::vector<std::byte>> run(const cpu::interpreter& code, const program_plan& plan, int seed, Run run) {
    const auto v = code.view();
    std::vector<std::vector<std::byte>> memory(static_cast<std::size_t>(v.buffers()));
    std::vector<void*> buffers(static_cast<std::size_t>(v.buffers()) + 1);
    std::vector<std::byte> arena(static_cast<std::size_t>(plan.arena_bytes) + 64);
    std::byte* const begin = arena.data() + (64 - reinterpret_cast<std::uintptr_t>(arena.data()) % 64) % 64;
    for (int b = 0; b < v.buffers(); ++b) {
      const auto at = static_cast<std::size_t>(b);
      const auto info = v.buffer_at(b);
      if (info.where == storage::arena || info.where == storage::extent) {
        buffers[at] = begin + plan.offsets[at];
        if (info.where == storage::extent)
          cpu::detail::with_element(info.type, [&]<class T>(T) {
            const T value = static_cast<T>(v.elements(info.extent, sizes_.data()));
            std::memcpy(buffers[at], &value, sizeof value);
          });
        continue;
      }
      const std::int64_t n = v.elements(info.extent, sizes_.data());
      memory[at].resize(static_cast<std::size_t>(n * size_of(info.type)) + 64);
      cpu::detail::with_element(info.type, [&]<class T>(T) {
        for (std::int64_t i = 0; i < n && info.where != storage::fetch; ++i) {
          const T value = static_cast<T>((i * 7 + b * 5 + seed) % 11 - (std::is_floating_point_v<T> ? 4 : 0));
          std::memcpy(memory[at].data() + static_cast<std::size_t>(i) * sizeof value, &value, sizeof value);
        }
      });
      buffers[at] = memory[at].data();
    }
    run(workspace{buffers.data(), plan.numbers.data(), begin});
    return memory;
  }
  std::vector<std::int64_t> sizes_;
  int resolved_ = 0;
};

}  // namespace

TEST_CASE("direct calls write what the steps write: numbers") {
  const auto a = placeholder<"a", float>();
  const auto n = placeholder<"n", std::int32_t>();
  const auto w = variable<"w", float>(zeros);
  const auto count = variable<"count", std::int64_t>(zeros);
  both_ways both({});
  both.check(a * 2_c + tanh(a), cast<float>(n) * a, greater(a, 0_c));
  CHECK(both.resolved() > 0);
  // a variable that is read and written in one cluster keeps its old value for those that read it
  both.check(w * a, assign_sub(w, 0.1_c * a * w), assign_add(count, cast<std::int64_t>(n)), w + cast<float>(count));
  both.check(assign(w, a), a - 1_c);
}

TEST_CASE("direct calls write what the steps write: one row") {
  for (const std::int64_t size : {0, 1, 3, 15, 16, 17, 64, 100}) {
    CAPTURE(size);
    const auto x = placeholder<"x", float, "n">();
    const auto y = placeholder<"y", float, "n">();
    const auto k = placeholder<"k", std::int32_t, "n">();
    const auto d = placeholder<"d", double>();
    both_ways both({size});
    both.check(exp(x) * y + 1_c, reduce_sum(x * y), reduce_mean(square(x - y)), select(greater(x, y), x, y));
    CHECK(both.resolved() > 0);
    both.check(softmax(expand_dims<0>(x)), cast<double>(x) * d, k * 3_c - cast<std::int32_t>(x));
    both.check(reduce_all(less(x, y)), reduce_sum(k), cast<float>(one_hot<5>(k)));
  }
}

TEST_CASE("direct calls write what the steps write: a step of training") {
  const auto x = placeholder<"x", float, "batch", 10>();
  const auto y = placeholder<"y", float, "batch">();
  const auto w = variable<"w", float, 10, 1>(zeros);
  const auto b = variable<"b", float>(zeros);
  const auto loss = reduce_mean(square(squeeze<1>(matmul(x, w)) + b - y));
  for (const std::int64_t batch : {1, 2, 7, 33}) {
    CAPTURE(batch);
    both_ways both({batch});
    both.check(loss, adam(0.1f).minimize(loss));
    both.check(loss, momentum(0.1f, 0.9f).minimize(loss, global_step()));
    CHECK(both.resolved() > 0);
  }
}

TEST_CASE("a program of more work has no direct calls") {
  const auto x = placeholder<"x", float, 400, 400>();
  graph g;
  std::vector<int> targets{flatten<decltype(tanh(x) * x)>(g)};
  const cpu::interpreter code(leat_test::at_run_time::compile(g, targets));
  program_plan plan;
  make_plan(code.data(), nullptr, cpu::device::chunks, plan);
  CHECK_FALSE(code.direct(plan.numbers.data()).has_value());
}
