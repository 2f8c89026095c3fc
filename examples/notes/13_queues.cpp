// 13.2, input through a queue: a thread fills a queue that holds three numbers, the loop takes until the end.
//
//   filler thread                                 the loop
//   1 2 3 4 5  ->  x  ->  fifo_queue [3]  ->  dequeue  ->  sum
//                  enqueue, then close        out_of_range at the end

#include <leat/graphs.hpp>
#include <leat/supervise/coordinator.hpp>
#include <leat/supervise/queue_runner.hpp>

#include "support/notes.hpp"

#include <atomic>
#include <chrono>

using namespace leat;
using namespace leat::examples;

namespace {

void by_hand() {
  item("13.2", "a queue of 3, filled by a thread, emptied by a loop");
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {}, "x");
  const auto q = fifo_queue(3, {dtype::float32}, {{}});
  const auto fill = q.enqueue({x});
  const auto close = q.close();
  const auto next = q.dequeue()[0];
  const auto size = q.size();

  graph_session s(g);
  std::atomic<int> added{0};
  coordinator c;
  c.start([&] {
    for (float v = 1; v <= 5 && !c.should_stop(); ++v) {
      s.run(fill, {{x, v}});
      ++added;
    }
    s.run(close);
  });
  while (s.run<int>(size) < 3) c.wait_for_stop(seconds(0.001));
  c.wait_for_stop(seconds(0.05));
  expect_true("the filler waits while the queue is full", added == 3 && s.run<int>(size) == 3);

  std::vector<float> taken;
  float sum = 0;
  std::string end = "none";
  try {
    for (;;) {
      taken.push_back(s.run<float>(next));
      sum += taken.back();
    }
  } catch (const out_of_range&) {
    end = "out_of_range";
  }
  c.request_stop();
  c.join({.grace_period = seconds(10)});
  expect("taken", tensor_value(taken), {1.0f, 2.0f, 3.0f, 4.0f, 5.0f});
  expect("sum", tensor_value(sum), 15.0f);
  expect_text("then", end, "out_of_range");
  expect_true("every thread has ended", c.live_threads().empty());
}

void by_runner() {
  item("13.2", "the same with a queue runner, which closes the queue when its input ends");
  graph g;
  const auto scope = g.as_default();
  const auto numbers = fifo_queue(5, {dtype::float32}, {{}}, {.name = "numbers"});
  const auto all = numbers.enqueue_many({{1.0f, 2.0f, 3.0f, 4.0f, 5.0f}});
  const auto no_more = numbers.close();
  const auto q = fifo_queue(3, {dtype::float32}, {{}});
  add_queue_runner(queue_runner(q, {q.enqueue({numbers.dequeue()[0]})}));
  const auto next = q.dequeue()[0];

  graph_session s(g);
  s.run(all);
  s.run(no_more);
  coordinator c;
  start_queue_runners(s, c);
  float sum = 0;
  std::string end = "none";
  try {
    for (;;) sum += s.run<float>(next);
  } catch (const out_of_range&) {
    end = "out_of_range";
  }
  c.join({.grace_period = seconds(10), .timeout = seconds(10)});
  expect("sum", tensor_value(sum), 15.0f);
  expect_text("then", end, "out_of_range");
  expect_true("every thread has ended", c.live_threads().empty());
}

}  // namespace

int main(int count, char** arguments) {
  return run_sections(count, arguments, "Input through a queue that a thread fills.",
                      {{"queue", "an enqueue operation in a thread of one's own", by_hand}, {"runner", "a queue runner", by_runner}});
}
