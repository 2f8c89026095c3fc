#include <leat/passes/simplify.hpp>

#include "support/graphs.hpp"

#include <doctest/doctest.h>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {
// The nodes that remain, leaves and the copies that are handed out aside.
template <class... Es>
int work(const Es&... es) {
  const auto e = simplified(es...);
  int n = 0;
  for (const auto& node : e.g.nodes) n += node.input_count > 0 && node.op->type != "Copy" ? 1 : 0;
  return n;
}
}  // namespace

TEST_CASE("numbers are folded") {
  const auto x = placeholder<"x", float, 4>();
  const auto two = constant<2.0f>();
  const auto e = simplified(x * (two * two + two / constant<4.0f>() - square(two)));
  CHECK(count(e.g, "Mul") == 1);
  CHECK(count(e.g, "AddV2") == 0);
  CHECK(count(e.g, "Square") == 0);
  bool half = false;
  for (int i = 0; i < e.g.size(); ++i)
    half = half || (e.g.at(i).op->type == "Const" && detail::value_of_bits(dtype::float32, e.g.attribute(e.g.at(i), 0)) == 0.5);
  CHECK(half);
  // what cannot be computed exactly is left to run time
  CHECK(work(x / (constant<0.0f>() * two)) == 1);
  CHECK(count(simplified(x * constant<1.0f>() / constant<0.0f>()).g, "RealDiv") == 1);
}

TEST_CASE("what changes nothing goes") {
  const auto x = placeholder<"x", float, 4, 1>();
  const auto y = placeholder<"y", float, 4, 5>();
  CHECK(work(x * 1_c) == 0);
  CHECK(work(1_c * x) == 0);
  CHECK(work(x + 0_c) == 0);
  CHECK(work(x - 0_c) == 0);
  CHECK(work(x / 1_c) == 0);
  CHECK(work(-(-x)) == 0);
  CHECK(work(identity(x)) == 0);
  CHECK(work(stop_gradient(x)) == 0);
  CHECK(work(transpose(transpose(y))) <= 2);
  CHECK(work(reshape<4, 5>(reshape<20>(y))) == 0);
  CHECK(count(simplified(y - (-x)).g, "AddV2") == 1);
  CHECK(count(simplified(y * -1_c).g, "Neg") == 1);
  CHECK(count(simplified(y / 4_c).g, "RealDiv") == 0);  // a power of two: its reciprocal is exact
  CHECK(count(simplified(y / 3_c).g, "RealDiv") == 1);
  // but a broadcast is work
  CHECK(work(x * broadcast_to<4, 5>(constant<1.0f>()) + y * 0_c) > 0);
}

TEST_CASE("multiples of multiples are one product, where no number has another result") {
  const auto x = placeholder<"x", float, 4>();
  const auto y = placeholder<"y", float, 4>();
  CHECK(work(3_c * (2_c * x)) == 1);
  CHECK(work((x * -4_c) * 3_c) == 1);
  CHECK(work(-(3_c * x)) == 1);
  CHECK(count(simplified(-(3_c * x)).g, "Mul") == 1);
  CHECK(count(simplified(-x + y).g, "Sub") == 1);
  CHECK(work(-x + y) == 1);
  CHECK(work(3_c * (5_c * x)) == 2);          // rounded twice
  CHECK(work(2_c * (0.1_c * x)) == 2);        // 0.1 x may be too small where 0.2 x is not
  CHECK(work(0.1_c * (2_c * x)) == 2);        // 2 x may be too large
  CHECK(work(1e20_c * (1099511627776_c * x)) == 2);  // the product is no number of its own
  CHECK(work(2_c * (3_c * placeholder<"i", std::int32_t, 4>())) == 2);
  const auto wide = simplified(2_c * (4_c * broadcast_to<3, 4>(x)));
  CHECK(wide.g.at(wide.targets[0]).result.extent.rank == 2);
}

TEST_CASE("equal expressions become one node, in either order of a commutative operator's operands at least once") {
  const auto x = placeholder<"x", float, 4>();
  const auto y = placeholder<"y", float, 4>();
  const auto e = simplified(exp(x * y) + exp(x * y), exp(x * y) * 2_c);
  CHECK(count(e.g, "Exp") == 1);
  CHECK(count(e.g, "Mul") == 2);
}

TEST_CASE("what no target needs is not there") {
  auto e = enter(exp(placeholder<"x", float, 4>()), tanh(placeholder<"y", float, 4>()));
  e.targets.resize(1);
  const auto g = at_run_time::simplify(e.g, e.targets);
  CHECK(count(g, "Tanh") == 0);
  CHECK(count(g, "Exp") == 1);
  CHECK(g.size() == 2);
}

TEST_CASE("composites are written out") {
  const auto x = placeholder<"x", float, 4, 7>();
  for (const auto& e :
       {simplified(softmax(x)), simplified(log_softmax(x)), simplified(reduce_mean<1>(x)), simplified(squeeze(expand_dims<0>(x) * 2_c))})
    for (const auto& n : e.g.nodes) CHECK(n.op->kind != op_kind::composite);
}

TEST_CASE("a transposition before a product is the product's own") {
  const auto a = placeholder<"a", float, 4, 7>();
  const auto b = placeholder<"b", float, 5, 7>();
  const auto e = simplified(matmul(a, transpose(b)));
  CHECK(e.g.at(e.targets[0]).op->type == "MatMul");
  CHECK(e.g.attribute(e.g.at(e.targets[0]), 1) == 1);
}

TEST_CASE("sums of one number are its multiple, where the count is known") {
  CHECK(work(reduce_sum(broadcast_to<4, 5>(constant<2.0f>()))) == 0);
  const auto x = placeholder<"x", double, 4>();
  const auto [dx] = gradients(reduce_sum(x * 3_c), x);
  CHECK(work(dx) == 0);  // three, everywhere
}
