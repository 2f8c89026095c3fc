// Nodes of one run at the same time: what must, what may, and that results do not show it.

#include <leat/session/graph_session.hpp>

#include "support/all_threads.hpp"
#include "support/run_event.hpp"

#include <doctest/doctest.h>

#include <leat/cpu/parallel.hpp>
#include <leat/graphs.hpp>
#include <leat/inspect/trace.hpp>
#include <leat/named/control/loop.hpp>
#include <leat/named/definitions/defined.hpp>
#include <leat/named/functions/host_function.hpp>
#include <leat/runtime/kernels/kernel.hpp>

#include <condition_variable>
#include <cstring>
#include <set>
#include <thread>

using namespace leat;
using leat_test::all_threads;
using namespace std::chrono_literals;

namespace {

// Where so many threads at a time wait for each other; false for one that waits in vain.
class meeting {
 public:
  explicit meeting(int expected) : expected_(expected) {}
  bool come(std::chrono::milliseconds patience = 30s) {
    std::unique_lock lock(guard_);
    const int mine = here_++ / expected_;
    if (here_ % expected_ == 0) all_here_.notify_all();
    return all_here_.wait_for(lock, patience, [&] { return here_ >= (mine + 1) * expected_; });
  }

 private:
  std::mutex guard_;
  std::condition_variable all_here_;
  const int expected_;
  int here_ = 0;
};

output queue_of(std::int64_t capacity, std::string_view name) {
  return call_operator(default_graph(), "FIFOQueueV2", {},
                       {{"component_types", std::vector<data_type>{data_type::float32}},
                        {"shapes", std::vector<tensor_shape_proto>{tensor_shape_proto{}}},
                        {"capacity", capacity}},
                       name)
      .result();
}
graph_operation enqueue(const output& queue, const output& value, std::string_view name = "add") {
  return call_operator(default_graph(), "QueueEnqueueV2", {number_argument(queue), number_argument(value)}, {}, name);
}
output dequeue(const output& queue, std::string_view name = "take") {
  return call_operator(default_graph(), "QueueDequeueV2", {number_argument(queue)},
                       {{"component_types", std::vector<data_type>{data_type::float32}}}, name)
      .result();
}
graph_operation close_queue(const output& queue) {
  return call_operator(default_graph(), "QueueCloseV2", {number_argument(queue)}, {}, "close");
}
output host_call(std::string_view token, const output& x, std::string_view name) {
  return call_operator(default_graph(), "PyFunc", {number_argument(x)},
                       {{"token", std::string(token)}, {"Tout", std::vector<data_type>{data_type::float32}}}, name)
      .result();
}

tensor_value pattern(int rows, int columns, int seed) {
  std::vector<float> v(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = static_cast<float>((i * 37 + static_cast<std::size_t>(seed) * 101) % 211) / 211.0f - 0.5f;
  return tensor_value(shape{2, {rows, columns}}, v);
}

bool same_bytes(const tensor_value& a, const tensor_value& b) {
  return a.type() == b.type() && a.extent() == b.extent() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}
bool same_bytes(const std::vector<tensor_value>& a, const std::vector<tensor_value>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t k = 0; k < a.size(); ++k)
    if (static_cast<bool>(a[k]) != static_cast<bool>(b[k]) || (a[k] && !same_bytes(a[k], b[k]))) return false;
  return true;
}

// Runs under 1, 2, 4 and 8 threads in a new session each; all results must be the same bytes. `fetch` gives what is compared.
template <class Fetch>
void check_same_on_all_threads(graph& g, Fetch fetch) {
  std::vector<tensor_value> first;
  for (const int threads : {1, 2, 4, 8})
    for (int again = 0; again < 3; ++again) {
      const all_threads limit(threads);
      graph_session s(g, {.fuse = false});
      std::vector<tensor_value> results = fetch(s);
      if (first.empty()) first = std::move(results);
      else CHECK_MESSAGE(same_bytes(results, first), threads, " threads");
    }
}

// Kernels of elements that meet another one of their kind, told by what they were fed; 1 where they met.
meeting* the_meeting = nullptr;
void define_meet() {
  static const bool known = [] {
    define_operator("Meet(x: T) -> (y: T)", [](shape_context& c) { c.set(0, shape{}); });
    register_kernel("Meet", [](kernel_context& c) { c.set(0, tensor_value(the_meeting->come() ? 1.0f : 0.0f)); });
    return true;
  }();
  static_cast<void>(known);
}

// "Quick" and "Slow" are heavy nodes of one run, and give a number. Slow ends when Quick has ended and then "Tell" has run, or
// half a second passed in which it did not: so what comes between Quick and Tell comes before what Slow gives, if it may.
class race {
 public:
  void end_quick() { set(quick_ended_); }
  void tell() { set(told_); }
  void run_slow() {
    std::unique_lock lock(guard_);
    changed_.wait_for(lock, 30s, [&] { return quick_ended_; });
    was_overtaken_ = changed_.wait_for(lock, 500ms, [&] { return told_; });
    quick_was_first_ = quick_ended_;
  }
  bool quick_was_first() const { return quick_was_first_; }
  bool was_overtaken() const { return was_overtaken_; }

 private:
  void set(bool& what) {
    const std::lock_guard lock(guard_);
    what = true;
    changed_.notify_all();
  }
  std::mutex guard_;
  std::condition_variable changed_;
  bool quick_ended_ = false, told_ = false, quick_was_first_ = false, was_overtaken_ = false;
};
race* the_race = nullptr;
void define_race() {
  static const bool known = [] {
    define_operator("Slow(x: T, number: float) -> (y: float)", [](shape_context& c) { c.set(0, shape{}); });
    define_operator("Quick(x: T, number: float) -> (y: float)", [](shape_context& c) { c.set(0, shape{}); });
    define_operator("Tell(number: float) -> (y: float)", [](shape_context& c) { c.set(0, shape{}); });
    register_kernel("Slow", [](kernel_context& c) {
      the_race->run_slow();
      c.set(0, c.input(1));
    });
    register_kernel("Quick", [](kernel_context& c) {
      the_race->end_quick();
      c.set(0, c.input(1));
    });
    register_kernel("Tell", [](kernel_context& c) {
      the_race->tell();
      c.set(0, c.input(0));
    });
    return true;
  }();
  static_cast<void>(known);
}

}  // namespace

TEST_CASE("one node of a run waits for another one of it") {
  for (const bool taker_first : {false, true})
    for (const int threads : {1, 2, 8}) {
      const all_threads limit(threads);
      graph g;
      auto scope = g.as_default();
      const output x = placeholder(dtype::float32, {}, "x");
      const output q = queue_of(1, "q");
      output taken;
      if (taker_first) taken = dequeue(q);
      const graph_operation add = enqueue(q, x);
      if (!taker_first) taken = dequeue(q);
      const output more = taken * 2.0f;
      graph_session s(g);
      for (int k = 0; k < 20; ++k) {
        const auto results = s.run({add, taken, more}, {{x, static_cast<float>(k)}}, {.timeout_in_ms = 30'000});
        CHECK(results[1].as<float>() == static_cast<float>(k));
        CHECK(results[2].as<float>() == static_cast<float>(2 * k));
      }
    }
}

TEST_CASE("a chain of queues, and more elements than there is room for") {
  graph g;
  auto scope = g.as_default();
  constexpr int count = 12;
  const output first = queue_of(1, "first"), second = queue_of(1, "second");
  std::vector<graph_element> fetches;
  std::vector<output> taken;
  // what takes was made before what adds: one after the other, none of them would ever end
  for (int k = 0; k < count; ++k) taken.push_back(dequeue(second));
  for (int k = 0; k < count; ++k) fetches.push_back(enqueue(second, dequeue(first)));
  for (int k = 0; k < count; ++k) fetches.push_back(enqueue(first, constant(static_cast<float>(k))));
  for (const auto& t : taken) fetches.push_back(t);
  graph_session s(g);
  const auto results = s.run(fetches, {}, {.timeout_in_ms = 60'000});
  std::multiset<float> seen, wanted;
  for (int k = 0; k < count; ++k) {
    seen.insert(results[results.size() - 1 - static_cast<std::size_t>(k)].as<float>());
    wanted.insert(static_cast<float>(k));
  }
  CHECK(seen == wanted);
}

TEST_CASE("host functions that wait for each other") {
  for (const int threads : {1, 2, 4, 8}) {
    const all_threads limit(threads);
    graph g;
    auto scope = g.as_default();
    const output x = constant(1.0f);
    std::vector<output> calls;
    for (const char* name : {"a", "b", "c"}) calls.push_back(host_call("come", x, name));
    const output sum = calls[0] + calls[1] + calls[2];
    meeting all(3);
    run_trace trace;
    graph_session s(g);
    s.register_host_function("come", [&](std::span<const tensor_value>) {
      return std::vector<tensor_value>{tensor_value(all.come() ? 1.0f : 0.0f)};
    });
    CHECK(s.run<float>(sum, {}, {.trace = &trace}) == 3);
    // the trace has each on a thread of its own, at the same time
    std::set<int> on;
    std::int64_t last_begin = 0, first_end = std::numeric_limits<std::int64_t>::max();
    for (const trace_event& e : trace.events())
      if (e.type == "PyFunc") {
        on.insert(e.thread);
        last_begin = std::max(last_begin, e.begin);
        first_end = std::min(first_end, e.end);
      }
    CHECK(on.size() == 3);
    CHECK(last_begin <= first_end);
    for (const int t : on) CHECK(trace.chrome_trace().find("\"thread " + std::to_string(t) + "\"") != std::string::npos);
  }
}

TEST_CASE("one thread between operators is one thread") {
  graph g;
  auto scope = g.as_default();
  const output x = constant(1.0f);
  const output a = host_call("note", x, "a"), b = host_call("note", x, "b");
  graph_session s(g, {.inter_op_parallelism_threads = 1});
  std::set<std::thread::id> seen;
  s.register_host_function("note", [&](std::span<const tensor_value> in) {
    seen.insert(std::this_thread::get_id());
    return std::vector<tensor_value>{in[0]};
  });
  s.run(std::vector<output>{a, b});
  CHECK(seen == std::set<std::thread::id>{std::this_thread::get_id()});
  CHECK_THROWS_AS(graph_session(g, {.inter_op_parallelism_threads = -1}), invalid_argument);
}

TEST_CASE("heavy nodes run at the same time") {
  define_meet();
  for (const int threads : {2, 4, 8}) {
    const all_threads limit(threads);
    for (const bool in_loop : {false, true}) {
      graph g;
      auto scope = g.as_default();
      const output x = placeholder(dtype::float32, {-1, -1}, "x");
      const auto met = [&] {
        const output a = call_operator(g, "Meet", {number_argument(x)}).result();
        return a + call_operator(g, "Meet", {number_argument(x)}).result();
      };
      output both;
      if (in_loop)
        both = while_loop([](output i, output) { return i < 3; },
                          [&](output i, output sum) { return std::array{i + 1, sum + met()}; }, {0, 0.0f})[1];
      else
        both = met();
      run_trace trace(trace_detail::nodes);
      graph_session s(g);
      meeting both_here(2);
      the_meeting = &both_here;
      CHECK(s.run<float>(both, {{x, pattern(256, 256, 1)}}, {.trace = &trace}) == (in_loop ? 6 : 2));
      std::set<int> on;
      std::vector<trace_event> events;
      for (const trace_event& e : trace.events())
        if (e.type == "Meet") {
          on.insert(e.thread);
          events.push_back(e);
        }
      CHECK(on.size() >= 2);
      REQUIRE(events.size() >= 2);
      const auto overlap = [](const trace_event& a, const trace_event& b) { return a.begin <= b.end && b.begin <= a.end; };
      CHECK(overlap(events[0], events[1]));
      CHECK(events[0].thread != events[1].thread);
    }
  }
}

TEST_CASE("light nodes of an operator that says that it waits run at the same time") {
  define_operator("MeetLight(x: T) -> (y: T)", {.is = nature::effect, .waits = true}, [](shape_context& c) { c.set(0, shape{}); });
  register_kernel("MeetLight", [](kernel_context& c) { c.set(0, tensor_value(the_meeting->come() ? 1.0f : 0.0f)); });
  const all_threads limit(1);
  graph g;
  auto scope = g.as_default();
  const auto met = [&](float number) { return call_operator(g, "MeetLight", {number_argument(constant(number))}).result(); };
  const output both = met(1.0f) + met(2.0f);
  graph_session s(g);
  meeting both_here(2);
  the_meeting = &both_here;
  CHECK(s.run<float>(both) == 2);
}

TEST_CASE("a random number's node meets the iterations of a loop in order") {
  define_operator("Pause(x: T, i: int32) -> (y: int32)", [](shape_context& c) { c.set(0, shape{}); });
  register_kernel("Pause", [](kernel_context& c) {
    std::this_thread::sleep_for(std::chrono::milliseconds(c.number(1) == 0 ? 40 : 1));
    c.set(0, c.input(1));
  });
  graph g;
  auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {-1, -1}, "x");
  const auto sums = while_loop([](output i, output) { return i < 3; },
                               [&](output i, output sum) {
                                 const output paused = call_operator(g, "Pause", {number_argument(x), number_argument(i)}).result();
                                 const output other = call_operator(g, "Pause", {number_argument(x), number_argument(i)}).result();
                                 const output next = i + 1;  // waits for nothing
                                 auto waits = control_dependencies({paused.operation(), other.operation()});
                                 return std::array{next, sum * 3.0f + random_uniform_of(shape{}, dtype::float32, 11)};
                               },
                               {0, 0.0f});
  check_same_on_all_threads(g, [&](graph_session& s) { return s.run(std::vector<output>{sums[1]}, {{x, pattern(256, 256, 1)}}); });
}

TEST_CASE("light nodes run on the thread that asked") {
  const all_threads limit(4);
  graph g;
  auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {-1, -1}, "x");
  std::vector<output> all;
  for (int k = 0; k < 50; ++k) all.push_back(x + static_cast<float>(k));
  run_trace trace(trace_detail::nodes);
  graph_session s(g);
  s.run(all, {{x, pattern(8, 8, 1)}}, {.trace = &trace});
  std::set<int> on;
  for (const trace_event& e : trace.events()) on.insert(e.thread);
  CHECK(on.size() == 1);
}

TEST_CASE("results are the same for any number of threads") {
  SUBCASE("products, element-wise work, sums") {
    graph g;
    auto scope = g.as_default();
    const output x = placeholder(dtype::float32, {-1, -1}, "x");
    std::vector<output> fetches;
    output level = x;
    for (int k = 0; k < 3; ++k) {
      std::vector<output> branches;
      for (int b = 0; b < 4; ++b) {
        const output product = matmul(level, x + 0.25f * static_cast<float>(b + 1));
        branches.push_back(tanh(product * 0.05f) + reduce_mean(product, {0}));
        fetches.push_back(reduce_sum(product, {1}));
      }
      level = (branches[0] - branches[1]) * (branches[2] + branches[3]);
    }
    fetches.push_back(level);
    check_same_on_all_threads(g, [&](graph_session& s) { return s.run(fetches, {{x, pattern(160, 160, 3)}}); });
  }
  SUBCASE("variables, with an order from the graph or without") {
    graph g;
    auto scope = g.as_default();
    const output x = placeholder(dtype::float32, {-1, -1}, "x");
    const output v = variable(tensor_literal(dtype::float32, shape{2, {1, 160}}), "v");
    const auto part = [&](float k) { return reduce_mean(matmul(x, x + k), {0}, keep_dims::yes); };
    // sums in one order: rounding would show another
    std::vector<graph_element> fetches;
    std::vector<graph_operation> writes;
    for (int k = 0; k < 6; ++k) {
      const output more = part(0.3f * static_cast<float>(k + 1)) * (k % 2 == 0 ? 1e-3f : 1e3f);
      writes.push_back(assign_add(v, more).operation());
    }
    const output before = matmul(v, x);
    output after;
    {
      auto waits = control_dependencies({writes.begin(), writes.end()});
      after = matmul(v * 1.0f, x);
    }
    output between;
    {
      auto waits = control_dependencies({writes[2]});  // and it says nothing of the others
      between = v * 2.0f;
    }
    for (const auto& w : writes) fetches.push_back(w);
    fetches.insert(fetches.end(), {before, after, between});
    check_same_on_all_threads(g, [&](graph_session& s) {
      s.run(global_variables_initializer());
      std::vector<tensor_value> results = s.run(fetches, {{x, pattern(160, 160, 5)}});
      results.push_back(s.value(v));
      return results;
    });
  }
  SUBCASE("random numbers with seeds, and loops with heavy bodies") {
    graph g;
    auto scope = g.as_default();
    const output x = placeholder(dtype::float32, {160, 160}, "x");
    const output drawn = random_normal_of(shape{2, {160, 160}}, 0, 1, dtype::float32, 7);
    const output other = random_uniform_of(shape{2, {160, 160}}, dtype::float32, 8);
    const auto made = while_loop([](output i, output, output) { return i < 6; },
                                 [&](output i, output a, output b) {
                                   const output noise = random_uniform_of(shape{2, {160, 160}}, dtype::float32, 9);
                                   const output small = random_uniform_of(shape{}, dtype::float32, 10);
                                   return std::array{i + 1, tanh(matmul(a, x) * 0.1f) + noise, tanh(matmul(b, x) * 0.1f) - noise * small};
                                 },
                                 {0, drawn, other});
    check_same_on_all_threads(g, [&](graph_session& s) {
      std::vector<tensor_value> results = s.run(std::vector<output>{made[1], made[2], drawn + other}, {{x, pattern(160, 160, 2)}});
      for (auto& again : s.run(std::vector<output>{made[1], made[2]}, {{x, pattern(160, 160, 2)}})) results.push_back(again);
      return results;
    });
  }
  SUBCASE("nested loops and their gradients") {
    graph g;
    auto scope = g.as_default();
    const output x = placeholder(dtype::float32, {128, 128}, "x");
    const auto outer =
        while_loop([](output i, output) { return i < 3; },
                   [&](output i, output a) {
                     const auto inner = while_loop(
                         [](output j, output) { return j < 2; },
                         [&](output j, output b) { return std::array{j + 1, tanh(matmul(b, x) * 0.1f) + matmul(x, b) * 0.01f}; }, {0, a});
                     return std::array{i + 1, inner[1] + a};
                   },
                   {0, x});
    const output loss = reduce_sum(outer[1] * outer[1], {0, 1});
    const output slope = gradients({loss}, {x})[0];
    check_same_on_all_threads(g, [&](graph_session& s) { return s.run(std::vector<output>{loss, slope}, {{x, pattern(128, 128, 4)}}); });
  }
}

TEST_CASE("what touches a variable keeps its order, whoever is ready first") {
  define_race();
  const all_threads limit(2);
  graph g;
  auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {-1, -1}, "x");
  const auto heavy = [&](std::string_view type, float number) {
    return call_operator(g, type, {number_argument(x), number_argument(constant(number))}).result();
  };
  const auto tell = [&](const output& given) { return call_operator(g, "Tell", {number_argument(given)}).result(); };
  const output v = variable(1e8f, "v");
  std::vector<graph_element> fetches;
  float wanted = 0;
  std::vector<float> seen;
  SUBCASE("a write behind a write") {
    fetches.push_back(assign_add(v, heavy("Slow", -1e8f)).operation());
    const graph_operation second = assign_add(v, heavy("Quick", 1)).operation();
    auto waits = control_dependencies({second});
    fetches.push_back(tell(constant(0.0f)));
    seen = {0};
    wanted = 1;  // and 0 in the other order
  }
  SUBCASE("a write behind a read") {
    const graph_operation first = assign_sub(v, 1e8f).operation();
    {
      auto waits = control_dependencies({first});
      fetches.push_back(v * heavy("Slow", 1));
    }
    const graph_operation second = assign_add(v, heavy("Quick", 3)).operation();
    auto waits = control_dependencies({second});
    fetches.push_back(tell(constant(5.0f)));
    seen = {0, 5};
    wanted = 3;
  }
  SUBCASE("a read behind a write") {
    const output other = variable(0.0f, "other");
    const graph_operation first = assign_sub(v, 1e8f).operation();
    fetches.push_back(assign_add(v, heavy("Slow", 3)).operation());
    // one thread writes what it can write before it reads
    const graph_operation last = assign_add(other, heavy("Quick", 1)).operation();
    auto waits = control_dependencies({first, last});
    fetches.push_back(tell(v * 1.0f));
    seen = {3};
    wanted = 3;
  }
  race one;
  the_race = &one;
  graph_session s(g);
  s.run(global_variables_initializer());
  const auto results = s.run(fetches, {{x, pattern(256, 256, 1)}});
  CHECK(one.quick_was_first());
  CHECK(!one.was_overtaken());
  std::vector<float> got;
  for (const auto& r : results)
    if (r) got.push_back(r.as<float>());
  REQUIRE(got.size() == seen.size());
  for (std::size_t k = 0; k < seen.size(); ++k) CHECK(got[k] == seen[k]);
  CHECK(s.value(v).as<float>() == wanted);
}

TEST_CASE("an error ends the run, whatever else waits or works") {
  for (const int threads : {1, 2, 4}) {
    const all_threads limit(threads);
    graph g;
    auto scope = g.as_default();
    const output x = placeholder(dtype::float32, {-1, -1}, "x");
    const output q = queue_of(2, "q"), never = queue_of(2, "never");
    const output bad = call_operator(g, "CheckNumerics", {number_argument(matmul(x, x))}, {{"message", "the product"}}, "check").result();
    const output waits = dequeue(q), also = dequeue(never);
    const output fine = matmul(x, x + 1.0f);
    const graph_operation add = enqueue(q, constant(5.0f));
    graph_session s(g, {.fuse = false});
    tensor_value broken = pattern(192, 192, 1).copy();
    broken.values<float>()[7] = std::numeric_limits<float>::infinity();
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < 3; ++k) {
      try {
        s.run({waits, also, fine, bad}, {{x, broken}});
        FAIL("no error");
      } catch (const invalid_argument& e) {
        const std::string text = e.what();
        CHECK(text.find("the product") != std::string::npos);
        CHECK(text.find("node 'check'") != std::string::npos);
      }
    }
    CHECK(std::chrono::steady_clock::now() - start < 60s);
    // nobody of those runs waits any more, so this element is for the next one
    s.run(add);
    CHECK(s.run<float>(waits, {}, {.timeout_in_ms = 30'000}) == 5);
    CHECK(s.run(fine, {{x, pattern(4, 4, 1)}}).elements() == 16);
  }
}

TEST_CASE("an exception that is no error of this library reaches the caller when all has ended") {
  const all_threads limit(2);
  graph g;
  auto scope = g.as_default();
  const output x = constant(1.0f);
  const output slow = host_call("slow", x, "slow"), bad = host_call("bad", x, "bad");
  graph_session s(g);
  std::atomic<bool> slow_began{false}, slow_ended{false};
  s.register_host_function("slow", [&](std::span<const tensor_value> in) {
    slow_began = true;
    std::this_thread::sleep_for(30ms);
    slow_ended = true;
    return std::vector<tensor_value>{in[0]};
  });
  s.register_host_function("bad", [&](std::span<const tensor_value>) -> std::vector<tensor_value> {
    while (!slow_began) std::this_thread::sleep_for(1ms);
    throw std::logic_error("of the host");
  });
  CHECK_THROWS_AS(s.run(std::vector<output>{slow, bad}), std::logic_error);
  CHECK(slow_ended);
}

TEST_CASE("a deadline, a cancellation and a close with nodes that wait and work") {
  const all_threads limit(4);
  graph g;
  auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {-1, -1}, "x");
  const output q = queue_of(2, "q"), other = queue_of(2, "other");
  const output a = dequeue(q), b = dequeue(other);
  leat_test::run_event begins;
  const output began = begins.node();
  const auto heavy = while_loop([](output i, output) { return i < 1'000'000; },
                                [&](output i, output m) { return std::array{i + 1, tanh(matmul(m, x)) + tanh(matmul(x, m))}; }, {0, x});
  graph_session s(g);
  const tensor_value numbers = pattern(128, 128, 1);
  CHECK_THROWS_AS(s.run({a, b}, {}, {.timeout_in_ms = 30}), deadline_exceeded);
  CHECK_THROWS_AS(s.run({a, b, heavy[1]}, {{x, numbers}}, {.timeout_in_ms = 50}), deadline_exceeded);
  cancellation stop;
  std::thread canceller([&] {
    begins.wait();
    stop.cancel();
  });
  CHECK_THROWS_AS(s.run({a, b, heavy[1], began}, {{x, numbers}}, {.cancel = &stop}), cancelled);
  canceller.join();
  const graph_operation add_both = [&] {
    const auto first = enqueue(q, constant(1.0f)), second = enqueue(other, constant(2.0f));
    auto waits = control_dependencies({first, second});
    return no_op("both");
  }();
  const auto results = s.run({add_both, a, b}, {}, {.timeout_in_ms = 30'000});
  CHECK(results[1].as<float>() == 1);
  CHECK(results[2].as<float>() == 2);
  std::thread closer([&] {
    begins.wait();
    s.close();
  });
  CHECK_THROWS_AS(s.run({a, b, began}), cancelled);
  closer.join();
}

TEST_CASE("a queue that is closed beside those that wait for it") {
  graph g;
  auto scope = g.as_default();
  const output q = queue_of(2, "q");
  const output a = dequeue(q), b = dequeue(q);
  const output x = constant(1.0f);
  const output late = host_call("wait", x, "wait");
  graph_operation closed;
  {
    auto waits = control_dependencies({late.operation()});
    closed = close_queue(q);
  }
  graph_session s(g);
  s.register_host_function("wait", [&](std::span<const tensor_value> in) {
    std::this_thread::sleep_for(20ms);
    return std::vector<tensor_value>{in[0]};
  });
  CHECK_THROWS_AS(s.run({a, b, closed}, {}, {.timeout_in_ms = 30'000}), out_of_range);
}

TEST_CASE("a loop whose iterations wait for each other") {
  graph g;
  auto scope = g.as_default();
  const output q = queue_of(1, "q");
  // each iteration adds what the next one takes away again, and one of them waits for room
  const auto sums = while_loop([](output i, output) { return i < 40; },
                               [&](output i, output sum) {
                                 const output value = cast(i, dtype::float32);
                                 const output taken = dequeue(q, "in_loop");
                                 set_shape(taken, shape{});
                                 const auto add = enqueue(q, value, "add_in_loop");
                                 auto waits = control_dependencies({add});
                                 return std::array{i + 1, sum + taken};
                               },
                               {0, 0.0f});
  graph_session s(g);
  CHECK(s.run<float>(sums[1], {}, {.timeout_in_ms = 60'000}) == 780);
}

TEST_CASE("many runs at once, of heavy nodes and queues") {
  const all_threads limit(4);
  graph g;
  auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {-1, -1}, "x");
  const output q = queue_of(4, "q");
  const output p = matmul(x, x + 1.0f), r = matmul(x + 2.0f, x);
  const output result = reduce_sum(p - r, {0, 1});
  const auto add = enqueue(q, result);
  const output taken = dequeue(q);
  const output count = variable(0.0f, "count");
  const output more = assign_add(count, 1.0f);
  graph_session s(g, {.fuse = false});
  s.run(global_variables_initializer());
  const tensor_value numbers = pattern(150, 150, 1);
  float wanted = 0;
  {
    const all_threads one(1);
    wanted = s.run<float>(result, {{x, numbers}});
  }
  constexpr int users = 4, runs = 12;
  std::atomic<int> wrong{0};
  std::vector<std::thread> all;
  for (int u = 0; u < users; ++u)
    all.emplace_back([&] {
      for (int k = 0; k < runs; ++k) {
        const auto results = s.run({result, taken, add, more.operation()}, {{x, numbers}}, {.timeout_in_ms = 60'000});
        wrong += results[0].as<float>() != wanted || results[1].as<float>() != wanted ? 1 : 0;
      }
    });
  for (auto& t : all) t.join();
  CHECK(wrong == 0);
  CHECK(s.value(count).as<float>() == users * runs);
}
