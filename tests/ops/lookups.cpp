// Lookups along any axis and by index tuples, and sums by index tuples: values by hand, gradients, named dimensions, errors.

#include <leat/ops/index.hpp>
#include <leat/ops/lookups.hpp>
#include <leat/vmap.hpp>

#include "support/check.hpp"
#include "support/interpreted_session.hpp"

#include <cstdint>
#include <string>
#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const invalid_argument& e) {
    return e.what();
  }
  return "no error";
}
bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE_TEMPLATE("gather along any axis", T, float, std::int64_t, bool) {
  const auto x = placeholder<"x", T, "n", 4, 3>();
  const auto ids = placeholder<"ids", std::int32_t, "a", 2>();
  const auto one = placeholder<"one", std::int64_t>();
  const auto middle = gather<1>(x, ids);
  const auto last = gather<-1>(x, one);
  const auto first = gather<0>(x, ids);
  const auto plain = gather(x, ids);
  static_assert(std::is_same_v<decltype(first), decltype(plain)>);
  static_assert(decltype(middle)::rank == 4 && decltype(middle)::extent[2] == 2 && decltype(middle)::extent[3] == 3);
  static_assert(decltype(last)::rank == 2 && decltype(last)::extent[1] == 4);
  session s{middle, last, first};
  for (const std::size_t n : {1u, 3u}) {
    const auto xs = filled<T, 3>({n, 4, 3}, 0, 50);
    const xt::xtensor<std::int32_t, 2> is{{3, 0}, {1, 1}, {2, 3}}, zeros = xt::zeros<std::int32_t>({3, 2});
    const auto [m, l] = s.run(fetch(middle, last), x = xs, ids = is, one = 2);
    check_each("middle", m, 0, [&](std::size_t i) { return xs(i / 18, static_cast<std::size_t>(is.data()[i / 3 % 6]), i % 3); });
    check_each("last", l, 0, [&](std::size_t i) { return xs(i / 4, i % 4, 2); });
    const auto [f] = s.run(fetch(first), x = xs, ids = zeros);
    CHECK(f.shape()[0] == 3);
    CHECK(contains(message_of([&] { (void)s.run(fetch(middle), x = xs, ids = xt::xtensor<std::int32_t, 2>{{0, 4}}); }),
                   "index 4 at position 1 is out of range [0, 4)"));
    CHECK(contains(message_of([&] { (void)s.run(fetch(last), x = xs, one = -1); }), "index -1 at position 0 is out of range [0, 3)"));
  }
  const auto [m] = s.run(fetch(middle), x = filled<T, 3>({2, 4, 3}), ids = xt::xtensor<std::int32_t, 2>::from_shape({0, 2}));
  CHECK(m.size() == 0);
}

TEST_CASE("the gradient of gather along an axis adds up by index") {
  const auto x = placeholder<"x", double, "n", 4>();
  const auto ids = placeholder<"ids", std::int32_t, 3>();
  const auto w = placeholder<"w", double, "n", 3>();
  const auto [slope] = gradients(reduce_sum(gather<1>(x, ids) * w), x);
  session s{slope};
  const auto [d] = s.run(fetch(slope), x = xt::xtensor<double, 2>{{1, 2, 3, 4}, {5, 6, 7, 8}}, ids = std::vector{2, 0, 2},
                         w = xt::xtensor<double, 2>{{1, 2, 3}, {4, 5, 6}});
  CHECK(d == xt::xtensor<double, 2>{{2, 0, 4, 0}, {5, 0, 10, 0}});
}

TEST_CASE_TEMPLATE("gather_nd reads elements and subarrays by index tuples", I, std::int32_t, std::int64_t) {
  const auto x = placeholder<"x", float, 2, 3, 4>();
  const auto three = placeholder<"three", I, "k", 3>();
  const auto two = placeholder<"two", I, 2, 1, 2>();
  const auto one = placeholder<"one", I, 1>();
  const auto elements = gather_nd(x, three);
  const auto rows = gather_nd(x, two);
  const auto matrix = gather_nd(x, one);
  static_assert(decltype(elements)::rank == 1 && decltype(rows)::rank == 3 && decltype(rows)::extent[2] == 4);
  static_assert(decltype(matrix)::rank == 2 && decltype(matrix)::extent[0] == 3);
  session s{elements, rows, matrix};
  const auto xs = filled<float, 3>({2, 3, 4});
  const auto [e, r, m] = s.run(fetch(elements, rows, matrix), x = xs, three = xt::xtensor<I, 2>{{0, 2, 3}, {1, 0, 0}, {0, 2, 3}},
                               two = xt::xtensor<I, 3>{{{1, 1}}, {{0, 2}}}, one = std::vector<I>{1});
  CHECK(e == xt::xtensor<float, 1>{xs(0, 2, 3), xs(1, 0, 0), xs(0, 2, 3)});
  check_each("rows", r, 0, [&](std::size_t i) { return i < 4 ? xs(1, 1, i) : xs(0, 2, i - 4); });
  check_each("matrix", m, 0, [&](std::size_t i) { return xs(1, i / 4, i % 4); });
  const auto [none] = s.run(fetch(elements), x = xs, three = xt::xtensor<I, 2>::from_shape({0, 3}));
  CHECK(none.size() == 0);
  // Each index must be within its own dimension, though the element would exist.
  CHECK(contains(message_of([&] { (void)s.run(fetch(elements), x = xs, three = xt::xtensor<I, 2>{{0, 0, 0}, {0, 3, 0}}); }),
                 "index 3 at position 1 is out of range [0, 3)"));
  CHECK(contains(message_of([&] { (void)s.run(fetch(elements), x = xs, three = xt::xtensor<I, 2>{{1, 0, -1}}); }),
                 "index -1 at position 0 is out of range [0, 4)"));
}

TEST_CASE("gather_nd along named dimensions, and its gradients of both orders") {
  const auto x = placeholder<"x", double, "batch", "classes">();
  const auto ids = placeholder<"ids", std::int32_t, "k", 2>();
  const auto found = gather_nd(x, ids);
  const auto loss = reduce_sum(found * found * found);
  const auto [slope] = gradients(loss, x);
  const auto [second] = gradients(reduce_sum(slope * slope), x);
  session s{found, slope, second};
  const xt::xtensor<double, 2> xs{{1, 2, 3}, {4, 5, 6}};
  const xt::xtensor<std::int32_t, 2> is{{0, 2}, {1, 1}, {0, 2}};
  const auto [f, d, e] = s.run(fetch(found, slope, second), x = xs, ids = is);
  CHECK(f == xt::xtensor<double, 1>{3, 5, 3});
  CHECK(d == xt::xtensor<double, 2>{{0, 0, 54}, {0, 75, 0}});       // 3 x² for each occurrence
  CHECK(e == xt::xtensor<double, 2>{{0, 0, 3888}, {0, 4500, 0}});   // 2 slope ∂slope, which is 6 x for each occurrence
  CHECK(contains(message_of([&] { (void)s.run(fetch(found), x = xs, ids = xt::xtensor<std::int32_t, 2>{{2, 0}}); }),
                 "index 2 at position 0 is out of range [0, 2)"));
  CHECK(contains(message_of([&] { (void)s.run(fetch(slope), x = xs, ids = xt::xtensor<std::int32_t, 2>{{0, 0}, {0, 3}}); }),
                 "index 3 at position 1 is out of range [0, 3)"));
}

TEST_CASE("scatter_nd adds updates by index tuples") {
  const auto ids = placeholder<"ids", std::int64_t, "k", 2>();
  const auto updates = placeholder<"updates", float, "k", 2>();
  const auto made = scatter_nd<2, 3, 2>(ids, updates);
  const auto rows = scatter_nd<4>(placeholder<"rows", std::int32_t, "k", 1>(), placeholder<"values", std::int32_t, "k">());
  const auto beside = placeholder<"beside", float, 2, 3, 2>();
  const auto [slope] = gradients(reduce_sum(made * beside), updates);
  static_assert(decltype(made)::rank == 3 && decltype(made)::extent[1] == 3);
  session s{made, rows, slope};
  const auto bs = filled<float, 3>({2, 3, 2});
  const xt::xtensor<std::int64_t, 2> is{{1, 2}, {0, 0}, {1, 2}};
  const xt::xtensor<float, 2> us{{1, 2}, {3, 4}, {5, 6}};
  const auto [m, r, d] = s.run(fetch(made, rows, slope), ids = is, updates = us, beside = bs,
                               placeholder<"rows", std::int32_t, "k", 1>() = xt::xtensor<std::int32_t, 2>{{3}, {3}, {1}},
                               placeholder<"values", std::int32_t, "k">() = std::vector{10, 20, 30});
  CHECK(m == xt::xtensor<float, 3>{{{3, 4}, {0, 0}, {0, 0}}, {{0, 0}, {0, 0}, {6, 8}}});
  CHECK(r == xt::xtensor<std::int32_t, 1>{0, 30, 0, 30});
  CHECK(d == xt::xtensor<float, 2>{{bs(1, 2, 0), bs(1, 2, 1)}, {bs(0, 0, 0), bs(0, 0, 1)}, {bs(1, 2, 0), bs(1, 2, 1)}});
  const xt::xtensor<std::int64_t, 2> wrong{{0, 3}}, no_ids = xt::xtensor<std::int64_t, 2>::from_shape({0, 2});
  CHECK(contains(message_of([&] { (void)s.run(fetch(made), ids = wrong, updates = xt::xtensor<float, 2>{{1, 1}}); }),
                 "index 3 at position 0 is out of range [0, 3)"));
  const auto [none] = s.run(fetch(made), ids = no_ids, updates = xt::xtensor<float, 2>::from_shape({0, 2}));
  CHECK(none == xt::xtensor<float, 3>(xt::zeros<float>({2, 3, 2})));
}

TEST_CASE("index tuples and reversed arrays of many models") {
  const auto x = placeholder<"x", double, "models", 3, 4>();
  const auto shared = placeholder<"shared", double, 3, 4>();
  const auto ids = placeholder<"ids", std::int32_t, "models", 2, 2>();
  const auto own = vmap([](const auto& array, const auto& i) { return gather_nd(array, i); })(x, ids);
  const auto common = vmap([&](const auto& i) { return gather_nd(shared, i); })(ids);
  const auto sums = vmap([](const auto& i, const auto& u) { return scatter_nd<3, 4>(i, u); })(ids, own);
  const auto turned = vmap([](const auto& array) { return index<along::all(-1), 1>(array); })(x);
  const auto [slope] = gradients(reduce_sum(square(own)), x);
  session s{own, common, sums, turned, slope};
  const auto xs = filled<double, 3>({2, 3, 4});
  const auto cs = filled<double, 2>({3, 4}, -1, 1, 4);
  const xt::xtensor<std::int32_t, 3> is{{{0, 1}, {2, 3}}, {{1, 1}, {1, 1}}};
  const auto [o, c, m, t, d] = s.run(fetch(own, common, sums, turned, slope), x = xs, shared = cs, ids = is);
  CHECK(o == xt::xtensor<double, 2>{{xs(0, 0, 1), xs(0, 2, 3)}, {xs(1, 1, 1), xs(1, 1, 1)}});
  CHECK(c == xt::xtensor<double, 2>{{cs(0, 1), cs(2, 3)}, {cs(1, 1), cs(1, 1)}});
  check_each("turned", t, 0, [&](std::size_t i) { return xs(i / 3, 2 - i % 3, 1); });
  for (std::size_t i = 0; i < 24; ++i) {
    const bool first = i == 1 || i == 11, second = i == 17;
    const double at = xs.data()[i];
    CHECK(m.data()[i] == doctest::Approx(first ? at : second ? 2 * at : 0.0));
    CHECK(d.data()[i] == doctest::Approx(first ? 2 * at : second ? 4 * at : 0.0));
  }
}
