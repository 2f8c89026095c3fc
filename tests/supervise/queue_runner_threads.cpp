#include <leat/graphs.hpp>
#include <leat/named/functions/host_function.hpp>
#include <leat/supervise/queue_runner.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

using namespace leat;
using namespace std::chrono_literals;

namespace {

// Numbers from 1 on; beyond `last` the input ends.
output counted(std::shared_ptr<std::atomic<int>> next, int last) {
  return host_function(
             [next, last](std::span<const tensor_literal>) -> std::vector<tensor_literal> {
               const int n = next->fetch_add(1) + 1;
               if (n > last) throw out_of_range("the end");
               return {tensor_literal(static_cast<float>(n))};
             },
             {}, {dtype::float32})
      .result();
}

}  // namespace

TEST_CASE("a runner fills a queue until its input ends, then closes it") {
  graph g;
  const auto scope = g.as_default();
  const auto q = fifo_queue(3, {dtype::float32}, {{}});
  const auto x = counted(std::make_shared<std::atomic<int>>(0), 5);
  const auto taken = q.dequeue()[0];
  const queue_runner runner(q, {q.enqueue({x})});
  CHECK(runner.name() == "fifo_queue");
  CHECK(runner.close_op().name() == "fifo_queue_Close");
  CHECK(runner.cancel_op().name() == "fifo_queue_Close_1");
  add_queue_runner(runner);
  graph_session s(g);
  coordinator c;
  CHECK(start_queue_runners(s, c) == 1);
  float sum = 0;
  for (int n = 1; n <= 5; ++n) {
    const auto v = s.run<float>(taken);
    CHECK(v == static_cast<float>(n));
    sum += v;
  }
  CHECK(sum == 15);
  CHECK_THROWS_AS(s.run(taken), out_of_range);
  c.request_stop();
  CHECK_NOTHROW(c.join({.grace_period = 10s}));
}

TEST_CASE("a queue is closed on its own device, whatever device scopes say") {
  graph g;
  const auto scope = g.as_default();
  const auto queue_on_server = [] {
    const device server("/job:ps/task:0");
    return fifo_queue(2, {dtype::float32});
  };
  const device worker("/job:worker/task:1");
  const auto q = queue_on_server();
  const queue_runner runner(q, {q.enqueue({constant(tensor_literal(1.0f))})});
  CHECK(runner.close_op().device() == "/job:ps/task:0");
  CHECK(constant(tensor_literal(2.0f)).operation().device() == "/job:worker/task:1");
}

TEST_CASE("several threads fill one queue; the last one that ends closes it") {
  graph g;
  const auto scope = g.as_default();
  const auto q = random_shuffle_queue(50, 2, {dtype::float32}, {{}}, {.seed = 3});
  const auto next = std::make_shared<std::atomic<int>>(0);
  const auto enqueue = q.enqueue({counted(next, 100)});
  add_queue_runner(queue_runner(q, {enqueue, enqueue, enqueue, enqueue}));
  const auto rows = q.dequeue_up_to(7)[0];
  graph_session s(g);
  coordinator c;
  CHECK(start_queue_runners(s, c) == 4);
  double sum = 0;
  int count = 0;
  try {
    for (;;) {
      const auto got = s.run<std::vector<float>>(rows);
      count += static_cast<int>(got.size());
      for (const float v : got) sum += static_cast<double>(v);
    }
  } catch (const out_of_range&) {
  }
  CHECK(count == 100);
  CHECK(sum == 5050);
  CHECK_NOTHROW(c.join({.grace_period = 10s, .timeout = 10s}));
}

TEST_CASE("a stop wakes the thread that waits for room, and who waits for elements") {
  graph g;
  const auto scope = g.as_default();
  const auto q = fifo_queue(2, {dtype::float32}, {{}});
  add_queue_runner(queue_runner(q, {q.enqueue({1.0f})}));
  const auto other = fifo_queue(2, {dtype::float32}, {{}});
  const auto never = other.dequeue()[0];
  const auto also = placeholder(dtype::float32, {}, "also");
  add_queue_runner(queue_runner(other, {other.enqueue({q.dequeue()[0] + never + also})}));  // fails: not fed
  graph_session s(g);
  coordinator c;
  start_queue_runners(s, c);
  CHECK_THROWS_AS(c.join({.grace_period = 10s, .timeout = 10s}), invalid_argument);
  CHECK(c.live_threads().empty());
  CHECK_THROWS_AS(s.run(never), out_of_range);  // closed by the stop
}

TEST_CASE("a session that is gone before the coordinator") {
  coordinator c;
  {
    graph g;
    const auto scope = g.as_default();
    const auto q = fifo_queue(10, {dtype::float32}, {{}});
    const queue_runner runner(q, {q.enqueue({counted(std::make_shared<std::atomic<int>>(0), 3)})});
    graph_session s(g);
    runner.start(s, c);
    c.join({.grace_period = 10s, .timeout = 10s});
  }
  c.request_stop();
}

TEST_CASE("runners are kept as TensorFlow's messages") {
  graph g;
  const auto scope = g.as_default();
  const auto q = fifo_queue(3, {dtype::float32}, {{}}, {.name = "in/q"});
  const auto first = q.enqueue({1.0f}), second = q.enqueue({2.0f}, "second");
  const queue_runner runner(q, {first, second});
  const std::string bytes = runner.message();
  // fields 1 to 4 are strings, 5 the code OUT_OF_RANGE
  CHECK(bytes == "\n\4in/q\x12\x09q_enqueue\x12\x06second\x1a\x07q_Close\"\x09q_Close_1*\x01\x0b");
  const queue_runner read(g, bytes);
  CHECK(read.name() == "in/q");
  CHECK(read.enqueue_ops() == runner.enqueue_ops());
  CHECK(read.cancel_op() == runner.cancel_op());
  CHECK(read.message() == bytes);

  for (std::size_t length = 0; length < bytes.size(); ++length) {
    try {
      const queue_runner part(g, bytes.substr(0, length));
      CHECK(length > bytes.size() - 4);  // without the codes
    } catch (const data_loss&) {
    } catch (const not_found&) {
    }
  }
  graph other;
  CHECK_THROWS_AS(queue_runner(other, bytes), not_found);
  CHECK_THROWS_WITH_AS(queue_runner(q, {}), "a queue runner of the queue 'in/q' has no operation to run", invalid_argument);
  graph_session wrong(other);
  coordinator c;
  CHECK_THROWS_AS(runner.start(wrong, c), invalid_argument);
  add_to_collection(g, collection::queue_runners, first);
  graph_session s(g);
  CHECK_THROWS_AS(start_queue_runners(s, c), data_loss);
}
