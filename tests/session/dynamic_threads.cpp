// Several threads in one session: queues that block, runs that overlap, deadlines and cancellation.

#include <leat/session/graph_session.hpp>

#include <doctest/doctest.h>

#include <leat/graphs.hpp>
#include <leat/ops/defined.hpp>

#include <thread>

using namespace leat;

namespace {

struct queue_graph {
  graph g;
  output queue, x, taken, size;
  graph_operation add, add_many, close, cancel;
  explicit queue_graph(std::int64_t capacity, std::string_view type = "FIFOQueueV2") {
    auto scope = g.as_default();
    x = placeholder(dtype::float32, {}, "x");
    queue = call_operator(g, type, {},
                          {{"component_types", std::vector<data_type>{data_type::float32}},
                           {"shapes", std::vector<tensor_shape_proto>{tensor_shape_proto{}}},
                           {"capacity", capacity}},
                          "q")
                .result();
    add = call_operator(g, "QueueEnqueueV2", {number_argument(queue), number_argument(x)}, {}, "add");
    taken = call_operator(g, "QueueDequeueV2", {number_argument(queue)}, {{"component_types", std::vector<data_type>{data_type::float32}}}, "take").result();
    size = call_operator(g, "QueueSizeV2", {number_argument(queue)}, {}, "size").result();
    close = call_operator(g, "QueueCloseV2", {number_argument(queue)}, {}, "close");
    cancel = call_operator(g, "QueueCloseV2", {number_argument(queue)}, {{"cancel_pending_enqueues", true}}, "cancel");
  }
};

}  // namespace

TEST_CASE("a queue hands values from thread to thread, in order") {
  queue_graph q(4);
  graph_session s(q.g);
  constexpr int count = 200;
  std::thread producer([&] {
    for (int i = 0; i < count; ++i) s.run(q.add, {{q.x, static_cast<float>(i)}});
    s.run(q.close);
  });
  int wrong = 0;
  for (int i = 0; i < count; ++i) wrong += s.run<float>(q.taken) != static_cast<float>(i) ? 1 : 0;
  producer.join();
  CHECK(wrong == 0);
  CHECK(s.run<std::int32_t>(q.size) == 0);
  CHECK_THROWS_AS(s.run(q.taken), out_of_range);
  CHECK_THROWS_AS(s.run(q.add, {{q.x, 1.0f}}), cancelled);
}

TEST_CASE("whoever waits stops at the deadline, or when it is told to") {
  queue_graph q(1);
  graph_session s(q.g);
  CHECK_THROWS_AS(s.run(q.taken, {}, {.timeout_in_ms = 20}), deadline_exceeded);
  s.run(q.add, {{q.x, 1.0f}});
  CHECK_THROWS_AS(s.run(q.add, {{q.x, 2.0f}}, {.timeout_in_ms = 20}), deadline_exceeded);
  CHECK(s.run<std::int32_t>(q.size) == 1);

  cancellation stop;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop.cancel();
  });
  CHECK_THROWS_AS(s.run(q.add, {{q.x, 2.0f}}, {.cancel = &stop}), cancelled);
  other.join();
  CHECK_THROWS_AS(s.run(q.size, {}, {.cancel = &stop}), cancelled);

  std::thread closer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    s.run(q.cancel);
  });
  CHECK_THROWS_AS(s.run(q.add, {{q.x, 2.0f}}), cancelled);
  closer.join();
  CHECK(s.run<float>(q.taken) == 1);

  std::thread ender([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    s.close();
  });
  queue_graph r(1);
  CHECK_THROWS_AS(s.run(q.taken), out_of_range);
  ender.join();
  CHECK_THROWS_AS(s.run(q.size), failed_precondition);
}

TEST_CASE("a shuffled queue gives every element once") {
  queue_graph q(100, "RandomShuffleQueueV2");
  graph_session s(q.g);
  for (int i = 0; i < 50; ++i) s.run(q.add, {{q.x, static_cast<float>(i)}});
  s.run(q.close);
  std::vector<int> seen(50, 0);
  bool in_order = true;
  for (int i = 0; i < 50; ++i) {
    const int v = static_cast<int>(s.run<float>(q.taken));
    in_order = in_order && v == i;
    ++seen[static_cast<std::size_t>(v)];
  }
  CHECK(!in_order);
  CHECK(seen == std::vector<int>(50, 1));
}

TEST_CASE("runs that overlap do not lose updates") {
  for (const bool fuse : {true, false}) {
    graph g;
    auto scope = g.as_default();
    const auto v = variable({0.0f, 0.0f, 0.0f}, "v");
    const auto up = assign_add(v, {1.0f, 2.0f, 3.0f});
    const auto sum = reduce_sum(v, {0});
    graph_session s(g, {.fuse = fuse});
    s.run(global_variables_initializer());
    constexpr int threads = 4, runs = 100;
    std::atomic<int> torn{0};
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t)
      all.emplace_back([&] {
        for (int i = 0; i < runs; ++i) {
          s.run(up.operation());
          const float now = s.run<float>(sum);
          torn += now != 6 * std::floor(now / 6) ? 1 : 0;
        }
      });
    for (auto& t : all) t.join();
    CHECK(torn == 0);
    CHECK(s.value(v).as<std::vector<float>>() == std::vector<float>{400, 800, 1200});
  }
}
