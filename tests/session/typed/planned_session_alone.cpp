// Planned sessions beside compiled ones: the same numbers to the last bit. Compiled without contraction of a b + c across operators,
// which g++ does in compiled clusters.

#include <leat/cpu/interpret.hpp>
#include <leat/graph/known_operators.hpp>
#include <leat/inspect/trace.hpp>
#include <leat/planned.hpp>

#include "support/allocations.hpp"
#include "support/check.hpp"
#include "support/messages.hpp"

#include <cstring>
#include <map>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

template <class A, class B>
bool same_bytes(const A& a, const B& b) {
  if constexpr (std::is_arithmetic_v<A>) return std::memcmp(&a, &b, sizeof a) == 0;
  else return a.shape() == b.shape() && (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof *a.data()) == 0);
}
template <class... As, class... Bs>
bool same_results(const std::tuple<As...>& a, const std::tuple<Bs...>& b) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return (same_bytes(std::get<I>(a), std::get<I>(b)) && ...);
  }(std::index_sequence_for<As...>{});
}
// All variables, by name.
template <class S>
std::map<std::string, std::vector<std::byte>> values_of(const S& s) {
  std::map<std::string, std::vector<std::byte>> all;
  s.for_each_value([&](const std::string& name, dtype, const shape&, std::span<const std::byte> bytes) {
    all.emplace(name, std::vector<std::byte>(bytes.begin(), bytes.end()));
  });
  return all;
}

template <int I, class H>
auto layers(const H& h) {
  if constexpr (I == 0) {
    return h;
  } else {
    constexpr auto name = [] {
      fixed_string<8> text{"layer00"};
      text.text[5] = static_cast<char>('0' + I / 10);
      text.text[6] = static_cast<char>('0' + I % 10);
      return text;
    };
    return layers<I - 1>(h + relu(dense<name(), 16>(h)));
  }
}

// The program's own: x / (1 + |x|).
struct own_softsign_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "OwnSoftsign";
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::divide(x, M::add(V(1), M::abs(x)));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto a = 1 + abs(g.input(0));
    if (g.wants(0)) give(g, 0, g.dy() / (a * a));
  }
};
template <class X>
constexpr auto own_softsign(const X& x) {
  return leat::make<own_softsign_op>(x);
}

}  // namespace

TEST_CASE("a planned session gives what a compiled one does: a convolutional network") {
  const auto x = placeholder<"x", float, "batch", 9, 8, 3>();
  const auto y = placeholder<"y", std::int32_t, "batch">();
  const auto maps = max_pool<2>(relu(conv<"conv1", 8, 3, 1, padding::same>(x)));
  const auto means = avg_pool<2, 1, padding::same>(conv<"conv2", 8, hw{3, 2}, 2>(maps));
  const auto logits = dense<"logits", 5>(flatten_layer(means));
  const auto loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(y, logits));
  const auto train = adam(0.01f).minimize(loss);
  session compiled{loss, logits, train};
  planned_session planned{loss, logits, train};
  compiled.initialize();
  planned.initialize();
  for (const std::size_t n : {7, 1, 32}) {
    CAPTURE(n);
    const auto xs = filled<float, 4>({n, 9, 8, 3});
    const auto ys = filled<std::int32_t, 1>({n}, 0, 5);
    CHECK(same_results(compiled.run(fetch(loss, train), x = xs, y = ys), planned.run(fetch(loss, train), x = xs, y = ys)));
    CHECK(values_of(compiled) == values_of(planned));
  }
}

TEST_CASE("a planned session gives what a compiled one does: arrays rearranged, looked up and contracted") {
  const auto x = placeholder<"x", float, "batch", 6, 5>();
  const auto ids = placeholder<"ids", std::int32_t, "k", 2>();
  const auto w = variable<"w", float, 6, 5>(random_normal(0, 1, 3));
  const auto y = x * w;
  const auto [a, b] = split<1, 2>(y);
  const auto turned = reverse<0, 2>(y) + roll<2, 2>(y);
  const auto tiled = tile<1, 2, 3>(y);
  const auto stepped = index<-1, along::all(-2), along::from(1, 3)>(y);
  const auto found = gather_nd(y, ids);
  const auto columns = gather<2>(y, constant<"columns", std::int32_t, 2>({4, 0}));
  const auto sums = scatter_nd<9, 6, 5>(ids, found);
  const auto scores = einsum<"bij,bkj->ibk">(y, y);
  const auto diagonal = einsum<"iij->ij">(einsum<"bij,bkj->ikb">(y, y));
  const auto mixed = tensordot<axis_list<1, 2>, axis_list<0, 1>>(y, w) * range<float, 2, 3>();
  const auto loss = reduce_sum(a * b) + reduce_sum(square(turned)) + reduce_sum(square(tiled)) + reduce_sum(square(stepped)) +
                    reduce_sum(square(found)) + reduce_sum(columns) + reduce_sum(square(sums)) + reduce_sum(scores) + reduce_sum(diagonal) +
                    reduce_sum(square(mixed));
  const auto train = gradient_descent(0.001f).minimize(loss);
  session compiled{loss, turned, tiled, stepped, found, sums, scores, train};
  planned_session planned{loss, turned, tiled, stepped, found, sums, scores, train};
  compiled.initialize();
  planned.initialize();
  const xt::xtensor<std::int32_t, 2> is{{0, 5}, {0, 0}, {0, 5}};
  for (const std::size_t n : {7, 1, 32}) {
    CAPTURE(n);
    const auto xs = filled<float, 3>({n, 6, 5});
    CHECK(same_results(compiled.run(fetch(loss, turned, tiled, stepped, found, sums, scores, train), x = xs, ids = is),
                       planned.run(fetch(loss, turned, tiled, stepped, found, sums, scores, train), x = xs, ids = is)));
    CHECK(values_of(compiled) == values_of(planned));
  }
  const xt::xtensor<std::int32_t, 2> wrong{{0, 6}};
  CHECK_THROWS_AS((void)planned.run(fetch(found), x = filled<float, 3>({1, 6, 5}), ids = wrong), invalid_argument);
}

TEST_CASE("a planned session gives what a compiled one does: a network, its slots, several sets of fetches") {
  const auto x = placeholder<"x", float, "batch", 12>();
  const auto y = placeholder<"y", std::int32_t, "batch">();
  const auto hidden = relu(dense<"hidden", 16>(x, 3));
  const auto logits = dense<"logits", 5>(hidden, 4);
  const auto loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(y, logits));
  const auto train = adam(parameter<"rate">(0.01f)).minimize(loss, global_step());
  session compiled{loss, logits, train};
  planned_session planned{loss, logits, train};
  compiled.initialize();
  planned.initialize();
  CHECK(values_of(compiled) == values_of(planned));
  CHECK(values_of(planned).size() == 4 + 8 + 2 + 1);
  for (const std::size_t n : {7, 1, 7, 32}) {
    CAPTURE(n);
    const auto xs = filled<float, 2>({n, 12});
    const auto ys = filled<std::int32_t, 1>({n}, 0, 5);
    CHECK(same_results(compiled.run(fetch(loss, train), x = xs, y = ys), planned.run(fetch(loss, train), x = xs, y = ys)));
    CHECK(same_results(compiled.run(fetch(logits), x = xs), planned.run(fetch(logits), x = xs)));
    CHECK(values_of(compiled) == values_of(planned));
  }
  const auto rate = parameter<"rate">(0.01f);
  const auto xs = filled<float, 2>({4, 12});
  const auto ys = filled<std::int32_t, 1>({4}, 0, 5);
  compiled.run(fetch(train), x = xs, y = ys, rate = 0.5f);  // for one run
  planned.run(fetch(train), x = xs, y = ys, rate = 0.5f);
  CHECK(values_of(compiled) == values_of(planned));
  compiled.assign(rate, 0.25f);  // for all that follow
  planned.assign(rate, 0.25f);
  compiled.run(fetch(train), x = xs, y = ys);
  planned.run(fetch(train), x = xs, y = ys);
  CHECK(values_of(compiled) == values_of(planned));
}

TEST_CASE("gradients of gradients, settings that are expressions, steps that wait, apply_gradients") {
  const auto x = placeholder<"x", float, "n">();
  const auto w = variable<"w", float>(1.5f);
  const auto v = variable<"v", float>(-0.5f);
  const auto steps = untrainable_variable<"steps", float>(zeros);
  const auto y = reduce_sum(square(x * w) * w);
  const auto z = reduce_mean(square(v - x));
  const auto [slope] = gradients(y, w);
  const auto [bend] = gradients(square(slope), w);
  const auto step = momentum(1_c / (10_c + steps), 0.9f).minimize(y + square(slope));
  const auto pairs = gradient_descent(0.01f).compute_gradients(z, v);
  const auto other = gradient_descent(0.01f).apply_gradients(pairs);
  const auto all = group(after(step, assign_add(steps, 1_c)), other);
  session compiled{y, slope, bend, all};
  planned_session planned{y, slope, bend, all};
  compiled.initialize();
  planned.initialize();
  const auto xs = filled<float, 1>({5});
  for (int i = 0; i < 3; ++i) {
    CHECK(same_results(compiled.run(fetch(bend, slope, y), x = xs), planned.run(fetch(bend, slope, y), x = xs)));
    compiled.run(fetch(all), x = xs);
    planned.run(fetch(all), x = xs);
    CHECK(values_of(compiled) == values_of(planned));
  }
  CHECK(planned.value(steps) == 3);
}

TEST_CASE("small products, which are scalars in a compiled program and kernels in a planned one") {
  const auto z = placeholder<"z", double, 1, 1>();
  const auto f = constant(std::array<std::array<double, 3>, 3>{{{1, 0.1, 0.005}, {0, 1, 0.1}, {0, 0, 1}}});
  const auto h = constant(std::array<std::array<double, 3>, 1>{{{0.9, 0.2, 0.1}}});
  const auto x = variable<"x", double, 3, 1>(zeros);
  const auto p = variable<"p", double, 3, 3>(ones);
  const auto predicted = matmul(f, x);
  const auto spread = matmul<false, true>(matmul(f, p), f) + constant<0.01>();
  const auto gain = matmul<false, true>(spread, h) / (matmul(h, matmul<false, true>(spread, h)) + 0.25_c);
  const auto move = assign(x, predicted + matmul(gain, z - matmul(h, predicted)));
  const auto narrow = assign(p, spread - matmul(gain, matmul(h, spread)));
  const auto w = variable<"w", float, 2, 2>(ones);
  const auto product = matmul<true, true>(w, constant(std::array<std::array<float, 2>, 2>{{{0.1f, 0.7f}, {1.3f, -0.9f}}}));
  const auto learn = assign_sub(w, 0.1_c * matmul(product, w));
  const auto all = group(move, narrow, learn);
  session compiled{all, gain, spread, product};
  planned_session planned{all, gain, spread, product};
  compiled.initialize();
  planned.initialize();
  xt::xtensor<double, 2> measured({1, 1});
  for (int i = 0; i < 20; ++i) {
    measured(0, 0) = 0.3 * i;
    CHECK(same_results(compiled.run(fetch(gain, spread, product, all), z = measured),
                       planned.run(fetch(gain, spread, product, all), z = measured)));
    CHECK(values_of(compiled) == values_of(planned));
  }
  CHECK(count([&] { compiled.run(fetch(all), z = measured); }) == 0);
  CHECK(count([&] { planned.run(fetch(all), z = measured); }) == 0);
}

TEST_CASE("a deep model") {
  const auto x = placeholder<"x", float, "batch", 16>();
  const auto loss = reduce_mean(square(layers<40>(x) - 1_c));
  const auto train = adam(0.001f).minimize(loss);
  planned_session s{loss, train};
  s.initialize();
  const auto xs = filled<float, 2>({4, 16});
  const float first = std::get<0>(s.run(fetch(loss, train), x = xs));
  for (int i = 0; i < 20; ++i) s.run(fetch(train), x = xs);
  CHECK(std::get<0>(s.run(fetch(loss), x = xs)) < first);
  CHECK(count([&] { s.run(fetch(loss, train), x = xs); }) == 0);
}

TEST_CASE("a compiled program of many steps, which are called through a table") {
  const auto x = placeholder<"x", float, "batch", 16>();
  const auto h = layers<12>(x);
  const auto best = argmax<1>(h);
  const auto loss = reduce_mean(square(h - 1_c));
  const auto train = adam(0.001f).minimize(loss);
  session compiled{loss, best, train};
  planned_session planned{loss, best, train};
  compiled.initialize();
  planned.initialize();
  for (const std::size_t n : {1, 7, 3000}) {  // the last in chunks
    CAPTURE(n);
    const auto xs = filled<float, 2>({n, 16});
    CHECK(same_results(compiled.run(fetch(loss, best, train), x = xs), planned.run(fetch(loss, best, train), x = xs)));
    CHECK(program_view(compiled.planned(fetch(loss, best, train)).data).steps() > 48);
    CHECK(values_of(compiled) == values_of(planned));
    xt::xtensor<std::int64_t, 1> rows = xt::zeros<std::int64_t>({n});
    CHECK(count([&] { compiled.run(fetch(loss, into(best, rows), train), x = xs); }) == 0);
    count([&] { planned.run(fetch(loss, best, train), x = xs); });  // as many steps
    run_trace trace;
    compiled.run_traced(trace, fetch(loss, best, train), x = xs);
    planned.run(fetch(loss, best, train), x = xs);
    CHECK(trace.events().size() > 48);
    CHECK(values_of(compiled) == values_of(planned));
  }
}

TEST_CASE("an operator of the program's own must be registered, and then runs") {
  const auto x = placeholder<"x", float, "n">();
  const auto y = reduce_sum(own_softsign(x) * 2_c);
  const auto [slope] = gradients(y, x);
  const auto xs = filled<float, 1>({9});
  CHECK(says(message_of<invalid_argument>([&] { planned_session early{y}; }), "use_operator"));
  register_operator<own_softsign_op>();
  cpu::register_kernel<own_softsign_op>();
  planned_session planned{y, slope};
  session compiled{y, slope};
  CHECK(same_results(compiled.run(fetch(y, slope), x = xs), planned.run(fetch(y, slope), x = xs)));
}

TEST_CASE("after an error a planned session is as it was before") {
  const auto x = placeholder<"x", float, "n">();
  const auto i = placeholder<"i", std::int32_t>();
  const auto w = variable<"w", float>(2.0f);
  const auto y = gather(x, i) * w;
  const auto raise = assign(w, y);
  planned_session s{y, raise};
  const auto xs = filled<float, 1>({4});
  CHECK_THROWS_AS(s.run(fetch(y), x = xs, i = 1), failed_precondition);
  s.initialize();
  CHECK_THROWS_AS(s.run(fetch(raise), x = xs, i = 7), invalid_argument);
  CHECK(s.value(w) == 2);
  CHECK(std::get<0>(s.run(fetch(y), x = xs, i = 1)) == 2 * xs(1));
}
