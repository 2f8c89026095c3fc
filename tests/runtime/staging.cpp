// Staging areas and queues of priorities: values and errors of TensorFlow 2.21.

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"
#include "support/node_results.hpp"
#include "support/run_event.hpp"

#include <doctest/doctest.h>

#include <string>
#include <thread>

namespace staging_tests {

using namespace leat;
using namespace node_results;

namespace {

constexpr dtype real = dtype::float32;
using types = std::vector<data_type>;
using texts = std::vector<std::string>;

tensor_value whole(const std::vector<std::int64_t>& numbers) { return tensor_value(numbers); }
tensor_value floats(const extents& of, const number_list& numbers) { return tensor_of(real, of, numbers); }
tensor_value counts(const extents& of, const number_list& numbers) { return tensor_of(dtype::int32, of, numbers); }
template <class Error = invalid_argument, class F>
void refuses(F f, std::string_view words) {
  const std::string problem = leat_test::message_of<Error>(f);
  CHECK_MESSAGE(leat_test::says(problem, words, "culprit"), problem);
}

/// A queue of priorities with strings, in a session of its own.
class priority_queue {
 public:
  explicit priority_queue(bool old, const std::vector<tensor_shape_proto>& shapes = {to_proto(shape{})}) : v_(old ? "" : "V2") {
    const auto scope = g_.as_default();
    const shape any = shape::unknown();
    priority_ = placeholder(dtype::int64, any);
    text_ = placeholder(text_dtype, any);
    many_ = placeholder(dtype::int32, {});
    const auto queue = call_operator(g_, "PriorityQueue" + v_, {},
                                     {{"component_types", types{data_type::string}}, {"shapes", shapes}, {"capacity", 10}}, "culprit")
                           .result();
    const types both{data_type::int64, data_type::string};
    add_.push_back(call_operator(g_, "QueueEnqueue" + v_, {queue, priority_, text_}, {}, "culprit_add"));
    add_.push_back(call_operator(g_, "QueueEnqueueMany" + v_, {queue, priority_, text_}, {}, "culprit_all"));
    add_.push_back(call_operator(g_, "QueueEnqueue" + v_, {queue, text_}, {}, "culprit_text"));
    take_.push_back(call_operator(g_, "QueueDequeue" + v_, {queue}, {{"component_types", both}}, "culprit_take"));
    take_.push_back(call_operator(g_, "QueueDequeueMany" + v_, {queue, many_}, {{"component_types", both}}, "culprit_many"));
    take_.push_back(call_operator(g_, "QueueDequeueUpTo" + v_, {queue, many_}, {{"component_types", both}}, "culprit_few"));
    close_.push_back(call_operator(g_, "QueueClose" + v_, {queue}));
    size_ = call_operator(g_, "QueueSize" + v_, {queue}).result();
    session_.emplace(g_);
  }
  void add(const tensor_value& priority, const tensor_value& text, int how = 0) {
    session_->run(add_[static_cast<std::size_t>(how)], {{priority_, priority}, {text_, text}}, {.timeout_in_ms = 300});
  }
  std::vector<tensor_value> take(int how = 0, std::int32_t count = 1) {
    return session_->run(take_[static_cast<std::size_t>(how)].outputs(), {{many_, tensor_value(count)}}, {.timeout_in_ms = 300});
  }
  void close() { session_->run(close_[0]); }
  std::int32_t size() { return session_->run(size_).as<std::int32_t>(); }

 private:
  std::string v_;
  graph g_;
  output priority_, text_, many_, size_;
  std::vector<graph_operation> add_, take_, close_;
  std::optional<graph_session> session_;
};
void holds(const std::vector<tensor_value>& taken, const std::vector<std::int64_t>& priorities, const texts& words) {
  REQUIRE(taken.size() == 2);
  CHECK(taken[0].as<std::vector<std::int64_t>>() == priorities);
  CHECK(taken[1].texts() == words);
}

}  // namespace

TEST_CASE("a queue of priorities gives the least first") {
  for (const bool old : {false, true}) {
    priority_queue q(old);
    for (const auto& [priority, text] : {std::pair{3, "c"}, {1, "a"}, {2, "b"}}) q.add(tensor_value(std::int64_t{priority}), tensor_value(text));
    CHECK(q.size() == 3);
    holds(q.take(), {1}, {"a"});
    holds(q.take(1, 2), {2, 3}, {"b", "c"});
    // Elements of one priority have the order of a heap.
    q.add(whole({1, 1, 0, 1, 1, 0, 5}), tensor_value(texts{"a", "b", "c", "d", "e", "f", "g"}), 1);
    holds(q.take(1, 7), {0, 0, 1, 1, 1, 1, 5}, {"c", "f", "a", "b", "d", "e", "g"});
    q.add(whole({-1, 7, 7, 7, -1, 7, 2, 2}), tensor_value(texts{"a", "b", "c", "d", "e", "f", "g", "h"}), 1);
    holds(q.take(), {-1}, {"a"});
    q.add(whole({2, 7}), tensor_value(texts{"i", "j"}), 1);
    holds(q.take(1, 4), {-1, 2, 2, 2}, {"e", "g", "h", "i"});
    holds(q.take(1, 5), {7, 7, 7, 7, 7}, {"c", "f", "j", "b", "d"});
    holds(q.take(1, 0), {}, {});

    refuses([&] { q.add(whole({1}), tensor_value("x")); }, "Shape mismatch in tuple component 0. Expected [], got [1]");
    refuses([&] { q.add(tensor_value(std::int64_t{1}), tensor_value(texts{"x"})); }, "Shape mismatch in tuple component 1. Expected [], got [1]");
    refuses([&] { q.add(whole({1, 2}), tensor_value(texts{"x"}), 1); }, "");
    refuses([&] { q.add(tensor_value(std::int64_t{1}), tensor_value("x"), 1); }, "");
    refuses([&] { q.add(whole({1}), tensor_value("x"), 2); }, "Wrong number of components");
    refuses([&] { q.take(1, -1); }, "requested -1 < 0 elements");
    refuses<deadline_exceeded>([&] { q.take(); }, "");
    // What a call has taken when its time is up goes back, in order.
    q.add(whole({4, 2}), tensor_value(texts{"d", "b"}), 1);
    refuses<deadline_exceeded>([&] { q.take(1, 3); }, "");
    CHECK(q.size() == 2);
    q.close();
    holds(q.take(2, 5), {2, 4}, {"b", "d"});
    refuses<out_of_range>([&] { q.take(); }, "PriorityQueue 'culprit' is closed and has insufficient elements (requested 1, current size 0)");
    refuses<cancelled>([&] { q.add(tensor_value(std::int64_t{1}), tensor_value("x")); }, "PriorityQueue 'culprit' is closed.");
  }
  refuses([] { priority_queue(false, {to_proto(shape_value{-1})}).size(); }, "must be known");
  refuses([] { priority_queue(false, {}).size(); }, "without shapes");
  refuses([] { priority_queue(false, {to_proto(shape{}), to_proto(shape{})}).size(); }, "");
}

namespace {

/// A staging area of a real array and an integer one, in a session of its own.
class area {
 public:
  explicit area(std::int64_t capacity = 0, std::int64_t bytes = 0) {
    const auto scope = g_.as_default();
    const shape any = shape::unknown();
    const attribute_map settings{{"shared_name", "here"}, {"capacity", capacity}, {"memory_limit", bytes}};
    const auto with = [&](const types& list) {
      attribute_map made = settings;
      made["dtypes"] = list;
      return made;
    };
    const types both{data_type::float32, data_type::int32};
    x_ = placeholder(real, any);
    y_ = placeholder(dtype::int32, any);
    at_ = placeholder(dtype::int32, any);
    nodes_.push_back(call_operator(g_, "Stage", {x_, y_}, settings, "culprit_put"));
    nodes_.push_back(call_operator(g_, "StageClear", {}, with(both)));
    size_ = call_operator(g_, "StageSize", {}, with(both)).result();
    for (const types& list : {both, types{data_type::float32}, types{data_type::int32, data_type::float32}}) {
      get_.push_back(call_operator(g_, "Unstage", {}, with(list), "culprit_get"));
      peek_.push_back(call_operator(g_, "StagePeek", {at_}, with(list), "culprit_peek"));
    }
    {
      const auto announced = control_dependencies({begins_.node().operation()});
      announced_get_ = call_operator(g_, "Unstage", {}, with(both));
    }
    session_.emplace(g_);
  }
  void put(const tensor_value& x, const tensor_value& y) { session_->run(nodes_[0], {{x_, x}, {y_, y}}, {.timeout_in_ms = 300}); }
  void put(double x, double y) { put(floats({}, {x}), counts({}, {y})); }
  number_list get(std::size_t as = 0) { return list(session_->run(get_[as].outputs(), {}, {.timeout_in_ms = 300})); }
  /// The same with much time, and an event when it begins.
  number_list get_announced() { return list(session_->run(announced_get_.outputs(), {}, {.timeout_in_ms = 30'000})); }
  void wait_for_get() { begins_.wait(); }
  number_list peek(const tensor_value& at, std::size_t as = 0) {
    return list(session_->run(peek_[as].outputs(), {{at_, at}}, {.timeout_in_ms = 300}));
  }
  number_list peek(std::int32_t at) { return peek(tensor_value(at)); }
  void clear() { session_->run(nodes_[1]); }
  std::int32_t size() { return session_->run(size_).as<std::int32_t>(); }

 private:
  static number_list list(const std::vector<tensor_value>& values) {
    number_list all;
    for (const tensor_value& v : values)
      for (const double x : list_of(v)) all.push_back(x);
    return all;
  }
  graph g_;
  leat_test::run_event begins_;
  output x_, y_, at_, size_;
  std::vector<graph_operation> nodes_, get_, peek_;
  graph_operation announced_get_;
  std::optional<graph_session> session_;
};

}  // namespace

TEST_CASE("a staging area passes elements on in order") {
  area a;
  a.put(floats({}, {1}), counts({2}, {1, 2}));
  a.put(floats({}, {2}), counts({1}, {3}));
  CHECK(a.size() == 2);
  CHECK(a.peek(1) == number_list{2, 3});
  CHECK(a.peek(0) == number_list{1, 1, 2});
  CHECK(a.get() == number_list{1, 1, 2});
  CHECK(a.get() == number_list{2, 3});
  CHECK(a.size() == 0);
  refuses<deadline_exceeded>([&] { a.get(); }, "");
  refuses<deadline_exceeded>([&] { a.peek(0); }, "");
  refuses([&] { a.peek(-1); }, "index must be at least 0");
  refuses([&] { a.peek(counts({2}, {0, 1})); }, "");
  a.put(1, 1);
  a.put(1, 1);
  a.clear();
  CHECK(a.size() == 0);
  a.put(1, 1);
  refuses([&] { a.get(1); }, "Mismatch stage/unstage: 2 vs. 1");
  CHECK(a.size() == 0);
  a.put(1, 1);
  refuses([&] { a.peek(tensor_value(std::int32_t{0}), 1); }, "Mismatch stage/unstage: 2 vs. 1");
  CHECK(a.size() == 1);
  refuses([&] { a.get(2); }, "is float32, the node takes int32");

  std::thread other([&] {
    a.wait_for_get();
    a.put(5, 6);
  });
  CHECK(a.get_announced() == number_list{5, 6});
  other.join();
}

TEST_CASE("limits of a staging area") {
  area two(2);
  two.put(1, 1);
  two.put(2, 2);
  refuses<deadline_exceeded>([&] { two.put(3, 3); }, "");
  CHECK(two.size() == 2);
  CHECK(two.get() == number_list{1, 1});
  two.put(3, 3);
  area small(0, 16);
  small.put(1, 1);
  small.put(1, 1);
  refuses<deadline_exceeded>([&] { small.put(1, 1); }, "");
  refuses<resource_exhausted>([&] { small.put(floats({3}, {1, 2, 3}), counts({2}, {1, 2})); },
                              "Attempted to insert tensors with combined size of '20' bytes into Staging Area with a memory limit of '16'.");
  CHECK(small.size() == 2);
  small.get();
  small.put(1, 1);
  CHECK(small.size() == 2);
  CHECK_THROWS_AS(area(-1), invalid_argument);
}

}  // namespace staging_tests
