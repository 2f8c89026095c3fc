#include <leat/cpu/use_operator.hpp>

#include <doctest/doctest.h>

#include "support/own_operators.hpp"

#include <leat/graphs.hpp>
#include <leat/io/binary.hpp>
#include <leat/io/json.hpp>
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

namespace {
/// The graph that `make` builds, written as JSON and read again.
template <class Make>
void read_back(graph& g, Make make) {
  graph made;
  {
    const auto scope = made.as_default();
    make();
  }
  import_graph(g, io::read_json<graph_def>(io::write_json(export_graph(made))), {.name = ""});
}
tensor_value list(std::vector<double> values) { return tensor_value(shape_value{static_cast<std::int64_t>(values.size())}, values); }
void check_runs(graph& g, const std::vector<std::pair<output, std::vector<double>>>& wanted,
                const std::vector<std::pair<output, std::vector<double>>>& feeds) {
  std::vector<output> fetches;
  std::vector<std::pair<output, tensor_value>> fed;
  for (const auto& [o, values] : wanted) fetches.push_back(o);
  for (const auto& [x, values] : feeds) fed.emplace_back(x, list(values));
  for (const bool fuse : {true, false}) {
    CAPTURE(fuse);
    graph_session s(g, {.fuse = fuse});
    const auto got = s.run(fetches, fed);
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      CAPTURE(k);
      const auto values = got[k].as<std::vector<double>>();
      REQUIRE(values.size() == wanted[k].second.size());
      for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == doctest::Approx(wanted[k].second[i]));
    }
  }
}
}  // namespace

TEST_CASE("several results, in graphs, files, planned sessions and as an export of typed expressions") {
  use_operator<own::polar_op>();
  const double angle = std::atan2(4, 3);
  graph g;
  SUBCASE("a graph") {
    read_back(g, [] {
      const output x = placeholder(dtype::float64, {-1}, "x"), y = placeholder(dtype::float64, {-1}, "y");
      const auto [radius, its_angle] = make_results<own::polar_op>(x, y);
      static_cast<void>(multiply(radius, its_angle));
    });
  }
  SUBCASE("an export") {
    read_back(g, [] {
      auto x = placeholder<"x", double, "n">();
      auto y = placeholder<"y", double, "n">();
      auto [radius, its_angle] = make_results<own::polar_op>(x, y);
      to_graph(its_angle, radius);
    });
  }
  const auto scope = g.as_default();
  const output x = get_tensor_by_name(g, "x:0"), y = get_tensor_by_name(g, "y:0");
  const output r = get_tensor_by_name(g, "OwnPolar:0"), a = get_tensor_by_name(g, "OwnPolar:1");
  const auto of_both = gradients({r, a}, {x, y});
  const auto of_angle = gradients({a}, {x});
  check_runs(g, {{a, {angle}}, {r, {5}}, {of_both[0], {0.6 - 4 / 25.0}}, {of_both[1], {0.8 + 3 / 25.0}}, {of_angle[0], {-4 / 25.0}}},
             {{x, {3}}, {y, {4}}});

  auto tx = placeholder<"tx", double, "n">();
  auto ty = placeholder<"ty", double, "n">();
  auto [radius, its_angle] = make_results<own::polar_op>(tx, ty);
  planned_session planned{radius, its_angle};
  auto [pr, pa] = planned.run(fetch(radius, its_angle), tx = std::vector<double>{3}, ty = std::vector<double>{4});
  CHECK(pr(0) == 5);
  CHECK(pa(0) == doctest::Approx(angle));
}

TEST_CASE("as many results as an attribute of the node says") {
  use_operator<own::parts_op>();
  graph g;
  read_back(g, [] {
    const output x = placeholder(dtype::float64, {6}, "x");
    const auto parts = make_results<own::parts_op, attributes<3>>(x);
    static_cast<void>(multiply(parts[0], parts[2]));
  });
  const auto scope = g.as_default();
  const output x = get_tensor_by_name(g, "x:0"), b = get_tensor_by_name(g, "OwnParts:1"), product = get_tensor_by_name(g, "Mul:0");
  check_runs(g, {{b, {3, 4}}, {gradients({product}, {x})[0], {5, 6, 0, 0, 1, 2}}}, {{x, {1, 2, 3, 4, 5, 6}}});
  CHECK_THROWS_AS(get_tensor_by_name(g, "OwnParts:3"), error);
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 40, std::int64_t{4}}) {
    CAPTURE(count);
    CHECK_THROWS_AS(call_operator(g, "OwnParts", {x}, {{"count", count}}), invalid_argument);
    graph_def def = export_graph(g);
    for (node_def& n : def.nodes)
      if (n.op == "OwnParts") n.attributes["count"] = count;
    graph other;
    CHECK_THROWS_AS(import_graph(other, def, {.name = ""}), invalid_argument);
  }
}

TEST_CASE("lists of tensors, texts and other attributes, composites and kernels") {
  use_operator<own::blend_op>();
  use_operator<own::largest_op>();
  graph g;
  read_back(g, [] {
    const output x = placeholder(dtype::float64, {-1}, "x"), y = placeholder(dtype::float64, {-1}, "y");
    static_cast<void>(make<own::blend_op, join_attributes<attributes<0, 1, own::half>, text_attribute<"exp">, attributes<1, 2>>>(x, y));
    static_cast<void>(make<own::largest_op>(x, y, multiply(x, 2.0)));
  });
  const auto scope = g.as_default();
  const output x = get_tensor_by_name(g, "x:0"), y = get_tensor_by_name(g, "y:0"), z = get_tensor_by_name(g, "OwnBlend:0");
  const output most = get_tensor_by_name(g, "OwnLargest:0");
  const auto& has = z.operation().attributes();
  CHECK(*has.find("mode")->get_if<std::string>() == "sum");
  CHECK(*has.find("function")->get_if<std::string>() == "exp");
  CHECK(*has.find("negate")->get_if<bool>());
  CHECK(*has.find("scale")->get_if<float>() == 0.5f);
  CHECK(*has.find("N")->get_if<std::int64_t>() == 2);
  const double e = -0.5 * std::exp(4.5), f = -0.5 * std::exp(2);
  check_runs(g, {{z, {e, f}}, {gradients({z}, {y})[0], {4 * e, -2 * f}}, {most, {2, 2}}, {gradients({most}, {y})[0], {1, 0}}},
             {{x, {0.5, 1}}, {y, {2, -1}}});
  const auto call = [&](attribute_map attributes) { call_operator(g, "OwnBlend", {x, y}, std::move(attributes)); };
  const std::vector<std::int64_t> powers{1, 1};
  CHECK_THROWS_WITH_AS(call({{"mode", std::string("sum")}, {"function", std::string("log")}, {"powers", powers}}),
                       doctest::Contains("the function is \"exp\" or empty"), invalid_argument);
  CHECK_THROWS_AS(call({{"mode", std::string("sum")}, {"function", std::string(100'000, 'x')}, {"powers", powers}}), invalid_argument);
  CHECK_THROWS_WITH_AS(call({{"mode", std::string("mean")}, {"powers", powers}}), doctest::Contains("mean"), invalid_argument);
  CHECK_THROWS_WITH_AS(call({{"mode", std::string("sum")}, {"powers", std::vector<std::int64_t>{1}}}),
                       doctest::Contains("takes a power for each tensor"), invalid_argument);
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
