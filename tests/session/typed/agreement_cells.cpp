// Cells of typed programs against those of graphs with names: the same variables, the same values.

#include "support/agreement.hpp"
#include "support/check.hpp"

#include <doctest/doctest.h>

using namespace leat;
using namespace leat::literals;

TEST_CASE("typed cells agree with the cells of graphs, which have variables of the same names and shapes") {
  const auto x = placeholder<"x", float, 3, 2>();
  const auto h = placeholder<"h", float, 3, 4>();
  const auto c = placeholder<"c", float, 3, 4>();
  const auto simple = leat::basic_rnn_cell<"basic_rnn_cell", 4>(x, h, 1);
  const auto gated = leat::gru_cell<"gru_cell", 4>(x, h, 2);
  const auto [next, shown] = leat::lstm_cell<"lstm_cell", 4>(x, lstm_state{c, h}, 3);
  session typed{simple, gated, next, shown};
  typed.initialize();
  graph g;
  const auto scope = g.as_default();
  const output xs = placeholder(dtype::float32, {3, 2}, "x"), hs = placeholder(dtype::float32, {3, 4}, "h"),
               cs = placeholder(dtype::float32, {3, 4}, "c");
  const rnn_result a = basic_rnn_cell(4)(xs, {hs}), b = gru_cell(4)(xs, {hs}), d = lstm_cell(4)(xs, {cs, hs});
  graph_session dynamic(g);
  dynamic.run({graph_element(global_variables_initializer())});
  const auto copy = [&](const std::string& name, const auto& v) {
    dynamic.assign(get_tensor_by_name(g, name + ":0"), tensor_value(typed.value(v)));
  };
  copy("basic_rnn_cell/kernel", variable<"basic_rnn_cell/kernel", float, 6, 4>(glorot_uniform(1)));
  copy("basic_rnn_cell/bias", variable<"basic_rnn_cell/bias", float, 4>(zeros));
  copy("gru_cell/gates/kernel", variable<"gru_cell/gates/kernel", float, 6, 8>(glorot_uniform(2)));
  copy("gru_cell/gates/bias", variable<"gru_cell/gates/bias", float, 8>(ones));
  copy("gru_cell/candidate/kernel", variable<"gru_cell/candidate/kernel", float, 6, 4>(glorot_uniform(2)));
  copy("gru_cell/candidate/bias", variable<"gru_cell/candidate/bias", float, 4>(zeros));
  copy("lstm_cell/kernel", variable<"lstm_cell/kernel", float, 6, 16>(glorot_uniform(3)));
  copy("lstm_cell/bias", variable<"lstm_cell/bias", float, 16>(zeros));
  CHECK(global_variables().size() == 8);
  const auto given = leat_test::filled<float, 2>({3, 2}, -1, 1, 1), before = leat_test::filled<float, 2>({3, 4}, -1, 1, 2),
             memory = leat_test::filled<float, 2>({3, 4}, -1, 1, 3);
  const auto [s, t, n, o] = typed.run(fetch(simple, gated, next, shown), x = given, h = before, c = memory);
  const auto results = dynamic.run({a.outputs, b.outputs, d.state[0], d.outputs},
                                   {{"x:0", tensor_value(given)}, {"h:0", tensor_value(before)}, {"c:0", tensor_value(memory)}});
  CHECK(leat_test::distance(results[0], s) < 1e-6);
  CHECK(leat_test::distance(results[1], t) < 1e-6);
  CHECK(leat_test::distance(results[2], n) < 1e-6);
  CHECK(leat_test::distance(results[3], o) < 1e-6);
}
