// Typed loops as TensorFlow's: what their nodes are, and that a session of the graph, also after it was a file, computes the same.

#include <leat/calculus.hpp>
#include <leat/graphs.hpp>
#include <leat/io/json.hpp>
#include <leat/loops.hpp>
#include <leat/vmap.hpp>

#include "support/agreement.hpp"
#include "support/check.hpp"

#include <doctest/doctest.h>
#include <leat/named/exchange/export.hpp>
#include <leat/named/exchange/import.hpp>

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

using namespace leat;
using namespace leat::literals;

namespace {

// Expressions in three sessions: compiled, of the graph that they become, and of this graph after it was a file.
template <class... Es>
class everywhere {
 public:
  explicit everywhere(const Es&... es) : typed_(es...), expressions_(es...) {
    const auto scope = first_.as_default();
    for (const auto& made : to_graph(es...)) names_.push_back(std::get<output>(made).name());
    const std::string file = io::write_json(export_graph(first_));
    import_graph(again_, io::read_json<graph_def>(file), {.name = ""});
    of_first_.emplace(first_);
    of_again_.emplace(again_);
  }
  template <class... Feeds>
  void compare(double tolerance, const feed_list& feeds, const Feeds&... typed) {
    const auto values = std::apply([&](const Es&... es) { return typed_.run(fetch(es...), typed...); }, expressions_);
    compare_each(tolerance, feeds, values, std::index_sequence_for<Es...>{});
  }
  std::string message(const feed_list& feeds) {
    try {
      of_again_->run(fetch_item(names_[0]), feeds);
    } catch (const error& e) {
      return e.what();
    }
    return {};
  }
  bool has(std::string_view name, std::string_view type) {
    for (const auto& op : get_operations(again_))
      if (op.name() == name) return op.type() == type;
    return false;
  }
  int count(std::string_view type) {
    int found = 0;
    for (const auto& op : get_operations(again_)) found += op.type() == type ? 1 : 0;
    return found;
  }

 private:
  template <class Values, std::size_t... K>
  void compare_each(double tolerance, const feed_list& feeds, const Values& values, std::index_sequence<K...>) {
    (compare_one(tolerance, K, feeds, std::get<K>(values)), ...);
  }
  template <class Value>
  void compare_one(double tolerance, std::size_t k, const feed_list& feeds, const Value& value) {
    CAPTURE(names_[k]);
    const tensor_value a = of_first_->run(fetch_item(names_[k]), feeds), b = of_again_->run(fetch_item(names_[k]), feeds);
    CHECK(leat_test::distance(a, value) <= tolerance);
    CHECK(leat_test::distance(b, value) <= tolerance);
  }

  session<Es...> typed_;
  std::tuple<Es...> expressions_;
  std::vector<std::string> names_;
  graph first_, again_;
  std::optional<graph_session> of_first_, of_again_;
};

}  // namespace

TEST_CASE("a scan reads and writes arrays of tensors") {
  auto xs = placeholder<"xs", double, "time", 2>();
  auto rate = placeholder<"rate", double>();
  auto start = constant<0.0, 2>();
  auto [last, all] = scan(
      [&](auto level, auto x) {
        auto next = level + rate * (x - level) * 0.5;
        return std::tuple(next, reduce_sum(next));
      },
      start, xs);
  auto [slope, by_xs] = gradients(reduce_sum(square(all)), rate, xs);
  everywhere s(last, all, slope, by_xs);
  CHECK(s.has("scan/TensorArray", "TensorArrayV3"));
  CHECK(s.has("scan/TensorArrayUnstack/TensorArrayScatter/TensorArrayScatterV3", "TensorArrayScatterV3"));
  CHECK(s.has("scan/while/Enter", "Enter"));
  CHECK(s.count("Placeholder") == 2);
  CHECK(s.has("scan/while/Merge", "Merge"));
  CHECK(s.has("scan/while/LoopCond", "LoopCond"));
  CHECK(s.has("scan/while/TensorArrayReadV3", "TensorArrayReadV3"));
  CHECK(s.has("scan/while/TensorArrayWrite/TensorArrayWriteV3", "TensorArrayWriteV3"));
  CHECK(s.has("scan/TensorArrayStack/TensorArrayGatherV3", "TensorArrayGatherV3"));
  for (const std::size_t steps : {std::size_t{4}, std::size_t{1}}) {
    CAPTURE(steps);
    const auto values = leat_test::filled<double, 2>({steps, 2}, -1, 1, steps);
    s.compare(1e-12, {{"xs:0", tensor_value(values)}, {"rate:0", tensor_value(0.3)}}, xs = values, rate = 0.3);
  }
}

TEST_CASE("folds in both directions, of tuples of several dtypes") {
  auto xs = placeholder<"xs", float, "time", 3>();
  auto ks = placeholder<"ks", std::int32_t, "time">();
  auto sum = constant<0.0f, 3>();
  auto count = constant<std::int32_t(1)>();
  const auto step = [](auto state, auto x) {
    auto [total, n] = state;
    auto [v, k] = x;
    return std::tuple(total * 0.5_c + v, n * 3_c + k);
  };
  auto [a, m] = fold(step, std::tuple(sum, count), std::tuple(xs, ks));
  auto [b, n] = fold_back(step, std::tuple(sum, count), std::tuple(xs, ks));
  auto [c, path] = scan_back([](auto h, auto x) { return std::tuple(tanh(h + x), h - x); }, sum, xs);
  everywhere s(a, m, b, n, c, path);
  CHECK(s.has("foldl/while/Enter", "Enter"));
  CHECK(s.has("foldr/while/Enter", "Enter"));
  const auto values = leat_test::filled<float, 2>({5, 3}, -1, 1, 7);
  const std::vector<std::int32_t> numbers{1, 2, 0, -1, 4};
  s.compare(1e-6, {{"xs:0", tensor_value(values)}, {"ks:0", tensor_value(numbers)}}, xs = values, ks = numbers);
}

TEST_CASE("a loop with a condition is a while_loop with its greatest number of steps") {
  auto a = placeholder<"a", double>();
  auto one = constant<1.0>();
  const auto far = [&](auto r) { return greater(abs(r * r - a), 1e-9_c); };
  const auto better = [&](auto r) { return 0.5_c * (r + a / r); };
  auto found = while_loop<100>(far, better, one);
  auto [slope] = gradients(found, a);
  everywhere s(found, slope);
  CHECK(s.has("while/Enter", "Enter"));
  CHECK(s.has("while/iteration_counter", "Const"));
  CHECK(s.has("while/LogicalAnd", "LogicalAnd"));
  CHECK(s.has("while/Exit", "Exit"));
  CHECK(s.count("LoopCond") == 2);  // with that of the gradient
  for (const double x : {9.0, 2.0, 1.0, 1e6}) s.compare(1e-12, {{"a:0", tensor_value(x)}}, a = x);
}

TEST_CASE("the number of steps, and a maximum that is reached") {
  auto a = placeholder<"a", double>();
  auto [found, steps] = counted_while_loop<5>([&](auto s) { return less(std::get<0>(s), a); },
                                              [](auto s) { return std::tuple(std::get<0>(s) + 1_c, std::get<1>(s) * 2_c); },
                                              std::tuple(constant<0.0>(), constant<std::int32_t(1)>()));
  auto [level, power] = found;
  everywhere s(level, power, steps);
  for (const double x : {-1.0, 0.5, 3.0, 5.0, 100.0}) s.compare(0, {{"a:0", tensor_value(x)}}, a = x);
}

TEST_CASE("choices are cond, and one side runs") {
  auto x = placeholder<"x", float, 4>();
  auto k = placeholder<"k", std::int32_t>();
  auto w = placeholder<"w", float>();
  auto y = cond(greater(reduce_max(x), 1_c), [&](auto v) { return v / reduce_max(v) * w; }, [](auto v) { return v + 1_c; }, x);
  auto z = switch_case(k, std::tuple([](auto v) { return tanh(v); }, [](auto v) { return v * 2_c; }, [](auto v) { return -v; }), y);
  auto [by_x, by_w] = gradients(reduce_sum(square(y)), x, w);
  everywhere s(y, z, by_x, by_w);
  CHECK(s.has("cond/Merge", "Merge"));
  CHECK(s.has("cond/pred_id", "Identity"));
  CHECK(s.count("LoopCond") == 0);
  for (const float top : {0.5f, 3.0f})
    for (const int number : {0, 1, 2, 7, -1}) {
      CAPTURE(number);
      const std::vector<float> values{0.25f, -1, top, 0};
      s.compare(1e-6, {{"x:0", tensor_value(values)}, {"k:0", tensor_value(std::int32_t{number})}, {"w:0", tensor_value(1.5f)}}, x = values,
                k = number, w = 1.5f);
    }
}

TEST_CASE("loops in loops, with choices and sizes that only a run knows") {
  auto xs = placeholder<"xs", double, "time", "batch">();
  auto start = constant<0.0, "batch">();
  auto last = fold(
      [](auto h, auto x) {
        auto grown = while_loop<10>([](auto v) { return less(reduce_max(abs(v)), 1_c); }, [](auto v) { return v * 2_c + 0.125_c; }, h + x);
        return cond(less(reduce_sum(grown), 0_c), [](auto v) { return v * 0.25_c; }, [](auto v) { return v * 0.5_c; }, grown);
      },
      start, xs);
  everywhere s(last);
  for (const std::size_t batch : {std::size_t{1}, std::size_t{3}}) {
    const auto values = leat_test::filled<double, 2>({4, batch}, -1, 1, batch);
    s.compare(1e-12, {{"xs:0", tensor_value(values)}}, xs = values);
  }
}

TEST_CASE("a recurrent layer with its training") {
  auto x = placeholder<"x", float, "batch", "time", 3>();
  auto lengths = placeholder<"lengths", std::int32_t, "batch">();
  auto forward = lstm<"fw/basic_lstm_cell", 4>(x, lengths, 1);
  auto backward = rnn_back<"bw/basic_rnn_cell", 4>(x, lengths, 2);
  auto loss = reduce_mean(square(forward.outputs + backward.outputs)) + reduce_sum(square(forward.state.c));
  auto train = gradient_descent(0.1f).minimize(loss);
  leat_test::both_sessions both(train, loss, forward.outputs, backward.state);
  both.copy(detail::make_variable<name_of<"fw/basic_lstm_cell/kernel">, float, dims<7, 16>, true>(glorot_uniform(1)));
  both.copy(detail::make_variable<name_of<"fw/basic_lstm_cell/bias">, float, dims<16>, true>(zeros));
  both.copy(detail::make_variable<name_of<"bw/basic_rnn_cell/kernel">, float, dims<7, 4>, true>(glorot_uniform(2)));
  both.copy(detail::make_variable<name_of<"bw/basic_rnn_cell/bias">, float, dims<4>, true>(zeros));
  const auto values = leat_test::filled<float, 3>({2, 5, 3}, -1, 1, 3);
  const std::vector<std::int32_t> steps{3, 5};
  const feed_list feeds{{"x:0", tensor_value(values)}, {"lengths:0", tensor_value(steps)}};
  CHECK(both.look(feeds, x = values, lengths = steps) < 1e-5);
  for (int i = 0; i < 3; ++i) both.train(feeds, x = values, lengths = steps);
  CHECK(both.look(feeds, x = values, lengths = steps) < 1e-5);
}

TEST_CASE("derivatives of derivatives, and along directions, are loops like others") {
  auto xs = placeholder<"xs", double, "time", 2>();
  auto rate = placeholder<"rate", double>();
  auto along = placeholder<"along", double>();
  auto start = constant<0.5, 2>();
  auto [last, all] = scan(
      [&](auto level, auto x) {
        const auto wave = [](auto v, auto r) { return sin(v) * r; };
        auto next = cond(greater(reduce_sum(x), 0_c), wave, [](auto v, auto r) { return v * r * r; }, level + x, rate);
        return std::tuple(next, reduce_sum(square(next)));
      },
      start, xs);
  const auto far = [&](auto r) { return greater(abs(r * r - rate), 1e-9_c); };
  auto root = while_loop<20>(far, [&](auto r) { return 0.5_c * (r + rate / r); }, rate);
  auto loss = reduce_sum(all) + reduce_sum(last) * root;
  auto [slope, by_xs] = gradients(loss, rate, xs);
  auto [bend] = gradients(slope, rate);
  auto moved = jvp(loss, rate, along);
  everywhere s(slope, by_xs, bend, moved);
  CHECK(s.count("StackV2") == 0);
  for (const std::size_t steps : {std::size_t{3}, std::size_t{1}}) {
    CAPTURE(steps);
    const auto values = leat_test::filled<double, 2>({steps, 2}, -1, 1, steps);
    const feed_list feeds{{"xs:0", tensor_value(values)}, {"rate:0", tensor_value(0.7)}, {"along:0", tensor_value(2.0)}};
    s.compare(1e-10, feeds, xs = values, rate = 0.7, along = 2.0);
  }
}

TEST_CASE("a differential equation with control of the error, and its check") {
  auto y0 = placeholder<"y0", double, 2>();
  auto t1 = placeholder<"t1", double>();
  auto zero = constant<0.0>();
  const auto slope = [](auto t, auto y) { return stack<0>(index<1>(y), -index<0>(y)) * cos(t); };
  auto end = solve_dormand_prince<60>(slope, y0, zero, t1, 1e-6_c, 1e-8_c);
  everywhere s(end);
  CHECK(s.count("Assert") == 1);
  const std::vector<double> start{1, 0.5};
  for (const double t : {1.0, -0.5, 0.0}) s.compare(1e-9, {{"y0:0", tensor_value(start)}, {"t1:0", tensor_value(t)}}, y0 = start, t1 = t);
  CHECK(s.message({{"y0:0", tensor_value(start)}, {"t1:0", tensor_value(1e4)}}).find("solve_dormand_prince: 60 steps are too few") !=
        std::string::npos);
}

TEST_CASE("loops of many models, which end apart and choose apart") {
  const auto x = placeholder<"x", double, "models">();
  const auto noise = placeholder<"noise", double, "models", "time">();
  const auto [halved, halvings] = vmap([](auto v) {
    return counted_while_loop<20>([](auto u) { return greater(u, 1.0_c); }, [](auto u) { return u * 0.5_c; }, v);
  })(x);
  const auto walked = vmap([](auto v, auto ws) { return fold([](auto u, auto w) { return tanh(u) + w; }, v, ws); })(x, noise);
  const auto chosen = vmap([](auto v) {
    return cond(greater(v, 1.0_c), [](auto u) { return u * 3_c; }, [](auto u) { return u - 1_c; }, v);
  })(x);
  const auto slope = std::get<0>(gradients(walked, x));
  everywhere e(halved, halvings, walked, chosen, slope);
  for (const std::vector<double>& xs : {std::vector<double>{5, 0.5, 2.5}, std::vector<double>{0.25, 0.5, 0.75}}) {
    xt::xtensor<double, 2> ws(std::array<std::size_t, 2>{3, 4});
    for (std::size_t i = 0; i < ws.size(); ++i) ws.data()[i] = 0.1 * static_cast<double>(i) - 0.5;
    e.compare(1e-12, {{"x:0", tensor_value(xs)}, {"noise:0", tensor_value(ws)}}, x = xs, noise = ws);
  }
}
