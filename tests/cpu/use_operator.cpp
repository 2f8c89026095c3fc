#include <leat/cpu/use_operator.hpp>

#include <doctest/doctest.h>

#include <leat/graphs.hpp>
#include <leat/io/binary.hpp>
#include <leat/leat.hpp>
#include <leat/planned.hpp>
#include <leat/session/graph_session.hpp>

#include <cmath>
#include <vector>

namespace use_operator_test {

using namespace leat;

/// x / √(1 + x²).
struct unit_slope_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "UnitSlope";
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::multiply(x, M::rsqrt(M::add(V(1), M::square(x))));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto r = rsqrt(1 + square(g.input(0)));
    if (g.wants(0)) give(g, 0, g.dy() * r * r * r);
  }
};
LEAT_FUNCTION_OF_ONE(unit_slope, unit_slope_op);

struct second_softsign_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Softsign";
  template <class M, class V>
  static constexpr auto apply(V x) {
    return x;
  }
};
/// A composite: an expansion in operators of the library.
struct tenfold_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Tenfold";
  static constexpr op_kind kind = op_kind::composite;
  template <class G>
  static constexpr output expand(G& g) {
    return g.input(0) * 10;
  }
};

struct second_unit_slope_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "UnitSlopeTwice";
  template <class M, class V>
  static constexpr auto apply(V x) {
    return x;
  }
};
struct third_op : second_unit_slope_op {
  static constexpr std::string_view type = "UnitSlopeOfTwo";
};
/// A kernel of whole arrays: each row of a matrix, the last element first.
struct turned_rows_op {
  static constexpr std::string_view type = "TurnedRows";
  static constexpr field form[]{{field_kind::operand, "x"}, {field_kind::type_of, "T"}};
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) {
    if (x.extent(0).rank != 2) return inference::wrong("takes matrices");
    return {x.type(0), x.extent(0)};
  }
};
template <class T>
struct turned_rows_kernel {
  static constexpr bool may_refuse = false;
  const T* from;
  T* out;
  std::int64_t rows, columns;
  turned_rows_kernel(void* const* p, const kernels::step_numbers& n)
      : from(static_cast<const T*>(p[0])), out(static_cast<T*>(p[1])), rows(n.size(0, 0)), columns(n.size(0, 1)) {}
  std::int64_t items() const { return rows; }
  std::int64_t work() const { return columns; }
  constexpr void operator()(std::int64_t row) const {
    for (std::int64_t k = 0; k < columns; ++k) out[row * columns + k] = from[row * columns + columns - 1 - k];
  }
};

}  // namespace use_operator_test
template <>
struct leat::kernels::kernel_of<use_operator_test::turned_rows_op> {
  template <class T, class>
  using type = use_operator_test::turned_rows_kernel<T>;
  static constexpr bool has_indices = false;
  static constexpr leat::dtype takes[]{leat::dtype::float32, leat::dtype::int32};
};

using namespace leat;
using namespace use_operator_test;

TEST_CASE("an operator of one's own: one class and one call, in graphs, files and planned sessions") {
  use_operator<unit_slope_op>();
  use_operator<unit_slope_op>();
  const std::vector<float> values{-2, -0.5f, 0, 0.25f, 4};
  std::vector<float> wanted, wanted_slopes;
  for (const float v : values) {
    wanted.push_back(v / std::sqrt(1 + v * v));
    wanted_slopes.push_back(static_cast<float>(std::pow(1 + v * v, -1.5)));
  }
  const auto check = [](const std::vector<float>& is, const std::vector<float>& should) {
    REQUIRE(is.size() == should.size());
    for (std::size_t i = 0; i < is.size(); ++i) CHECK(is[i] == doctest::Approx(should[i]).epsilon(1e-5));
  };
  graph made;
  {
    const auto scope = made.as_default();
    const output x = placeholder(dtype::float32, {-1}, "x");
    const output y = unit_slope(x);
    static_cast<void>(gradients({y}, {x}));
  }
  // as a file has it
  graph g;
  import_graph(g, io::read_binary(io::write_binary(export_graph(made))), {.name = ""});
  const output x = get_tensor_by_name(g, "x:0"), y = get_tensor_by_name(g, "UnitSlope:0");
  const output slope = gradients({y}, {x})[0];
  for (const bool fuse : {true, false}) {
    CAPTURE(fuse);
    graph_session s(g, {.fuse = fuse});
    check(s.run<std::vector<float>>(y, {{x, values}}), wanted);
    check(s.run<std::vector<float>>(slope, {{x, values}}), wanted_slopes);
    CHECK((s.fused_runs() > 0) == fuse);
  }
  auto tx = placeholder<"tx", float, "n">();
  auto ty = unit_slope(tx);
  auto [typed_slope] = gradients(reduce_sum(ty), tx);
  planned_session planned{ty, typed_slope};
  auto [out, slopes] = planned.run(fetch(ty, typed_slope), tx = values);
  check({out.begin(), out.end()}, wanted);
  check({slopes.begin(), slopes.end()}, wanted_slopes);
}

TEST_CASE("a composite needs no kernel") {
  use_operator<tenfold_op>();
  graph g;
  const auto scope = g.as_default();
  const output y = make<tenfold_op>(constant(2.5f));
  for (const bool fuse : {true, false}) CHECK(graph_session(g, {.fuse = fuse}).run(y).as<float>() == 25.0f);
}

TEST_CASE("a kernel of whole arrays is found by its class, compiled, interpreted and node by node") {
  use_operator<turned_rows_op>();
  const std::vector<float> values{1, 2, 3, 4, 5, 6}, wanted{3, 2, 1, 6, 5, 4};
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {2, 3}, "x"), y = make<turned_rows_op>(x), beside = y * 2.0f;
  for (const bool fuse : {true, false}) {
    graph_session s(g, {.fuse = fuse});
    CHECK(s.run(y, {{x, tensor_value(shape_value{2, 3}, values)}}).as<std::vector<float>>() == wanted);
    CHECK(s.run(beside, {{x, tensor_value(shape_value{2, 3}, values)}}).as<std::vector<float>>()[0] == 6);
  }
  const output bytes = placeholder(dtype::float64, {2, 3}, "bytes");
  graph_session s(g);
  CHECK_THROWS_AS(s.run(make<turned_rows_op>(bytes), {{bytes, tensor_value(dtype::float64, shape_value{2, 3})}}), unimplemented);
  auto tx = placeholder<"tx", float, 2, 3>();
  auto ty = make<turned_rows_op>(tx);
  session typed{ty};
  const xt::xtensor<float, 2> xs{{1, 2, 3}, {4, 5, 6}};
  auto [out] = typed.run(fetch(ty), tx = xs);
  CHECK(std::vector<float>(out.begin(), out.end()) == wanted);
}

TEST_CASE("the type of another operator is refused, with both names") {
  CHECK_THROWS_WITH_AS(use_operator<second_softsign_op>(),
                       "use_operator: the type 'Softsign' of use_operator_test::second_softsign_op is that of another operator, 'Softsign' of "
                       "the library or registered before: give it a type of its own",
                       invalid_argument);
  register_alias<second_unit_slope_op, "UnitSlopeOfTwo">();
  use_operator<second_unit_slope_op>();
  CHECK_THROWS_AS(use_operator<third_op>(), invalid_argument);
}
