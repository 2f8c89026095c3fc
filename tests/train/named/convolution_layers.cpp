// Layers that convolve and pool, with the names, shapes, values and gradients that TensorFlow's `tf.layers` gives for the same inputs.
#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

using namespace leat;
using leat_test::message_of;
using leat_test::says;

namespace {

// Values that sums of a few hundred products hold exactly.
tensor_literal values_of(const shape& extent, int factor, int period, int less, float scale) {
  std::vector<float> all(static_cast<std::size_t>(extent.elements()));
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<float>(static_cast<int>(i * static_cast<std::size_t>(factor) % static_cast<std::size_t>(period)) - less) * scale;
  return tensor_literal(shape_value(extent), all);
}
// A sum of all elements, each with a weight by its position.
double weighed(const std::vector<float>& all) {
  double sum = 0;
  for (std::size_t i = 0; i < all.size(); ++i) sum += static_cast<double>(all[i]) * static_cast<double>(i % 13 + 1);
  return sum;
}
std::vector<std::string> names_of_all(const std::vector<output>& all) {
  std::vector<std::string> names;
  for (const auto& v : all) names.push_back(v.name());
  return names;
}
std::vector<std::string> types_and_names(graph& g, std::string_view under) {
  std::vector<std::string> all;
  for (const auto& op : get_operations(g)) {
    const std::string type(op.type()), name(op.name());
    if (!name.starts_with(under) || says(name, "/Initializer") || says(name, "/Assign") || says(name, "/read") || type == "VariableV2")
      continue;
    all.push_back(type + " " + name);
  }
  return all;
}

struct expected {
  std::string name;
  shape_value result;
  std::vector<std::string> variables;
  std::vector<double> sums;  // of the result, and of the gradients of Σ y² with respect to x and the variables
};
struct ran {
  std::vector<float> y;
  std::vector<std::vector<float>> slopes;
};
ran run_layer(const std::function<output(const output&)>& make, const shape_value& given, const shape& fed, const expected& want) {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, given, "x");
  const output y = make(x);
  CHECK(y.name() == want.name);
  CHECK(y.extent() == want.result);
  const auto variables = global_variables();
  CHECK(names_of_all(variables) == want.variables);
  std::vector<output> of{x};
  of.insert(of.end(), variables.begin(), variables.end());
  const auto slopes = gradients({reduce_sum(y * y, all_axes)}, of);
  graph_session s(g);
  std::vector<std::pair<output, tensor_literal>> first;
  for (const auto& v : variables) s.run(assign(v, constant(values_of(v.extent(), 1, 7, 3, 0.25f))));
  ran result;
  const tensor_literal xs = values_of(fed, 5, 11, 5, 0.5f);
  const auto got = s.run(y, {{x, xs}});
  result.y = got.as<std::vector<float>>();
  if (!want.sums.empty()) CHECK(weighed(result.y) == doctest::Approx(want.sums[0]));
  for (std::size_t k = 0; k < slopes.size(); ++k) {
    result.slopes.push_back(s.run(slopes[k], {{x, xs}}).as<std::vector<float>>());
    if (!want.sums.empty()) CHECK(weighed(result.slopes.back()) == doctest::Approx(want.sums[k + 1]));
  }
  return result;
}
std::vector<std::string> kernel_and_bias(const std::string& name) { return {name + "/kernel:0", name + "/bias:0"}; }

}  // namespace

TEST_CASE("convolutions of images: values and gradients of TensorFlow") {
  run_layer([](const output& x) { return layers::conv2d(x, 4, 3, {.activation = layers::relu}); }, {-1, 8, 8, 3}, shape_value{2, 8, 8, 3},
            {"conv2d/Relu:0", {-1, 6, 6, 4}, kernel_and_bias("conv2d"), {8988.25, -5776.375, 23918.375, 5510.25}});
  run_layer([](const output& x) { return layers::conv2d(x, 4, {3, 2}, {.pad = padding::same, .dilation_rate = 2}); }, {-1, 8, 8, 3},
            shape_value{2, 8, 8, 3},
            {"conv2d/BiasAdd:0", {-1, 8, 8, 4}, kernel_and_bias("conv2d"), {-1503.5, -540.375, -8242.25, -672.75}});
  run_layer(
      [](const output& x) {
        layers::conv2d(x, 4, 3, {.name = "c"});
        return layers::conv2d(x, 4, 3, {.name = "c", .reuse = true});
      },
      {-1, 8, 8, 3}, shape_value{2, 8, 8, 3}, {"c_1/BiasAdd:0", {-1, 6, 6, 4}, kernel_and_bias("c"), {2474.375, 36.6875, 43068.5, -256.5}});
}

TEST_CASE("convolutions of sequences and volumes: values and gradients of TensorFlow") {
  const shape_value fed{2, 8, 3};
  run_layer([](const output& x) { return layers::conv1d(x, 4, 3, {.activation = layers::relu}); }, {-1, 8, 3}, fed,
            {"conv1d/Relu:0", {-1, 6, 4}, kernel_and_bias("conv1d"), {343.375, -204.875, 677.5, 325.0}});
  run_layer([](const output& x) { return layers::conv1d(x, 4, 3, {.dilation_rate = 2}); }, {-1, 8, 3}, fed,
            {"conv1d/BiasAdd:0", {-1, 4, 4}, kernel_and_bias("conv1d"), {-97.25, -508.75, 297.25, -69.75}});
  run_layer([](const output& x) { return layers::conv1d(x, 4, 3, {.strides = 2, .pad = padding::same}); }, {-1, 8, 3}, fed,
            {"conv1d/BiasAdd:0", {-1, 4, 4}, kernel_and_bias("conv1d"), {-114.5, -101.25, 1065.5, -42.75}});
  run_layer([](const output& x) { return layers::conv3d(x, 4, 3, {.activation = layers::relu}); }, {-1, 8, 8, 8, 3},
            shape_value{2, 8, 8, 8, 3},
            {"conv3d/Relu:0", {-1, 6, 6, 6, 4}, kernel_and_bias("conv3d"), {25264.75, -18198.0, -23458.5, 19221.75}});
}

TEST_CASE("separable convolutions: values and gradients of TensorFlow") {
  const shape_value image{-1, 8, 8, 3}, fed{2, 8, 8, 3};
  const auto variables = [](const std::string& name) {
    return std::vector<std::string>{name + "/depthwise_kernel:0", name + "/pointwise_kernel:0", name + "/bias:0"};
  };
  run_layer([](const output& x) { return layers::separable_conv2d(x, 4, 3, {.depth_multiplier = 2, .activation = layers::relu}); }, image,
            fed,
            {"separable_conv2d/Relu:0",
             {-1, 6, 6, 4},
             variables("separable_conv2d"),
             {1743.90625, 93.828125, 1763.296875, -11902.0078125, 1326.0}});
  run_layer([](const output& x) { return layers::separable_conv2d(x, 4, 3, {.dilation_rate = 2}); }, image, fed,
            {"separable_conv2d/BiasAdd:0",
             {-1, 4, 4, 4},
             variables("separable_conv2d"),
             {-552.90625, -443.59375, 3839.9140625, -790.34375, -253.5}});
  run_layer([](const output& x) { return layers::separable_conv2d(x, 4, 3, {.strides = 2, .pad = padding::same}); }, image, fed,
            {"separable_conv2d/BiasAdd:0",
             {-1, 4, 4, 4},
             variables("separable_conv2d"),
             {-197.875, 13.59765625, -1971.03125, -3806.359375, -176.5}});
  run_layer(
      [](const output& x) { return layers::separable_conv1d(x, 4, 3, {.depth_multiplier = 2, .activation = layers::relu}); }, {-1, 8, 3},
      shape_value{2, 8, 3},
      {"separable_conv1d/Relu:0", {-1, 6, 4}, variables("separable_conv1d"), {203.96875, -82.17578125, -170.109375, -530.875, 138.6875}});
  const auto alone =
      run_layer([](const output& x) { return layers::depthwise_conv2d(x, 3, {.depth_multiplier = 2}); }, image, fed,
                {"depthwise_conv2d/BiasAdd:0", {-1, 6, 6, 6}, {"depthwise_conv2d/depthwise_kernel:0", "depthwise_conv2d/bias:0"}, {}});
  const auto with_identity = run_layer(
      [](const output& x) {
        const auto kernel = get_variable("k", {3, 3, 3, 2}, {.initializer = ones});
        const auto bias = get_variable("b", {6}, {.initializer = ones});
        return bias_add(depthwise_conv2d(x, kernel), bias);
      },
      image, fed, {"BiasAdd:0", {-1, 6, 6, 6}, {"k:0", "b:0"}, {}});
  CHECK(alone.y == with_identity.y);
  CHECK(alone.slopes == with_identity.slopes);
}

TEST_CASE("transposed convolutions: values and gradients of TensorFlow") {
  const shape_value fed{2, 8, 8, 3};
  run_layer([](const output& x) { return layers::conv2d_transpose(x, 4, 3, {.strides = 2, .activation = layers::relu}); }, {-1, 8, 8, 3},
            fed, {"conv2d_transpose/Relu:0", {-1, 17, 17, 4}, kernel_and_bias("conv2d_transpose"), {7961.0, -285.25, -849.375, 6115.0}});
  run_layer(
      [](const output& x) { return layers::conv2d_transpose(x, 4, 3, {.strides = 2, .pad = padding::same}); }, {5, 8, 8, 3},
      shape_value{5, 8, 8, 3},
      {"conv2d_transpose/BiasAdd:0", {5, 16, 16, 4}, kernel_and_bias("conv2d_transpose"), {-13530.25, 1775.1875, -13497.25, -6382.0}});
  run_layer([](const output& x) { return layers::conv2d_transpose(x, 4, 3, {.strides = 2, .pad = padding::same, .use_bias = false}); },
            {-1, -1, -1, 3}, fed,
            {"conv2d_transpose/conv2d_transpose:0", {-1, -1, -1, 4}, {"conv2d_transpose/kernel:0"}, {-62.875, -779.625, -5075.0}});
  run_layer(
      [](const output& x) { return layers::conv2d_transpose(x, 4, 3, {.strides = 2, .order = axis_order::channels_first}); }, {-1, 3, 8, 8},
      shape_value{2, 3, 8, 8},
      {"conv2d_transpose/BiasAdd:0", {-1, 4, 17, 17}, kernel_and_bias("conv2d_transpose"), {-6141.125, -681.0625, 12654.875, -2877.75}});
  run_layer([](const output& x) { return layers::conv3d_transpose(x, 4, 3, {.strides = 2, .activation = layers::relu}); }, {-1, 4, 4, 4, 3},
            shape_value{2, 4, 4, 4, 3},
            {"conv3d_transpose/Relu:0", {-1, 9, 9, 9, 4}, kernel_and_bias("conv3d_transpose"), {19961.125, 106.1875, -1295.875, 15552.25}});
}

TEST_CASE("pools: values and gradients of TensorFlow") {
  run_layer([](const output& x) { return layers::max_pooling2d(x, 2, 2); }, {-1, 8, 8, 3}, shape_value{2, 8, 8, 3},
            {"max_pooling2d/MaxPool:0", {-1, 4, 4, 3}, {}, {1076.0, 2255.0}});
  run_layer([](const output& x) { return layers::average_pooling2d(x, {3, 2}, {2, 1}, {.pad = padding::same, .name = "pp"}); },
            {-1, 8, 8, 3}, shape_value{2, 8, 8, 3}, {"pp/AvgPool:0", {-1, 4, 8, 3}, {}, {-25.375, -48.01389044523239}});
  run_layer([](const output& x) { return layers::max_pooling1d(x, 2, 2); }, {-1, 8, 3}, shape_value{2, 8, 3},
            {"max_pooling1d/Squeeze:0", {-1, 4, 3}, {}, {193.0, 357.0}});
  run_layer([](const output& x) { return layers::average_pooling1d(x, 2, 2, {.order = axis_order::channels_first}); }, {-1, 3, 8},
            shape_value{2, 3, 8}, {"average_pooling1d/Squeeze:0", {-1, 3, 4}, {}, {-4.75, 0.75}});
  run_layer([](const output& x) { return layers::max_pooling3d(x, 2, 2); }, {-1, 8, 8, 8, 3}, shape_value{2, 8, 8, 8, 3},
            {"max_pooling3d/MaxPool3D:0", {-1, 4, 4, 4, 3}, {}, {6047.5, 13413.0}});
  run_layer([](const output& x) { return layers::max_pooling3d(x, 2, 2, {.order = axis_order::channels_first}); }, {-1, 3, 8, 8, 8},
            shape_value{2, 3, 8, 8, 8}, {"max_pooling3d/MaxPool3D:0", {-1, 3, 4, 4, 4}, {}, {5965.0, 13124.0}});
  run_layer([](const output& x) { return layers::average_pooling3d(x, 2, 2); }, {-1, 8, 8, 8, 3}, shape_value{2, 8, 8, 8, 3},
            {"average_pooling3d/AvgPool3D:0", {-1, 4, 4, 4, 3}, {}, {-0.8125, 1.609375}});
}

TEST_CASE("channels first give what channels last give") {
  const auto both = [](const std::function<output(const output&, axis_order)>& make, const std::vector<std::int32_t>& to_last,
                       const std::vector<std::int32_t>& to_first, const shape_value& extent) {
    graph g;
    const auto scope = g.as_default();
    const auto x = constant(values_of(extent, 5, 11, 5, 0.5f), "x");
    const auto there = [&] {
      const auto net = variable_scope("net", {.reuse = AUTO_REUSE, .initializer = random_uniform(-1.0, 1.0, 3)});
      return make(x, axis_order::channels_first);
    }();
    const auto here = [&] {
      const auto net = variable_scope("net", {.reuse = AUTO_REUSE});
      return transpose(make(transpose(x, to_last), axis_order::channels_last), to_first);
    }();
    CHECK(there.extent() == here.extent());
    const auto slopes = gradients({reduce_sum(there * there, all_axes)}, {x}), others = gradients({reduce_sum(here * here, all_axes)}, {x});
    graph_session s(g);
    s.run(global_variables_initializer());
    for (const auto& [a, b] : {std::pair{there, here}, std::pair{slopes[0], others[0]}}) {
      const auto p = s.run(a).as<std::vector<float>>(), q = s.run(b).as<std::vector<float>>();
      REQUIRE(p.size() == q.size());
      for (std::size_t i = 0; i < p.size(); ++i) CHECK(p[i] == doctest::Approx(q[i]).epsilon(1e-4));
    }
  };
  const std::vector<std::int32_t> last2{0, 2, 3, 1}, first2{0, 3, 1, 2}, last3{0, 2, 3, 4, 1}, first3{0, 4, 1, 2, 3}, last1{0, 2, 1};
  both([](const output& x, axis_order o) { return layers::conv2d(x, 5, 3, {.strides = 2, .order = o, .name = "c"}); }, last2, first2,
       {2, 3, 8, 7});
  both([](const output& x, axis_order o) { return layers::conv1d(x, 5, 3, {.strides = 2, .order = o, .name = "c"}); }, last1, last1,
       {2, 3, 8});
  both([](const output& x, axis_order o) { return layers::conv3d(x, 5, {3, 2, 1}, {.order = o, .name = "c"}); }, last3, first3,
       {2, 3, 5, 4, 3});
  both([](const output& x, axis_order o) { return layers::conv3d_transpose(x, 5, {3, 2, 1}, {.strides = 2, .order = o, .name = "c"}); },
       last3, first3, {2, 3, 5, 4, 3});
  both([](const output& x, axis_order o) { return layers::separable_conv2d(x, 5, 3, {.order = o, .depth_multiplier = 2, .name = "c"}); },
       last2, first2, {2, 3, 8, 7});
  both([](const output& x, axis_order o) { return layers::separable_conv1d(x, 5, 3, {.order = o, .depth_multiplier = 2, .name = "c"}); },
       last1, last1, {2, 3, 8});
  both([](const output& x, axis_order o) { return layers::max_pooling2d(x, {3, 2}, {2, 1}, {.order = o}); }, last2, first2, {2, 3, 8, 7});
  both([](const output& x, axis_order o) { return layers::average_pooling3d(x, {3, 2, 1}, 2, {.order = o}); }, last3, first3,
       {2, 3, 5, 4, 3});
}

TEST_CASE("the nodes of layers are those of tf.layers") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1, 8, 8, 3}, "x");
  const auto series = placeholder(dtype::float32, {-1, 3, 8}, "series");
  layers::conv2d(x, 4, 3, {.activation = layers::relu});
  layers::conv2d(x, 4, 3);
  layers::conv1d(series, 4, 3, {.order = axis_order::channels_first});
  layers::separable_conv2d(x, 4, 3);
  layers::conv2d_transpose(placeholder(dtype::float32, {-1, -1, -1, 3}), 4, 3, {.strides = 2});
  layers::max_pooling1d(series, 2, 2);
  CHECK(types_and_names(g, "conv2d/") == std::vector<std::string>{"Conv2D conv2d/Conv2D", "BiasAdd conv2d/BiasAdd", "Relu conv2d/Relu"});
  CHECK(types_and_names(g, "conv2d_1/") == std::vector<std::string>{"Conv2D conv2d_1/Conv2D", "BiasAdd conv2d_1/BiasAdd"});
  CHECK(types_and_names(g, "conv1d/") ==
        std::vector<std::string>{"Const conv1d/Conv1D/ExpandDims/dim", "ExpandDims conv1d/Conv1D/ExpandDims",
                                 "Const conv1d/Conv1D/ExpandDims_1/dim", "ExpandDims conv1d/Conv1D/ExpandDims_1", "Conv2D conv1d/Conv1D",
                                 "Squeeze conv1d/Conv1D/Squeeze", "Const conv1d/Reshape/shape", "Reshape conv1d/Reshape",
                                 "AddV2 conv1d/add"});
  CHECK(types_and_names(g, "separable_conv2d/") ==
        std::vector<std::string>{"DepthwiseConv2dNative separable_conv2d/separable_conv2d/depthwise",
                                 "Conv2D separable_conv2d/separable_conv2d", "BiasAdd separable_conv2d/BiasAdd"});
  const auto transposed = types_and_names(g, "conv2d_transpose/");
  for (const char* node :
       {"Shape conv2d_transpose/Shape", "StridedSlice conv2d_transpose/strided_slice", "Const conv2d_transpose/strided_slice_2/stack_1",
        "StridedSlice conv2d_transpose/strided_slice_2", "Const conv2d_transpose/mul/y", "Mul conv2d_transpose/mul_1",
        "AddV2 conv2d_transpose/add_1", "Const conv2d_transpose/stack/3", "Pack conv2d_transpose/stack",
        "Conv2DBackpropInput conv2d_transpose/conv2d_transpose"})
    CHECK_MESSAGE(std::ranges::find(transposed, node) != transposed.end(), node);
  CHECK(types_and_names(g, "max_pooling1d/") == std::vector<std::string>{"Const max_pooling1d/ExpandDims/dim",
                                                                         "ExpandDims max_pooling1d/ExpandDims",
                                                                         "MaxPool max_pooling1d/MaxPool", "Squeeze max_pooling1d/Squeeze"});
}

TEST_CASE("layers as objects, with regularizers, in a sequence") {
  graph g;
  const auto scope = g.as_default();
  const layers::sequential model{layers::conv2d(4, 3, {.activation = layers::relu, .kernel_regularizer = l2_regularizer(0.1f)}),
                                 layers::max_pooling2d(2, 2), layers::conv2d(8, {2, 3}, {.use_bias = false}), layers::flatten(),
                                 layers::dense(10)};
  const auto x = placeholder(dtype::float32, {-1, 8, 8, 1}, "x");
  const auto y = model(x);
  CHECK(y.name() == "dense/BiasAdd:0");
  CHECK(summary_table(model) ==
        "layer          shape         parameters\n"
        "conv2d         (?, 6, 6, 4)          40\n"
        "max_pooling2d  (?, 3, 3, 4)           0\n"
        "conv2d_1       (?, 2, 1, 8)         192\n"
        "flatten        (?, 16)                0\n"
        "dense          (?, 10)              170\n"
        "402 parameters, 1,608 bytes\n");
  CHECK(losses::get_regularization_losses().size() == 1);
  const auto again = model(x);
  CHECK(again.name() == "dense_1/BiasAdd:0");
  CHECK(trainable_variables().size() == 5);
}

TEST_CASE("what layers that convolve and pool refuse") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1, 8, 8, 3}, "x"), flat = placeholder(dtype::float32, {-1, 3}, "flat");
  const auto open = placeholder(dtype::float32, {-1, 8, 8, -1}, "open"), whole = placeholder(dtype::int32, {-1, 8, 8, 3}, "whole");
  const auto large = placeholder(dtype::float32, {1, 1 << 20, 8, 3}, "large");
  const auto refused = [&](auto call, const std::string& words) {
    const std::string problem = message_of<invalid_argument>(call);
    CHECK_MESSAGE(says(problem, words), problem);
  };
  refused([&] { layers::conv2d(x, 0, 3); }, "filters is 0");
  refused([&] { layers::conv2d(x, 4, {3, 2, 1}); }, "must be a tuple of 2 integers. Received: (3, 2, 1)");
  refused([&] { layers::conv2d(x, 4, -1); }, "The `kernel_size` argument must be a tuple of 2 integers. Received: (-1)");
  refused([&] { layers::conv2d(x, 4, std::int64_t{1} << 62); }, "not in [1, 2^31)");
  refused([&] { layers::conv2d(x, 4, 3, {.strides = 0}); }, "The `strides` argument");
  refused([&] { layers::conv2d(x, 4, 3, {.strides = 2, .dilation_rate = 2}); }, "not supported in conjunction with");
  refused([&] { layers::conv2d(flat, 4, 3); }, "expected ndim=4");
  refused([&] { layers::conv2d(open, 4, 3); }, "The channel dimension of the inputs should be defined");
  refused([&] { layers::conv2d(whole, 4, 3); }, "floating point");
  refused([&] { layers::conv2d(x, 4, 9); }, "Negative dimension size");
  refused([&] { layers::conv2d_transpose(x, 4, 3, {.dilation_rate = 2}); }, "it has none");
  refused([&] { layers::conv2d_transpose(large, 4, 3, {.strides = {1 << 20, 1}}); }, "too large");
  refused([&] { layers::separable_conv2d(x, 4, 3, {.depth_multiplier = 0}); }, "depth_multiplier is 0");
  refused([&] { layers::depthwise_conv2d(x, 3, {.depth_multiplier = std::int64_t{1} << 40}); }, "depth_multiplier is");
  refused([&] { layers::max_pooling2d(x, 0, 2); }, "The `pool_size` argument");
  refused([&] { layers::max_pooling2d(flat, 2, 2); }, "expected ndim=4");
  refused([&] { layers::max_pooling1d(x, {2, 2}, 2); }, "must be a tuple of 1 integers");
  refused([&] { max_pool2d(x, {2}, {.dilations = {2}}); }, "pools have none");
  refused([&] { conv2d(x, constant(values_of(shape_value{1, 1, 3, 1}, 1, 7, 3, 1.0f)), {.strides = {1, 1, 1}}); },
          "The `strides` argument");
}
