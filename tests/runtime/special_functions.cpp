// Special functions, cross products, layouts, sorted rows, rounding by channel, and joined layers: values and errors of TensorFlow 2.21,
// gradients against differences, and hostile input.

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"
#include "support/node_results.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

namespace special_function_tests {

using namespace leat;
using namespace node_results;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();

void check_same(const number_list& is, const number_list& wanted, double tolerance) {
  REQUIRE(is.size() == wanted.size());
  for (std::size_t i = 0; i < is.size(); ++i)
    if (std::isnan(wanted[i])) CHECK(std::isnan(is[i]));
    else if (std::isinf(wanted[i])) CHECK(is[i] == wanted[i]);
    else CHECK(is[i] == doctest::Approx(wanted[i]).epsilon(tolerance).scale(1e-300));
}
/// Checks an operator of vectors on both dtypes of fractions.
void check_values(std::string_view type, const std::vector<number_list>& inputs, const number_list& wanted) {
  for (const dtype d : {dtype::float64, dtype::float32}) {
    std::vector<tensor_value> arrays;
    for (const number_list& in : inputs) arrays.push_back(tensor_of(d, {static_cast<std::int64_t>(in.size())}, in));
    check_same(list_of(run_node(type, arrays, {}, {})[0]), wanted, d == dtype::float64 ? 1e-12 : 2e-6);
  }
}
tensor_value floats(const extents& of, const number_list& numbers) { return tensor_of(dtype::float32, of, numbers); }
tensor_value counts(const extents& of, const number_list& numbers) { return tensor_of(dtype::int32, of, numbers); }
void says(std::string_view type, const std::vector<tensor_value>& arrays, std::string_view words, const attribute_map& settings = {}) {
  const std::string problem = leat_test::message_of<error>([&] { run_node(type, arrays, {}, settings); });
  CHECK_MESSAGE(leat_test::says(problem, words), type << ": " << problem);
}
/// A node of a layer that was joined; its type is no name of a node.
tensor_value joined(std::string_view type, const std::vector<tensor_value>& arrays, std::vector<std::string> steps, attribute_map settings = {}) {
  settings["fused_ops"] = std::move(steps);
  settings["num_args"] = static_cast<std::int64_t>(arrays.size()) - 2;
  return run_node(type, arrays, {}, settings, "joined")[0];
}

}  // namespace

TEST_CASE("incomplete integrals") {
  check_values("Igamma", {{0, 0, -1, 1, infinite, 1, infinite, nan, 1, 2.5}, {0, 1, 1, -1, 1, infinite, infinite, 1, 0, nan}},
               {0, nan, nan, nan, 0, 1, 0, nan, 0, nan});
  check_values("Igammac", {{0, 0, -1, 1, infinite, 1, infinite, nan, 1, 2.5}, {0, 1, 1, -1, 1, infinite, infinite, 1, 0, nan}},
               {nan, nan, nan, nan, 1, 0, 0, nan, 1, nan});
  // P(1, x) = 1 - e^-x, and Q(2, x) = (1 + x) e^-x.
  check_values("Igamma", {{1, 1, 1}, {0.125, 1, 8}}, {-std::expm1(-0.125), -std::expm1(-1), -std::expm1(-8)});
  check_values("Igammac", {{2, 2, 2}, {0.125, 4, 32}}, {1.125 * std::exp(-0.125), 5 * std::exp(-4), 33 * std::exp(-32)});
  check_values("Betainc", {{0, 1, 1, 2, 2, 2, -1}, {1, 0, 1, 3, 3, 3, 2}, {.5, .5, -1, 0, 1, .25, .5}}, {nan, nan, nan, 0, 1, 0.26171875, nan});
  check_values("Betainc", {{2, 0.5}, {5, 0.5}, {0.875, 0.5}}, {1 - 5.375 * std::pow(0.125, 5), 0.5});
  says("Betainc", {floats({2}, {1, 2}), floats({3}, {1, 2, 3}), floats({}, {0.5})}, "are inconsistent: [2] vs. [3]");
  says("Igamma", {floats({2}, {1, 2}), floats({3}, {1, 2, 3})}, "Incompatible shapes: [2] vs. [3]");
  says("Igamma", {counts({1}, {1}), counts({1}, {1})}, "has DataType int32 not in list of allowed values");
  CHECK(run_node("Igamma", {floats({0, 1}, {}), floats({1, 3}, {1, 2, 3})}, {}, {})[0].extent() == shape(2, {0, 3}));
}

TEST_CASE("Bessel functions, inverses of the error function, and products that ignore") {
  check_values("BesselI0", {{0, 1, -2, nan, infinite}}, {1, 1.2660658777520082, 2.279585302336067, nan, nan});
  check_values("BesselI1", {{0, 1, -2, nan}}, {0, 0.565159103992485, -1.5906368546373295, nan});
  check_values("BesselI0e", {{0, 1, 2, 800, infinite}}, {1, 0.46575960759364043, 0.308508322553671, 0.014106945005869183, 0});
  check_values("BesselI1e", {{0, 1, -2, 800, -infinite}}, {0, 0.20791041534970844, -0.2152692892489377, 0.014098125406526996, 0});
  check_values("Erfinv", {{-2, -1, 1, 0.5, nan, 0}}, {nan, -infinite, infinite, 0.4769362762044699, nan, 0});
  check_values("Ndtri", {{-1, 0, 1, 0.5, nan, 0.125}}, {nan, -infinite, infinite, 0, nan, -1.1503493803760083});
  check_same(list_of(run_node("Ndtri", {tensor_of(dtype::float64, {1}, {1e-300})}, {}, {})[0]), {-37.0470962993612}, 1e-12);
  check_values("Xlog1py", {{0, 1, 0}, {-5, 1, nan}}, {0, std::log(2.0), 0});
  check_values("MulNoNan", {{infinite, nan, 2}, {0, 0, 3}}, {0, 0, 6});
  check_same(list_of(run_node("NextAfter", {floats({3}, {0, 1, nan}), floats({3}, {1, 0, 1})}, {}, {})[0]), {1.401298464324817e-45, 0.9999999403953552, nan}, 1e-9);
  CHECK(list_of(run_node("PopulationCount", {counts({3}, {-1, 5, 0})}, {}, {})[0]) == number_list{32, 2, 0});
  CHECK(list_of(run_node("PopulationCount", {tensor_of(dtype::int64, {1}, {-1})}, {}, {})[0]) == number_list{64});
  says("PopulationCount", {floats({1}, {1})}, "no kernel for dtype float32");
  const auto call = [](std::string_view type, std::vector<output> in) {
    return call_operator(default_graph(), type, std::vector<number_argument>(in.begin(), in.end())).result();
  };
  for (const char* type : {"BesselI0", "BesselI0e", "BesselI1", "BesselI1e"}) check_gradient({{7}}, [&](const auto& x) { return call(type, {x[0]}); });
  check_gradient({{7}}, [&](const auto& x) { return call("Erfinv", {tanh(x[0])}); }, 1e-4);
  check_gradient({{7}}, [&](const auto& x) { return call("Ndtri", {sigmoid(x[0])}); }, 1e-4);
  check_gradient({{2, 3}, {3}}, [&](const auto& x) { return call("Xlog1py", {x[0], square(x[1])}); });
  check_gradient({{3}, {2, 1}}, [&](const auto& x) { return call("MulNoNan", {x[0], x[1]}); });
  check_gradient({{2, 3}, {2, 3}}, [&](const auto& x) { return call("Cross", {x[0], x[1]}); });
}

TEST_CASE("cross products, layouts, sorted rows and bins") {
  CHECK(list_of(run_node("Cross", {counts({1, 3}, {1, 2, 3}), counts({1, 3}, {4, 5, 6})}, {}, {})[0]) == number_list{-3, 6, -3});
  CHECK(run_node("Cross", {floats({0, 3}, {}), floats({0, 3}, {})}, {}, {})[0].elements() == 0);
  says("Cross", {floats({3}, {1, 2, 3}), floats({1, 3}, {1, 2, 3})}, "Both inputs must be of same shape: [3] vs. [1,3]");
  says("Cross", {floats({2}, {1, 2}), floats({2}, {1, 2})}, "Cross-products are only defined for 3-element vectors.");
  says("Cross", {floats({}, {1}), floats({}, {1})}, "Input must be at least 1D[]");

  const auto layout = [](const char* type, const tensor_value& x, std::string from = "NHWC", std::string to = "NCHW") {
    return list_of(run_node(type, {x}, {}, {{"src_format", std::move(from)}, {"dst_format", std::move(to)}})[0]);
  };
  CHECK(layout("DataFormatDimMap", counts({5}, {0, 1, 2, 3, -1})) == number_list{0, 2, 3, 1, 1});
  CHECK(layout("DataFormatDimMap", tensor_of(dtype::int64, {2}, {1, 2}), "NHWC", "HWNC") == number_list{0, 1});
  CHECK(layout("DataFormatVecPermute", counts({4}, {1, 2, 3, 4})) == number_list{1, 4, 2, 3});
  CHECK(layout("DataFormatVecPermute", counts({4}, {1, 2, 3, 4}), "NCHW", "NHWC") == number_list{1, 3, 4, 2});
  CHECK(layout("DataFormatVecPermute", counts({2}, {1, 2})) == number_list{1, 2});
  CHECK(layout("DataFormatVecPermute", counts({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})) == number_list{1, 2, 7, 8, 3, 4, 5, 6});
  const attribute_map short_one{{"src_format", "NHW"}}, other{{"src_format", "NHWD"}}, twice{{"src_format", "NHHC"}, {"dst_format", "NHHC"}};
  says("DataFormatDimMap", {counts({1}, {1})}, "Source format must be of length 4 or 5, received src_format = NHW", short_one);
  says("DataFormatDimMap", {counts({1}, {1})}, "Destination and source format must determine a permutation, got NHWD and NCHW", other);
  says("DataFormatVecPermute", {counts({4}, {1, 2, 3, 4})}, "must determine a permutation", twice);
  says("DataFormatVecPermute", {counts({3}, {1, 2, 3})}, "1D input must be of size 2 or 4, but got shape [3]");
  says("DataFormatVecPermute", {counts({4, 3}, number_list(12))}, "Second dimension of 2D input must be of size 2, but got shape [4,3]");
  says("DataFormatVecPermute", {counts({1, 1, 1}, {1})}, "input must be a vector or 2D tensor, but got shape [1,1,1]");
  says("DataFormatVecPermute", {counts({2}, {1, 2})}, "", {{"src_format", "ABCD"}, {"dst_format", "DCBA"}});

  const auto row = floats({1, 4}, {1, 2, 2, 3}), values = floats({1, 4}, {2, 0, 5, nan});
  CHECK(list_of(run_node("LowerBound", {row, values}, {}, {})[0]) == number_list{1, 0, 4, 0});
  CHECK(list_of(run_node("UpperBound", {row, values}, {}, {{"out_type", dtype::int64}})[0]) == number_list{3, 0, 4, 4});
  CHECK(list_of(run_node("UpperBound", {floats({1, 0}, {}), floats({1, 1}, {2})}, {}, {})[0]) == number_list{0});
  CHECK(run_node("LowerBound", {floats({2, 3}, number_list(6)), floats({2, 0}, {})}, {}, {})[0].elements() == 0);
  says("LowerBound", {row, floats({2, 1}, {2, 0})}, "Leading dim_size of both tensors must match.");
  says("LowerBound", {floats({1}, {1}), floats({1, 1}, {2})}, "Shape must be rank 2 but is rank 1 for `sorted_inputs` argument");

  const auto bins = [](const tensor_value& x, const tensor_value& range, double n) { return std::vector{x, range, counts({}, {n})}; };
  CHECK(list_of(run_node("HistogramFixedWidth", bins(floats({6}, {-1, 0, 1.5, 2, 5, 15}), floats({2}, {0, 5}), 5), {}, {})[0]) == number_list{2, 1, 1, 0, 2});
  CHECK(list_of(run_node("HistogramFixedWidth", bins(counts({2, 2}, {1, 2, 3, 9}), counts({2}, {0, 10}), 4), {}, {})[0]) == number_list{2, 1, 0, 1});
  says("HistogramFixedWidth", bins(floats({1}, {nan}), floats({2}, {0, 5}), 5), "Histogram values must not contain NaN");
  says("HistogramFixedWidth", bins(floats({1}, {1}), floats({2}, {5, 5}), 5), "value_range should satisfy value_range[0] < value_range[1], but got '[5");
  says("HistogramFixedWidth", bins(floats({1}, {1}), floats({2}, {0, nan}), 5), "value_range should satisfy");
  says("HistogramFixedWidth", bins(floats({1}, {1}), floats({3}, {0, 5, 6}), 5), "value_range should be a vector of 2 elements.");
  says("HistogramFixedWidth", bins(floats({1}, {1}), floats({2}, {0, 5}), -1), "nbins should be a positive number, but got '-1'");
  says("HistogramFixedWidth", {floats({1}, {1}), floats({2}, {0, 5}), counts({1}, {3})}, "nbins should be a scalar.");
  CHECK(list_of(run_node("HistogramFixedWidth", bins(floats({2}, {-infinite, infinite}), floats({2}, {0, 5}), 5), {}, {})[0]) == number_list{1, 0, 0, 0, 1});
}

TEST_CASE("rounding by channel") {
  const auto x = floats({2, 2}, {1, 2, -9, 9}), low = floats({2}, {-1, 0}), high = floats({2}, {1, 0});
  check_near(list_of(run_node("FakeQuantWithMinMaxVarsPerChannel", {x, low, high}, {}, {})[0]), {1.003921627998352, 0, -0.9960784912109375, 0}, 1e-6);
  const auto back = run_node("FakeQuantWithMinMaxVarsPerChannelGradient", {floats({2, 2}, {1, 2, 3, 4}), x, low, high}, {}, {});
  CHECK(list_of(back[0]) == number_list{1, 2, 0, 4});
  CHECK(list_of(back[1]) == number_list{3, 0});
  CHECK(list_of(back[2]) == number_list{0, 0});
  says("FakeQuantWithMinMaxVarsPerChannel", {x, floats({1}, {-1}), high}, "min has incorrect size, expected 2 was 1");
  says("FakeQuantWithMinMaxVarsPerChannel", {x, low, floats({1}, {1})}, "max has incorrect size, expected 2 was 1");
  says("FakeQuantWithMinMaxVarsPerChannel", {floats({}, {1}), low, high}, "at least one axis");
  CHECK(run_node("FakeQuantWithMinMaxVarsPerChannel", {floats({0, 2}, {}), low, high}, {}, {})[0].elements() == 0);
  CHECK(run_node("FakeQuantWithMinMaxVarsPerChannel", {floats({2, 0}, {}), floats({0}, {}), floats({0}, {})}, {}, {})[0].elements() == 0);
}

TEST_CASE("rounding to the numbers that integers stand for") {
  const number_list numbers{-1.5, -0.4, 0, 0.3, 1.7, 5};
  const auto round = [&](const attribute_map& settings, float low = -1, float high = 2) {
    return list_of(run_node("QuantizeAndDequantizeV2", {floats({6}, numbers), tensor_value(low), tensor_value(high)}, {}, settings)[0]);
  };
  check_near(round({}), {-1.496062994, -0.3937007784, 0, 0.3149606287, 1.692913413, 5}, 1e-6);
  check_near(round({{"range_given", true}}), {-1.496062994, -0.3937007784, 0, 0.2992126048, 1.700787425, 2}, 1e-6);
  check_near(round({{"signed_input", false}}), {-1.490196109, -0.3921568692, 0, 0.2941176593, 1.70588243, 5}, 1e-6);
  check_near(round({{"num_bits", 3}, {"round_mode", "HALF_UP"}}), {-1.666666627, 0, 0, 0, 1.666666627, 5}, 1e-6);
  check_near(round({{"num_bits", 3}, {"narrow_range", true}}), {-1.666666627, 0, 0, 0, 1.666666627, 5}, 1e-6);
  const auto square = floats({2, 2}, {1, 2, 3, 4});
  check_near(list_of(run_node("QuantizeAndDequantizeV2", {square, tensor_value(0.0f), tensor_value(0.0f)}, {}, {{"axis", 0}, {"num_bits", 3}})[0]),
             {1.33333337, 2, 2.66666675, 4}, 1e-6);
  check_near(list_of(run_node("QuantizeAndDequantizeV3", {floats({6}, numbers), tensor_value(-1.0f), tensor_value(2.0f), tensor_value(4)}, {}, {})[0]),
             {-1.428571463, -0.2857142985, 0, 0.2857142985, 1.714285851, 2}, 1e-6);
  CHECK(list_of(run_node("QuantizeAndDequantizeV2", {floats({2}, {0, 0}), tensor_value(0.0f), tensor_value(1.0f)}, {}, {})[0]) == number_list{0, 0});
  CHECK(run_node("QuantizeAndDequantizeV2", {floats({0}, {}), tensor_value(0.0f), tensor_value(1.0f)}, {}, {})[0].elements() == 0);
  const auto wrong = [&](const attribute_map& settings, std::string_view words, const tensor_value& low = tensor_value(0.0f)) {
    says("QuantizeAndDequantizeV2", {square, low, tensor_value(1.0f)}, words, settings);
  };
  wrong({{"num_bits", 64}}, "num_bits is out of range: 64 with signed_input_ 1");
  wrong({{"num_bits", 63}, {"signed_input", false}}, "num_bits is out of range");
  wrong({{"round_mode", "HALF_DOWN"}}, "is not in the list of allowed values");
  wrong({{"num_bits", 0}}, "num_bits is out of range: 0");
  wrong({{"range_given", true}}, "Invalid range: input_min 3 > input_max 1", tensor_value(3.0f));
  wrong({{"range_given", true}}, "input_min must be a scalar.", floats({1}, {0}));
  wrong({{"range_given", true}, {"axis", 1}}, "input_min has the shape []");
  wrong({{"axis", 2}}, "Shape must be at least rank 3 but is rank 2");
  wrong({{"axis", -2}}, "Axis must be at least -1. Found -2");
}

TEST_CASE("the distance of sequences of labels") {
  const auto whole = [](const extents& of, const number_list& numbers) { return tensor_of(dtype::int64, of, numbers); };
  const auto distance = [&](bool is_normal, const tensor_value& hi, const tensor_value& hv, const tensor_value& hs, const tensor_value& ti,
                            const tensor_value& tv, const tensor_value& ts) {
    return run_node("EditDistance", {hi, hv, hs, ti, tv, ts}, {}, {{"normalize", is_normal}})[0];
  };
  const auto hi = whole({3, 2}, {0, 0, 0, 1, 2, 0}), ti = whole({4, 2}, {0, 0, 0, 1, 0, 2, 1, 0});
  const auto hv = counts({3}, {1, 2, 3}), tv = counts({4}, {1, 3, 2, 5}), hs = whole({2}, {4, 2}), ts = whole({2}, {3, 3});
  check_same(list_of(distance(true, hi, hv, hs, ti, tv, ts)), {1.0 / 3, 1, infinite, 0}, 1e-6);
  CHECK(list_of(distance(false, hi, hv, hs, ti, tv, ts)) == number_list{1, 1, 1, 0});
  const auto none = whole({0, 2}, {}), nothing = counts({0}, {});
  CHECK(list_of(distance(true, none, nothing, whole({2}, {2, 2}), none, nothing, whole({2}, {2, 2}))) == number_list{0, 0});
  const auto deep = distance(true, whole({2, 3}, {0, 0, 0, 1, 1, 0}), counts({2}, {1, 2}), whole({3}, {2, 2, 1}), whole({2, 3}, {0, 0, 0, 0, 1, 0}),
                             counts({2}, {1, 2}), whole({3}, {2, 2, 1}));
  check_same(list_of(deep), {0, 1, 0, infinite}, 1e-6);
  const tensor_value kitten(std::vector<std::string>{"k", "i", "t", "t", "e", "n"}), sitting(std::vector<std::string>{"s", "i", "t", "t", "i", "n", "g"});
  const auto letters = distance(false, whole({6, 2}, {0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5}), kitten, whole({2}, {1, 6}),
                                whole({7, 2}, {0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6}), sitting, whole({2}, {1, 7}));
  CHECK(list_of(letters) == number_list{3});
  says("EditDistance", {whole({1, 2}, {5, 0}), counts({1}, {1}), hs, ti, tv, ts}, "outside of the buffer");
  says("EditDistance", {whole({1, 1}, {0}), counts({1}, {1}), whole({1}, {4}), whole({1, 1}, {0}), counts({1}, {1}), whole({1}, {3})},
       "Input SparseTensors must have rank at least 2, but truth_shape rank is: 1");
  says("EditDistance", {whole({1, 1}, {0}), counts({1}, {1}), whole({1}, {4}), ti, tv, ts},
       "Expected truth and hypothesis to have matching ranks, but their shapes are: [2] and [1]");
  says("EditDistance", {none, nothing, whole({2}, {0x1p62, 2}), none, nothing, ts}, "more than 2^44 elements, which no memory holds");
}

TEST_CASE("layers that were joined") {
  const auto a = floats({2, 2}, {1, -2, 3, 4}), b = floats({2, 3}, {1, 0, -1, 2, 1, 0}), bias = floats({3}, {0.5, -1, 10});
  CHECK(list_of(joined("_FusedMatMul", {a, b, bias}, {"BiasAdd"})) == number_list{-2.5, -3, 9, 11.5, 3, 7});
  CHECK(list_of(joined("_FusedMatMul", {a, b, bias}, {"BiasAdd", "Relu"})) == number_list{0, 0, 9, 11.5, 3, 7});
  CHECK(list_of(joined("_FusedMatMul", {a, b, bias}, {"BiasAdd", "Relu6"})) == number_list{0, 0, 6, 6, 3, 6});
  CHECK(list_of(joined("_FusedMatMul", {a, a}, {"Relu"}, {{"transpose_a", true}, {"transpose_b", true}})) == number_list{0, 15, 0, 10});
  check_near(list_of(joined("_FusedMatMul", {a, b, bias}, {"BiasAdd", "LeakyRelu"}, {{"leakyrelu_alpha", 0.5f}})), {-1.25, -1.5, 9, 11.5, 3, 7}, 1e-6);
  check_near(list_of(joined("_FusedMatMul", {a, b, bias}, {"BiasAdd", "Elu"})), {std::expm1(-2.5), std::expm1(-3), 9, 11.5, 3, 7}, 1e-6);
  check_near(list_of(joined("_FusedMatMul", {a, b, bias, floats({2, 3}, number_list(6, 1))}, {"BiasAdd", "Add", "Tanh"})),
             {std::tanh(-1.5), std::tanh(-2), std::tanh(10), std::tanh(12.5), std::tanh(4), std::tanh(8)}, 1e-6);
  const attribute_map one{{"strides", std::vector<std::int64_t>{1, 1, 1, 1}}, {"padding", "VALID"}, {"epsilon", 0.0f}};
  const auto image = floats({1, 1, 2, 2}, {1, 2, 3, 4}), filter = floats({1, 1, 2, 2}, {1, 0, 0, -1}), pair = floats({2}, {1, 2});
  CHECK(list_of(joined("_FusedConv2D", {image, filter, pair}, {"BiasAdd", "Relu"}, one)) == number_list{2, 0, 4, 0});
  CHECK(list_of(joined("_FusedConv2D", {image, filter, pair, pair, floats({2}, {1, 0}), floats({2}, {4, 1})}, {"FusedBatchNorm"}, one)) ==
        number_list{1, -2, 2, -6});
  CHECK(list_of(joined("_FusedDepthwiseConv2dNative", {image, floats({1, 1, 2, 1}, {2, -1}), pair}, {"BiasAdd"}, one)) == number_list{3, 0, 7, -2});
  const auto wrong = [](const std::vector<tensor_value>& in, std::vector<std::string> steps, std::string_view words) {
    const std::string problem = leat_test::message_of<error>([&] { joined("_FusedMatMul", in, std::move(steps)); });
    CHECK_MESSAGE(leat_test::says(problem, words), problem);
  };
  wrong({a, b, bias}, {}, "at least one fused op");
  wrong({a, b, bias}, {"Cosine"}, "Fusion is not implemented: Cosine");
  wrong({a, b}, {"BiasAdd"}, "has 2 inputs, fewer than the operator takes");
  wrong({a, b, floats({2}, {1, 2})}, {"BiasAdd"}, "a vector of 3 channels is expected");
  wrong({a, b, floats({2}, {1, 2})}, {"Add"}, "that is added");
  wrong({b, b, bias}, {"BiasAdd"}, "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]");
}

TEST_CASE("a layer that was joined is its nodes, bit by bit") {
  const auto activation = [](const std::string& type, const tensor_value& x) {
    return run_node(type, {x}, {}, type == "LeakyRelu" ? attribute_map{{"alpha", 0.3f}} : attribute_map{})[0];
  };
  // Rows shorter and longer than a tile, and several tiles; a product of one term, so that its sum has one order.
  for (const auto& [rows, channels] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {5, 3}, {4001, 3}, {70, 300}, {3, 9000}}) {
    const auto column = floats({rows, 1}, random_values(rows, 1)), row = floats({1, channels}, random_values(channels, 2));
    const auto bias = floats({channels}, random_values(channels, 3)), other = floats({rows, channels}, random_values(rows * channels, 4));
    const tensor_value with_bias = run_node("BiasAdd", {run_node("MatMul", {column, row}, {}, {})[0], bias}, {}, {})[0];
    for (const std::string type : {"Relu", "Relu6", "Elu", "LeakyRelu", "Tanh", "Sigmoid"}) {
      INFO(type << " of " << rows << " rows of " << channels);
      CHECK(list_of(joined("_FusedMatMul", {column, row, bias}, {"BiasAdd", type}, {{"leakyrelu_alpha", 0.3f}})) ==
            list_of(activation(type, with_bias)));
    }
    CHECK(list_of(joined("_FusedMatMul", {column, row, bias, other}, {"BiasAdd", "Add", "Relu"})) ==
          list_of(activation("Relu", run_node("AddV2", {with_bias, other}, {}, {})[0])));
    const auto images = floats({1, rows, 1, 1}, random_values(rows, 1)), filter = floats({1, 1, 1, channels}, random_values(channels, 2));
    const auto variance = floats({channels}, number_list(static_cast<std::size_t>(channels), 1.7));
    const attribute_map one{{"strides", std::vector<std::int64_t>{1, 1, 1, 1}}, {"padding", "VALID"}, {"epsilon", 0.01f}};
    const tensor_value normal = run_node("FusedBatchNorm", {run_node("Conv2D", {images, filter}, {}, one)[0], bias, row.reshaped(bias.extent()), bias, variance},
                                         {}, {{"epsilon", 0.01f}, {"is_training", false}})[0];
    CHECK(list_of(joined("_FusedConv2D", {images, filter, bias, row.reshaped(bias.extent()), bias, variance}, {"FusedBatchNorm", "Relu"}, one)) ==
          list_of(activation("Relu", normal)));
  }
  // Gelu has no node: x Φ(x).
  const number_list x{-5, -1, 0, 0.5, 3};
  number_list exact, near;
  for (const double v : x) {
    exact.push_back(v / 2 * (1 + std::erf(v / std::sqrt(2.0))));
    near.push_back(v / 2 * (1 + std::tanh(std::sqrt(2 / 3.141592653589793) * (v + 0.044715 * v * v * v))));
  }
  const auto ones = floats({1, 1}, {1}), values = floats({1, 5}, x);
  check_near(list_of(joined("_FusedMatMul", {ones, values}, {"GeluExact"})), exact, 1e-6);
  check_near(list_of(joined("_FusedMatMul", {ones, values}, {"GeluApproximate"})), near, 1e-6);
  CHECK(joined("_FusedMatMul", {floats({0, 2}, {}), floats({2, 3}, number_list(6, 1)), floats({3}, {1, 2, 3})}, {"BiasAdd", "Relu"}).elements() == 0);
}

TEST_CASE("biases and normalization of channels that come first") {
  const std::int64_t n = 2, channels = 3, inner = 5000;
  const auto images = floats({n, channels, 50, 100}, random_values(n * channels * inner));
  const auto bias = floats({3}, {1, -2, 0.25}), scale = floats({3}, {2, 0.5, 1}), variance = floats({3}, {4, 1, 0.25});
  const attribute_map first{{"data_format", "NCHW"}, {"epsilon", 0.0f}, {"is_training", false}};
  const auto sums = list_of(run_node("BiasAdd", {images, bias}, {}, {{"data_format", "NCHW"}})[0]);
  const auto normal = list_of(run_node("FusedBatchNorm", {images, scale, bias, bias, variance}, {}, first)[0]);
  const auto x = images.values<float>(), b = bias.values<float>();
  bool is_sum = true, is_normal = true;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t k = i / static_cast<std::size_t>(inner) % 3;
    is_sum = is_sum && sums[i] == static_cast<double>(x[i] + b[k]);
    const double slope = static_cast<double>(scale.values<float>()[k]) / std::sqrt(static_cast<double>(variance.values<float>()[k]));
    is_normal = is_normal && std::abs(normal[i] - (static_cast<double>(x[i] - b[k]) * slope + static_cast<double>(b[k]))) < 1e-5;
  }
  CHECK(is_sum);
  CHECK(is_normal);
}

}  // namespace special_function_tests
