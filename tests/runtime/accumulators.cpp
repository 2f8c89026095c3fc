// Accumulators of gradients by reference, dense and of rows, as TensorFlow 1.x makes them for synchronous replicas: values and errors of
// TensorFlow 2.21.

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"
#include "support/node_results.hpp"
#include "support/run_event.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <thread>

namespace accumulator_tests {

using namespace leat;
using namespace node_results;

namespace {

constexpr dtype real = dtype::float32;

tensor_value floats(const extents& of, const number_list& numbers) { return tensor_of(real, of, numbers); }
tensor_value list(const std::vector<std::int64_t>& numbers) { return tensor_value(numbers); }

/// An accumulator with the nodes of its kind, in a session of its own.
class accumulator {
 public:
  accumulator(bool of_rows, const shape& extent, const std::string& reduction = "MEAN", dtype type = real) {
    const auto scope = g_.as_default();
    const std::string by = of_rows ? "Sparse" : "";
    const auto handle = call_operator(g_, by + "ConditionalAccumulator", {},
                                      {{"dtype", type}, {"shape", to_proto(extent)}, {"reduction_type", reduction}, {"shared_name", "a"}}, "culprit")
                            .result();
    const shape any = shape::unknown();
    step_ = placeholder(dtype::int64, {});
    values_ = placeholder(type, any);
    indices_ = placeholder(dtype::int64, any);
    sizes_ = placeholder(dtype::int64, any);
    required_ = placeholder(dtype::int32, any);
    if (of_rows) {
      for (const bool known : {false, true})
        apply_.push_back(call_operator(g_, "SparseAccumulatorApplyGradient", {handle, step_, indices_, values_, sizes_}, {{"has_known_shape", known}},
                                       "culprit"));
    } else {
      apply_.push_back(call_operator(g_, "AccumulatorApplyGradient", {handle, step_, values_}, {}, "culprit"));
    }
    count_ = call_operator(g_, "AccumulatorNumAccumulated", {handle}).result();
    set_.push_back(call_operator(g_, "AccumulatorSetGlobalStep", {handle, step_}));
    take_.push_back(call_operator(g_, by + "AccumulatorTakeGradient", {handle, required_}, {{"dtype", type}}, "culprit"));
    take_.push_back(call_operator(g_, by + "AccumulatorTakeGradient", {handle, required_},
                                  {{"dtype", type == real ? dtype::float64 : real}}, "culprit"));
    {
      const auto announced = control_dependencies({begins_.node().operation()});
      take_.push_back(call_operator(g_, by + "AccumulatorTakeGradient", {handle, required_}, {{"dtype", type}}));
    }
    session_ = std::make_unique<graph_session>(g_);
  }
  void give(std::int64_t step, const tensor_value& gradient) { session_->run(apply_[0], {{step_, step}, {values_, gradient}}); }
  void give(std::int64_t step, const tensor_value& indices, const tensor_value& rows) {
    session_->run(apply_[0], {{step_, step}, {values_, rows}, {indices_, indices}, {sizes_, list({})}});
  }
  void give(std::int64_t step, const tensor_value& indices, const tensor_value& rows, const tensor_value& sizes) {
    session_->run(apply_[1], {{step_, step}, {values_, rows}, {indices_, indices}, {sizes_, sizes}});
  }
  void set_step(std::int64_t step) { session_->run(set_[0], {{step_, step}}); }
  std::int32_t count() { return session_->run(count_).as<std::int32_t>(); }
  std::vector<tensor_value> take(const tensor_value& required, bool as_other = false) {
    return session_->run(take_[as_other ? 1 : 0].outputs(), {{required_, required}}, {.timeout_in_ms = 300});
  }
  std::vector<tensor_value> take(std::int32_t required) { return take(tensor_value(required)); }
  /// The same with much time, and an event when it begins.
  std::vector<tensor_value> take_announced(std::int32_t required) {
    return session_->run(take_[2].outputs(), {{required_, tensor_value(required)}}, {.timeout_in_ms = 30'000});
  }
  void wait_for_take() { begins_.wait(); }

 private:
  graph g_;
  leat_test::run_event begins_;
  output step_, values_, indices_, sizes_, required_, count_;
  std::vector<graph_operation> apply_, set_, take_;
  std::unique_ptr<graph_session> session_;
};

template <class Error = invalid_argument, class F>
void refuses(F f, std::string_view words) {
  const std::string problem = leat_test::message_of<Error>(f);
  CHECK_MESSAGE(leat_test::says(problem, words, "culprit"), problem);
}
shape sized(std::initializer_list<std::int64_t> sizes) {
  shape s;
  for (const auto n : sizes) s.push(n);
  return s;
}
void holds(const std::vector<tensor_value>& taken, const std::vector<std::int64_t>& indices, const number_list& values,
           const std::vector<std::int64_t>& sizes) {
  REQUIRE(taken.size() == 3);
  CHECK(taken[0].as<std::vector<std::int64_t>>() == indices);
  check_near(list_of(taken[1]), values, 1e-7);
  CHECK(taken[2].as<std::vector<std::int64_t>>() == sizes);
}

}  // namespace

TEST_CASE("an accumulator of gradients drops stale ones, and is emptied when enough have come") {
  accumulator a(false, sized({2}));
  a.give(0, floats({2}, {1, 2}));
  a.give(0, floats({2}, {3, 5}));
  CHECK(a.count() == 2);
  CHECK(list_of(a.take(1)[0]) == number_list{2, 3.5});
  CHECK(a.count() == 0);
  a.give(0, floats({2}, {1, 2}));
  CHECK(a.count() == 0);
  a.give(1, floats({2}, {1, 2}));
  a.give(5, floats({2}, {4, 2}));
  a.give(7, floats({2}, {4, 8}));
  CHECK(list_of(a.take(2)[0]) == number_list{3, 4});
  a.set_step(4);
  a.give(3, floats({2}, {1, 1}));
  CHECK(a.count() == 0);
  a.give(4, floats({2}, {1, 1}));
  CHECK(a.count() == 1);
  refuses([&] { a.give(4, floats({3}, {1, 1, 1})); }, "Shape mismatch: expected [2], got [3]");
  refuses([&] { a.give(4, floats({1, 2}, {1, 1})); }, "Shape mismatch: expected [2], got [1,2]");
  refuses([&] { a.take(0); }, "Argument num_required must be positive, but was 0");
  refuses([&] { a.take(-1); }, "Argument num_required must be positive, but was -1");
  refuses([&] { a.take(tensor_of(dtype::int32, {2}, {1, 2})); }, "");
  refuses([&] { a.take(tensor_value(std::int32_t{1}), true); }, "takes float64");
  refuses<deadline_exceeded>([&] { a.take(2); }, "");
  CHECK(a.count() == 1);

  accumulator sums(false, shape::unknown(), "SUM");
  sums.give(0, floats({3}, {1, 2, 3}));
  refuses([&] { sums.give(0, floats({2}, {1, 2})); }, "Shape mismatch: expected [3], got [2]");
  sums.give(0, floats({3}, {1, 2, 3}));
  CHECK(list_of(sums.take(2)[0]) == number_list{2, 4, 6});
  accumulator wrong(false, sized({2}), "MIN");
  refuses([&] { wrong.give(0, floats({2}, {1, 2})); }, "reduction_type must be MEAN or SUM");
}

TEST_CASE("taking a gradient waits for those of other threads") {
  accumulator a(false, sized({1}));
  std::thread other([&] {
    a.wait_for_take();
    for (int k = 0; k < 2; ++k) a.give(0, floats({1}, {2.0 + 2 * k}));
  });
  CHECK(list_of(a.take_announced(2)[0]) == number_list{3});
  other.join();
}

TEST_CASE("an accumulator of rows has the mean of each row over the gradients that have it") {
  accumulator a(true, sized({-1, -1}));
  a.give(0, list({0, 2}), floats({2, 2}, {1, 2, 3, 4}), list({4, 2}));
  a.give(0, list({2, 3}), floats({2, 2}, {10, 20, 30, 40}), list({4, 2}));
  a.give(0, list({1}), floats({1, 2}, {5, 6}));
  CHECK(a.count() == 3);
  holds(a.take(3), {0, 1, 2, 3}, {1, 2, 5, 6, 6.5, 12, 30, 40}, {-1, 2});
  CHECK(a.count() == 0);
  a.give(1, list({3, 1}), floats({2, 2}, {1, 2, 3, 4}));
  a.give(1, list({0, 2, 1}), floats({3, 2}, {1, 1, 2, 2, 3, 3}));
  holds(a.take(1), {0, 2, 1, 3, 1}, {1, 1, 2, 2, 3, 3, 1, 2, 3, 4}, {-1, 2});
  a.give(2, list({3, 3}), floats({2, 2}, {1, 2, 3, 4}));
  holds(a.take(1), {3, 3}, {1, 2, 3, 4}, {-1, 2});
  a.give(3, list({3, 3}), floats({2, 2}, {1, 2, 3, 4}));
  a.give(3, list({3, 3}), floats({2, 2}, {10, 20, 30, 40}));
  holds(a.take(1), {3, 3}, {5.5, 11, 16.5, 22}, {-1, 2});
  a.give(1, list({3}), floats({1, 2}, {1, 2}));
  CHECK(a.count() == 0);
  a.give(9, list({3}), floats({1, 2}, {1, 2}), list({5, 2}));
  const std::string column = "Shape mismatch: expected values dim 1 to be 2, got 3";
  refuses([&] { a.give(9, list({3}), floats({1, 3}, {1, 2, 3}), list({5, 3})); }, column);
  refuses([&] { a.give(9, list({3}), floats({1, 3}, {1, 2, 3})); }, column);
  refuses([&] { a.give(9, list({3, 4}), floats({1, 2}, {1, 2})); }, "Expected 2 non-empty input values, got 1");
  refuses([&] { a.give(9, list({3}).reshaped(sized({1, 1})), floats({1, 2}, {1, 2})); }, "Input indices should be vector but received shape: [1,1]");
  refuses([&] { a.give(9, list({3}), floats({}, {3})); }, "Values cannot be 0-dimensional.");
  refuses([&] { a.give(9, list({-1}), floats({1, 2}, {1, 2})); }, "index of slice 0 is negative");
  a.give(9, list({}), floats({0, 2}, {}));
  a.give(9, list({100}), floats({1, 2}, {1, 2}));
  holds(a.take(3), {3, 100}, {1, 2, 1, 2}, {-1, 2});

  accumulator sums(true, sized({4, 2}), "SUM");
  sums.give(0, list({0, 2}), floats({2, 2}, {1, 2, 3, 4}), list({4, 2}));
  sums.give(0, list({0}), floats({1, 2}, {1, 2}));
  holds(sums.take(1), {0, 2}, {2, 4, 3, 4}, {4, 2});
  refuses([&] { sums.give(1, list({0}), floats({1, 2}, {1, 2}), list({5, 2})); }, "Shape mismatch: expected shape dim 0 to be 4, got 5");
  refuses([&] { sums.give(1, list({0}), floats({1, 2}, {1, 2}), list({4})); }, "Shape mismatch: expected shape rank at least 2, got 1");
  refuses([&] { sums.give(1, list({0}), floats({1, 3}, {1, 2, 3})); }, column);
  refuses([&] { sums.give(1, list({7}), floats({1, 2}, {1, 2})); }, "index of slice 0 exceeded limits of shape; index is 7 exceeded 4");
  refuses<deadline_exceeded>([&] { sums.take(1); }, "");
  refuses([&] { sums.take(0); }, "Argument num_required must be positive, but was 0");

  accumulator free(true, shape::unknown(), "SUM");
  free.give(0, list({0}), floats({1}, {1}));
  refuses([&] { free.give(0, list({0}), floats({1, 1}, {1})); }, "Shape mismatch: expected values rank 1, got 2");
  holds(free.take(1), {0}, {1}, {-1});
  free.give(1, list({}), floats({0}, {}));
  CHECK(free.count() == 1);
  holds(free.take(1), {}, {}, {-1});
}

TEST_CASE("accumulators of one kind are no accumulators of the other") {
  graph g;
  const auto scope = g.as_default();
  const attribute_map settings{{"dtype", real}, {"shape", to_proto(sized({2}))}, {"shared_name", "one"}};
  const auto dense = call_operator(g, "ConditionalAccumulator", {}, settings, "first").result();
  const auto rows = call_operator(g, "SparseConditionalAccumulator", {}, settings, "culprit").result();
  const auto give = call_operator(g, "SparseAccumulatorApplyGradient",
                                  {dense, tensor_literal(std::int64_t{0}), tensor_literal({std::int64_t{0}}), tensor_literal({1.0f}), tensor_literal({std::int64_t{2}})},
                                  {{"has_known_shape", true}}, "culprit_too");
  const auto queue = call_operator(g, "FIFOQueue", {}, {{"component_types", std::vector<data_type>{data_type::float32}}}, "queue").result();
  const auto count = call_operator(g, "AccumulatorNumAccumulated", {queue}, {}, "culprit_three").result();
  graph_session s(g);
  refuses([&] { s.run(give); }, "another kind");
  refuses([&] { s.run(count); }, "another kind");
  refuses([&] { s.run(call_operator(g, "AccumulatorNumAccumulated", {rows}).result()); }, "");
}

}  // namespace accumulator_tests
