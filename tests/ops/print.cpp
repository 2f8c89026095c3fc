#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/ops/print.hpp>
#include <leat/planned.hpp>
#include <leat/session/graph_session.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

using namespace leat;
using namespace leat::literals;

namespace {

// What a run prints.
template <class Run>
std::string printed(Run run) {
  std::ostringstream text;
  const print_log log(text);
  run();
  return text.str();
}

}  // namespace

TEST_CASE("print gives its operand, prints when a run computes it, and lets gradients pass") {
  const auto x = placeholder<"x", float, "n">();
  const auto count = placeholder<"count", std::int64_t>();
  const auto half = x * 0.5_c;
  const auto shown = print<"half and count: ">(half, half, count, greater(x, 1_c));
  const auto doubled = shown * 2_c;
  const auto [slope] = gradients(reduce_sum(square(shown)), x);
  const auto check = [&](auto& s) {
    CAPTURE(typeid(s).name());
    const std::vector<float> values{1, 2.5f, -3, 4e10f};
    CHECK(printed([&] {
            const auto [a, b] = s.run(fetch(shown, doubled), x = values, count = std::int64_t{-7});
            for (std::size_t k = 0; k < 4; ++k) CHECK(a(k) == values[k] / 2);
            for (std::size_t k = 0; k < 4; ++k) CHECK(b(k) == values[k]);
          }) == "half and count: [0.5 1.25 -1.5...][-7][0 1 0...]\n");
    CHECK(printed([&] { s.run(fetch(half), x = values); }).empty());
    CHECK(printed([&] {
            const auto [d] = s.run(fetch(slope), x = std::vector<float>{6}, count = std::int64_t{1});
            CHECK(d(0) == 3);
          }) == "half and count: [3][1][1]\n");
  };
  session s{shown, doubled, half, slope};
  check(s);
  planned_session p{shown, doubled, half, slope};
  check(p);
}

TEST_CASE("printing is ordered by after, shows what it is told to, and is as in graphs") {
  const auto w = variable<"w", float, 2, 3>(ones);
  const auto step = assign_add(w, w);
  const auto before = after(step, print<"before ">(w, w));
  const auto later = print<"\xC3\xA4, then ", -1>(after(w, step), after(w, step));
  const auto all = constant<0.5f, 2000>();
  const auto many = print<"", -1>(all, all);
  const auto silent = print<"only this">(w);
  const auto check = [&](auto& s) {
    s.initialize();
    CHECK(printed([&] { s.run(fetch(before)); }) == "before [[1 1 1...]\n");
    CHECK(printed([&] { s.run(fetch(later)); }) == "\xC3\xA4, then [[4 4 4][4 4 4]]\n");
    const std::string text = printed([&] { s.run(fetch(many)); });
    CHECK(std::count(text.begin(), text.end(), ' ') == 1999);
    CHECK(printed([&] { s.run(fetch(silent)); }) == "only this\n");
  };
  session s{before, later, many, silent};
  check(s);
  planned_session p{before, later, many, silent};
  check(p);

  graph g;
  const auto scope = g.as_default();
  const auto made = to_graph(print<"both ", 2>(w, w, reduce_sum(w)));
  std::ostringstream log;
  graph_session dynamic(g, {.log = &log});
  dynamic.run(global_variables_initializer());
  dynamic.run(made[0]);
  session typed{print<"both ", 2>(w, w, reduce_sum(w))};
  typed.initialize();
  CHECK(printed([&] { typed.run(fetch(print<"both ", 2>(w, w, reduce_sum(w)))); }) == log.str());
  CHECK(log.str() == "both [[1 1...][6]\n");
}
