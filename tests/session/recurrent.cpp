// Recurrent networks on graphs with names: values and gradients as TensorFlow gives them, gradients against differences, lengths of
// sequences, and a state that goes from run to run.

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include "recurrent_cases.hpp"
#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

using namespace leat;
using leat_test::message_of;
using leat_test::says;

namespace {

using number_list = std::vector<double>;

number_list sines(std::int64_t count, double from, double scale) {
  number_list list;
  for (std::int64_t i = 0; i < count; ++i) list.push_back(scale * std::sin(1.7 * static_cast<double>(i) + from));
  return list;
}
number_list list_of(const tensor_value& v) {
  number_list list;
  with_dtype(v.type(), [&]<class T>(T) {
    for (const T x : v.values<T>()) list.push_back(static_cast<double>(x));
  });
  return list;
}
void check_near(const number_list& is, const number_list& wanted, double tolerance) {
  REQUIRE(is.size() == wanted.size());
  for (std::size_t i = 0; i < is.size(); ++i) CHECK(is[i] == doctest::Approx(wanted[i]).epsilon(tolerance).scale(1));
}
template <class T>
std::vector<T> as(const number_list& list) {
  return {list.begin(), list.end()};
}

rnn_cell cell_named(const std::string& name, std::int64_t units) {
  if (name == "basic_rnn") return basic_rnn_cell(units);
  if (name == "gru") return gru_cell(units);
  if (name == "basic_lstm") return basic_lstm_cell(units);
  if (name == "lstm_all") return lstm_cell(units, {.use_peepholes = true, .cell_clip = 0.6, .num_proj = 2, .proj_clip = 0.3});
  if (name == "multi") return multi_cell({basic_lstm_cell(units), basic_lstm_cell(units + 1)});
  throw not_found("no cell " + name);
}

// A network of a recorded case, with all that is fed to it and the loss that was recorded.
template <class T>
struct network {
  explicit network(const leat_test::recurrent_case& c) {
    const auto here = g.as_default();
    const dtype type = dtype_of<T>;
    x = placeholder(type, {-1, c.function == "static" ? c.time : -1, c.inputs}, "x");
    const auto sizes = c.time_major ? shape_value({c.time, c.batch, c.inputs}) : shape_value({c.batch, c.time, c.inputs});
    feeds.push_back({x, tensor_value(sizes, as<T>(sines(sizes.elements(), 0.3, 0.9)))});
    std::optional<operand_value> lengths;
    if (!c.lengths.empty()) {
      const auto n = placeholder(dtype::int32, {-1}, "lengths");
      feeds.push_back({n, tensor_value({c.batch}, c.lengths)});
      lengths = n;
    }
    const auto state_for = [&](const rnn_cell& cell, double from) {
      rnn_state state;
      if (!c.has_initial_state) return state;
      for (const auto& part : cell.state_parts()) {
        state.push_back(placeholder(type, {-1, part.size}));
        const double start = from + static_cast<double>(state.size() - 1);
        feeds.push_back({state.back(), tensor_value({c.batch, part.size}, as<T>(sines(c.batch * part.size, start, 0.5)))});
        initial.push_back(state.back());
      }
      return state;
    };
    const auto cell = cell_named(c.cell, c.units);
    const rnn_state first = state_for(cell, 2);
    if (c.function == "dynamic") {
      const auto made = dynamic_rnn(cell, x, {.sequence_length = lengths, .initial_state = first, .time_major = c.time_major});
      results = {made.outputs};
      results.insert(results.end(), made.state.begin(), made.state.end());
    } else if (c.function == "bidi") {
      const auto made =
          bidirectional_dynamic_rnn(cell, cell_named(c.cell, c.units), x, {.sequence_length = lengths, .time_major = c.time_major});
      results = {made.forward.outputs, made.backward.outputs};
      for (const auto& state : {made.forward.state, made.backward.state}) results.insert(results.end(), state.begin(), state.end());
    } else {
      const auto made = static_rnn(cell, unstack(x, 1), {.sequence_length = lengths, .initial_state = first});
      results = made.outputs;
      results.insert(results.end(), made.state.begin(), made.state.end());
    }
    std::vector<output> terms;
    for (std::size_t k = 0; k < results.size(); ++k) {
      const output& r = results[k];
      terms.push_back(reduce_sum(sin(r + static_cast<T>(k), {}), all_axes));
      terms.push_back(reduce_sum(r * r, all_axes) * static_cast<T>(0.5));
    }
    loss = add_n(terms);
    variables = trainable_variables();
    for (const output& v : variables) {
      places.push_back(placeholder(type, v.extent()));
      starts.push_back(assign(v, places.back()).operation());
    }
    std::vector<output> by{x};
    by.insert(by.end(), variables.begin(), variables.end());
    by.insert(by.end(), initial.begin(), initial.end());
    slopes = gradients({loss}, by);
  }
  number_list first_numbers(std::size_t k) const { return sines(variables[k].extent().elements(), 1 + static_cast<double>(k), 0.6); }
  void start(graph_session& s, std::size_t k, const number_list& numbers) const {
    s.run(starts[k], {{places[k], tensor_value(shape_value(variables[k].extent()), as<T>(numbers))}});
  }
  void start(graph_session& s) const {
    for (std::size_t k = 0; k < variables.size(); ++k) start(s, k, first_numbers(k));
  }

  graph g;
  output x, loss;
  std::vector<output> results, variables, initial, places, slopes;
  std::vector<graph_operation> starts;
  std::vector<feed_item> feeds;
};

template <class T>
void check_recorded(double tolerance) {
  for (const auto& c : leat_test::recurrent_cases) {
    INFO(c.function << " " << c.cell);
    network<T> net(c);
    std::vector<fetch_item> fetches(net.results.begin(), net.results.end());
    fetches.emplace_back(net.loss);
    for (const output& d : net.slopes) fetches.emplace_back(d);
    REQUIRE(fetches.size() == c.values.size());
    for (const bool fuse : {true, false})
      for (const int threads : {1, 3}) {
        graph_session s(net.g, {.fuse = fuse, .inter_op_parallelism_threads = threads});
        net.start(s);
        for (int times = 0; times < 2; ++times) {
          const auto got = s.run(fetches, std::vector<feed_item>(net.feeds));
          for (std::size_t k = 0; k < c.values.size(); ++k) {
            INFO("value " << k);
            check_near(list_of(got[k]), c.values[k], tolerance);
          }
        }
      }
  }
}

}  // namespace

TEST_CASE("recurrent networks give what TensorFlow gives") {
  check_recorded<double>(1e-9);
  check_recorded<float>(2e-5);
}

TEST_CASE("gradients of recurrent networks by variables, against differences") {
  for (const auto& c : leat_test::recurrent_cases) {
    INFO(c.function << " " << c.cell);
    network<double> net(c);
    graph_session s(net.g);
    net.start(s);
    const auto loss = [&] { return list_of(s.run({net.loss}, std::vector<feed_item>(net.feeds))[0])[0]; };
    for (std::size_t k = 0; k < net.variables.size(); ++k) {
      INFO(net.variables[k].name());
      const number_list slope = list_of(s.run({net.slopes[k + 1]}, std::vector<feed_item>(net.feeds))[0]);
      const number_list numbers = net.first_numbers(k);
      for (std::size_t i = 0; i < numbers.size(); i += 3) {
        const auto moved = [&](double step) {
          number_list list = numbers;
          list[i] += step;
          net.start(s, k, list);
          return loss();
        };
        CHECK((moved(1e-5) - moved(-1e-5)) / 2e-5 == doctest::Approx(slope[i]).epsilon(1e-6).scale(1));
      }
      net.start(s, k, numbers);
    }
  }
}

TEST_CASE("beyond the end of a sequence outputs are zeros, and the state stays") {
  for (const bool by_hand : {false, true}) {
    graph g;
    const auto here = g.as_default();
    const auto x = placeholder(dtype::float32, {3, 4, 1}, "x");
    const auto n = placeholder(dtype::int64, {-1}, "n");
    const auto cell = gru_cell(2);
    output outputs;
    rnn_state last;
    if (by_hand) {
      const auto made = static_rnn(cell, unstack(x, 1), {.sequence_length = n});
      outputs = stack(made.outputs, 1);
      last = made.state;
    } else {
      const auto made = dynamic_rnn(cell, x, {.sequence_length = n});
      outputs = made.outputs;
      last = made.state;
    }
    const auto init = global_variables_initializer();
    graph_session s(g);
    s.run(init);
    const auto run = [&](const std::vector<std::int64_t>& lengths) {
      const auto got = s.run({outputs, last[0]}, {{x, tensor_value({3, 4, 1}, as<float>(sines(12, 0, 1)))},
                                                  {n, tensor_value({static_cast<std::int64_t>(lengths.size())}, lengths)}});
      return std::pair(list_of(got[0]), list_of(got[1]));
    };
    const auto [whole, at_end] = run({4, 4, 4});
    const auto [some, state] = run({4, 0, 2});
    for (std::size_t row = 0; row < 3; ++row) {
      const std::size_t length = row == 0 ? 4 : row == 1 ? 0 : 2;
      for (std::size_t t = 0; t < 4; ++t)
        for (std::size_t k = 0; k < 2; ++k) {
          const std::size_t at = (row * 4 + t) * 2 + k;
          CHECK(some[at] == (t < length ? whole[at] : 0));
        }
      for (std::size_t k = 0; k < 2; ++k) CHECK(state[row * 2 + k] == (length == 0 ? 0 : whole[(row * 4 + length - 1) * 2 + k]));
    }
    CHECK(run({0, 0, 0}).first == number_list(24, 0));
    CHECK(run({-5, -1, 0}).first == number_list(24, 0));
    CHECK(run({9, 9, 9}).first == whole);
    if (!by_hand)
      CHECK(says(message_of<invalid_argument>([&] { run({1, 2}); }), "Expected shape for Tensor rnn/sequence_length:0 is ", "[3]"));
  }
}

TEST_CASE("no rows, and no steps") {
  graph g;
  const auto here = g.as_default();
  const auto cell = basic_lstm_cell(3);
  const auto x = placeholder(dtype::float32, {-1, -1, 2}, "x");
  const auto [outputs, state] = dynamic_rnn(cell, x);
  const auto slope = gradients({reduce_sum(outputs, all_axes) + reduce_sum(state[0], all_axes)}, trainable_variables());
  const auto y = placeholder(dtype::float32, {2, -1, 2}, "y");
  const auto none = dynamic_rnn(cell, y, {.initial_state = {ones_of({2, 3}), zeros_of({2, 3})}});
  const auto init = global_variables_initializer();
  graph_session s(g);
  s.run(init);
  const auto rows = s.run({outputs, state[1], slope[0]}, {{x, tensor_value({0, 4, 2}, std::vector<float>{})}});
  CHECK(rows[0].extent() == shape_value({0, 4, 3}));
  CHECK(rows[1].extent() == shape_value({0, 3}));
  CHECK(list_of(rows[2]) == number_list(60, 0));
  const auto steps = s.run({none.outputs, none.state[0]}, {{y, tensor_value({2, 0, 2}, std::vector<float>{})}});
  CHECK(steps[0].extent() == shape_value({2, 0, 3}));
  CHECK(list_of(steps[1]) == number_list(6, 1));
}

TEST_CASE("a state that goes from run to run is that of one long run") {
  graph g;
  const auto here = g.as_default();
  const auto cell = multi_cell({basic_lstm_cell(3), gru_cell(2)});
  const auto x = placeholder(dtype::float32, {1, -1, 2}, "x");
  const rnn_state first = cell.zero_state(1);
  const auto [outputs, last] = dynamic_rnn(cell, x, {.initial_state = first});
  const auto init = global_variables_initializer();
  graph_session s(g);
  s.run(init);
  const auto values = as<float>(sines(12, 0.5, 1));
  const auto whole = list_of(s.run({outputs}, {{x, tensor_value({1, 6, 2}, values)}})[0]);
  std::vector<tensor_value> state;
  for (std::size_t t = 0; t < 6; ++t) {
    std::vector<feed_item> feeds{{x, tensor_value({1, 1, 2}, std::vector<float>{values[2 * t], values[2 * t + 1]})}};
    for (std::size_t k = 0; k < state.size(); ++k) feeds.push_back({first[k], state[k]});
    std::vector<fetch_item> fetches{outputs};
    fetches.insert(fetches.end(), last.begin(), last.end());
    auto got = s.run(fetches, std::move(feeds));
    check_near(list_of(got[0]), {whole[2 * t], whole[2 * t + 1]}, 1e-6);
    state.assign(got.begin() + 1, got.end());
  }
}

TEST_CASE("a cell with dropout keeps some elements, scaled, and draws anew in each step") {
  graph g;
  const auto here = g.as_default();
  const auto x = ones_of({1, 50, 4});
  const auto kept = dynamic_rnn(dropout_cell(basic_rnn_cell(40, {.activation = [](const output& y) { return y * 0.0f + 1.0f; }}),
                                             {.output_keep_prob = 0.25, .seed = 7}),
                                x);
  const auto init = global_variables_initializer();
  graph_session s(g);
  s.run(init);
  const auto got = list_of(s.run({kept.outputs})[0]);
  std::size_t count = 0, alike = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    CHECK((got[i] == 0 || got[i] == 4));
    count += got[i] != 0 ? 1 : 0;
    alike += i >= 40 && got[i] == got[i - 40] ? 1 : 0;
  }
  CHECK(count > 400);
  CHECK(count < 600);
  CHECK(alike < 1500);
}
