// Derivatives of typed programs: compiled, planned and in a graph with names, with one result.

#include <leat/calculus.hpp>
#include <leat/planned.hpp>
#include <leat/vmap.hpp>

#include "support/agreement.hpp"
#include "support/check.hpp"

#include <tuple>
#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

const auto x = placeholder<"x", double, 3, 4>();
const auto v = placeholder<"v", double, 3, 4>();
const auto w = variable<"w", double, 4, 2>(0.3);
const auto y = tanh(matmul(x, w)) * exp(reduce_sum_keep<1>(x * 0.1_c));
const auto loss = reduce_sum(square(y));

const xt::xtensor<double, 2> xs{{0.1, -0.4, 0.9, 1.2}, {-0.3, 0.7, 0.2, -1.1}, {0.5, 0.6, -0.8, 0.05}};
const xt::xtensor<double, 2> vs{{1, 0.5, -2, 0.25}, {0.125, 3, -1, 0.75}, {-0.5, 2, 1, -1}};

template <class... Es>
void check_agreement(const Es&... es) {
  both_sessions both(group(assign(w, w * 0.5_c)), es...);
  both.copy(w);
  CHECK(both.look({{"x", xs}, {"v", vs}}, x = xs, v = vs) < 1e-12);
  session compiled{es...};
  planned_session planned{es...};
  compiled.initialize();
  planned.initialize();
  const auto one = compiled.run(fetch(es...), x = xs, v = vs);
  const auto other = planned.run(fetch(es...), x = xs, v = vs);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (
        [&] {
          const auto& a = std::get<I>(one);
          const auto& b = std::get<I>(other);
          REQUIRE(a.size() == b.size());
          for (std::size_t i = 0; i < a.size(); ++i) CHECK(a.data()[i] == doctest::Approx(b.data()[i]).epsilon(1e-12));
        }(),
        ...);
  }(std::index_sequence_for<Es...>{});
}

}  // namespace

TEST_CASE("along a direction") {
  check_agreement(jvp(y, x, v), vjp(y, y, x), hvp(loss, x, v), std::get<0>(jvp(std::tuple(y), std::tuple(x, w), std::tuple(v, w))));
}

TEST_CASE("Jacobians and Hessians") {
  check_agreement(jacobian(y, x) + reduce_sum(v), batch_jacobian(y, x) * reduce_sum(v), jacobian<jacobian_mode::reverse>(y, w) - reduce_sum(v),
                  hessian(loss, w) + reduce_sum(v));
}

TEST_CASE("a training step whose loss has a derivative in it") {
  const auto penalty = reduce_sum(square(jvp(y, x, v)));
  const auto step = gradient_descent(0.015625_c).minimize(penalty);
  both_sessions both(step, penalty);
  both.copy(w);
  session compiled{step, penalty};
  planned_session planned{step, penalty};
  compiled.initialize();
  planned.initialize();
  double first = 0, last = 0;
  for (int k = 0; k < 10; ++k) {
    CHECK(both.look({{"x", xs}, {"v", vs}}, x = xs, v = vs) < 1e-12);
    both.train({{"x", xs}, {"v", vs}}, x = xs, v = vs);
    CHECK(both.of(w) < 1e-12);
    const auto [a] = compiled.run(fetch(penalty), x = xs, v = vs);
    const auto [b] = planned.run(fetch(penalty), x = xs, v = vs);
    CHECK(a == doctest::Approx(b).epsilon(1e-12));
    compiled.run(fetch(step), x = xs, v = vs);
    planned.run(fetch(step), x = xs, v = vs);
    (k == 0 ? first : last) = a;
  }
  CHECK(last < first);
}

TEST_CASE("graphs have the same functions") {
  graph g;
  const auto scope = g.as_default();
  const auto px = placeholder(dtype::float64, {-1, 4}, "x");
  const auto pw = leat::constant(tensor_literal(0.3), shape_value{4, 2});
  const auto py = leat::tanh(leat::matmul(px, pw)) * leat::exp(leat::reduce_sum(px * 0.1, {1}, keep_dims::yes));
  const auto ploss = leat::reduce_sum(leat::square(py), all_axes);
  const auto pv = leat::constant(tensor_literal(std::vector<double>(vs.begin(), vs.end())), shape_value{3, 4});
  graph_session s(g);

  session typed{y, loss, jvp(y, x, v), vjp(y, y, x), hvp(loss, x, v), jacobian(y, x), batch_jacobian(y, x), hessian(loss, x)};
  typed.initialize();
  const auto compare = [&](const output& o, const auto& e) {
    const tensor_value got = s.run(o, {{px, xs}});
    const auto [wanted] = [&] {
      if constexpr (requires { typed.run(fetch(e), x = xs, v = vs); }) return typed.run(fetch(e), x = xs, v = vs);
      else return typed.run(fetch(e), x = xs);
    }();
    CHECK(distance(got, wanted) < 1e-12);
  };
  compare(jvp({py}, {px}, {pv}).front(), jvp(y, x, v));
  compare(vjp({py}, {py}, {px}).front(), vjp(y, y, x));
  compare(hvp(ploss, {px}, {pv}).front(), hvp(loss, x, v));
  compare(jacobian(py, px), jacobian(y, x));
  compare(batch_jacobian(py, px), batch_jacobian(y, x));
  compare(hessian(ploss, px), hessian(loss, x));

  const auto text_of = [](auto f) {
    try {
      f();
    } catch (const error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(text_of([&] { jacobian(py, pv); }).find("no gradient flows from") != std::string::npos);
  CHECK(text_of([&] { jacobian(leat::shape_of(py), px); }).find("only of floating-point tensors") != std::string::npos);
  CHECK(text_of([&] { batch_jacobian(ploss, px); }).find("the first axis is that of the batch") != std::string::npos);
  CHECK(text_of([&] { jvp({py}, {px}, {}); }).find("0 directions for 1 operands") != std::string::npos);
  CHECK(text_of([&] { vjp({py}, {}, {px}); }).find("0 weights for 1 results") != std::string::npos);
  CHECK(text_of([&] { hvp(ploss, {pv}, {pv}); }).find("hvp: no gradient flows from") != std::string::npos);
  CHECK(!static_cast<bool>(jvp({py}, {pv}, {pv}).front()));
}
