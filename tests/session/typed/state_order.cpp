// What a step sees of variables that it writes, and operands that passes look through: compiled, and planned in another program.
#include <leat/leat.hpp>

#include <cmath>
#include <doctest/doctest.h>
#include <vector>

using namespace leat;
using namespace leat::literals;

namespace {

template <class Array>
std::vector<double> listed(const Array& array) {
  return std::vector<double>(array.begin(), array.end());
}

}  // namespace

TEST_CASE("a rate that the same step changes has its value from the start of the step") {
  const auto x = placeholder<"x", float, "n", 4>();
  const auto w = variable<"w", float, 4, 20>(1.0f);
  const auto rate = untrainable_variable<"rate", float>(1.0f);
  const auto decay = assign(rate, rate * 0.5_c);
  const auto train = gradient_descent(rate).minimize(reduce_sum(matmul(x, w)));
  const auto first = group(decay, train);
  const auto last = group(train, decay);
  session s{first, last};
  const std::vector<float> rows(8, 1.0f);  // two rows: each gradient is 2
  s.initialize();
  s.run(fetch(first), x = rows);
  CHECK(s.value(w)(0, 0) == -1);
  CHECK(s.value(rate) == 0.5f);
  s.initialize();
  s.run(fetch(last), x = rows);
  CHECK(s.value(w)(3, 19) == -1);
}

TEST_CASE("a rate that is one element of an array") {
  const auto x = placeholder<"x", float, "n", 3>();
  const auto rates = placeholder<"rates", float, 3>();
  const auto w = variable<"w", float, 3, 20>(0.0f);
  const auto loss = reduce_sum(matmul(x, w));
  const auto fed = gradient_descent(reshape<>(slice<begins<1>, sizes<1>>(rates))).minimize(loss);
  const auto held = constant<float, 3>(std::vector<float>{1, 2, 3});
  const auto fixed = gradient_descent(squeeze(slice<begins<2>, sizes<1>>(held))).minimize(loss);
  session s{fed, fixed};
  const std::vector<float> rows(6, 1.0f), values{1, 2, 3};
  s.initialize();
  s.run(fetch(fed), x = rows, rates = values);
  CHECK(s.value(w)(0, 0) == -4);
  s.initialize();
  s.run(fetch(fixed), x = rows);
  CHECK(s.value(w)(2, 19) == -6);
}

TEST_CASE("the result of a write is what it wrote, whatever is written later") {
  const auto x = placeholder<"x", float, 1, 2>();
  const auto y = placeholder<"y", float, 1, 6>();
  const auto w = variable<"w", float, 2, 6>(0.0f);
  const auto product = assign_add(w, matmul<true, false>(x, y));
  const auto fives = after(assign(w, constant<5.0f, 2, 6>()), product);
  const auto v = untrainable_variable<"v", float, 2, 3>(1.0f);
  const auto first = assign_add(v, constant<1.0f, 2, 3>());
  const auto second = after(assign(v, constant<9.0f, 2, 3>()), first);
  const auto seen = transpose<1, 0>(first) * reduce_sum(tanh(reduce_sum(y)));
  session s{product, fives, first, second, seen};
  s.initialize();
  const std::vector<float> xs{1, 2}, ys(6, 1.0f);
  const auto [p, f] = s.run(fetch(product, fives), x = xs, y = ys);
  CHECK(listed(p) == std::vector<double>{1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2});
  CHECK(listed(f) == std::vector<double>(12, 5));
  const auto [t, b] = s.run(fetch(seen, second), y = ys);
  CHECK(t(0, 0) == doctest::Approx(2 * std::tanh(6.0)));
  CHECK(listed(b) == std::vector<double>(6, 9));
  CHECK(listed(s.value(v)) == std::vector<double>(6, 9));
  s.initialize();
  const auto [a, c] = s.run(fetch(first, second));
  CHECK(listed(a) == std::vector<double>(6, 2));
  CHECK(listed(c) == std::vector<double>(6, 9));
}

TEST_CASE("groups of tensors, and operations that wait for tensors") {
  const auto x = placeholder<"x", float, "n">();
  const auto v = untrainable_variable<"v", float>(1.0f);
  const auto more = assign_add(v, 1.0_c);
  const auto together = group(more, reduce_sum(x));
  const auto later = after(more, reduce_sum(x));
  session s{together, later};
  s.initialize();
  const std::vector<float> xs{1, 2, 3};
  s.run(fetch(together), x = xs);
  s.run(fetch(later), x = xs);
  CHECK(s.value(v) == 3);
}

TEST_CASE("views of constants") {
  const auto part = slice<begins<1>, sizes<1>>(reduce_max<1>(constant<3.0f, 4, 1>()));
  const auto turned = transpose<1, 0>(reduce_prod<2>(constant<2.0f, 2, 3, 1>()));
  session s{part, turned};
  const auto [p, t] = s.run(fetch(part, turned));
  CHECK(listed(p) == std::vector<double>{3});
  CHECK(listed(t) == std::vector<double>(6, 2));
}

TEST_CASE("products of transposes along axes counted from the end") {
  const auto a = placeholder<"a", float, 2, 3>();
  const auto b = placeholder<"b", float, 3, 3>();
  const auto same = matmul(transpose<-2, -1>(a), b);
  const auto turned = matmul(transpose<-1, -2>(a), a);
  session s{same, turned};
  const std::vector<float> as{1, 2, 3, 4, 5, 6}, bs{1, 0, 0, 0, 1, 0, 0, 0, 1};
  const auto [p, t] = s.run(fetch(same, turned), a = as, b = bs);
  CHECK(listed(p) == std::vector<double>{1, 2, 3, 4, 5, 6});
  CHECK(t(0, 1) == 22);
}

TEST_CASE("after(expression, update) keeps the expression's value, also where it is the variable's") {
  const auto v = untrainable_variable<"v", float, 3>(1.0f);
  const auto set = assign(v, constant<5.0f, 3>());
  const auto read = after(v, set);
  const auto same = after(identity(v), set);
  const auto stopped = after(stop_gradient(v), set);
  const auto times = after(v * 1.0_c, set);
  const auto twice = after(v * 2.0_c, set);
  const auto whole = after(slice<begins<0>, sizes<3>>(v), set);
  session s{set, read, same, stopped, times, twice, whole};
  s.initialize();
  const auto [n, r, i, g, t, d, w] = s.run(fetch(set, read, same, stopped, times, twice, whole));
  CHECK(n(0) == 5);
  CHECK(r(0) == 5);
  CHECK(i(1) == 1);
  CHECK(g(1) == 1);
  CHECK(t(2) == 1);
  CHECK(d(2) == 2);
  CHECK(w(0) == 1);
}
