// Operators on arrays that graphs have by name: bytes read otherwise, rotation, diagonals, elements written by index, counts and distinct
// parts, colors. Values are by hand or TensorFlow's, gradients are compared with differences, and errors have TensorFlow's words.

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace array_operators_test {

using namespace leat;
using extents = std::vector<std::int64_t>;
using number_list = std::vector<double>;
constexpr dtype all_numbers[]{dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8};

shape shape_of_list(const extents& of) {
  shape s;
  for (const auto n : of) s.push(n);
  return s;
}
tensor_value tensor_of(dtype type, const extents& of, const number_list& list) {
  tensor_value made(type, shape_of_list(of));
  with_dtype(type, [&]<class T>(T) {
    REQUIRE(made.values<T>().size() == list.size());
    for (std::size_t i = 0; i < list.size(); ++i) made.values<T>()[i] = static_cast<T>(list[i]);
  });
  return made;
}
tensor_value floats(const extents& of, const number_list& list) { return tensor_of(dtype::float32, of, list); }
tensor_value ints(const extents& of, const number_list& list) { return tensor_of(dtype::int32, of, list); }
tensor_value one(double value, dtype type = dtype::int32) { return tensor_of(type, {}, {value}); }
tensor_value counted(dtype type, const extents& of) {
  number_list list(static_cast<std::size_t>(shape_of_list(of).elements()));
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = static_cast<double>(i + 1);
  return tensor_of(type, of, list);
}
number_list list_of(const tensor_value& v) {
  number_list list;
  with_dtype(v.type(), [&]<class T>(T) { list.assign(v.values<T>().begin(), v.values<T>().end()); });
  return list;
}
/// The results of one node. Shapes are known only in the run, or from the beginning, and then the inferred ones must fit.
std::vector<tensor_value> run_node(std::string_view type, const std::vector<tensor_value>& arrays, const attribute_map& settings = {}) {
  std::vector<tensor_value> results;
  for (const bool is_known : {false, true}) {
    graph g;
    const auto scope = g.as_default();
    std::vector<number_argument> inputs;
    std::vector<feed_item> feeds;
    for (const tensor_value& a : arrays) {
      const bool is_constant = is_known && a.type() == dtype::int32;
      const output place = is_constant ? constant(tensor_literal(a.extent(), std::vector<std::int32_t>(a.values<std::int32_t>().begin(),
                                                                                                    a.values<std::int32_t>().end())))
                                       : placeholder(a.type(), is_known ? shape_value(a.extent()) : unknown_shape);
      inputs.emplace_back(place);
      if (!is_constant) feeds.push_back({place, a});
    }
    const auto node = call_operator(g, type, inputs, settings);
    graph_session s(g);
    results = s.run(node.outputs(), feeds);
    for (std::size_t k = 0; k < results.size(); ++k) CHECK(may_equal(node.outputs()[k].extent(), results[k].extent()));
  }
  return results;
}
number_list values_of(std::string_view type, const std::vector<tensor_value>& arrays, const attribute_map& settings = {}) {
  return list_of(run_node(type, arrays, settings)[0]);
}
/// The message with which the kernel rejects these inputs, whose shapes the graph does not know.
std::string problem_of(std::string_view type, const std::vector<tensor_value>& arrays, const attribute_map& settings = {}) {
  return leat_test::message_of<error>([&] { run_node(type, arrays, settings); });
}
#define SAYS(text, ...) CHECK_MESSAGE(leat_test::says(problem_of(__VA_ARGS__), text), problem_of(__VA_ARGS__))

/// The gradient of a function of arrays of float64 by its first inputs, against differences.
void check_gradient(const std::vector<extents>& shapes, const std::function<output(const std::vector<output>&)>& f, bool is_static = true) {
  graph g;
  const auto scope = g.as_default();
  std::vector<output> places;
  std::vector<number_list> lists;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(0.1, 2);
  for (const extents& of : shapes) {
    const shape s = shape_of_list(of);
    places.push_back(placeholder(dtype::float64, is_static ? shape_value(s) : unknown_shape));
    number_list list(static_cast<std::size_t>(s.elements()));
    for (double& v : list) v = uniform(random);
    lists.push_back(std::move(list));
  }
  const output y = f(places);
  const output loss = reduce_sum(tanh(y) * y, all_axes);
  const auto by = gradients({loss}, places);
  graph_session s(g);
  const auto feeds = [&] {
    std::vector<feed_item> list;
    for (std::size_t k = 0; k < places.size(); ++k) list.push_back({places[k], tensor_of(dtype::float64, shapes[k], lists[k])});
    return list;
  };
  constexpr double step = 1e-6;
  for (std::size_t k = 0; k < places.size(); ++k) {
    REQUIRE(static_cast<bool>(by[k]));
    const auto slopes = list_of(s.run({by[k]}, feeds())[0]);
    for (std::size_t i = 0; i < lists[k].size(); ++i) {
      const double before = lists[k][i];
      lists[k][i] = before + step;
      const double above = list_of(s.run({loss}, feeds())[0])[0];
      lists[k][i] = before - step;
      const double below = list_of(s.run({loss}, feeds())[0])[0];
      lists[k][i] = before;
      CHECK(slopes[i] == doctest::Approx((above - below) / (2 * step)).epsilon(1e-5).scale(1));
    }
  }
}
output call(std::string_view type, std::initializer_list<number_argument> inputs, attribute_map settings = {}) {
  return call_operator(default_graph(), type, inputs, std::move(settings)).result();
}
number_argument integers(const extents& of, const std::vector<std::int32_t>& list) { return tensor_literal(shape_of_list(of), list); }
number_argument size_of_axis(std::int32_t value) { return tensor_literal(value); }

}  // namespace array_operators_test
using namespace array_operators_test;

TEST_CASE("bytes of arrays as elements of other dtypes, between all dtypes of numbers") {
  CHECK(values_of("Bitcast", {floats({2}, {1, -2})}, {{"type", dtype::int32}}) == number_list{0x3f800000, -0x40000000});
  CHECK(values_of("Bitcast", {ints({1}, {0x01020304})}, {{"type", dtype::uint8}}) == number_list{4, 3, 2, 1});
  CHECK(values_of("Bitcast", {ints({2}, {0, 0x3ff00000})}, {{"type", dtype::float64}}) == number_list{1});
  for (const dtype from : all_numbers)
    for (const dtype to : all_numbers) {
      const int ratio = std::max(size_of(to) / size_of(from), 1), parts = std::max(size_of(from) / size_of(to), 1);
      const tensor_value x = counted(from, ratio > 1 ? extents{2, 3, ratio} : extents{2, 3});
      const tensor_value y = run_node("Bitcast", {x}, {{"type", to}})[0];
      CHECK(y.type() == to);
      CHECK(y.extent() == shape_of_list(parts > 1 ? extents{2, 3, parts} : extents{2, 3}));
      CHECK(list_of(run_node("Bitcast", {y}, {{"type", from}})[0]) == list_of(x));
    }
  CHECK(run_node("Bitcast", {floats({0, 2}, {})}, {{"type", dtype::int64}})[0].extent() == shape_of_list({0}));
  SAYS("Cannot bitcast from int32 to float64", "Bitcast", {ints({3}, {1, 2, 3})}, {{"type", dtype::float64}});
  SAYS("Cannot bitcast from float32 to int64", "Bitcast", {one(1, dtype::float32)}, {{"type", dtype::int64}});
  SAYS("Cannot bitcast from bool", "Bitcast", {one(1, dtype::boolean)}, {{"type", dtype::uint8}});
}

TEST_CASE("rotation along axes; equal axes add up") {
  for (const dtype type : {dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8, dtype::boolean})
    CHECK(list_of(run_node("Roll", {tensor_of(type, {3}, {1, 0, 0}), one(-1), one(0, dtype::int64)})[0]) == number_list{0, 0, 1});
  const auto matrix = counted(dtype::int32, {2, 3});
  CHECK(values_of("Roll", {matrix, ints({2}, {1, 1}), ints({2}, {0, 1})}) == number_list{6, 4, 5, 3, 1, 2});
  CHECK(values_of("Roll", {matrix, ints({3}, {1, -5, 1}), ints({3}, {-1, 1, 1})}) == list_of(matrix));
  CHECK(values_of("Roll", {matrix, ints({0}, {}), ints({0}, {})}) == list_of(matrix));
  const auto least = tensor_value(std::numeric_limits<std::int64_t>::min());
  CHECK(values_of("Roll", {counted(dtype::int32, {3}), least, one(0)}) == number_list{3, 1, 2});
  CHECK(run_node("Roll", {ints({0, 2}, {}), one(5), one(0)})[0].extent() == shape_of_list({0, 2}));
  SAYS("input must be 1-D or higher", "Roll", {one(1), one(1), one(0)});
  SAYS("shift must be a scalar or a 1-D vector. Found: [1,1]", "Roll", {matrix, ints({1, 1}, {1}), one(0)});
  SAYS("axis must be a scalar or a 1-D vector. Found: [1,1]", "Roll", {matrix, one(0), ints({1, 1}, {1})});
  SAYS("shift and axis must have the same size", "Roll", {matrix, ints({2}, {1, 2}), ints({1}, {0})});
  SAYS("axis 2 is out of range", "Roll", {matrix, one(1), one(2)});
  SAYS("is out of range", "Roll", {matrix, one(1), least});
  check_gradient({{2, 3}}, [](const auto& in) { return call("Roll", {in[0], integers({2}, {1, 2}), integers({2}, {0, 1})}); });
}

TEST_CASE("diagonals of matrices: made, taken, replaced, and bands around them") {
  CHECK(values_of("Diag", {floats({2}, {1, 2})}) == number_list{1, 0, 0, 2});
  CHECK(run_node("Diag", {counted(dtype::int32, {2, 3})})[0].extent() == shape_of_list({2, 3, 2, 3}));
  CHECK(values_of("DiagPart", run_node("Diag", {counted(dtype::int64, {2, 3})})) == number_list{1, 2, 3, 4, 5, 6});
  CHECK(values_of("MatrixDiag", {ints({2, 2}, {1, 2, 3, 4})}) == number_list{1, 0, 0, 2, 3, 0, 0, 4});
  CHECK(values_of("MatrixDiagPart", {counted(dtype::float64, {2, 2, 3})}) == number_list{1, 5, 7, 11});
  CHECK(values_of("MatrixSetDiag", {tensor_of(dtype::boolean, {2, 3}, {0, 0, 0, 0, 0, 0}), tensor_of(dtype::boolean, {2}, {1, 1})}) ==
        number_list{1, 0, 0, 0, 1, 0});
  const auto band = [](double lower, double upper) {
    return values_of("MatrixBandPart", {counted(dtype::uint8, {3, 3}), one(lower, dtype::int64), one(upper, dtype::int64)});
  };
  CHECK(band(0, 0) == number_list{1, 0, 0, 0, 5, 0, 0, 0, 9});
  CHECK(band(-1, 0) == number_list{1, 0, 0, 4, 5, 0, 7, 8, 9});
  CHECK(band(1, -1) == number_list{1, 2, 3, 4, 5, 6, 0, 8, 9});
  CHECK(values_of("MatrixBandPart", {counted(dtype::int32, {0, 3}), one(0), one(1)}).empty());

  // Several diagonals, the uppermost first, with the short ones at either end of their rows.
  const auto matrix = counted(dtype::float32, {2, 3});
  const auto part = [&](const char* align) {
    return values_of("MatrixDiagPartV3", {matrix, ints({2}, {-1, 2}), one(9, dtype::float32)}, {{"align", align}});
  };
  CHECK(part("RIGHT_LEFT") == number_list{9, 3, 2, 6, 1, 5, 4, 9});
  CHECK(part("LEFT_RIGHT") == number_list{3, 9, 2, 6, 1, 5, 9, 4});
  CHECK(part("LEFT_LEFT") == number_list{3, 9, 2, 6, 1, 5, 4, 9});
  CHECK(part("RIGHT_RIGHT") == number_list{9, 3, 2, 6, 1, 5, 9, 4});
  CHECK(values_of("MatrixDiagPartV2", {matrix, ints({2}, {-1, 2}), one(9, dtype::float32)}) == part("LEFT_LEFT"));
  CHECK(values_of("MatrixDiagPartV3", {matrix, one(1), one(9, dtype::float32)}) == number_list{2, 6});
  const auto none = floats({0, 3}, {});
  CHECK(run_node("MatrixDiagPartV3", {none, ints({2}, {0, 1}), one(9, dtype::float32)})[0].extent() == shape_of_list({2, 0}));
  const auto back = run_node("MatrixDiagPartV3", {matrix, ints({2}, {-1, 2}), one(9, dtype::float32)})[0];
  for (const double rows : {-1.0, 2.0})
    CHECK(values_of("MatrixDiagV3", {back, ints({2}, {-1, 2}), one(rows), one(3), one(0, dtype::float32)}) ==
          number_list{1, 2, 3, 4, 5, 6});
  CHECK(values_of("MatrixSetDiagV3", {floats({2, 3}, number_list(6, 0)), back, ints({2}, {-1, 2})}) == list_of(matrix));
  CHECK(values_of("MatrixDiagV3", {floats({3}, {1, 2, 3}), one(1), one(3), one(-1), one(7, dtype::float32)}) ==
        number_list{7, 1, 7, 7, 7, 7, 2, 7, 7, 7, 7, 3});
}

TEST_CASE("what is no diagonal is told in TensorFlow's words") {
  const auto three = floats({3}, {1, 2, 3});
  const auto made = [&](const tensor_value& d, const tensor_value& k, double rows, double columns) {
    return std::vector<tensor_value>{d, k, one(rows), one(columns), one(0, dtype::float32)};
  };
  SAYS("diag_index must be a scalar or vector, received shape: [1,1]", "MatrixDiagV3", made(three, ints({1, 1}, {0}), -1, -1));
  SAYS("diag_index must have only one or two elements, received 3 elements.", "MatrixDiagV3", made(three, ints({3}, {0, 1, 2}), -1, -1));
  SAYS("Expected diag_index to have at least 1 element", "MatrixDiagV3", made(three, ints({0}, {}), -1, -1));
  SAYS("lower_diag_index must not be larger than upper_diag_index: 1 > 0", "MatrixDiagV3", made(three, ints({2}, {1, 0}), -1, -1));
  SAYS("The number of diagonals provided in the input does not match", "MatrixDiagV3", made(three, ints({2}, {0, 3}), -1, -1));
  SAYS("The number of rows is too small.", "MatrixDiagV3", made(three, one(0), 2, -1));
  SAYS("The number of columns is too small.", "MatrixDiagV3", made(three, one(0), -1, 2));
  SAYS("is not consistent with the specified d_lower, d_upper, and diagonal.", "MatrixDiagV3", made(three, one(0), 5, 5));
  SAYS("2^44", "MatrixDiagV3", made(floats({1 << 15, 1}, number_list(1 << 15, 0)), one(std::numeric_limits<std::int32_t>::max()), -1, -1));
  SAYS("num_rows must be a scalar", "MatrixDiagV3", {three, one(0), ints({1}, {3}), one(3), one(0, dtype::float32)});
  SAYS("padding_value must be a scalar", "MatrixDiagV3", {three, one(0), one(3), one(3), three});
  const attribute_map odd{{"align", "UP"}};
  SAYS("Value for attr 'align' of \"UP\" is not in the list of allowed values", "MatrixDiagV3", made(three, one(0), -1, -1), odd);
  SAYS("diagonal must be at least 1-dim, received shape: []", "MatrixDiag", {one(0)});
  const auto matrix = counted(dtype::float32, {2, 3});
  const auto zero = one(0, dtype::float32);
  SAYS("input must be at least 2-dim, received shape: [3]", "MatrixDiagPart", {three});
  SAYS("lower_diag_index is out of bound: -2. It must be between -2 and 3", "MatrixDiagPartV3", {matrix, one(-2), zero});
  SAYS("upper_diag_index is out of bound: 3", "MatrixDiagPartV3", {matrix, ints({2}, {0, 3}), zero});
  SAYS("out of bound", "MatrixDiagPartV3", {matrix, one(std::numeric_limits<std::int32_t>::min()), zero});
  SAYS("Padding must be scalar.", "MatrixDiagPartV3", {matrix, one(0), three});
  SAYS("Expected diagonal shape: [2]", "MatrixSetDiag", {matrix, three});
  SAYS("Expected diagonal shape: [2,2]", "MatrixSetDiagV3", {matrix, counted(dtype::float32, {2, 3}), ints({2}, {0, 1})});
  SAYS("num_lower must be negative or less or equal to number of rows (2) got: 3", "MatrixBandPart", {matrix, one(3), one(0)});
  SAYS("num_upper must be negative or less or equal to number of columns (3) got: 4", "MatrixBandPart", {matrix, one(0), one(4)});
  SAYS("num_lower must be scalar, got shape [1]", "MatrixBandPart", {matrix, ints({1}, {0}), ints({}, {0})});
  SAYS("Input must be at least rank 1, got 0", "Diag", {one(0)});
  SAYS("even and positive, got shape [3]", "DiagPart", {three});
  SAYS("Invalid shape [2,3]: dimensions 0 and 1 do not match.", "DiagPart", {matrix});
}

TEST_CASE("gradients of diagonals, against differences, for known shapes and for others") {
  for (const bool is_static : {true, false}) {
    const auto check = [&](const std::vector<extents>& shapes, auto f) { check_gradient(shapes, f, is_static); };
    check({{3}}, [](const auto& in) { return call("Diag", {in[0]}); });
    check({{2, 2}}, [](const auto& in) { return call("DiagPart", {in[0]}); });
    check({{2, 3}}, [](const auto& in) { return call("MatrixDiag", {in[0]}); });
    check({{2, 3, 4}}, [](const auto& in) { return call("MatrixDiagPart", {in[0]}); });
    check({{3, 2}, {2}}, [](const auto& in) { return call("MatrixSetDiag", {in[0], in[1]}); });
    check({{3, 4}}, [](const auto& in) {
      return call("MatrixBandPart", {in[0], tensor_literal(std::int64_t{1}), tensor_literal(std::int64_t{0})});
    });
    for (const char* version : {"V2", "V3"}) {
      const std::string name = version;
      for (const char* align : {"LEFT_RIGHT", "RIGHT_LEFT"}) {
        const attribute_map settings = name == "V3" ? attribute_map{{"align", align}} : attribute_map{};
        check({{3, 4}}, [&](const auto& in) {
          return call("MatrixDiagPart" + name, {in[0], integers({2}, {-2, 1}), constant(0.5)}, settings);
        });
        check({{3, 4}, {4, 3}}, [&](const auto& in) {
          return call("MatrixSetDiag" + name, {in[0], in[1], integers({2}, {-2, 1})}, settings);
        });
        check({{4, 3}}, [&](const auto& in) {
          return call("MatrixDiag" + name, {in[0], integers({2}, {-2, 1}), size_of_axis(3), size_of_axis(4), constant(0.5)}, settings);
        });
      }
    }
  }
}

TEST_CASE("elements written by index into copies of arrays") {
  const auto places = ints({3, 1}, {2, 0, 2});
  for (const dtype type : all_numbers) {
    const auto x = tensor_of(type, {3, 2}, {5, 5, 6, 6, 7, 7}), updates = tensor_of(type, {3, 2}, {1, 2, 3, 9, 2, 1});
    const auto written = [&](const char* kind) { return values_of(std::string("TensorScatter") + kind, {x, places, updates}); };
    CHECK(written("Update") == number_list{3, 9, 6, 6, 2, 1});
    CHECK(written("Add") == number_list{8, 14, 6, 6, 10, 10});
    CHECK(written("Min") == number_list{3, 5, 6, 6, 1, 1});
    CHECK(written("Max") == number_list{5, 9, 6, 6, 7, 7});
    if (type != dtype::uint8) CHECK(written("Sub") == number_list{2, -4, 6, 6, 4, 4});
    CHECK(values_of("ScatterNdNonAliasingAdd", {x, places, updates}) == written("Add"));
  }
  CHECK(values_of("TensorScatterSub", {tensor_of(dtype::uint8, {1}, {1}), ints({1, 1}, {0}), tensor_of(dtype::uint8, {1}, {2})}) ==
        number_list{255});  // wraps around
  const auto flags = tensor_of(dtype::boolean, {2}, {1, 0});
  CHECK(values_of("TensorScatterUpdate", {flags, ints({1, 1}, {1}), tensor_of(dtype::boolean, {1}, {1})}) == number_list{1, 1});
  const auto x = counted(dtype::float32, {3, 4});
  CHECK(values_of("TensorScatterUpdate", {x, ints({0, 1}, {}), floats({0, 4}, {})}) == list_of(x));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto extreme = list_of(run_node("TensorScatterMax", {floats({2}, {nan, 1}), ints({2, 1}, {0, 1}), floats({2}, {5, nan})})[0]);
  CHECK(std::isnan(extreme[0]));
  CHECK(extreme[1] == 1);
  for (const char* type : {"TensorScatterUpdate", "TensorScatterAdd", "ScatterNdNonAliasingAdd"}) {
    SAYS("Indices shape must have rank at least one. Found:[]", type, {x, one(0), floats({1}, {1})});
    SAYS("Updates shape must have rank at least one. Found:[]", type, {x, ints({1}, {0}), one(0, dtype::float32)});
    SAYS("Outer dimensions of indices and update must match. Indices shape: [2,1], updates shape:[1]", type,
         {x, ints({2, 1}, {0, 1}), floats({1}, {1})});
    SAYS("Inner dimensions of output shape must match inner dimensions of updates shape. Output: [3,4] updates: [2]", type,
         {x, ints({2, 1}, {0, 1}), floats({2}, {1, 2})});
    SAYS("Inner dimensions of output shape must match", type, {x, ints({1, 3}, {0, 0, 0}), floats({1}, {1})});
    SAYS("The inner 1 dimensions of output.shape=[3,4] must match the inner 1 dimensions of updates.shape=[2,3]", type,
         {x, ints({2, 1}, {0, 1}), counted(dtype::float32, {2, 3})});
    SAYS("indices[1] = [3] does not index into shape [3,4]", type, {x, ints({2, 1}, {0, 3}), counted(dtype::float32, {2, 4})});
    SAYS("indices[1] = [2, -3] does not index into shape [3,4]", type, {x, ints({2, 2}, {0, 1, 2, -3}), floats({2}, {1, 2})});
    SAYS("Indices and updates specified for empty output shape", type,
         {floats({0, 4}, {}), ints({1, 1}, {0}), counted(dtype::float32, {1, 4})});
    SAYS("Indices and updates specified for empty output shape", type, {floats({3, 0}, {}), ints({1, 1}, {7}), floats({1, 0}, {})});
    SAYS("Indices and updates specified for empty output shape", type, {x, ints({2, 0}, {}), counted(dtype::float32, {2, 3, 4})});
  }
  const auto at = integers({3, 1}, {2, 0, 1}), twice = integers({3, 1}, {2, 0, 2});
  for (const bool is_static : {true, false})
    for (const char* type : {"TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub", "TensorScatterMin", "TensorScatterMax",
                             "ScatterNdNonAliasingAdd"}) {
      const bool replaces = std::string_view(type) == "TensorScatterUpdate";
      check_gradient({{4, 2}, {3, 2}}, [&](const auto& in) { return call(type, {in[0], replaces ? at : twice, in[1]}); }, is_static);
    }
}

TEST_CASE("elements written by index into variables") {
  const std::pair<const char*, number_list> wanted[]{{"ScatterNdUpdate", {3, 2, 5, 1}},
                                                     {"ScatterNdAdd", {8, 7, 5, 6}},
                                                     {"ScatterNdSub", {2, 3, 5, 4}},
                                                     {"ScatterNdMin", {3, 2, 5, 1}},
                                                     {"ScatterNdMax", {5, 5, 5, 5}}};
  for (const dtype type : all_numbers)
    for (const auto& [operation, list] : wanted) {
      graph g;
      const auto scope = g.as_default();
      const auto v = variable(tensor_literal({5, 5, 5, 5}), "v");
      const auto typed = with_number(type, [&]<class T>(T) { return variable(tensor_literal(std::vector<T>(4, T(5))), "typed"); });
      const auto updates = placeholder(type, {3});
      const auto write = call(operation, {typed, integers({3, 1}, {0, 3, 1}), updates});
      const auto outside = call(operation, {v, integers({1, 1}, {4}), number_argument(tensor_literal({1}))});
      const attribute_map ignore{{"bad_indices_policy", "IGNORE"}};
      const auto ignored = call(operation, {v, integers({1, 1}, {4}), number_argument(tensor_literal({1}))}, ignore);
      graph_session s(g);
      s.run(global_variables_initializer());
      CHECK(list_of(s.run({write}, {{updates, tensor_of(type, {3}, {3, 1, 2})}})[0]) == list);
      CHECK(list_of(s.value(typed)) == list);
      CHECK(leat_test::says(leat_test::message_of<invalid_argument>([&] { s.run(outside); }), "does not index into shape [4]"));
      CHECK(leat_test::says(leat_test::message_of<unimplemented>([&] { s.run(ignored); }), "bad_indices_policy 'IGNORE'"));
    }
}

TEST_CASE("sparse values in an array that a value fills") {
  for (const dtype type : {dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8, dtype::boolean})
    CHECK(values_of("SparseToDense", {ints({2, 2}, {0, 1, 1, 0}), ints({2}, {2, 3}), tensor_of(type, {2}, {0, 1}), one(1, type)}) ==
          number_list{1, 0, 1, 1, 1, 1});
  const auto five = one(5, dtype::float32), zero = one(0, dtype::float32);
  CHECK(values_of("SparseToDense", {one(1), ints({1}, {3}), five, zero}) == number_list{0, 5, 0});
  CHECK(values_of("SparseToDense", {ints({2}, {0, 2}), ints({1}, {3}), five, zero}) == number_list{5, 0, 5});
  const attribute_map unchecked{{"validate_indices", false}};
  CHECK(values_of("SparseToDense", {ints({3}, {2, 0, 2}), ints({1}, {3}), floats({3}, {1, 2, 3}), zero}, unchecked) ==
        number_list{2, 0, 3});
  const auto list = [&](const tensor_value& at) { return std::vector<tensor_value>{at, ints({1}, {3}), five, zero}; };
  SAYS("indices[1] = [0] is out of order. Many sparse ops require sorted indices.", "SparseToDense", list(ints({2}, {2, 0})));
  SAYS("indices[1] = [2] is repeated", "SparseToDense", list(ints({2}, {2, 2})));
  SAYS("indices[1] = [3] is out of bounds: need 0 <= index < [3]", "SparseToDense", list(ints({2}, {0, 3})));
  SAYS("Indices are not valid (out of bounds).  Shape: [3]", "SparseToDense", list(ints({2}, {0, -1})), unchecked);
  SAYS("sparse_indices should be a scalar, vector, or matrix, got shape [1,1,1]", "SparseToDense", list(ints({1, 1, 1}, {0})));
  SAYS("output_shape must be rank 1, got shape [1,1]", "SparseToDense", {one(0), ints({1, 1}, {3}), five, zero});
  SAYS("output_shape has incorrect number of elements: 1 should be: 2", "SparseToDense",
       {ints({1, 2}, {0, 0}), ints({1}, {3}), five, zero});
  SAYS("sparse_values has incorrect shape [3], should be [] or [2]", "SparseToDense",
       {ints({2}, {0, 1}), ints({1}, {3}), floats({3}, {1, 2, 3}), zero});
  SAYS("Dimension -3 must be >= 0", "SparseToDense", {one(0), ints({1}, {-3}), five, zero});
  SAYS("default_value should be a scalar.", "SparseToDense", {one(0), ints({1}, {3}), five, floats({1}, {0})});
  for (const bool is_static : {true, false})
    check_gradient(
        {{2}, {}},
        [](const auto& in) { return call("SparseToDense", {integers({2, 2}, {0, 1, 1, 0}), integers({2}, {2, 3}), in[0], in[1]}); },
        is_static);
  check_gradient({{}, {}}, [](const auto& in) { return call("SparseToDense", {integers({2}, {0, 2}), integers({1}, {3}), in[0], in[1]}); });
}

TEST_CASE("arrays that are passed on, checked, or added") {
  const auto two = run_node("IdentityN", {floats({2}, {1, 2}), one(1, dtype::boolean)});
  CHECK(list_of(two[0]) == number_list{1, 2});
  CHECK(two[1].type() == dtype::boolean);
  check_gradient({{2}, {2}}, [](const auto& in) {
    const auto node = call_operator(default_graph(), "IdentityN", {in[0], size_of_axis(1), in[1]});
    return node.result(0) * node.result(2);
  });
  check_gradient({{2}, {2}}, [](const auto& in) {  // one of the results has no user
    return call_operator(default_graph(), "IdentityN", {in[0], in[1]}).result(0) + 2.0 * in[1];
  });
  const auto expected = [](std::initializer_list<std::int64_t> sizes) { return attribute_map{{"shape", to_proto(shape_value(sizes))}}; };
  const auto matrix = counted(dtype::float32, {2, 3});
  CHECK(values_of("EnsureShape", {matrix}, expected({-1, 3})) == list_of(matrix));
  CHECK(values_of("EnsureShape", {matrix}, {{"shape", to_proto(shape::unknown())}}) == list_of(matrix));
  SAYS("Shape of tensor Placeholder [2,3] is not compatible with expected shape [?,4].", "EnsureShape", {matrix}, expected({-1, 4}));
  SAYS("[2,3] is not compatible with expected shape [?,2,3].", "EnsureShape", {matrix}, expected({-1, 2, 3}));
  check_gradient({{2, 3}}, [&](const auto& in) { return call("EnsureShape", {in[0]}, expected({2, -1})); }, false);
  for (const dtype type : all_numbers) {
    const auto x = tensor_of(type, {2}, {1, 100}), y = tensor_of(type, {2}, {2, 20});
    CHECK(values_of("AccumulateNV2", {x, y, y}, expected({2})) == number_list{5, 140});
    CHECK(list_of(x) == number_list{1, 100});  // is not written to
  }
  SAYS("Inputs to operation AccumulateNV2 must have the same size and shape.  Input 0: [2,3] != input 1: [1]", "AccumulateNV2",
       {matrix, floats({1}, {1})}, expected({2}));
  check_gradient({{2}, {2}}, [&](const auto& in) { return call("AccumulateNV2", {in[0], in[1], in[0]}, expected({2})); });
}

TEST_CASE("comparisons with a tolerance, boundaries, and counts") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const attribute_map by_half{{"tolerance", 0.5f}};
  CHECK(values_of("ApproximateEqual", {floats({4}, {0, 0, nan, infinity}), floats({4}, {0.5, 0.75, nan, infinity})}, by_half) ==
        number_list{1, 0, 0, 0});
  CHECK(values_of("ApproximateEqual", {one(1, dtype::float64), one(1.000009, dtype::float64)}) == number_list{1});
  SAYS("x and y must be of the same shape. x shape: [2]. y shape: []", "ApproximateEqual", {floats({2}, {1, 2}), one(1, dtype::float32)});
  const attribute_map borders{{"boundaries", std::vector<float>{0, 1}}};
  CHECK(values_of("Bucketize", {floats({5}, {-1, 0, 1, 2, nan})}, borders) == number_list{0, 1, 2, 2, 2});
  CHECK(values_of("Bucketize", {ints({3}, {-1, 0, 1})}, borders) == number_list{0, 1, 2});
  SAYS("Expected sorted boundaries", "Bucketize", {floats({1}, {0})}, {{"boundaries", std::vector<float>{1, 0}}});

  const auto arr = ints({4}, {1, 2, 2, 7});
  CHECK(values_of("Bincount", {arr, one(4), floats({0}, {})}) == number_list{0, 1, 2, 0});
  CHECK(values_of("Bincount", {arr, one(0), floats({0}, {})}).empty());
  CHECK(values_of("Bincount", {arr, one(4), tensor_of(dtype::int64, {2, 2}, {1, 2, 3, 4})}) == number_list{0, 1, 5, 0});
  SAYS("Input arr must be non-negative!", "Bincount", {ints({1}, {-1}), one(4), floats({0}, {})});
  SAYS("size (-1) must be non-negative", "Bincount", {arr, one(-1), floats({0}, {})});
  SAYS("Shape must be rank 0 but is rank 1", "Bincount", {arr, ints({1}, {1}), floats({0}, {})});
  SAYS("Input indices and weights must have the same size.", "Bincount", {arr, one(4), floats({3}, {1, 2, 3})});
  const auto rows = ints({2, 3}, {1, 2, 2, 0, 3, 9});
  CHECK(values_of("DenseBincount", {rows, one(4), floats({0}, {})}) == number_list{0, 1, 2, 0, 1, 0, 0, 1});
  CHECK(values_of("DenseBincount", {rows, one(4), floats({0}, {})}, {{"binary_output", true}}) == number_list{0, 1, 1, 0, 1, 0, 0, 1});
  CHECK(values_of("DenseBincount", {rows, one(4), floats({2, 3}, {0, 1, 2, 3, 4, 5})}) == number_list{0, 0, 3, 0, 3, 0, 0, 4});
  CHECK(values_of("DenseBincount", {one(1), one(3), ints({0}, {})}) == number_list{0, 1, 0});
  SAYS("Negative input value found: -2", "DenseBincount", {ints({1, 1}, {-2}), one(4), floats({0}, {})});
  SAYS("Shape must be at most rank 2 but is rank 3", "DenseBincount", {ints({1, 1, 1}, {0}), one(4), floats({0}, {})});
  SAYS("`weights` must be the same shape as `arr`", "DenseBincount", {ints({1}, {1}), one(4), floats({2}, {1, 2})});
}

TEST_CASE("coordinates of elements, and distinct parts of arrays") {
  CHECK(values_of("UnravelIndex", {ints({3}, {22, 41, 37}), ints({2}, {7, 6})}) == number_list{3, 6, 6, 4, 5, 1});
  CHECK(values_of("UnravelIndex", {one(22), ints({2}, {7, 6})}) == number_list{3, 4});
  const double half = 1 << 20;
  CHECK(values_of("UnravelIndex", {one(half, dtype::int64), tensor_of(dtype::int64, {2}, {half, half})}) == number_list{1, 0});
  SAYS("integer overflow", "UnravelIndex", {one(1), ints({2}, {half, half})});
  SAYS("index is out of bound as with dims", "UnravelIndex", {one(42), ints({2}, {7, 6})});
  SAYS("Input dims cannot contain a dim of zero, but dims contains zero at index 1", "UnravelIndex", {one(1), ints({2}, {7, 0})});
  SAYS("Input dims cannot be negative. Got dim = -2 at index 0", "UnravelIndex", {one(1), ints({2}, {-2, -3})});
  SAYS("The indices can only be scalar or vector, got \"[1,1]\"", "UnravelIndex", {ints({1, 1}, {0}), ints({1}, {7})});
  SAYS("received empty tensor indices", "UnravelIndex", {ints({0}, {}), ints({1}, {7})});

  const auto counts = run_node("UniqueWithCounts", {ints({5}, {3, 1, 3, 2, 1})}, {{"out_idx", dtype::int64}});
  CHECK(list_of(counts[0]) == number_list{3, 1, 2});
  CHECK(list_of(counts[1]) == number_list{0, 1, 0, 2, 1});
  CHECK(list_of(counts[2]) == number_list{2, 2, 1});
  CHECK(counts[2].type() == dtype::int64);
  const auto columns = run_node("UniqueWithCountsV2", {floats({2, 3}, {1, 2, 1, 3, 4, 3}), ints({1}, {-1})});
  CHECK(list_of(columns[0]) == number_list{1, 2, 3, 4});
  CHECK(list_of(columns[1]) == number_list{0, 1, 0});
  CHECK(list_of(columns[2]) == number_list{2, 1});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto rows = run_node("UniqueV2", {floats({4, 2}, {nan, 1, nan, 1, 0, 1, -0.0, 1}), ints({1}, {0})});
  CHECK(rows[0].extent() == shape_of_list({3, 2}));
  CHECK(list_of(rows[1]) == number_list{0, 1, 2, 2});
  CHECK(run_node("UniqueV2", {floats({3, 0}, {}), ints({1}, {0})})[0].extent() == shape_of_list({1, 0}));
  CHECK(run_node("UniqueV2", {floats({0, 3}, {}), ints({1}, {0})})[0].extent() == shape_of_list({0, 3}));
  CHECK(list_of(run_node("UniqueV2", {ints({2}, {4, 4}), ints({0}, {})})[0]) == number_list{4});
  SAYS("unique expects a 1D vector", "UniqueV2", {ints({1, 1}, {0}), ints({0}, {})});
  SAYS("axis expects a 1D vector.", "UniqueV2", {ints({1, 1}, {0}), one(0)});
  SAYS("axis does not support input tensors larger than 1 elements", "UniqueV2", {ints({1, 1}, {0}), ints({2}, {0, 1})});
  SAYS("axis has to be between [0, 2)", "UniqueV2", {ints({1, 1}, {0}), ints({1}, {2})});
}

TEST_CASE("colors of images") {
  const auto close = [](const number_list& is, const number_list& wanted) {
    REQUIRE(is.size() == wanted.size());
    for (std::size_t i = 0; i < is.size(); ++i) CHECK(is[i] == doctest::Approx(wanted[i]).epsilon(1e-5).scale(1));
  };
  for (const dtype type : {dtype::float32, dtype::float64}) {
    const number_list colors{1, 0, 0, 0.5, 1, 0.5, 0, 0, 0.5, 0.25, 0.25, 0.25}, hsv{0, 1, 1, 1.0 / 3, 0.5, 1, 2.0 / 3, 1, 0.5, 0, 0, 0.25};
    close(values_of("RGBToHSV", {tensor_of(type, {2, 2, 3}, colors)}), hsv);
    close(values_of("HSVToRGB", {tensor_of(type, {2, 2, 3}, hsv)}), colors);
  }
  close(values_of("RGBToHSV", {floats({2, 3}, {-1.5, 0.5, 0.5, -0.3, -0.5, -0.7})}), {0.5, 4, 0.5, 1.0 / 12, 0, -0.3});
  const auto pixels = floats({1, 2, 3}, {0, 0.1, 0.2, 0.3, 0.4, 0.5});
  close(values_of("AdjustHue", {pixels, one(1.25, dtype::float32)}), {0.2, 0, 0.2, 0.5, 0.3, 0.5});
  close(values_of("AdjustHue", {pixels, one(-1.25, dtype::float32)}), {0, 0.2, 0, 0.3, 0.5, 0.3});
  close(values_of("AdjustSaturation", {pixels, one(0, dtype::float32)}), {0.2, 0.2, 0.2, 0.5, 0.5, 0.5});
  close(values_of("AdjustContrastv2", {floats({1, 2, 2}, {1, 10, 3, 20}), one(2, dtype::float32)}), {0, 5, 4, 25});

  // The parts of large colors keep their digits, and NaN ends where TensorFlow's comparisons leave it.
  const number_list large = values_of("AdjustHue", {floats({1, 2, 3}, {1e10, 1, 0, -3, -1e10, 2}), one(0, dtype::float32)});
  CHECK(large[0] == doctest::Approx(1e10));
  CHECK(large[1] == doctest::Approx(1));
  CHECK(large[2] == 0);
  CHECK(large[4] == doctest::Approx(-1e10));
  CHECK(values_of("AdjustHue", {floats({1, 1, 3}, {1, 0, 0}), one(-1, dtype::float32)}) == number_list{1, 0, 0});
  const double none = std::numeric_limits<double>::quiet_NaN();
  const auto odd_pixel = floats({1, 1, 3}, {0.75, none, 0.25});
  const number_list odd_hue = values_of("AdjustHue", {odd_pixel, one(0.125, dtype::float32)});
  CHECK(odd_hue[0] == 0.75);
  CHECK(std::isnan(odd_hue[1]));
  CHECK(std::isnan(odd_hue[2]));
  CHECK(values_of("AdjustSaturation", {odd_pixel, one(0.5, dtype::float32)}) == number_list{0.75, 0.75, 0.75});
  CHECK(values_of("RGBToHSV", {odd_pixel}) == number_list{0, 0, 0.25});
  // Sums are formed in TensorFlow's order: of the first half of the image and the second, and so on.
  CHECK(values_of("AdjustContrastv2", {floats({4, 1, 1}, {1e8, 1, 1, -1e8}), one(0, dtype::float32)}) == number_list{0, 0, 0, 0});
  for (const double odd : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e30})
    for (const char* type : {"AdjustHue", "AdjustSaturation", "AdjustContrastv2"}) {
      CHECK(run_node(type, {pixels, one(odd, dtype::float32)})[0].elements() == 6);
      CHECK(run_node(type, {floats({1, 1, 3}, {odd, 1, -odd}), one(1, dtype::float32)})[0].elements() == 3);
      CHECK(run_node(type, {floats({2, 0, 2, 3}, {}), one(1, dtype::float32)})[0].elements() == 0);
    }
  for (const char* type : {"AdjustHue", "AdjustSaturation"}) {
    SAYS("input must be at least 3-D, got shape[2,3]", type, {counted(dtype::float32, {2, 3}), one(1, dtype::float32)});
    SAYS("input must have 3 channels but instead has 4 channels.", type, {counted(dtype::float32, {1, 1, 4}), one(1, dtype::float32)});
  }
  SAYS("delta must be scalar: [1]", "AdjustHue", {pixels, floats({1}, {1})});
  SAYS("scale must be scalar: [1]", "AdjustSaturation", {pixels, floats({1}, {1})});
  SAYS("contrast_factor must be scalar: [1]", "AdjustContrastv2", {pixels, floats({1}, {1})});
  SAYS("input must have 3 channels but input only has 4 channels.", "RGBToHSV", {floats({4}, {1, 2, 3, 4})});
  SAYS("input must be at least 1D[]", "HSVToRGB", {one(1, dtype::float32)});
  for (const bool is_static : {true, false}) check_gradient({{4, 3}}, [](const auto& in) { return call("RGBToHSV", {in[0]}); }, is_static);
}
