#include <leat/named/gradients/class_gradient.hpp>

#include <leat/graphs.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace leat;

namespace {

std::vector<std::string> nodes_under(graph& g, std::string_view scope) {
  std::vector<std::string> names;
  for (const graph_operation& op : get_operations(g))
    if (op.name().starts_with(scope)) names.push_back(op.name().substr(scope.size()));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE("a class's gradient makes TensorFlow's nodes: sums follow where shapes differ, or may") {
  using names = std::vector<std::string>;
  const auto of_product = [](const shape_value& a, const shape_value& b, dtype type) {
    graph g;
    const auto scope = g.as_default();
    const auto x = placeholder(type, a, "x"), y = placeholder(type, b, "y");
    static_cast<void>(gradients({multiply(x, y)}, {x, y}));
    return nodes_under(g, "gradients/Mul_grad/");
  };
  CHECK(of_product({2, 3}, {2, 3}, dtype::float32) == names{"Mul", "Mul_1"});
  CHECK(of_product({2, 3}, {2, 3}, dtype::float64) == names{"Mul", "Mul_1", "Shape", "Shape_1"});
  CHECK(of_product({2, 3}, {3}, dtype::float32) ==
        names{"Mul", "Mul_1", "Reshape", "Shape", "Shape_1", "Sum", "Sum/reduction_indices"});
  const names open{"BroadcastGradientArgs", "Mul", "Mul_1", "Reshape", "Reshape_1", "Shape", "Shape_1", "Sum", "Sum_1"};
  CHECK(of_product({-1, 3}, {-1, 3}, dtype::float32) == open);
  CHECK(of_product(unknown_shape, {3}, dtype::float32) == open);
}

TEST_CASE("nodes wait for dy as long as the class says, and no longer") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {2}, "x"), y = placeholder(dtype::float32, {2}, "y");
  static_cast<void>(gradients({squared_difference(x, y)}, {x, y}));
  const auto waits = [&](const char* name) { return !get_operation_by_name(g, name).control_inputs().empty(); };
  CHECK(waits("gradients/SquaredDifference_grad/scalar"));
  CHECK(waits("gradients/SquaredDifference_grad/sub"));
  CHECK_FALSE(waits("gradients/SquaredDifference_grad/Neg"));
}

TEST_CASE("which gradients are the text of a class is known") {
  CHECK(detail::is_class_gradient("Tanh"));
  CHECK_FALSE(detail::is_class_gradient("ConcatV2"));
  CHECK_FALSE(detail::is_class_gradient("Mystery"));
  register_gradient("ClassGradientOwn", [](const gradient_call&) { return std::vector<gradient_value>{}; });
  CHECK_FALSE(detail::is_class_gradient("ClassGradientOwn"));
}
