// How many threads are within one node, or one program, of a session that says so: counted by what the chunks see.

#include <leat/session/graph_session.hpp>

#include "support/all_threads.hpp"

#include <doctest/doctest.h>

#include <leat/cpu/interpret.hpp>
#include <leat/cpu/parallel.hpp>
#include <leat/graphs.hpp>
#include <leat/named/definitions/defined.hpp>
#include <leat/named/functions/host_function.hpp>
#include <leat/runtime/kernels/kernel.hpp>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <set>
#include <thread>

using namespace leat;
using leat_test::all_threads;
using namespace std::chrono_literals;

namespace {

output host_call(std::string_view token, std::string_view name, const output& x) {
  return call_operator(default_graph(), "PyFunc", {number_argument(x)},
                       {{"token", std::string(token)}, {"Tout", std::vector<data_type>{data_type::float32}}}, name)
      .result();
}

// The threads that come by. Each of them stays until as many as are wanted have come: so none is missing because others were quick.
class passers {
 public:
  explicit passers(int wanted) : wanted_(wanted) {}
  void pass() {
    std::unique_lock lock(guard_);
    if (seen_.insert(std::this_thread::get_id()).second) changed_.notify_all();
    changed_.wait_for(lock, 20s, [&] { return static_cast<int>(seen_.size()) >= wanted_; });
  }
  std::set<std::thread::id> seen() {
    const std::lock_guard lock(guard_);
    return seen_;
  }
  int count() { return static_cast<int>(seen().size()); }

 private:
  std::mutex guard_;
  std::condition_variable changed_;
  std::set<std::thread::id> seen_;
  const int wanted_;
};
passers* the_passers = nullptr;

/// x, and a look at the thread.
struct watched_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Watched";
  template <class M, class V>
  static constexpr auto apply(V x) {
    the_passers->pass();
    return x;
  }
};

// "Spread" gives x after a loop of many chunks; "SpreadApart" does when two nodes have begun, told apart by their numbers.
passers* nodes_met = nullptr;
std::map<int, std::set<std::thread::id>> threads_of_node;
std::map<int, std::thread::id> thread_of_node;
std::mutex nodes_guard;

void know_operators() {
  static const bool known = [] {
    register_operator<watched_op>();
    cpu::register_kernel<watched_op>();
    define_operator("Spread(x: T) -> (y: T)", [](shape_context& c) { c.set(0, c.input(0).extent); });
    register_kernel("Spread", [](kernel_context& c) {
      cpu::parallel_for(64, [](std::int64_t) { the_passers->pass(); });
      c.set(0, c.input(0));
    });
    define_operator("SpreadApart(x: T, number: int32) -> (y: T)", [](shape_context& c) { c.set(0, c.input(0).extent); });
    register_kernel("SpreadApart", [](kernel_context& c) {
      const int mine = static_cast<int>(c.number(1));
      nodes_met->pass();
      cpu::parallel_for(64, [mine](std::int64_t) {
        const std::lock_guard lock(nodes_guard);
        threads_of_node[mine].insert(std::this_thread::get_id());
      });
      const std::lock_guard lock(nodes_guard);
      thread_of_node[mine] = std::this_thread::get_id();
      c.set(0, c.input(0));
    });
    return true;
  }();
  static_cast<void>(known);
}

tensor_value numbers(int rows, int columns) {
  std::vector<float> v(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i * 37 % 211) / 211.0f - 0.5f;
  return tensor_value(shape{2, {rows, columns}}, v);
}

}  // namespace

TEST_CASE("a node's loops have as many threads as the session says") {
  know_operators();
  const all_threads four(4);
  graph g;
  auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {-1, -1}, "x");
  const output y = call_operator(g, "Spread", {number_argument(x)}).result();
  for (const auto& [limit, wanted] : {std::pair{0, 4}, {1, 1}, {2, 2}, {3, 3}, {64, 4}}) {
    CAPTURE(limit);
    graph_session s(g, {.intra_op_parallelism_threads = limit});
    passers all(wanted);
    the_passers = &all;
    s.run(y, {{x, numbers(2, 2)}});
    CHECK(all.count() == wanted);
    if (limit == 1) CHECK(all.seen() == std::set{std::this_thread::get_id()});
    CHECK(cpu::thread_count() == 4);
    CHECK(cpu::thread_limit() == 0);
  }
  CHECK_THROWS_AS(graph_session(g, {.intra_op_parallelism_threads = -1}), invalid_argument);
}

TEST_CASE("a program has as many") {
  know_operators();
  const all_threads four(4);
  graph g;
  auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {-1, -1}, "x");
  const output y = make_node<watched_op>({}, x * 2.0f) + 1.0f;
  const tensor_value fed = numbers(512, 512);  // 16 chunks
  for (const auto& [limit, wanted] : {std::pair{0, 4}, {1, 1}, {2, 2}, {3, 3}}) {
    CAPTURE(limit);
    graph_session s(g, {.intra_op_parallelism_threads = limit});
    passers all(wanted);
    the_passers = &all;
    s.run(y, {{x, fed}});
    CHECK(s.fused_runs() == 1);
    CHECK(all.count() == wanted);
    if (limit == 1) CHECK(all.seen() == std::set{std::this_thread::get_id()});
  }
}

TEST_CASE("nodes on several threads, each of one thread") {
  know_operators();
  const all_threads four(4);
  graph g;
  auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {-1, -1}, "x");
  const output a = call_operator(g, "SpreadApart", {number_argument(x), number_argument(constant(1))}).result();
  const output b = call_operator(g, "SpreadApart", {number_argument(x), number_argument(constant(2))}).result();
  graph_session s(g, {.intra_op_parallelism_threads = 1});
  for (int again = 0; again < 5; ++again) {
    passers two(2);
    nodes_met = &two;
    threads_of_node.clear();
    thread_of_node.clear();
    s.run(std::vector<output>{a, b}, {{x, numbers(512, 512)}});
    CHECK(two.count() == 2);
    CHECK(thread_of_node[1] != thread_of_node[2]);
    for (const int k : {1, 2}) CHECK(threads_of_node[k] == std::set{thread_of_node[k]});
  }
}

TEST_CASE("nodes that wait have threads of their own, and the session's limit") {
  const all_threads four(4);
  graph g;
  auto scope = g.as_default();
  const output x = constant(1.0f);
  const output a = host_call("look", "a", x), b = host_call("look", "b", x);
  for (const int limit : {0, 1, 2}) {
    CAPTURE(limit);
    graph_session s(g, {.intra_op_parallelism_threads = limit});
    passers both(2);
    std::atomic<int> wrong = 0;
    s.register_host_function("look", [&](std::span<const tensor_value> in) {
      both.pass();
      if (cpu::thread_count() != (limit == 0 ? 4 : limit)) ++wrong;
      return std::vector<tensor_value>{in[0]};
    });
    s.run(std::vector<output>{a, b});
    CHECK(both.count() == 2);
    CHECK(wrong == 0);
  }
}

TEST_CASE("a run that fails, and runs of sessions within nodes, leave the limits as they were") {
  const all_threads four(4);
  graph g;
  auto scope = g.as_default();
  const output x = constant(1.0f);
  const auto call = [&](std::string_view token) { return host_call(token, token, x); };
  const output fails = call("fails"), outer = call("outer"), inner = call("inner");
  graph_session of_two(g, {.intra_op_parallelism_threads = 2}), of_three(g, {.intra_op_parallelism_threads = 3}), of_all(g);
  std::vector<int> seen;
  const auto look = [&](std::span<const tensor_value> in) {
    seen.push_back(cpu::thread_count());
    return std::vector<tensor_value>{in[0]};
  };
  of_two.register_host_function("fails", [](std::span<const tensor_value>) -> std::vector<tensor_value> { throw invalid_argument("no"); });
  CHECK_THROWS_AS(of_two.run(fails), invalid_argument);
  CHECK(cpu::thread_count() == 4);
  of_three.register_host_function("inner", look);
  of_all.register_host_function("inner", look);
  of_two.register_host_function("outer", [&](std::span<const tensor_value> in) {
    of_three.run(inner);
    of_all.run(inner);
    return look(in);
  });
  of_two.run(outer);
  of_three.run(inner);
  CHECK(seen == std::vector<int>{2, 2, 2, 3});  // what runs within a node is part of it
  CHECK(cpu::thread_count() == 4);
}

TEST_CASE("results do not depend on the threads within nodes") {
  const all_threads four(4);
  graph g;
  auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {-1, -1}, "x");
  const output product = matmul(x, x + 0.25f);
  const std::vector<output> fetches{product, reduce_sum(tanh(product * 0.05f), {0, 1}), reduce_mean(exp(x), {0})};
  const tensor_value fed = numbers(300, 300);
  for (const bool fuse : {true, false}) {
    std::vector<tensor_value> first;
    for (const int limit : {1, 2, 3, 0}) {
      CAPTURE(limit);
      graph_session s(g, {.fuse = fuse, .intra_op_parallelism_threads = limit});
      auto results = s.run(fetches, {{x, fed}});
      if (first.empty()) {
        first = std::move(results);
        continue;
      }
      for (std::size_t k = 0; k < first.size(); ++k)
        CHECK(std::memcmp(results[k].data(), first[k].data(), first[k].bytes()) == 0);
    }
  }
}
