// Volumes, sequences, and images with stated padding or other orders of axes, of typed expressions against the same expressions in a graph
// with names, whose nodes are TensorFlow's.

#include "support/agreement.hpp"
#include "support/check.hpp"

#include <doctest/doctest.h>

using namespace leat;
using namespace leat::literals;

namespace {

// `f` of images, and its gradient by a variable, compiled and in a graph that has nodes of these types.
template <class F>
void compare(F f, std::initializer_list<const char*> types, double tolerance = 1e-5) {
  const auto x = placeholder<"x", float, 2, 4, 6, 4>();
  const auto w = variable<"w", float, 4>(random_uniform(0.5, 1, 1));
  const auto y = f(x * w);
  const auto loss = reduce_sum(y * y);
  const auto [dw] = gradients(loss, w);
  const auto train = gradient_descent(0.001f).minimize(loss);
  leat_test::both_sessions both(train, y, loss, dw);
  both.copy(w);
  std::string names = " ";
  const graph& g = both.dynamic().owner();
  for (int i = 0; i < g.size(); ++i) names += std::string(g.at(i).op->type) + " ";
  for (const char* type : types) {
    CAPTURE(type);
    CHECK(names.find(std::string(" ") + type + " ") != std::string::npos);
  }
  const auto images = leat_test::filled<float, 4>({2, 4, 6, 4}, -1, 1, 3);
  CHECK(both.look({{"x:0", tensor_value(images)}}, x = images) < tolerance);
  both.train({{"x:0", tensor_value(images)}}, x = images);
  CHECK(both.of(w) < tolerance);
}

}  // namespace

TEST_CASE("stated padding, other orders of axes and sequences agree with graphs") {
  const auto ones_of = constant<0.5f, 3, 2, 4, 3>();
  compare([&](const auto& x) { return conv2d<1, pads{1, 0, 2, 1}>(x, ones_of); }, {"Conv2D", "Conv2DBackpropInput"});
  compare([&](const auto& x) { return max_pool<2, 1, pads{1, 0, 1, 1}>(x); }, {"MaxPool", "MaxPoolGrad"});
  compare([&](const auto& x) { return conv2d<1, padding::same, 1, axis_order::channels_first>(transpose<0, 3, 1, 2>(x), ones_of); },
          {"Conv2D"});
  compare([](const auto& x) { return conv1d<2, padding::same>(reshape<8, 6, 4>(x), constant<0.5f, 3, 4, 2>()); }, {"Conv2D"});
}

TEST_CASE("volumes agree with those of graphs") {
  const auto filters = constant<0.5f, 2, 3, 2, 2, 3>();
  const auto volumes = [](const auto& x) { return reshape<1, 4, 4, 6, 2>(x); };
  compare([&](const auto& x) { return conv3d<dhw{1, 2, 1}, padding::same>(volumes(x), filters); }, {"Conv3D", "Conv3DBackpropInputV2"});
  compare([&](const auto& x) { return max_pool3d<2>(volumes(x)); }, {"MaxPool3D", "MaxPool3DGrad"});
  compare([&](const auto& x) { return avg_pool3d<dhw{2, 1, 3}, 1, padding::same>(volumes(x)); }, {"AvgPool3D", "AvgPool3DGrad"});
}
