#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/planned.hpp>
#include <leat/session/graph_session.hpp>
#include <leat/train/row_gradient.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

using namespace leat;
using namespace leat::literals;

namespace {

constexpr std::int64_t rows = 40, width = 18;
using ids_t = xt::xtensor<std::int32_t, 2>;

auto table() { return variable<"table", float, rows, width>(random_uniform(-1, 1, 3)); }
auto bias() { return variable<"bias", float, width>(zeros); }
auto ids() { return placeholder<"ids", std::int32_t, "batch", 3>(); }
auto target() { return placeholder<"target", float, "batch">(); }
// Several positions of a line look rows up.
auto loss() {
  const auto found = gather(table(), ids()) + bias();
  return reduce_mean(square(0.25_c * reduce_sum<1, 2>(tanh(found)) - target()));
}

// Indices from a few rows, so that many are equal.
ids_t some_ids(unsigned seed, std::size_t batch) {
  std::mt19937 random(seed);
  ids_t made = ids_t::from_shape({batch, 3});
  for (auto& i : made) i = static_cast<std::int32_t>(random() % 11 * 3);
  return made;
}
std::vector<float> some_targets(std::size_t batch) {
  std::vector<float> made(batch);
  for (std::size_t i = 0; i < batch; ++i) made[i] = 0.25f * static_cast<float>(i) - 1;
  return made;
}

template <class A, class B>
double farthest(const A& a, const B& b) {
  double most = 0;
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    most = std::max(most, std::abs(static_cast<double>(a.data()[i]) - static_cast<double>(b.data()[i])));
  return most;
}

// Steps of a typed session beside the same of a graph session.
template <template <class...> class Session, class Optimizer>
double beside_graph(const Optimizer& o, std::size_t steps = 4) {
  const auto train = o.minimize(loss());
  Session s{train};
  s.initialize();
  const auto before = s.value(table());
  graph nodes;
  std::vector<graph_element> step;
  {
    const auto scope = nodes.as_default();
    step = to_graph(train);
  }
  graph_session dynamic(nodes);
  {
    const auto scope = nodes.as_default();
    dynamic.run(global_variables_initializer());
  }
  const auto of = [&](const char* name) { return get_tensor_by_name(nodes, name); };
  dynamic.assign(of("table:0"), tensor_value(before));
  for (std::size_t k = 0; k < steps; ++k) {
    const std::size_t batch = k % 2 == 0 ? 5 : 30;
    const auto these = some_ids(static_cast<unsigned>(k), batch);
    const auto to = some_targets(batch);
    s.run(fetch(train), ids() = these, target() = to);
    dynamic.run(step, {{of("ids:0"), tensor_value(these)}, {of("target:0"), to}});
  }
  const auto after = s.value(table());
  for (std::int64_t r = 0; r < rows; ++r)
    if (r % 3 != 0 || r > 30)
      for (std::int64_t c = 0; c < width; ++c) CHECK(after(r, c) == before(r, c));
  CHECK(farthest(after, before) > 1e-3);
  return farthest(after, dynamic.value(of("table:0")).template values<float>());
}

}  // namespace

TEST_CASE("every optimizer changes the rows that were looked up as a graph session does, planned") {
  CHECK(beside_graph<planned_session>(gradient_descent(0.1f)) < 1e-6);
  CHECK(beside_graph<planned_session>(momentum(0.1f, 0.9f)) < 1e-6);
  CHECK(beside_graph<planned_session>(nesterov_momentum(0.1f, 0.9f)) < 1e-6);
  CHECK(beside_graph<planned_session>(adagrad(0.1f)) < 1e-6);
  CHECK(beside_graph<planned_session>(rms_prop(0.01f, 0.9f, 0.5f)) < 1e-5);
  CHECK(beside_graph<planned_session>(centered_rms_prop(0.01f, 0.9f, 0.5f)) < 1e-4);
  CHECK(beside_graph<planned_session>(adadelta(1.0f)) < 1e-5);
  CHECK(beside_graph<planned_session>(ftrl(0.1f, {.l1 = 0.01f, .l2 = 0.02f})) < 1e-5);
  CHECK(beside_graph<planned_session>(proximal_gradient_descent(0.1f, {.l1 = 0.01f})) < 1e-6);
  CHECK(beside_graph<planned_session>(proximal_adagrad(0.1f, {.l1 = 0.01f})) < 1e-6);
  CHECK(beside_graph<planned_session>(adam(0.01f)) < 1e-5);  // all rows that have moments move, by both formulas alike
  CHECK(beside_graph<planned_session>(adagrad_da(0.1f, global_step())) < 1e-5);
}

TEST_CASE("gradient descent on rows gives what it gives on the whole gradient, compiled and planned") {
  const auto o = gradient_descent(parameter<"rate">(0.1f));
  const auto [slope] = gradients(loss(), table());
  const auto of_rows = o.apply_gradients(with_variable(slope, table()));
  const auto of_all = o.apply_gradients(with_variable(slope + 0_c * table(), table()));
  session compiled{of_rows};
  session whole{of_all};
  planned_session planned{of_rows};
  compiled.initialize();
  whole.initialize();
  planned.initialize();
  for (const std::size_t batch : {1, 5, 200}) {
    const auto these = some_ids(7, batch);
    const auto to = some_targets(batch);
    compiled.run(fetch(of_rows), ids() = these, target() = to);
    whole.run(fetch(of_all), ids() = these, target() = to);
    planned.run(fetch(of_rows), ids() = these, target() = to);
    CHECK(farthest(compiled.value(table()), whole.value(table())) < 1e-5);  // whose rows are added before they are subtracted
    CHECK(compiled.value(table()) == planned.value(table()));
  }
}

TEST_CASE("a step on rows needs no memory of the table's size, and refuses rows that are not there before it writes any") {
  const auto large = variable<"large", double, 5000, 4>(ones);
  const auto weight = variable<"weight", double, 5000>(zeros);  // one number for each feature
  const auto features = placeholder<"features", std::int64_t, 7>();
  const auto value = reduce_sum(gather(large, features)) + reduce_sum(gather(weight, features));
  const auto train = adagrad(0.5f).minimize(square(value));
  session s{train};
  s.initialize();
  s.run(fetch(train), features = std::vector<std::int64_t>{4999, 0, 17, 0, 17, 17, 3});
  CHECK(s.arena_bytes(fetch(train)) < 4000);
  const auto after = s.value(large);
  for (const std::size_t r : {0, 3, 17, 4999}) CHECK(after(r, 1) < 1);
  CHECK(after(1, 1) == 1);
  CHECK(s.value(weight)(17) < 0);
  CHECK(s.value(weight)(16) == 0);
  const auto weights = s.value(weight);
  for (const std::int64_t wrong : {std::int64_t{5000}, std::int64_t{-1}})
    CHECK_THROWS_AS(s.run(fetch(train), features = std::vector<std::int64_t>{1, 2, 3, 4, 5, wrong, 6}), invalid_argument);
  CHECK(s.value(large) == after);
  CHECK(s.value(weight) == weights);
}

TEST_CASE("several lookups of a table, clipped gradients: rows alone change, though momentum moves them") {
  const auto t = variable<"t", float, 30, 2>(ones);
  const auto a = placeholder<"a", std::int32_t, "batch">();
  const auto b = placeholder<"b", std::int32_t, "batch">();
  const auto c = placeholder<"c", std::int32_t, 2>();
  const auto d = placeholder<"d", std::int32_t, 3, 2>();
  const auto o = momentum(0.1f, 0.5f);
  // one shape: stacked; sizes that are known: one behind the other
  const auto named = reduce_sum(square(gather(t, a))) + reduce_sum(gather(t, b));
  const auto known = reduce_sum(gather(t, c)) + reduce_sum(gather(t, d) * 2_c);
  const auto mixed = reduce_sum(gather(t, a)) + reduce_sum(gather(t, c));
  const auto clipped = [&](const auto& l) {
    const auto [slope] = gradients(l, t);
    const auto [shorter] = clip_by_global_norm(0.5f, slope);
    return o.apply_gradients(with_variable(clip_by_norm(shorter, 0.25f), t));
  };
  const auto of_named = o.minimize(named);
  const auto of_known = o.minimize(known);
  const auto of_mixed = o.minimize(mixed);
  const auto of_clipped = clipped(named);
  planned_session s{of_named, of_known, of_mixed, of_clipped};
  s.initialize();
  const std::vector<int> as{1, 2, 2}, bs{2, 3, 1};
  s.run(fetch(of_named), a = as, b = bs);  // gradients: row 1: 2 + 1, row 2: 4 + 1, row 3: 1
  CHECK(s.value(t)(1, 0) == doctest::Approx(0.7));
  CHECK(s.value(t)(2, 1) == doctest::Approx(0.5));
  CHECK(s.value(t)(3, 0) == doctest::Approx(0.9));
  CHECK(s.value(t)(0, 0) == 1);
  s.run(fetch(of_known), c = std::vector<int>{3, 4}, d = xt::xtensor<int, 2>{{4, 5}, {5, 5}, {6, 4}});  // rows 3: 1, 4: 5, 5: 6, 6: 2
  CHECK(s.value(t)(1, 0) == doctest::Approx(0.7));
  CHECK(s.value(t)(3, 0) == doctest::Approx(0.9 - 0.1 * (0.5 + 1)));
  CHECK(s.value(t)(4, 0) == doctest::Approx(0.5));
  CHECK(s.value(t)(5, 0) == doctest::Approx(0.4));
  CHECK(s.value(t)(6, 0) == doctest::Approx(0.8));
  const auto before = s.value(t);
  s.run(fetch(of_clipped), a = std::vector<int>{7}, b = std::vector<int>{7});  // of a gradient 3, 3
  CHECK(s.value(t)(7, 0) == doctest::Approx(1 - 0.1 * 0.25 / std::sqrt(2.0)));
  CHECK(s.value(t)(5, 0) == before(5, 0));
  s.run(fetch(of_mixed), a = std::vector<int>{7}, c = std::vector<int>{8, 8});  // of sizes that differ: all rows, by their momentum
  CHECK(s.value(t)(5, 0) == doctest::Approx(0.4 - 0.1 * 0.5 * 6));
  CHECK(s.value(t)(8, 0) == doctest::Approx(0.8));
}

TEST_CASE("indices that the same step writes, one index, and steps one after the other") {
  const auto t = variable<"t", float, 6, 2>(ones);
  const auto at = untrainable_variable<"at", std::int32_t>(zeros);
  const auto step = gradient_descent(0.5f).minimize(reduce_sum(gather(t, at)));
  const auto advance = assign_add(at, 1_c);
  const auto both = group(step, advance);
  const auto ids = placeholder<"ids", std::int32_t, "n">();
  const auto first = gradient_descent(1.0f).minimize(reduce_sum(gather(t, ids)));
  const auto second = after(gradient_descent(2.0f).minimize(reduce_sum(gather(t, ids))), first);
  planned_session p{both, second, t};
  session s{both, second, t};
  const auto check = [&](auto& in) {
    in.initialize();
    for (int k = 0; k < 4; ++k) in.run(fetch(both));
    CHECK(in.value(t) == xt::xtensor<float, 2>{{0.5f, 0.5f}, {0.5f, 0.5f}, {0.5f, 0.5f}, {0.5f, 0.5f}, {1, 1}, {1, 1}});
    CHECK(in.value(at) == 4);
    const auto [old] = in.run(fetch(t, second), ids = std::vector<int>{5, 5});
    CHECK(old(5, 0) == 1);
    CHECK(in.value(t)(5, 1) == 1 - 2 * 1 - 2 * 2);
  };
  check(p);
  check(s);
}

TEST_CASE("gradient descent subtracts rows of equal indices one by one, in order, as a graph does") {
  const auto t = variable<"t", float, 3>(ones);
  const auto at = placeholder<"at", std::int32_t, "n">();
  const auto weights = placeholder<"weights", float, "n">();
  const auto step = gradient_descent(1.0f).minimize(reduce_sum(weights * gather(t, at)));
  const auto check = [&]<class Session>(Session& s) {
    s.initialize();
    s.assign(t, xt::xtensor<float, 1>{16777216.0f, 1.0f, 2.0f});
    const std::vector<std::int32_t> ids{0, 2, 0, 2};
    const std::vector<float> slopes{-1.0f, 0.25f, -1.0f, 0.5f};  // to 2^24, 1 is added without effect, twice; 2 would have one
    s.run(fetch(step), at = ids, weights = slopes);
    CHECK(s.value(t) == xt::xtensor<float, 1>{16777216.0f, 1.0f, 1.25f});
    CHECK_THROWS_AS(s.run(fetch(step), at = std::vector<std::int32_t>{0, 3}, weights = std::vector<float>{1, 1}), invalid_argument);
    s.run(fetch(step), at = std::vector<std::int32_t>{}, weights = std::vector<float>{});
    CHECK(s.value(t) == xt::xtensor<float, 1>{16777216.0f, 1.0f, 1.25f});
  };
  session compiled{step};
  check(compiled);
  planned_session planned{step};
  check(planned);
}

namespace {

// Users and items of a matrix factorization, whose rows have `Width` elements.
template <std::int64_t Width, class Index>
struct factors {
  static auto users() { return variable<"users", float, 23, Width>(random_uniform(-1, 1, 5)); }
  static auto items() { return variable<"items", float, 31, Width>(random_uniform(-1, 1, 6)); }
  static auto user() { return placeholder<"user", Index, "ratings">(); }
  static auto item() { return placeholder<"item", std::int32_t, "ratings">(); }
  static auto rating() { return placeholder<"rating", float, "ratings">(); }
  static auto loss() {
    return reduce_sum(square(reduce_sum<1>(gather(users(), user()) * gather(items(), item())) - rating()));
  }
};

template <std::int64_t Width, class Index>
void check_factors(std::size_t ratings) {
  CAPTURE(Width);
  CAPTURE(ratings);
  using f = factors<Width, Index>;
  constexpr float rate = 0.25f / 64;
  const auto train = gradient_descent(rate).minimize(f::loss());
  session compiled{f::loss(), train};
  planned_session planned{f::loss(), train};
  compiled.initialize();
  planned.initialize();
  std::vector<Index> user(ratings);
  std::vector<std::int32_t> item(ratings);
  std::vector<float> rating(ratings);
  std::mt19937 random(static_cast<unsigned>(ratings));
  for (std::size_t k = 0; k < ratings; ++k) {
    user[k] = static_cast<Index>(random() % 23);
    item[k] = static_cast<std::int32_t>(random() % 31);
    rating[k] = static_cast<float>(random() % 5) / 4;
  }
  auto us = compiled.value(f::users());
  auto is = compiled.value(f::items());
  const auto before = us;
  const auto old_items = is;
  double sum = 0;
  for (std::size_t k = 0; k < ratings; ++k) {
    const auto u = static_cast<std::size_t>(user[k]), i = static_cast<std::size_t>(item[k]);
    double product = -static_cast<double>(rating[k]);
    for (std::size_t j = 0; j < static_cast<std::size_t>(Width); ++j) product += static_cast<double>(before(u, j)) * old_items(i, j);
    sum += product * product;
    for (std::size_t j = 0; j < static_cast<std::size_t>(Width); ++j) {  // of the values before the step, though a row may occur often
      us(u, j) -= static_cast<float>(2 * product) * rate * old_items(i, j);
      is(i, j) -= static_cast<float>(2 * product) * rate * before(u, j);
    }
  }
  const auto step = fetch(f::loss(), train);
  const auto loss = std::get<0>(compiled.run(step, f::user() = user, f::item() = item, f::rating() = rating));
  CHECK(loss == doctest::Approx(sum).epsilon(1e-4));
  CHECK(farthest(compiled.value(f::users()), us) < 1e-4);
  CHECK(farthest(compiled.value(f::items()), is) < 1e-4);
  CHECK(std::get<0>(planned.run(step, f::user() = user, f::item() = item, f::rating() = rating)) == loss);
  CHECK(compiled.value(f::users()) == planned.value(f::users()));
  CHECK(compiled.value(f::items()) == planned.value(f::items()));

  us = compiled.value(f::users());
  is = compiled.value(f::items());
  for (const int wrong : {-1, 31, 1000000}) {
    if (ratings == 0) break;
    auto bad = item;
    bad.back() = wrong;
    CHECK_THROWS_AS(compiled.run(step, f::user() = user, f::item() = bad, f::rating() = rating), invalid_argument);
    CHECK_THROWS_AS(planned.run(step, f::user() = user, f::item() = bad, f::rating() = rating), invalid_argument);
  }
  CHECK(compiled.value(f::users()) == us);
  CHECK(compiled.value(f::items()) == is);
  CHECK(planned.value(f::users()) == us);
}

}  // namespace

TEST_CASE("a step on the rows of two tables, which are read where they lie: of all lengths, compiled and planned") {
  for (const std::size_t ratings : {0, 1, 7, 300}) {
    check_factors<1, std::int32_t>(ratings);
    check_factors<3, std::int64_t>(ratings);
    check_factors<16, std::int32_t>(ratings);
    check_factors<70, std::int64_t>(ratings);
  }
  check_factors<16, std::int32_t>(20000);  // in chunks
}

TEST_CASE("rows that are read where they lie give the same bits on several threads") {
  using f = factors<16, std::int32_t>;
  const std::size_t ratings = 30000;
  const auto train = gradient_descent(0.001f).minimize(f::loss());
  std::vector<std::int32_t> user(ratings), item(ratings);
  for (std::size_t k = 0; k < ratings; ++k) {
    user[k] = static_cast<std::int32_t>(k * 7 % 23);
    item[k] = static_cast<std::int32_t>(k * k % 31);
  }
  const auto trained = [&](int threads) {
    cpu::set_thread_count(threads);
    session s{f::loss(), train};
    s.initialize();
    const auto [loss] = s.run(fetch(f::loss(), train), f::user() = user, f::item() = item, f::rating() = std::vector<float>(ratings, 0.5f));
    return std::pair(loss, s.value(f::users()));
  };
  const auto one = trained(1);
  const auto two = trained(2);
  cpu::set_thread_count(1);
  CHECK(one == two);
}

TEST_CASE("a row that a step subtracts from itself is what it was before") {
  const auto t = variable<"t", float, 4, 2>(ones);
  const auto at = placeholder<"at", std::int32_t, 4>();
  const auto step = gradient_descent(1_c).minimize(reduce_sum(stop_gradient(t) * gather(t, at)));  // whose gradient is the table
  const auto check = [&]<class Session>(Session& s) {
    s.initialize();
    s.assign(t, xt::xtensor<float, 2>{{1, 2}, {3, 4}, {5, 6}, {7, 8}});
    s.run(fetch(step), at = std::vector<std::int32_t>{1, 2, 2, 0});
    CHECK(s.value(t) == xt::xtensor<float, 2>{{1 - 7, 2 - 8}, {3 - 1, 4 - 2}, {5 - 3 - 5, 6 - 4 - 6}, {7, 8}});
  };
  session compiled{step};
  check(compiled);
  planned_session planned{step};
  check(planned);
}

TEST_CASE("optimizers with slots read rows where they lie, and give what planned sessions give of copies") {
  using f = factors<16, std::int32_t>;
  const auto check = [&](const auto& optimizer) {
    const auto train = optimizer.minimize(f::loss());
    session compiled{f::loss(), train};
    planned_session planned{f::loss(), train};
    compiled.initialize();
    planned.initialize();
    const auto before = compiled.value(f::users());
    for (int k = 0; k < 3; ++k) {
      const std::vector<std::int32_t> user{3, 7, 3, 22, 0}, item{1, 1, 30, 2, 1};
      const std::vector<float> rating{0.5f, 1, 0.25f, 0, 0.75f};
      const auto run = [&](auto& s) {
        return std::get<0>(s.run(fetch(f::loss(), train), f::user() = user, f::item() = item, f::rating() = rating));
      };
      CHECK(run(compiled) == run(planned));
    }
    const auto after = compiled.value(f::users());
    CHECK(after == planned.value(f::users()));
    CHECK(compiled.value(f::items()) == planned.value(f::items()));
    CHECK(after(3, 5) != before(3, 5));
    CHECK(after(4, 5) == before(4, 5));
  };
  check(momentum(0.01f, 0.5f));
  check(adagrad(0.01f));
}
