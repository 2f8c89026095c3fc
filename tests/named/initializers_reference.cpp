#include <leat/expr/scaled_initializers.hpp>
#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/planned.hpp>
#include <leat/session/graph_session.hpp>

#include "support/reference_json.hpp"
#include "support/reference_values.hpp"

#include <functional>

using namespace leat;
using leat_test::reference_json;
using nlohmann::json;

namespace {

shape extent_of(const json& sizes) {
  shape extent;
  for (const auto& n : sizes) extent.push(n.get<std::int64_t>());
  return extent;
}
// The value of a constant_initializer: a number or lists of them, as Python has them. Whole numbers are integers, NaN and infinities texts.
void collect_numbers(const json& value, std::size_t depth, shape& extent, std::vector<json>& numbers) {
  if (!value.is_array()) return numbers.push_back(value);
  if (static_cast<std::size_t>(extent.rank) == depth) extent.push(static_cast<std::int64_t>(value.size()));
  for (const auto& part : value) collect_numbers(part, depth + 1, extent, numbers);
}
tensor_literal literal_of(const json& value) {
  shape extent;
  std::vector<json> numbers;
  collect_numbers(value, 0, extent, numbers);
  const auto all = [&](auto is) { return std::all_of(numbers.begin(), numbers.end(), is); };
  const auto values = [&]<class T>(T) {
    std::vector<T> list;
    for (const auto& n : numbers)
      if constexpr (std::is_floating_point_v<T>) list.push_back(static_cast<T>(leat_test::number_of_json(n)));
      else list.push_back(n.get<T>());
    return tensor_literal(extent, list);
  };
  if (numbers.empty()) return values(0.0f);
  if (all([](const json& n) { return n.is_boolean(); })) return values(true);
  if (all([](const json& n) { return n.is_number_integer(); })) return values(std::int64_t{0});
  return values(0.0);
}
fan_mode mode_named(const std::string& name) {
  return name == "fan_out" ? fan_mode::fan_out : name == "fan_avg" ? fan_mode::fan_avg : fan_mode::fan_in;
}
distribution distribution_named(const std::string& name) {
  return name == "uniform"              ? distribution::uniform
         : name == "untruncated_normal" ? distribution::untruncated_normal
                                        : distribution::truncated_normal;
}

// Calls `f` with the initializer of a case, whose types differ; false where there is none.
template <class F>
bool with_initializer(const std::string& api, const json& args, F f) {
  const auto number = [&](const char* name, double otherwise) { return args.value(name, otherwise); };
  if (api == "zeros_initializer") f(zeros);
  else if (api == "ones_initializer") f(ones);
  else if (api == "random_uniform_initializer") f(random_uniform(number("minval", 0), number("maxval", 1), 3));
  else if (api == "random_normal_initializer") f(random_normal(number("mean", 0), number("stddev", 1), 3));
  else if (api == "truncated_normal_initializer") f(truncated_normal(number("mean", 0), number("stddev", 1), 3));
  else if (api == "glorot_uniform_initializer") f(glorot_uniform(3));
  else if (api == "glorot_normal_initializer") f(glorot_normal(3));
  else if (api == "initializers.he_uniform") f(he_uniform(3));
  else if (api == "initializers.he_normal") f(he_normal(3));
  else if (api == "initializers.lecun_uniform") f(lecun_uniform(3));
  else if (api == "initializers.lecun_normal") f(lecun_normal(3));
  else if (api == "variance_scaling_initializer")
    f(variance_scaling(number("scale", 1), mode_named(args.value("mode", "fan_in")),
                       distribution_named(args.value("distribution", "truncated_normal")), 3));
  else if (api == "uniform_unit_scaling_initializer") f(uniform_unit_scaling(number("factor", 1), 3));
  else if (api == "orthogonal_initializer") f(orthogonal(number("gain", 1), 3));
  else if (api == "initializers.identity") f(identity_initializer(number("gain", 1)));
  else return false;
  return true;
}

// The first value of a variable of a graph.
tensor_value first_value_of(const variable_initializer& initial, const shape& extent, dtype type) {
  graph g;
  const auto scope = g.as_default();
  const auto v = get_variable("v", extent, {.type = type, .initializer = initial});
  graph_session s(g);
  s.run(global_variables_initializer());
  return s.run(v);
}

std::vector<double> numbers_of(const tensor_value& v) {
  return with_dtype(v.type(), [&]<class T>(T) {
    const auto s = v.values<T>();
    return std::vector<double>(s.begin(), s.end());
  });
}

void check_statistics(const std::vector<double>& values, const json& expected) {
  double sum = 0, squares = 0, least = HUGE_VAL, most = -HUGE_VAL;
  for (const double v : values) {
    sum += v;
    squares += v * v;
    least = std::min(least, v);
    most = std::max(most, v);
  }
  const auto n = static_cast<double>(values.size());
  const double mean = sum / n, stddev = std::sqrt(squares / n - mean * mean);
  const double wanted = expected.at("stddev").get<double>();
  CHECK(std::abs(mean - expected.at("mean").get<double>()) <= 5 * wanted / std::sqrt(n));
  CHECK(std::abs(stddev - wanted) <= 0.05 * wanted);
  const double slack = 1e-6 * wanted;  // bounds are rounded to float32
  if (!expected.at("low").is_null()) CHECK(least >= expected.at("low").get<double>() - slack);
  if (!expected.at("high").is_null()) CHECK(most <= expected.at("high").get<double>() + slack);
}

void check_orthogonal(const std::vector<double>& q, const json& c) {
  const std::size_t rows = c.at("flattened_to")[0].get<std::size_t>(), columns = c.at("flattened_to")[1].get<std::size_t>();
  const double gain = c.at("args").value("gain", 1.0);
  const bool by_columns = rows >= columns;
  const std::size_t count = by_columns ? columns : rows, length = by_columns ? rows : columns;
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = 0; b < count; ++b) {
      double product = 0;
      for (std::size_t i = 0; i < length; ++i)
        product += by_columns ? q[i * columns + a] * q[i * columns + b] : q[a * columns + i] * q[b * columns + i];
      CHECK(product == doctest::Approx(a == b ? gain * gain : 0).epsilon(1e-5));
    }
}

}  // namespace

TEST_CASE("initializers whose values are fixed") {
  const auto data = reference_json("initializers.json");
  if (!data) return;
  for (const auto& c : data->at("exact")) {
    CAPTURE(c.dump());
    const shape extent = extent_of(c.at("shape"));
    const dtype type = leat_test::dtype_named(c.at("dtype"));
    const std::string api = c.at("api");
    variable_initializer initial;
    if (api == "constant_initializer") {
      const json& value = c.at("args").at("value");
      const bool verify = c.at("args").value("verify_shape", false);
      initial = value.is_number_float() || value.is_string() ? constant_initializer(leat_test::number_of_json(value), verify)
                                                             : constant_initializer(literal_of(value), verify);
    } else REQUIRE(with_initializer(api, c.at("args"), [&](const auto& i) { initial = as_variable_initializer(i); }));
    if (c.contains("error")) {
      CHECK_THROWS_AS(first_value_of(initial, extent, type), invalid_argument);
    } else {
      CHECK(leat_test::difference(first_value_of(initial, extent, type), c.at("value"), 0, 0) == "");
    }
  }
}

TEST_CASE("a constant's last value fills up; more values than elements are refused") {
  const auto starts_with = [](const tensor_literal& values, const shape& extent, dtype type = dtype::float32) {
    return numbers_of(first_value_of(constant_initializer(values), extent, type));
  };
  using list = std::vector<double>;
  CHECK(starts_with({1, 2}, shape_value{2, 2}) == list{1, 2, 2, 2});
  CHECK(starts_with({0.5f, 1.5f}, shape_value{3}) == list{0.5, 1.5, 1.5});
  CHECK(starts_with({{1, 2}, {3, 4}}, shape_value{5}, dtype::int64) == list{1, 2, 3, 4, 4});
  CHECK(starts_with({true, false}, shape_value{3}, dtype::boolean) == list{1, 0, 0});
  CHECK(starts_with({1.5f}, {}) == list{1.5});
  CHECK(starts_with(std::vector<float>{}, shape_value{2}) == list{0, 0});
  CHECK(starts_with(std::vector<float>{}, shape_value{0}).empty());
  CHECK(starts_with({1, 2}, shape_value{0}).empty());
  CHECK(numbers_of(first_value_of(constant_initializer(7.0, true), shape_value{0, 3}, dtype::int32)).empty());
  const auto nan = starts_with({1.0, std::nan("")}, shape_value{3}, dtype::float64);
  CHECK(nan[0] == 1);
  CHECK(std::isnan(nan[1]));
  CHECK(std::isnan(nan[2]));
  CHECK(std::isnan(numbers_of(first_value_of(constant_initializer(std::nan("")), shape_value{2}, dtype::float32))[1]));
  CHECK_THROWS_AS(first_value_of(constant_initializer(std::nan("")), shape_value{2}, dtype::int32), invalid_argument);
  CHECK_THROWS_WITH_AS(starts_with({1, 2, 3}, shape_value{2}), "Too many elements provided. Takes at most 2, but got 3.", invalid_argument);
  CHECK_THROWS_AS(starts_with({1, 2}, {}), invalid_argument);
  CHECK_THROWS_AS(starts_with({1.5}, shape_value{2}, dtype::int32), invalid_argument);
  CHECK_THROWS_AS(starts_with({1}, shape_value{2}, dtype::boolean), invalid_argument);
}

TEST_CASE("fans of shapes") {
  const auto data = reference_json("initializers.json");
  if (!data) return;
  for (const auto& c : data->at("fans")) {
    CAPTURE(c.dump());
    const fans f = fans_of(extent_of(c.at("shape")));
    CHECK(f.in == c.at("fan_in").get<double>());
    CHECK(f.out == c.at("fan_out").get<double>());
  }
}

TEST_CASE("random initializers, in graphs and in typed sessions: mean, spread, bounds") {
  const auto data = reference_json("initializers.json");
  if (!data) return;
  int checked = 0, typed = 0;
  for (const auto& c : data->at("random")) {
    CAPTURE(c.dump());
    const shape extent = extent_of(c.at("shape"));
    variable_initializer initial;
    REQUIRE(with_initializer(c.at("api"), c.at("args"), [&](const auto& i) {
      initial = as_variable_initializer(i);
      const auto in_session = [&](const auto& v) {
        planned_session s{v};
        s.initialize();
        const auto value = s.value(v);
        check_statistics(std::vector<double>(value.begin(), value.end()), c.at("expected"));
        ++typed;
      };
      if constexpr (is_random(std::remove_cvref_t<decltype(i)>::kind)) {
        if (extent == shape_value({100, 80})) in_session(variable<"v", float, 100, 80>(i));
        if (extent == shape_value({3, 3, 16, 32})) in_session(variable<"v", float, 3, 3, 16, 32>(i));
      }
    }));
    check_statistics(numbers_of(first_value_of(initial, extent, dtype::float32)), c.at("expected"));
    ++checked;
  }
  MESSAGE(checked << " initializers in graphs, " << typed << " in typed sessions");
}

TEST_CASE("orthogonal matrices") {
  const auto data = reference_json("initializers.json");
  if (!data) return;
  for (const auto& c : data->at("properties")) {
    CAPTURE(c.dump());
    const double gain = c.at("args").value("gain", 1.0);
    const shape extent = extent_of(c.at("shape"));
    check_orthogonal(numbers_of(first_value_of(as_variable_initializer(orthogonal(gain, 5)), extent, dtype::float32)), c);
    check_orthogonal(numbers_of(first_value_of(as_variable_initializer(orthogonal(gain, 6)), extent, dtype::float64)), c);
    const auto in_session = [&](const auto& v) {
      planned_session s{v};
      s.initialize();
      const auto value = s.value(v);
      check_orthogonal(std::vector<double>(value.begin(), value.end()), c);
    };
    if (extent == shape_value({4, 4})) in_session(variable<"v", float, 4, 4>(orthogonal(gain)));
    if (extent == shape_value({6, 3})) in_session(variable<"v", float, 6, 3>(orthogonal(gain)));
    if (extent == shape_value({3, 5})) in_session(variable<"v", float, 3, 5>(orthogonal(gain)));
  }
}

TEST_CASE("what initializers refuse") {
  for (const dtype type : {dtype::int32, dtype::int64, dtype::boolean}) {
    CHECK_THROWS_AS(first_value_of(as_variable_initializer(glorot_uniform()), {1, {2}}, type), invalid_argument);
    CHECK_THROWS_AS(first_value_of(as_variable_initializer(random_normal()), {1, {2}}, type), invalid_argument);
    CHECK_THROWS_AS(first_value_of(as_variable_initializer(truncated_normal()), {1, {2}}, type), invalid_argument);
    CHECK_THROWS_AS(first_value_of(as_variable_initializer(orthogonal()), {2, {2, 2}}, type), invalid_argument);
  }
  CHECK_THROWS_AS(first_value_of(as_variable_initializer(orthogonal()), {1, {3}}, dtype::float32), invalid_argument);
  CHECK_THROWS_AS(variance_scaling(-1), invalid_argument);
  CHECK_THROWS_AS(variance_scaling(0), invalid_argument);
  CHECK_THROWS_AS(variance_scaling(std::nan("")), invalid_argument);
  CHECK(numbers_of(first_value_of(as_variable_initializer(orthogonal()), {2, {0, 3}}, dtype::float32)).empty());
  CHECK(numbers_of(first_value_of(as_variable_initializer(orthogonal()), {2, {3, 0}}, dtype::float32)).empty());
  const auto flat = variable<"flat", float, 3>(orthogonal());
  const auto cube = variable<"cube", float, 2, 2, 2>(identity_initializer());
  session a{flat};
  session b{cube};
  CHECK_THROWS_AS(a.initialize(), invalid_argument);
  CHECK_THROWS_AS(b.initialize(), invalid_argument);
  const auto wide = variable<"wide", std::int32_t, 2, 4>(identity_initializer(3));
  const auto tall = variable<"tall", float, 4, 2>(identity_initializer());
  session c{wide, tall};
  c.initialize();
  CHECK(c.value(wide)(1, 1) == 3);
  CHECK(c.value(wide)(1, 2) == 0);
  CHECK(c.value(tall)(1, 1) == 1.0f);
  CHECK(c.value(tall)(3, 1) == 0.0f);
}

TEST_CASE("default initializers: TensorFlow's nodes") {
  const auto data = reference_json("initializers.json");
  if (!data) return;
  for (const auto& c : data->at("defaults")) {
    CAPTURE(c.dump());
    graph g;
    const auto scope = g.as_default();
    get_variable("v", {2, 3}, {.type = leat_test::dtype_named(c.at("dtype"))});
    json made = json::array();
    for (const auto& op : get_operations(g)) made.push_back({op.name(), std::string(op.type())});
    if (c.contains("nodes")) CHECK(made == c.at("nodes"));
  }
}
