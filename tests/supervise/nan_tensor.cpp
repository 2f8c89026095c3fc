#include <leat/supervise/nan_tensor.hpp>
#include <leat/supervise/run_hooks.hpp>

#include "recorded_hooks.hpp"

#include <sstream>

using namespace leat_test;

namespace {

std::string failure(monitored_session& s, const std::function<void()>& step, int most = 50) {
  try {
    for (int k = 0; k < most; ++k) step();
  } catch (const nan_loss_during_training& e) {
    CHECK_FALSE(s.is_closed());
    return e.what();
  }
  return "no NaN";
}

}  // namespace

TEST_CASE("the node that made NaN is named, with its step") {
  graph g;
  const auto scope = g.as_default();
  const auto step = get_or_create_global_step();
  const auto x = placeholder(dtype::float32, {}, "x");
  const auto w = variable(3.0f, "w");
  const auto power = log(w, "log_of_w");
  const auto loss = multiply(power, x, "loss");
  // w: 3, 2, 1, 0, -1: the logarithm of 0 is -inf, of -1 NaN
  const auto train = group({assign_sub(w, 1.0f).operation(), assign_add(step, std::int64_t{1}).operation()});
  monitored_session s({.hooks = {nan_tensor(loss)}});
  const std::string text = failure(s, [&] { s.run(train, {{x, 2.0f}}); });
  INFO(text);
  CHECK(text.starts_with("NaN loss during training. In step 5: NaN first appeared in node 'log_of_w' (Log), made at "));
  CHECK(text.find("of inputs that have none: w/read:0.") != text.npos);
}

TEST_CASE("NaN that a gradient wrote to a variable is found in the step before") {
  graph g;
  const auto scope = g.as_default();
  const auto step = get_or_create_global_step();
  const auto w = variable(2.0f, "w");
  const auto root = sqrt(w * w - 4.0f, "root");  // 0 at first: its slope is infinite, then w is
  const auto loss = identity(root, "loss");
  const auto train = gradient_descent(0.1f).minimize(loss, {.global_step = step});
  monitored_session s({.hooks = {nan_tensor(loss)}});
  const std::string text = failure(s, [&] { s.run(train); });
  INFO(text);
  CHECK(text.find("In step 2: NaN first appeared in node 'gradients/") != text.npos);
}

TEST_CASE("runs that take from queues and random numbers are repeated with what these gave") {
  graph g;
  const auto scope = g.as_default();
  get_or_create_global_step();
  const auto q = fifo_queue(10, {dtype::float32}, {{}});
  const auto size = q.size();
  const auto fill = q.enqueue_many({{4.0f, 1.0f, -1.0f, 9.0f}});
  const auto noise = random_uniform_of({});
  const auto item = q.dequeue()[0];
  const auto loss = add(sqrt(item, "root"), noise, "loss");
  monitored_session s({.hooks = {nan_tensor(loss)}});
  s.session().run(fill);
  int runs = 0;
  const std::string text = failure(s, [&] {
    ++runs;
    s.run(loss);
  });
  INFO(text);
  CHECK(runs == 3);
  CHECK(text.find("NaN first appeared in node 'root' (Sqrt)") != text.npos);
  CHECK(s.session().run<int>(size) == 1);  // nothing was taken when the run was repeated
}

TEST_CASE("what other hooks feed is kept, too; without keeping, only variables are named") {
  graph g;
  const auto scope = g.as_default();
  get_or_create_global_step();
  const auto x = placeholder(dtype::float32, {2}, "x");
  const auto w = variable(1.0f, "w");
  const auto ratio = divide(x, x, "ratio");
  const auto loss = reduce_sum(ratio * w, {0}, keep_dims::no, "loss");
  const auto spoil = assign(w, loss);
  float value = 2;
  {
    monitored_session s({.hooks = {nan_tensor(loss), feed_fn([&]() -> feed_list { return {{x, {{1.0f, value}}}}; })}});
    CHECK_THROWS_AS(s.run(loss), invalid_argument);  // a shape that does not fit
  }
  {
    monitored_session s({.hooks = {nan_tensor(loss), feed_fn([&]() -> feed_list {
                                     const std::vector<float> xs{1.0f, value};
                                     return {{x, std::vector<float>(xs)}};
                                   })}});
    s.run(loss);
    value = 0;
    const std::string text = failure(s, [&] { s.run(spoil); });
    INFO(text);
    CHECK(text.find("NaN first appeared in node 'ratio'") != text.npos);
  }
  std::ostringstream told;
  monitored_session s({.hooks = {nan_tensor("loss:0", {.fail_on_nan_loss = false, .locate = false, .log = &told})}});
  s.run(spoil, {{x, {1.0f, 0.0f}}});
  CHECK(s.should_stop());
  CHECK(told.str() == "NaN loss during training. The variable 'w' holds NaN after the run.\n");
}

TEST_CASE("values that are no numbers of floating point, and names that do not exist") {
  graph g;
  const auto scope = g.as_default();
  const auto n = variable(3, "n");
  monitored_session s({.hooks = {nan_tensor(n)}});
  CHECK(s.run<int>(n) == 3);
  graph other;
  const auto there = other.as_default();
  constant(1.0f, "c");
  monitored_session wrong({.hooks = {nan_tensor("nothing:0")}});
  CHECK_THROWS_AS(wrong.run("c:0"), invalid_argument);
}
