// Small arrays of many models as vectors: values against formulas and against each model alone, compiled and planned to the same bits.
// Compiled without contraction of a b + c across operators.

#include <leat/calculus.hpp>
#include <leat/planned.hpp>
#include <leat/vmap.hpp>

#include "support/check.hpp"
#include "support/graphs.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>
#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

template <class... Es>
std::string steps(const Es&... es) {
  const entered e = enter(es...);
  return steps_of(at_run_time::compile(e.g, e.targets, true));
}
template <class... Es>
graph vectors_of(const Es&... es) {
  entered e = enter(es...);
  return at_run_time::unroll_models(at_run_time::simplify(e.g, e.targets), e.targets);
}

// Whether two results have the same bits; one NaN is as good as another.
template <class Value>
bool same(const Value& a, const Value& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto x = a.data()[i];
    const auto y = b.data()[i];
    if (std::memcmp(&x, &y, sizeof x) != 0 && (x == x || y == y)) return false;
  }
  return true;
}
template <class... Es>
bool planned_agrees(const Es&... es) {
  session compiled{es...};
  planned_session planned{es...};
  compiled.initialize();
  planned.initialize();
  const auto one = compiled.run(fetch(es...));
  const auto other = planned.run(fetch(es...));
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return (same(std::get<I>(one), std::get<I>(other)) && ...);
  }(std::index_sequence_for<Es...>{});
}

template <class T>
std::vector<T> some_values(std::size_t count, double step = 0.37, double first = -1.5) {
  std::vector<T> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(static_cast<T>(step * static_cast<double>((i * 7 + 3) % 13) + first));
  return all;
}

const auto radar = [](const auto& position) {
  const auto east = index<0>(position);
  const auto north = index<1>(position);
  return stack<0>(sqrt(square(east) + square(north)), atan2(north, east));
};
const auto radar_with_slopes = [](const auto& position) {
  const auto measured = radar(position);
  return std::tuple(measured, jacobian<jacobian_mode::forward>(measured, position), jacobian<jacobian_mode::reverse>(measured, position));
};

}  // namespace

TEST_CASE("measurements with their Jacobians are one loop over any number of models") {
  const auto x = placeholder<"x", double, "models", 2>();
  const auto [z, forward, reverse] = vmap(radar_with_slopes)(x);
  CHECK(steps(z, forward) == "cluster");
  CHECK(steps(z, reverse) == "cluster");
  session s{z, forward, reverse};
  planned_session planned{z, forward, reverse};
  for (const std::size_t count : {0u, 1u, 3u, 8u, 17u, 1000u}) {
    CAPTURE(count);
    xt::xtensor<double, 2> xs(std::array<std::size_t, 2>{count, 2});
    for (std::size_t i = 0; i < xs.size(); ++i) xs.data()[i] = 0.25 * static_cast<double>((i * 5 + 1) % 17) - 1.875;
    const auto [at, f, r] = s.run(fetch(z, forward, reverse), x = xs);
    REQUIRE(r.size() == 4 * count);
    for (std::size_t k = 0; k < count; ++k) {
      const double east = xs(k, 0), north = xs(k, 1), range = std::hypot(east, north);
      CHECK(at(k, 0) == doctest::Approx(range));
      CHECK(at(k, 1) == doctest::Approx(std::atan2(north, east)));
      const double wanted[2][2]{{east / range, north / range}, {-north / (range * range), east / (range * range)}};
      for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 2; ++j) {
          CHECK(f(k, i, j) == doctest::Approx(wanted[i][j]).epsilon(1e-14));
          CHECK(r(k, i, j) == doctest::Approx(wanted[i][j]).epsilon(1e-14));
        }
    }
    const auto [at_planned, f_planned, r_planned] = planned.run(fetch(z, forward, reverse), x = xs);
    CHECK(same(at, at_planned));
    CHECK(same(f, f_planned));
    CHECK(same(r, r_planned));
  }
}

TEST_CASE("models along the last axis, in variables") {
  constexpr std::size_t models = 37;
  const auto x = variable<"x", double, 2, models>(some_values<double>(2 * models));
  const auto seen = untrainable_variable<"seen", double, 2, models>(zeros);
  const auto slopes = untrainable_variable<"slopes", double, 2, 2, models>(ones);
  const auto [z, forward, reverse] = vmap<-1>(radar_with_slopes)(x);
  const auto update = group(assign(seen, z), assign_add(slopes, reverse), assign_sub(x, z));
  CHECK(steps(update) == "cluster");
  session s{update, forward};
  planned_session planned{update, forward};
  s.initialize();
  planned.initialize();
  for (int round = 0; round < 3; ++round) {
    const auto [f] = s.run(fetch(forward));
    const auto before = s.value(slopes);
    s.run(fetch(update));
    planned.run(fetch(update));
    const auto now = s.value(slopes);
    for (std::size_t i = 0; i < now.size(); ++i) CHECK(now.data()[i] == doctest::Approx(before.data()[i] + f.data()[i]).epsilon(1e-14));
    CHECK(same(now, planned.value(slopes)));
    CHECK(same(s.value(x), planned.value(x)));
    CHECK(same(s.value(seen), planned.value(seen)));
  }
}

TEST_CASE("what puts the elements of models together, and reduces them, is vectors") {
  const auto of = [](auto number) {
    using T = decltype(number);
    constexpr std::size_t models = 37;
    const auto a = variable<"a", T, models, 2, 3>(some_values<T>(6 * models, 2.3));
    const auto b = variable<"b", T, 2, 3, models>(some_values<T>(6 * models, 1.9));
    const auto f = [](const auto& x, const auto& y) {
      const auto both = concat<0>(x, transpose<1, 0>(reshape<3, 2>(y)));  // [4, 3]
      const auto turned = reverse<1>(both);
      const auto padded = pad<before<0, 1>, behind<1, 0>>(slice<begins<1, 1>, sizes<2, 2>>(turned));
      const auto square_part = slice<begins<0, 0>, sizes<3, 3>>(both + turned);
      const auto line = slice<begins<0, 1>, sizes<3, 1>>(both);
      return std::tuple(both, turned, padded, equal(both, turned), select(greater(x, y), x, y), matrix_diag(reshape<3>(line)),
                        matrix_diag_part(square_part), reduce_max<0>(both), reduce_min(turned), reduce_sum<1>(both), reduce_prod(padded),
                        reduce_sum_keep<0>(both) * turned, cast<float>(both), stack<1>(reshape<3>(line), reshape<3>(line) * reshape<3>(line)),
                        index<1>(reshape<3>(line)));
    };
    const auto results = vmap(f)(a, models_along<-1>(b));
    std::apply(
        [](const auto&... es) {
          const graph g = vectors_of(es...);
          CHECK(count(g, "ConcatV2") == 0);
          CHECK(count(g, "ReverseV2") == 0);
          CHECK(count(g, "Pad") == 0);
          CHECK(count(g, "PadV2") == 0);
          CHECK(count(g, "AssembleModels") > 8);
          CHECK(planned_agrees(es...));
        },
        results);
    // As each model alone.
    const auto one_a = placeholder<"one_a", T, 2, 3>();
    const auto one_b = placeholder<"one_b", T, 2, 3>();
    std::apply(
        [&](const auto&... es) {
          std::apply(
              [&](const auto&... ones) {
                session many{es...};
                session single{ones...};
                many.initialize();
                const auto got = many.run(fetch(es...));
                const auto as = many.value(a);
                const auto bs = many.value(b);
                for (std::size_t k = 0; k < models; k += 6) {
                  CAPTURE(k);
                  xt::xtensor<T, 2> my_a(std::array<std::size_t, 2>{2, 3}), my_b(std::array<std::size_t, 2>{2, 3});
                  for (std::size_t i = 0; i < 6; ++i) {
                    my_a.data()[i] = as.data()[6 * k + i];
                    my_b.data()[i] = bs.data()[i * models + k];
                  }
                  const auto expected = single.run(fetch(ones...), one_a = my_a, one_b = my_b);
                  const auto alike = [&](const auto& all, const auto& one) {
                    if constexpr (requires { one.size(); }) {
                      for (std::size_t i = 0; i < one.size(); ++i)
                        CHECK(static_cast<double>(all.data()[k * one.size() + i]) ==
                              doctest::Approx(static_cast<double>(one.data()[i])).epsilon(1e-5));
                    } else {
                      CHECK(static_cast<double>(all.data()[k]) == doctest::Approx(static_cast<double>(one)).epsilon(1e-5));
                    }
                  };
                  [&]<std::size_t... I>(std::index_sequence<I...>) {
                    (alike(std::get<I>(got), std::get<I>(expected)), ...);
                  }(std::index_sequence_for<decltype(ones)...>{});
                }
              },
              f(one_a, one_b));
        },
        results);
  };
  of(float{});
  of(double{});
  of(std::int32_t{});
}

TEST_CASE("the error of a point in a picture: derivatives of each observation, in both modes") {
  constexpr std::size_t models = 24;
  const auto all = variable<"all", double, 8, models>(some_values<double>(8 * models, 0.11, 0.3));
  const auto weights = variable<"weights", double, 3>(std::vector<double>{0.5, -0.25, 2});
  const auto error = [](const auto& p, const auto& w) {
    const auto angle = sqrt(square(index<0>(p)) + square(index<1>(p)) + 0.5_c);
    const auto x = (index<2>(p) - index<3>(p)) * cos(angle) + index<0>(p) * sin(angle);
    const auto y = index<4>(p) * exp(-square(index<5>(p))) + index<0>(w) * index<1>(p);
    const auto z = index<6>(p) + 3_c + index<1>(w) * index<2>(w) * square(index<7>(p));
    return stack<0>(x / z, y / z);
  };
  const auto results = vmap<-1>([&](const auto& p) {
    const auto e = error(p, weights);
    return std::tuple(e, jacobian<jacobian_mode::forward>(e, p), jacobian<jacobian_mode::reverse>(e, p),
                      jacobian<jacobian_mode::reverse>(e, weights));
  })(all);
  const auto& [e, forward, reverse, by_weights] = results;
  CHECK(steps(e, reverse) == "cluster cluster");  // what all models share comes first
  CHECK(steps(e, forward) == "cluster cluster");
  CHECK(planned_agrees(e, forward, reverse, by_weights));
  const auto one = placeholder<"one", double, 8>();
  const auto alone = error(one, weights);
  const auto alone_slopes = jacobian(alone, one);
  const auto alone_by_weights = jacobian(alone, weights);
  session many{e, forward, reverse, by_weights};
  session single{alone, alone_slopes, alone_by_weights};
  many.initialize();
  single.initialize();
  const auto [es, fs, rs, ws] = many.run(fetch(e, forward, reverse, by_weights));
  const auto values = many.value(all);
  for (std::size_t k = 0; k < models; ++k) {
    CAPTURE(k);
    xt::xtensor<double, 1> own(std::array<std::size_t, 1>{8});
    for (std::size_t i = 0; i < 8; ++i) own(i) = values(i, k);
    const auto [wanted, slopes, weight_slopes] = single.run(fetch(alone, alone_slopes, alone_by_weights), one = own);
    for (std::size_t r = 0; r < 2; ++r) {
      CHECK(es(r, k) == doctest::Approx(wanted(r)).epsilon(1e-13));
      for (std::size_t i = 0; i < 8; ++i) {
        CHECK(fs(r, i, k) == doctest::Approx(slopes(r, i)).epsilon(1e-12));
        CHECK(rs(r, i, k) == doctest::Approx(slopes(r, i)).epsilon(1e-12));
      }
      for (std::size_t i = 0; i < 3; ++i) CHECK(ws(r, i, k) == doctest::Approx(weight_slopes(r, i)).epsilon(1e-12));
    }
  }
}

TEST_CASE("Hessians of many models") {
  constexpr std::size_t models = 21;
  const auto all = variable<"all", double, models, 4>(some_values<double>(4 * models, 0.21, -1));
  const auto h = vmap([](const auto& x) {
    const auto head = slice<begins<0>, sizes<3>>(x);
    const auto tail = slice<begins<1>, sizes<3>>(x);
    return hessian(reduce_sum(100_c * square(tail - square(head)) + square(1_c - head)), x);
  })(all);
  CHECK(steps(h) == "cluster");
  CHECK(planned_agrees(h));
  session s{h};
  s.initialize();
  const auto [got] = s.run(fetch(h));
  const auto x = s.value(all);
  for (std::size_t k = 0; k < models; ++k)
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = 0; j < 4; ++j) {
        double wanted = 0;
        if (i == j) wanted = (i > 0 ? 200 : 0) + (i < 3 ? 1200 * x(k, i) * x(k, i) - 400 * x(k, i + 1) + 2 : 0);
        if (i + 1 == j) wanted = -400 * x(k, i);
        if (j + 1 == i) wanted = -400 * x(k, j);
        CHECK(got(k, i, j) == doctest::Approx(wanted).epsilon(1e-13));
      }
}

TEST_CASE("gradients of slices of models, by what all models are stored in") {
  constexpr std::size_t models = 19;
  const auto all = variable<"all", double, 5, models>(some_values<double>(5 * models));
  const auto losses = vmap<-1>([](const auto& x) { return index<0>(x) * index<3>(x) + exp(index<1>(x)); })(all);
  const auto [slopes] = gradients(losses, all);
  CHECK(steps(slopes) == "cluster");
  CHECK(planned_agrees(slopes));
  session s{slopes};
  s.initialize();
  const auto [d] = s.run(fetch(slopes));
  const auto x = s.value(all);
  for (std::size_t k = 0; k < models; ++k) {
    CHECK(d(0, k) == x(3, k));
    CHECK(d(3, k) == x(0, k));
    CHECK(d(1, k) == doctest::Approx(std::exp(x(1, k))));
    CHECK(d(2, k) == 0);
    CHECK(d(4, k) == 0);
  }
}

TEST_CASE("a derivative along another direction is absent, whatever it meets") {
  constexpr std::size_t models = 20;
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> start(2 * models, 2.0);
  start[3] = infinity;
  const auto x = variable<"x", double, 2, models>(start);
  const auto j = vmap<-1>([](const auto& p) {
    const auto y = stack<0>(square(index<0>(p)), 3_c * index<1>(p));
    return jacobian(y, p);
  })(x);
  session s{j};
  s.initialize();
  const auto [got] = s.run(fetch(j));
  CHECK(got(0, 0, 3) == infinity);
  CHECK(got(0, 1, 3) == 0);
  CHECK(got(1, 0, 3) == 0);
  CHECK(got(1, 1, 3) == 3);
  CHECK(planned_agrees(j));
}

TEST_CASE("what stays as it is") {
  // Few models, and arrays that vmap has not made: ordinary programs keep their steps.
  const auto few = placeholder<"few", double, 9, 2>();
  CHECK(count(vectors_of(vmap(radar)(few)), "AssembleModels") == 0);
  const auto batch = placeholder<"batch", double, "n", 3>();
  const auto joined = concat<1>(batch * 2_c, exp(batch));
  CHECK(count(vectors_of(joined), "ConcatV2") == 1);
  // A view of many elements, of which a few are looked at.
  const auto wide = variable<"wide", double, 30, 50>(some_values<double>(1500));
  const auto parts = vmap<-1>([](const auto& x) { return stack<0>(index<3>(x) * index<29>(x), index<7>(x)); })(wide);
  CHECK(steps(parts) == "cluster");
  const auto both = vmap<-1>([](const auto& x) { return std::tuple(stack<0>(index<3>(x), index<29>(x) + 1_c), reduce_sum(square(x))); })(wide);
  CHECK(planned_agrees(parts, std::get<0>(both), std::get<1>(both), transpose(wide)));
  // Too many elements.
  const auto large = vmap<-1>([](const auto& x) { return concat<0>(x, x * 2_c); })(wide);
  CHECK(count(vectors_of(large), "AssembleModels") == 0);
  CHECK(planned_agrees(large));
}
