#include <leat/cpu/interpret.hpp>

#include "support/check.hpp"
#include "support/interpreted.hpp"

#include <cmath>
#include <string>

using namespace leat;
using namespace leat::instructions;
using namespace leat::literals;
using namespace leat_test;

namespace {

/// x / (1 + |x|), as a program of its own would have it.
struct own_softsign_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "OwnSoftsign";
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::divide(x, M::add(V(1), M::abs(x)));
  }
};
template <class Op, class X>
  requires accepted<Op, X>
constexpr made<Op, X> apply_own(const X& x) {
  return make<Op>(x);
}

template <class F>
std::string problem_of(F f) {
  try {
    f();
  } catch (const error& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("sizes of named dimensions may change from run to run") {
  const auto x = placeholder<"x", float, "n", 4>();
  const auto mean = reduce_mean<0>(x);
  const auto scaled = x / cast<float>(2_c * cast<std::int32_t>(reduce_max(x)));
  interpreted code(fetch(mean, scaled));
  for (const std::size_t n : {std::size_t{3}, std::size_t{100}, std::size_t{1}, std::size_t{5000}, std::size_t{3}}) {
    auto xs = filled<float, 2>({n, 4}, 1, 5, n);
    code.with(x, xs).run();
    for (std::size_t j = 0; j < 4; ++j) {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(xs(i, j));
      float got;
      std::memcpy(&got, code.bytes(0).data() + j * sizeof got, sizeof got);
      CHECK(static_cast<double>(got) == doctest::Approx(sum / static_cast<double>(n)).epsilon(1e-5));
    }
  }
}

TEST_CASE("a variable's old value can be had beside its new one") {
  const auto w = variable<"w", float, 3000>(zeros);
  const auto g = placeholder<"g", float, 3000>();
  const auto step = assign_sub(w, g * 0.5_c);
  const auto doubled = w * 2_c;
  interpreted code(fetch(w, doubled, step));
  auto ws = filled<float, 1>({3000}, -1, 1, 1);
  auto gs = filled<float, 1>({3000}, -1, 1, 2);
  const auto before = ws;
  code.with(w, ws).with(g, gs).run();
  CHECK(code.same(0, before));
  bool right = true;
  for (std::size_t i = 0; i < ws.size(); ++i) {
    float twice;
    std::memcpy(&twice, code.bytes(1).data() + i * sizeof twice, sizeof twice);
    right = right && twice == before(i) * 2 && ws(i) == before(i) - gs(i) * 0.5f;
  }
  CHECK(right);
}

TEST_CASE_TEMPLATE("arithmetic of every number's dtype", T, float, double, std::int32_t, std::int64_t, std::uint8_t) {
  const auto x = placeholder<"x", T, "n">();
  const auto y = placeholder<"y", T, "n">();
  const auto z = maximum(x * y + x, y) - minimum(x, y);
  const auto total = reduce_sum(z);
  const auto truth = select(x < y, x, y);
  const auto widened = cast<double>(z) + cast<double>(cast<std::uint8_t>(x));
  interpreted code(fetch(z, total, truth, widened));
  for (const std::size_t n : lengths) {
    auto xs = filled<T, 1>({n}, 0, 11, 1);
    auto ys = filled<T, 1>({n}, 1, 11, 2);
    code.with(x, xs).with(y, ys).run();
    auto want = xs;
    auto least = xs;
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const T product = static_cast<T>(xs(i) * ys(i) + xs(i));
      want(i) = static_cast<T>(std::max(product, ys(i)) - std::min(xs(i), ys(i)));
      least(i) = std::min(xs(i), ys(i));
      sum += static_cast<double>(want(i));
    }
    const double tolerance = std::is_same_v<T, float> ? 1e-6 : 1e-14;
    CHECK(code.difference(0, want) <= tolerance);
    CHECK(code.same(2, least));
    if constexpr (!std::is_same_v<T, std::uint8_t>)
      CHECK(static_cast<double>(code.template number<T>(1)) == doctest::Approx(sum).epsilon(1e-5));
  }
}

TEST_CASE("a fetch that is an input, and one element") {
  const auto x = placeholder<"x", std::int64_t, "n">();
  const auto s = placeholder<"s", double>();
  interpreted code(fetch(x, s * s + 1_c));
  auto xs = filled<std::int64_t, 1>({70}, 0, 1000, 1);
  double number = 3;
  code.with(x, xs).with_number(s, number).run();
  CHECK(code.same(0, xs));
  CHECK(code.number<double>(1) == 10);
}

TEST_CASE("an operator of a program's own") {
  const auto x = placeholder<"x", float, "n">();
  const auto y = apply_own<own_softsign_op>(x);
  const auto text = problem_of([&] { interpreted early(fetch(y)); });
  CHECK(text.find("has no function from float32 to float32") != std::string::npos);
  CHECK(text.find("register_kernel") != std::string::npos);
  register_operator<own_softsign_op>();
  cpu::register_kernel<own_softsign_op>();
  interpreted code(fetch(y));
  auto xs = filled<float, 1>({35}, -3, 3, 1);
  auto want = xs;
  for (float& v : want) v = v / (1 + std::fabs(v));
  CHECK(code.with(x, xs).run().same(0, want));
}

TEST_CASE("what cannot be run is refused") {
  const auto x = placeholder<"x", float, "n", 3>();
  const auto i = placeholder<"i", std::int32_t, "m">();
  const auto w = variable<"w", float, 3>(zeros);
  {
    graph g;
    const int a = flatten<decltype(assign(w, reduce_sum<0>(x)))>(g);
    const int b = flatten<decltype(assign_add(w, w))>(g);
    CHECK_THROWS_AS(cpu::interpreter(at_run_time::compile(g, {a, b})), invalid_argument);
  }
  interpreted code(fetch(gather(x, i), assign_add(w, reduce_sum<0>(x))));
  CHECK_THROWS_AS(code.step().run(), failed_precondition);
  CHECK_THROWS_AS(code.step().bind(1000, nullptr), invalid_argument);
  CHECK_THROWS_AS(code.step().set_size(7, 1), invalid_argument);
  CHECK_THROWS_AS(code.step().set_size(0, -1), invalid_argument);

  auto xs = filled<float, 2>({4, 3});
  auto is = filled<std::int32_t, 1>({2}, 0, 4);
  auto ws = filled<float, 1>({3});
  const auto before = ws;
  is(1) = 4;
  code.with(x, xs).with(i, is).with(w, ws);
  const auto text = problem_of([&] { code.run(); });
  CHECK(text.find("index 4 at position 1 is out of range [0, 4)") != std::string::npos);
  CHECK(ws == before);  // a step that failed wrote nothing
  is(1) = 3;
  CHECK_NOTHROW(code.run());
  CHECK(ws != before);
}

TEST_CASE("damaged instructions are refused, not run") {
  const auto x = placeholder<"x", float, 100>();
  const auto p = [&] {
    graph g;
    const int target = flatten<decltype(softmax(reshape<10, 10>(tanh(x))))>(g);
    return at_run_time::compile(g, {target});
  }();
  CHECK_NOTHROW(cpu::interpreter{p});
  for (std::size_t s = 0; s < p.steps.size(); ++s)
    for (std::size_t k = 0; k < p.steps[s].instructions.size(); ++k) {
      program bad = p;
      bad.steps[s].instructions[k] = 900;
      try {
        const cpu::interpreter made(bad);
      } catch (const error&) {
      }
    }
  program bad = p;
  bad.steps.front().instructions.resize(phase_lengths + 8);
  CHECK_THROWS_AS(cpu::interpreter{bad}, invalid_argument);
}

TEST_CASE("threads give the bytes that one gives") {
  const auto x = placeholder<"x", float, "n", 130>();
  const auto w = placeholder<"w", float, 130, 40>();
  const auto y = matmul(softmax(x), w);
  const auto columns = reduce_sum<0>(tanh(x));
  const auto rows = reduce_max<1>(x * x);
  const auto all = reduce_sum(exp(x));
  interpreted code(fetch(y, columns, rows, all));
  auto xs = filled<float, 2>({3000, 130}, -1, 1, 1);
  auto ws = filled<float, 2>({130, 40}, -1, 1, 2);
  cpu::set_thread_count(1);
  code.with(x, xs).with(w, ws).run();
  std::vector<std::vector<std::byte>> want;
  for (int k = 0; k < 4; ++k) want.push_back(code.bytes(k));
  for (const int threads : {2, 3}) {
    cpu::set_thread_count(threads);
    code.run();
    for (int k = 0; k < 4; ++k) CHECK(code.bytes(k) == want[static_cast<std::size_t>(k)]);
  }
  cpu::set_thread_count(1);
}
