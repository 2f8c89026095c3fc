#include "samples.hpp"

#include <leat/graph/older_spellings.hpp>
#include <leat/named/graph/literal.hpp>

#include <algorithm>

namespace conformance {

using leat::attribute_map;
using leat::dtype;
using leat::shape;

shape sized(std::initializer_list<std::int64_t> dimensions) {
  shape s;
  for (auto d : dimensions) s.push(d);
  return s;
}

namespace {

using role = argument::role;
using sizes = std::initializer_list<std::int64_t>;

argument x(sizes s) { return {role::tensor, sized(s)}; }
argument of(dtype type, sizes s) { return {role::tensor, sized(s), type}; }
argument truth(sizes s) { return of(dtype::boolean, s); }
argument indices(sizes s, std::vector<double> values, dtype type = dtype::int32) {
  return {role::tensor, sized(s), type, std::move(values)};
}
argument variable(sizes s) { return {role::variable, sized(s)}; }
argument rate(double value) { return {role::tensor, {}, dtype::invalid, {value}}; }
argument fixed(sizes s, std::vector<double> values) { return {role::tensor, sized(s), dtype::invalid, std::move(values)}; }
/// Sizes, axes: constants of the graph.
argument numbers(std::vector<double> values, dtype type = dtype::int32) {
  return {role::number, sized({static_cast<std::int64_t>(values.size())}), type, std::move(values)};
}
argument number(double value, dtype type = dtype::int32) { return {role::number, {}, type, {value}}; }

}  // namespace

std::vector<sample> element_samples(std::string_view type, int operands) {
  const std::string t(type);
  std::vector<sample> list;
  if (operands == 1)
    for (const auto& s : {sized({}), sized({0}), sized({1}), sized({2, 3}), sized({0, 3}), sized({37})})
      list.push_back({t, {{role::tensor, s}}});
  if (operands == 2) {
    const std::pair<shape, shape> pairs[]{{sized({2, 3}), sized({2, 3})}, {sized({}), sized({})},      {sized({0}), sized({0})},
                                          {sized({1}), sized({37})},      {sized({37}), sized({})},    {sized({3, 1}), sized({1, 4})},
                                          {sized({0, 3}), sized({1})},    {sized({2, 3}), sized({3})}, {sized({2, 1, 3}), sized({4, 1})},
                                          {sized({37}), sized({37})}};
    for (const auto& [a, b] : pairs) list.push_back({t, {{role::tensor, a}, {role::tensor, b}}});
  }
  return list;
}

std::vector<sample> written_samples() {
  std::vector<sample> list;
  const auto add = [&](std::string_view type, std::vector<argument> inputs, attribute_map attributes = {}) {
    list.push_back({std::string(type), std::move(inputs), std::move(attributes)});
  };
  const auto sum = [&](std::string_view type, std::vector<argument> inputs, attribute_map attributes = {}) {
    list.push_back({std::string(type), std::move(inputs), std::move(attributes), false, true});
  };

  // element functions with operands of their own
  for (const auto& s : {sized({2, 3}), sized({}), sized({0, 3}), sized({37})})
    add("SelectV2", {{role::tensor, s, dtype::boolean}, {role::tensor, s}, {role::tensor, s}});
  add("SelectV2", {truth({2, 1}), x({1, 3}), x({})});
  add("SelectV2", {truth({}), x({2, 3}), x({3})});
  for (const auto& s : {sized({2, 3}), sized({}), sized({0, 3}), sized({37})})
    add("Select", {{role::tensor, s, dtype::boolean}, {role::tensor, s}, {role::tensor, s}});
  add("Select", {truth({2}), x({2, 3}), x({2, 3})});
  add("Select", {truth({2}), x({2}), x({2})});
  add("Select", {truth({}), x({2, 3}), x({2, 3})});
  for (const auto& s : {sized({2, 3}), sized({0}), sized({37})}) {
    add("ClipByValue", {{role::tensor, s}, rate(1), rate(3)});
    add("ClipByValue", {{role::tensor, s}, rate(3), rate(1)});
    list.back().sharp = true;
  }
  for (dtype to : {dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8, dtype::boolean})
    for (const auto& s : {sized({2, 3}), sized({0}), sized({37})}) add("Cast", {{role::tensor, s}}, {{"DstT", to}});
  for (const char* type : {"ReluGrad", "Relu6Grad", "EluGrad", "SoftplusGrad", "SoftsignGrad", "SeluGrad", "SigmoidGrad", "TanhGrad",
                           "SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad"})
    for (const auto& s : {sized({2, 3}), sized({}), sized({0, 3}), sized({37})}) add(type, {{role::tensor, s}, {role::tensor, s}});
  for (const auto& s : {sized({2, 3}), sized({}), sized({0, 3}), sized({37})}) {
    add("LeakyRelu", {{role::tensor, s}}, {{"alpha", 0.25f}});
    add("LeakyRelu", {{role::tensor, s}});
    add("LeakyReluGrad", {{role::tensor, s}, {role::tensor, s}}, {{"alpha", 0.25f}});
    add("LeakyReluGrad", {{role::tensor, s}, {role::tensor, s}});
  }
  for (const char* type : {"Mod", "Div", "Add"})
    for (auto& s : element_samples(type, 2)) list.push_back(std::move(s));
  for (const char* type : {"Inv", "ZerosLike", "OnesLike", "Shape", "Rank", "Size", "Identity", "StopGradient"})
    for (auto& s : element_samples(type, 1)) list.push_back(std::move(s));
  add("ShapeN", {x({2, 3}), x({})}, {{"N", 2}});
  for (const auto& s : {sized({2, 3}), sized({}), sized({0})}) {
    sum("AddN", {{role::tensor, s}, {role::tensor, s}, {role::tensor, s}}, {{"N", 3}});
    add("AddN", {{role::tensor, s}}, {{"N", 1}});
  }

  // reductions
  for (const char* type : {"Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm", "All", "Any"})
    for (bool keep : {false, true}) {
      const dtype own = type[0] == 'A' ? dtype::boolean : dtype::invalid;
      const auto one = [&](sizes s, std::vector<double> axes) {
        sum(type, {{role::tensor, sized(s), own}, numbers(std::move(axes))}, {{"keep_dims", keep}});
      };
      one({2, 3}, {0});
      one({2, 3}, {1});
      one({2, 3}, {-1});
      one({2, 3}, {0, 1});
      one({2, 3, 5}, {1});
      one({3, 37}, {1});
      one({37, 3}, {0});
      one({2, 3}, {});
      one({}, {});
      one({1}, {0});
      one({0, 3}, {0});
      one({2, 0}, {0});
    }
  sum("L2Loss", {x({2, 3})});
  sum("L2Loss", {x({})});
  sum("L2Loss", {x({0})});
  sum("L2Loss", {x({37})});
  for (const char* type : {"ArgMax", "ArgMin"})
    for (dtype to : {dtype::int32, dtype::int64}) {
      add(type, {x({2, 3}), number(1)}, {{"output_type", to}});
      add(type, {x({2, 3}), number(0)}, {{"output_type", to}});
      add(type, {x({37}), number(0)}, {{"output_type", to}});
      add(type, {x({0, 3}), number(1)}, {{"output_type", to}});
    }
  sum("CumulativeLogsumexp", {x({2, 3}), number(1)});
  sum("CumulativeLogsumexp", {x({2, 3}), number(0)}, {{"exclusive", true}, {"reverse", true}});
  for (const char* type : {"Cumsum", "Cumprod"})
    for (bool exclusive : {false, true})
      for (bool reverse : {false, true}) sum(type, {x({2, 3}), number(1)}, {{"exclusive", exclusive}, {"reverse", reverse}});
  for (const char* type : {"Cumsum", "Cumprod"}) {
    sum(type, {x({0, 3}), number(0)});
    sum(type, {x({37}), number(-1)});
    sum(type, {x({2, 3, 5}), number(1)}, {{"reverse", true}});
    sum(type, {x({3}), number(1)});
  }
  add("LinSpace", {rate(1), rate(7), number(5)});
  add("LinSpace", {rate(7), rate(1), number(1)});
  add("LinSpace", {rate(1), rate(2), number(0)});
  for (const char* type : {"Softmax", "LogSoftmax"}) {
    sum(type, {x({2, 3})});
    sum(type, {x({5})});
    sum(type, {x({2, 3, 4})});
    sum(type, {x({0, 3})});
    sum(type, {x({3, 37})});
    sum(type, {x({2, 1})});
  }
  const argument certain{role::tensor, sized({2, 3}), dtype::invalid, {0.25, 0.5, 0.25, 0, 1, 0}};
  sum("SoftmaxCrossEntropyWithLogits", {x({2, 3}), certain});
  for (const auto& [logits, labels] : {std::pair{sized({2, 3}), sized({1, 3})}, {sized({3}), sized({2, 3})}, {sized({2, 1}), sized({1, 3})},
                                       {sized({2, 3}), sized({})}, {sized({3}), sized({3})}, {sized({1, 2, 3}), sized({1, 2, 3})},
                                       {sized({2, 3}), sized({3, 3})}, {sized({2, 0}), sized({2, 0})}}) {
    sum("SoftmaxCrossEntropyWithLogits", {{role::tensor, logits}, {role::tensor, labels}});
    list.back().sharp = true;  // as if labels added up to 1
  }
  for (const auto& s : {sized({2, 3}), sized({0, 3}), sized({5, 37})}) {
    sum("SoftmaxCrossEntropyWithLogits", {{role::tensor, s}, {role::tensor, s}});
    list.back().sharp = true;  // as if labels added up to 1
  }
  for (dtype label : {dtype::int32, dtype::int64}) {
    sum("SparseSoftmaxCrossEntropyWithLogits", {x({2, 3}), indices({2}, {2, 0}, label)});
    sum("SparseSoftmaxCrossEntropyWithLogits", {x({2, 3}), indices({2}, {3, 0}, label)});
    sum("SparseSoftmaxCrossEntropyWithLogits", {x({2, 3}), indices({2}, {1, -1}, label)});
    sum("SparseSoftmaxCrossEntropyWithLogits", {x({0, 3}), indices({0}, {}, label)});
    sum("SparseSoftmaxCrossEntropyWithLogits", {x({3}), indices({}, {2}, label)});
    sum("SparseSoftmaxCrossEntropyWithLogits", {x({1, 2, 3}), indices({1, 2}, {2, 0}, label)});
    sum("SparseSoftmaxCrossEntropyWithLogits", {x({0, 0}), indices({0}, {}, label)});
    sum("SparseSoftmaxCrossEntropyWithLogits", {x({4, 37}), indices({4}, {36, 0, 5, 7}, label)});
  }

  // products, biases
  for (bool a : {false, true})
    for (bool b : {false, true}) {
      sum("MatMul", {a ? x({3, 2}) : x({2, 3}), b ? x({4, 3}) : x({3, 4})}, {{"transpose_a", a}, {"transpose_b", b}});
      for (const char* type : {"BatchMatMul", "BatchMatMulV2"}) {
        sum(type, {a ? x({3, 2}) : x({2, 3}), b ? x({4, 3}) : x({3, 4})}, {{"adj_x", a}, {"adj_y", b}});
        sum(type, {a ? x({5, 3, 2}) : x({5, 2, 3}), b ? x({5, 4, 3}) : x({5, 3, 4})}, {{"adj_x", a}, {"adj_y", b}});
      }
    }
  sum("MatMul", {x({2, 0}), x({0, 4})});
  sum("MatMul", {x({0, 3}), x({3, 4})});
  sum("MatMul", {x({1, 1}), x({1, 1})});
  sum("BatchMatMulV2", {x({2, 1, 2, 3}), x({5, 3, 4})});
  sum("BatchMatMulV2", {x({0, 2, 3}), x({0, 3, 4})});
  sum("BatchMatMulV3", {of(dtype::float32, {2, 2, 3}), of(dtype::float32, {3, 4})}, {{"Tout", dtype::float32}});
  const argument places = indices({3, 2}, {1, 0, 0, 2, 0, 1}, dtype::int64), sides = numbers({2, 3}, dtype::int64);
  add("SparseReorder", {places, x({3}), sides});
  add("SparseConcat", {places, places, x({3}), x({3}), sides, sides}, {{"concat_dim", 1}});
  add("SparseSlice", {places, x({3}), sides, numbers({0, 1}, dtype::int64), numbers({2, 2}, dtype::int64)});
  const argument set = indices({2, 3}, {3, 1, 3, 4, 5, 5}), other_set = indices({2, 2}, {1, 7, 5, 4});
  const argument values_of_set = indices({3}, {4, 1, 3});
  const attribute_map united{{"set_operation", "union"}};
  add("DenseToDenseSetOperation", {set, other_set}, united);
  add("DenseToSparseSetOperation", {set, places, values_of_set, sides}, united);
  add("SparseToSparseSetOperation", {places, values_of_set, sides, places, values_of_set, sides}, united);
  sum("SparseFillEmptyRows", {places, x({3}), sides, x({})});
  sum("SparseFillEmptyRowsGrad", {indices({2}, {0, 2}, dtype::int64), x({3})});
  add("SparseReshape", {places, sides, numbers({3, 2}, dtype::int64)});
  sum("SparseReduceSum", {places, x({3}), sides, numbers({1})});
  sum("SparseReduceSumSparse", {places, x({3}), sides, numbers({1})});
  add("SparseReduceMaxSparse", {places, x({3}), sides, numbers({0})});
  add("SparseSplit", {number(1, dtype::int64), places, x({3}), sides}, {{"num_split", 2}});
  add("SparseReduceMax", {places, x({3}), sides, numbers({0})});
  add("SparseSliceGrad", {x({2}), places, numbers({0, 0}, dtype::int64), indices({2, 2}, {1, 0, 0, 1}, dtype::int64)});
  const argument sorted = indices({3, 2}, {0, 1, 0, 2, 1, 0}, dtype::int64);
  // Results are in the order of sorted indices, and the gradient takes them for sorted, as TensorFlow's does.
  sum("SparseSoftmax", {sorted, x({3}), sides});
  for (const char* type : {"SparseSparseMaximum", "SparseSparseMinimum"})
    add(type, {sorted, x({3}), sides, indices({2, 2}, {0, 0, 0, 2}, dtype::int64), x({2}), sides});
  sum("SparseAdd", {sorted, x({3}), sides, indices({2, 2}, {0, 0, 0, 2}, dtype::int64), x({2}), sides, fixed({}, {0})});
  add("SparseAddGrad", {x({3}), sorted, sorted, sorted});
  sum("SparseTensorDenseAdd", {places, x({3}), sides, x({2, 3})});
  for (const char* type : {"SparseDenseCwiseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseDiv"}) sum(type, {places, x({3}), sides, fixed({1, 3}, {1, 2, 3})});
  for (const std::string type : {"SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN"}) {
    const argument rows = indices({4}, {0, 2, 1, 1}), ids = indices({4}, {0, 0, 2, 2});
    sum(type, {x({3, 2}), rows, ids});
    sum(type + "WithNumSegments", {x({3, 2}), rows, ids, number(4)});
    sum(type + "Grad", {x({3, 2}), rows, ids, number(3)});
  }
  const argument floats = of(dtype::float32, {2, 3}), bound = of(dtype::float32, {});
  add("FakeQuantWithMinMaxArgs", {floats});
  list.back().sharp = true;
  add("FakeQuantWithMinMaxArgsGradient", {floats, floats});
  add("FakeQuantWithMinMaxVars", {floats, bound, bound});
  list.back().sharp = true;
  sum("FakeQuantWithMinMaxVarsGradient", {floats, floats, bound, bound});
  const argument bounds = of(dtype::float32, {3});
  add("FakeQuantWithMinMaxVarsPerChannel", {floats, bounds, bounds});
  list.back().sharp = true;
  sum("FakeQuantWithMinMaxVarsPerChannelGradient", {floats, floats, bounds, bounds});
  for (const char* type : {"Igamma", "Igammac", "Xlog1py", "MulNoNan", "NextAfter"}) add(type, {x({2, 3}), x({1, 3})});
  add("RandomGammaGrad", {fixed({2, 3}, {0.25, 1, 2, 3, 5, 9}), fixed({1, 3}, {0.5, 1, 4})});
  add("StatelessRandomGammaV2", {numbers({4, 3}), indices({2}, {7, 8}, dtype::int64), fixed({3}, {0.5, 1, 4})});
  list.back().sharp = true;  // as alpha grows, a number jumps where another draw is rejected
  add("Betainc", {x({2, 3}), x({2, 3}), x({})});
  for (const char* type : {"BesselI0", "BesselI1", "BesselI0e", "BesselI1e", "Erfinv", "Ndtri", "PopulationCount"}) add(type, {x({2, 3})});
  for (const char* type : {"BesselJ0", "BesselJ1", "BesselK0", "BesselK0e", "BesselK1", "BesselK1e", "BesselY0", "BesselY1", "Dawsn", "Expint",
                           "FresnelCos", "FresnelSin", "Spence"})
    add(type, {fixed({2, 2}, {0.5, 1.25, 2, 3.5})});
  add("Cross", {x({2, 3}), x({2, 3})});
  add("QuantizeAndDequantizeV2", {x({2, 3}), x({}), x({})});
  list.back().sharp = true;
  add("QuantizeAndDequantizeV3", {x({2, 3}), fixed({}, {-9}), fixed({}, {9}), number(4)});
  list.back().sharp = true;
  add("EditDistance", {sorted, x({3}), sides, sorted, x({3}), sides});
  add("DataFormatDimMap", {indices({2}, {1, -1})});
  add("DataFormatVecPermute", {indices({4}, {1, 2, 3, 4})});
  for (const char* type : {"LowerBound", "UpperBound"}) add(type, {fixed({1, 3}, {1, 2, 2}), x({1, 4})});
  add("HistogramFixedWidth", {x({2, 3}), fixed({2}, {0, 9}), number(4)});
  const attribute_map fused{{"num_args", 1}, {"fused_ops", std::vector<std::string>{"BiasAdd", "Relu"}}};
  add("_FusedMatMul", {x({2, 3}), x({3, 4}), x({4})}, fused);
  attribute_map fused_images = fused;
  fused_images["strides"] = std::vector<std::int64_t>{1, 1, 1, 1};
  fused_images["padding"] = "SAME";
  add("_FusedConv2D", {x({1, 3, 3, 2}), x({2, 2, 2, 3}), x({3})}, fused_images);
  add("_FusedDepthwiseConv2dNative", {x({1, 3, 3, 2}), x({2, 2, 2, 1}), x({2})}, fused_images);
  sum("CTCGreedyDecoder", {x({4, 2, 3}), numbers({4, 3})});
  sum("CTCBeamSearchDecoder", {x({4, 2, 3}), numbers({4, 3})}, {{"beam_width", 3}, {"top_paths", 1}});
  sum("CTCLoss", {x({4, 2, 4}), indices({3, 2}, {0, 0, 0, 1, 1, 0}, dtype::int64), indices({3}, {1, 0, 2}), indices({2}, {4, 3})});
  const argument classes = indices({2, 2}, {3, 1, 0, 3}, dtype::int64);
  add("ComputeAccidentalHits", {classes, indices({3}, {0, 3, 2}, dtype::int64)}, {{"num_true", 2}});
  add("AllCandidateSampler", {classes}, {{"num_true", 2}, {"num_sampled", 4}, {"unique", true}});
  for (const char* equation : {"ij,kj->ik", "ij,kj->", "ij,ij->j", "ij,kl->kijl"}) sum("Einsum", {x({2, 3}), x({2, 3})}, {{"equation", std::string(equation)}});
  for (const char* equation : {"ii->i", "ii->", "ij->ji", "ij->j", "...->...", "ij->jji"}) sum("Einsum", {x({3, 3})}, {{"equation", std::string(equation)}});
  sum("Einsum", {x({2, 1, 3}), x({4, 3})}, {{"equation", std::string("i...,...->...i")}});
  sum("Einsum", {x({2, 0}), x({0, 3})}, {{"equation", std::string("ij,jk->ik")}});
  for (const char* format : {"NHWC", "NCHW"}) {
    const bool first = std::string_view(format) == "NCHW";
    const attribute_map layout{{"data_format", format}};
    add("BiasAdd", {x({2, 3}), x({3})}, layout);
    add("BiasAdd", {x({2, 3, 4, 5}), first ? x({3}) : x({5})}, layout);
    add("BiasAdd", {x({2, 3, 3, 3}), x({3})}, layout);
    add("BiasAdd", {x({0, 3}), x({3})}, layout);
    add("BiasAdd", {x({2, 3}), x({1})}, layout);
    add("BiasAdd", {x({3}), x({3})}, layout);
    sum("BiasAddGrad", {x({2, 3})}, layout);
    sum("BiasAddGrad", {x({2, 3, 4, 5})}, layout);
    sum("BiasAddGrad", {x({0, 3})}, layout);
    sum("BiasAddGrad", {x({3})}, layout);
  }
  using integers = std::vector<std::int64_t>;
  for (const char* padding : {"SAME", "VALID"}) {
    const std::int64_t down = padding == std::string_view("SAME") ? 3 : 2, right = padding == std::string_view("SAME") ? 4 : 3;
    const attribute_map windows{{"padding", padding}, {"strides", integers{1, 2, 1, 1}}};
    sum("Conv2D", {x({2, 5, 4, 2}), x({3, 2, 2, 3})}, windows);
    sum("Conv2D", {x({0, 5, 4, 2}), x({3, 2, 2, 3})}, windows);
    sum("Conv2D", {x({1, 5, 4, 4}), x({3, 2, 2, 6})}, windows);
    sum("Conv2DBackpropInput", {numbers({2, 5, 4, 2}), x({3, 2, 2, 3}), x({2, down, right, 3})}, windows);
    sum("Conv2DBackpropFilter", {x({2, 5, 4, 2}), numbers({3, 2, 2, 3}), x({2, down, right, 3})}, windows);
    sum("DepthwiseConv2dNative", {x({2, 5, 4, 2}), x({3, 2, 2, 2})}, windows);
    sum("DepthwiseConv2dNativeBackpropInput", {numbers({2, 5, 4, 2}), x({3, 2, 2, 2}), x({2, down, right, 4})}, windows);
    sum("DepthwiseConv2dNativeBackpropFilter", {x({2, 5, 4, 2}), numbers({3, 2, 2, 2}), x({2, down, right, 4})}, windows);
    attribute_map pool = windows;
    pool["ksize"] = integers{1, 3, 2, 1};
    add("MaxPool", {x({2, 5, 4, 2})}, pool);
    add("MaxPool", {x({0, 5, 4, 2})}, pool);
    add("MaxPoolGrad", {x({2, 5, 4, 2}), x({2, down, right, 2}), x({2, down, right, 2})}, pool);
    sum("AvgPool", {x({2, 5, 4, 2})}, pool);
    sum("AvgPoolGrad", {numbers({2, 5, 4, 2}), x({2, down, right, 2})}, pool);
  }
  const attribute_map training{{"is_training", true}, {"epsilon", 0.01f}};
  for (const char* version : {"", "V2", "V3"}) {
    const std::string name = version;
    const argument scale = name.empty() ? x({3}) : of(dtype::float32, {3});
    sum("FusedBatchNorm" + name, {x({2, 2, 2, 3}), x({3}), x({3}), x({3}), x({3})}, training);
    sum("FusedBatchNorm" + name, {x({0, 2, 2, 3}), x({3}), x({3}), x({3}), x({3})}, training);
    std::vector<argument> inputs{x({2, 2, 2, 3}), x({2, 2, 2, 3}), scale, x({3}), x({3})};
    if (name == "V3") inputs.push_back(x({}));
    sum("FusedBatchNormGrad" + name, inputs, training);
  }
  for (const char* padding : {"SAME", "VALID"}) {
    const std::int64_t n = padding == std::string_view("SAME") ? 2 : 1;
    const attribute_map windows{{"padding", padding}, {"strides", integers{1, 2, 2, 2, 1}}};
    sum("Conv3D", {x({2, 4, 3, 3, 2}), x({3, 2, 2, 2, 3})}, windows);
    sum("Conv3D", {x({0, 4, 3, 3, 2}), x({3, 2, 2, 2, 3})}, windows);
    sum("Conv3DBackpropInputV2", {numbers({2, 4, 3, 3, 2}), x({3, 2, 2, 2, 3}), x({2, n, n, n, 3})}, windows);
    sum("Conv3DBackpropFilterV2", {x({2, 4, 3, 3, 2}), numbers({3, 2, 2, 2, 3}), x({2, n, n, n, 3})}, windows);
    sum("Conv3DBackpropInput", {x({2, 4, 3, 3, 2}), x({3, 2, 2, 2, 3}), x({2, n, n, n, 3})}, windows);
    sum("Conv3DBackpropFilter", {x({2, 4, 3, 3, 2}), x({3, 2, 2, 2, 3}), x({2, n, n, n, 3})}, windows);
    attribute_map pool = windows;
    pool["ksize"] = integers{1, 3, 2, 2, 1};
    add("MaxPool3D", {x({2, 4, 3, 3, 2})}, pool);
    sum("MaxPool3DGrad", {x({2, 4, 3, 3, 2}), x({2, n, n, n, 2}), x({2, n, n, n, 2})}, pool);
    list.back().sharp = true;  // as if the second input were the largest elements of the first
    add("MaxPool3DGradGrad", {x({2, 4, 3, 3, 2}), x({2, n, n, n, 2}), x({2, 4, 3, 3, 2})}, pool);
    list.back().sharp = true;
    sum("AvgPool3D", {x({2, 4, 3, 3, 2})}, pool);
    sum("AvgPool3DGrad", {numbers({2, 4, 3, 3, 2}), x({2, n, n, n, 2})}, pool);
    const attribute_map inputs{{"padding", padding}};
    const argument window = numbers({1, 2, 2, 1}), step = numbers({1, 2, 2, 1});
    add("MaxPoolV2", {x({2, 4, 4, 2}), window, step}, inputs);
    add("MaxPoolGradV2", {x({2, 4, 4, 2}), x({2, 2, 2, 2}), x({2, 2, 2, 2}), window, step}, inputs);
    add("MaxPoolGradGradV2", {x({2, 4, 4, 2}), x({2, 2, 2, 2}), x({2, 4, 4, 2}), window, step}, inputs);
    const attribute_map placed{{"padding", padding}, {"strides", integers{1, 2, 2, 1}}, {"ksize", integers{1, 2, 2, 1}}};
    const argument of_greatest = indices({1, 1, 2, 2}, {0, 1, 6, 13}, dtype::int64);
    add("MaxPoolWithArgmax", {x({1, 2, 4, 2})}, placed);
    add("MaxPoolGradWithArgmax", {x({1, 2, 4, 2}), x({1, 1, 2, 2}), of_greatest}, placed);
    add("MaxPoolGradGradWithArgmax", {x({1, 2, 4, 2}), x({1, 2, 4, 2}), of_greatest}, placed);
    const attribute_map dilated{{"padding", padding}, {"strides", integers{1, 1, 1, 1}}, {"rates", integers{1, 1, 2, 1}}};
    const std::int64_t rows = n == 2 ? 4 : 3, columns = n == 2 ? 4 : 2;
    attribute_map cut = dilated;
    cut["ksizes"] = integers{1, 2, 2, 1};
    add("ExtractImagePatches", {x({2, 4, 4, 2})}, cut);
    add("Dilation2D", {x({2, 4, 4, 2}), x({2, 2, 2})}, dilated);
    sum("Dilation2DBackpropInput", {x({2, 4, 4, 2}), x({2, 2, 2}), x({2, rows, columns, 2})}, dilated);
    sum("Dilation2DBackpropFilter", {x({2, 4, 4, 2}), x({2, 2, 2}), x({2, rows, columns, 2})}, dilated);
  }
  {
    const argument image_size = numbers({20, 30, 3}), objects{role::tensor, sized({1, 1, 4}), dtype::float32, {0.25, 0.25, 0.75, 0.75}};
    const argument covered{role::tensor, {}, dtype::float32, {0.1}};
    add("StatelessSampleDistortedBoundingBox", {image_size, objects, covered, numbers({1, 2})});
  }
  {
    const argument transform{role::tensor, sized({1, 8}), dtype::float32, {1.1, 0.2, -0.7, -0.1, 0.9, 0.6, 0, 0}};
    const argument no_value{role::tensor, {}, dtype::float32, {0}}, half{role::tensor, sized({2}), dtype::float32, {0.5, 0.6}};
    const argument place{role::tensor, sized({2, 2}), dtype::float32, {0.1, -0.2, 0.3, 0}};
    for (const char* method : {"NEAREST", "BILINEAR"}) {
      add("ImageProjectiveTransformV2", {x({2, 3, 4, 2}), transform, numbers({3, 2})}, {{"interpolation", method}});
      list.back().sharp = true;  // TensorFlow's gradient is the inverse transformation
      add("ImageProjectiveTransformV3", {x({2, 3, 4, 2}), transform, numbers({3, 2}), no_value},
          {{"interpolation", method}, {"fill_mode", "REFLECT"}});
      list.back().sharp = true;
    }
    for (const char* type : {"ExtractGlimpse", "ExtractGlimpseV2"})
      add(type, {of(dtype::float32, {2, 3, 4, 2}), numbers({2, 2}), place}, {{"noise", "zero"}, {"uniform_noise", false}});
    sum("ScaleAndTranslate", {x({2, 3, 4, 2}), numbers({2, 3}), half, half});
    sum("ScaleAndTranslateGrad", {of(dtype::float32, {2, 2, 3, 2}), of(dtype::float32, {2, 3, 4, 2}), half, half});
    using steps = std::vector<std::int64_t>;
    add("ExtractVolumePatches", {x({2, 3, 2, 3, 2})},
        {{"ksizes", steps{1, 2, 2, 1, 1}}, {"strides", steps{1, 1, 1, 2, 1}}, {"padding", "SAME"}});
  }
  add("AudioSpectrogram", {of(dtype::float32, {9, 2})}, {{"window_size", std::int64_t{5}}, {"stride", std::int64_t{2}}});
  add("Mfcc", {indices({1, 2, 9}, std::vector<double>(18, 1.5), dtype::float32), number(8000)},
      {{"filterbank_channel_count", std::int64_t{4}}, {"dct_coefficient_count", std::int64_t{2}}});
  for (const bool overlapping : {false, true}) {
    const attribute_map windows{{"overlapping", overlapping}};
    attribute_map drawn = windows;
    drawn["pooling_ratio"] = std::vector<float>{1, 1.5f, 1.3f, 1};
    drawn["deterministic"] = true;
    drawn["seed"] = 3;
    const argument rows = indices({3}, {0, 1, 3}, dtype::int64), columns = indices({4}, {0, 2, 3, 4}, dtype::int64);
    add("FractionalMaxPool", {x({2, 3, 4, 2})}, drawn);
    sum("FractionalAvgPool", {x({2, 3, 4, 2})}, drawn);
    add("FractionalMaxPoolGrad", {x({2, 3, 4, 2}), x({2, 2, 3, 2}), x({2, 2, 3, 2}), rows, columns}, windows);
    sum("FractionalAvgPoolGrad", {numbers({2, 3, 4, 2}, dtype::int64), x({2, 2, 3, 2}), rows, columns}, windows);
  }
  for (const char* method : {"bilinear", "nearest"}) {
    const argument boxes{role::tensor, sized({2, 4}), dtype::float32, {0.1, 0.2, 0.7, 0.9, 0.3, -0.5, 0.8, 0.6}};
    const argument of_images = indices({2}, {1, 0});
    const attribute_map how{{"method", method}};
    sum("CropAndResize", {x({2, 3, 4, 2}), boxes, of_images, numbers({2, 3})}, how);
    sum("CropAndResizeGradImage", {of(dtype::float32, {2, 2, 3, 2}), boxes, of_images, numbers({2, 3, 4, 2})},
        {{"method", method}, {"T", dtype::float32}});
    sum("CropAndResizeGradBoxes", {of(dtype::float32, {2, 2, 3, 2}), x({2, 3, 4, 2}), boxes, of_images});
  }
  {
    const argument boxes = of(dtype::float32, {6, 4}), scores = of(dtype::float32, {6}), most = number(4);
    const auto limit = [](double value) { return argument{role::tensor, {}, dtype::float32, {value}}; };
    const argument corners{role::tensor, sized({1, 2, 4}), dtype::float32, {0, 0, 1, 1, -1, 0, 1, 2}};
    add("DrawBoundingBoxes", {of(dtype::float32, {1, 4, 3, 3}), corners});
    add("DrawBoundingBoxesV2", {of(dtype::float32, {1, 4, 3, 3}), corners, of(dtype::float32, {2, 3})});
    add("NonMaxSuppression", {boxes, scores, most});
    add("NonMaxSuppressionV2", {boxes, scores, most, limit(0.3)});
    add("NonMaxSuppressionV3", {boxes, scores, most, limit(0.3), limit(0.1)});
    add("NonMaxSuppressionV4", {boxes, scores, most, limit(0.3), limit(0.1)}, {{"pad_to_max_output_size", true}});
    add("CombinedNonMaxSuppression",
        {of(dtype::float32, {1, 6, 1, 4}), of(dtype::float32, {1, 6, 2}), number(3), number(4), limit(0.3), limit(0.1)});
    add("NonMaxSuppressionV5", {boxes, scores, most, limit(0.3), limit(0.1), limit(0.5)});
    add("NonMaxSuppressionWithOverlaps", {of(dtype::float32, {6, 6}), scores, most, limit(0.3), limit(0.1)});
  }
  for (const bool centered : {false, true}) {
    const attribute_map corners{{"half_pixel_centers", centered}};
    sum("ResizeBicubic", {x({2, 3, 4, 2}), numbers({5, 3})}, corners);
    sum("ResizeBicubicGrad", {of(dtype::float32, {2, 5, 3, 2}), x({2, 3, 4, 2})}, corners);
  }
  sum("ResizeArea", {x({2, 3, 4, 2}), numbers({5, 3})});
  for (const bool scales : {false, true}) {
    const argument positive{role::tensor, sized({3}), dtype::invalid, {0.5, 1, 2}};
    const attribute_map given{{"variance_epsilon", 0.01f}, {"scale_after_normalization", scales}};
    sum("BatchNormWithGlobalNormalization", {x({2, 2, 2, 3}), x({3}), positive, x({3}), x({3})}, given);
    sum("BatchNormWithGlobalNormalizationGrad", {x({2, 2, 2, 3}), x({3}), positive, x({3}), x({2, 2, 2, 3})}, given);
  }
  for (const bool looks : {false, true}) {
    const attribute_map cell{{"use_peephole", looks}, {"forget_bias", 0.5f}};
    const std::vector<argument> operands{x({2, 3}), x({2, 2}), x({2, 2}), x({5, 8}), x({2}), x({2}), x({2}), x({8})};
    sum("LSTMBlockCell", operands, cell);
    std::vector<argument> sequence = operands;
    sequence[0] = x({4, 2, 3});
    sequence.insert(sequence.begin(), number(3, dtype::int64));
    sum("BlockLSTM", sequence, cell);
    sum("BlockLSTMV2", sequence, {{"use_peephole", looks}});
    std::vector<argument> of_step = operands;
    for (int k = 0; k < 8; ++k) of_step.push_back(x({2, 2}));
    sum("LSTMBlockCellGrad", of_step, {{"use_peephole", looks}});
    for (int k = 0; k < 9; ++k) sequence.push_back(x({4, 2, 2}));
    for (const char* type : {"BlockLSTMGrad", "BlockLSTMGradV2"}) sum(type, sequence, {{"use_peephole", looks}});
  }
  sum("GRUBlockCell", {x({2, 3}), x({2, 2}), x({5, 4}), x({5, 2}), x({4}), x({2})});
  sum("GRUBlockCellGrad", {x({2, 3}), x({2, 2}), x({5, 4}), x({5, 2}), x({4}), x({2}), x({2, 2}), x({2, 2}), x({2, 2}), x({2, 2})});
  for (const dtype lengths : {dtype::int32, dtype::int64}) {
    add("ReverseSequence", {x({3, 4, 2}), indices({3}, {4, 0, 2}, lengths)}, {{"seq_dim", 1}});
    add("ReverseSequence", {x({4, 2, 3}), indices({3}, {1, 3, 4}, lengths)}, {{"seq_dim", 0}, {"batch_dim", 2}});
  }
  sum("LRN", {x({1, 2, 2, 5})}, {{"depth_radius", 2}});
  sum("LRNGrad", {x({1, 2, 2, 5}), x({1, 2, 2, 5}), x({1, 2, 2, 5})}, {{"depth_radius", 2}});
  add("MaxPoolGradGrad", {x({2, 4, 4, 2}), x({2, 2, 2, 2}), x({2, 4, 4, 2})},
      {{"padding", "VALID"}, {"strides", integers{1, 2, 2, 1}}, {"ksize", integers{1, 2, 2, 1}}});
  const auto pairs = [](std::vector<double> values) {
    argument a = numbers(std::move(values));
    a.extent = sized({a.extent[0] / 2, 2});
    return a;
  };
  for (const char* mode : {"REFLECT", "SYMMETRIC"}) {
    add("MirrorPad", {x({3, 4}), pairs({1, 2, 2, 0})}, {{"mode", mode}});
    sum("MirrorPadGrad", {x({6, 6}), pairs({1, 2, 2, 0})}, {{"mode", mode}});
  }
  add("PadV2", {x({3, 4}), pairs({1, 2, 2, 0}), x({})});
  add("PadV2", {x({0}), pairs({1, 2}), x({})});
  for (const bool aligned : {false, true}) {
    const attribute_map corners{{"align_corners", aligned}};
    add("ResizeNearestNeighbor", {x({2, 3, 4, 2}), numbers({5, 3})}, corners);
    sum("ResizeNearestNeighborGrad", {x({2, 5, 3, 2}), numbers({3, 4})}, corners);
    sum("ResizeBilinear", {x({2, 3, 4, 2}), numbers({5, 3})}, corners);
    sum("ResizeBilinearGrad", {of(dtype::float32, {2, 5, 3, 2}), x({2, 3, 4, 2})}, corners);
  }
  add("SpaceToDepth", {x({2, 4, 6, 3})}, {{"block_size", 2}});
  add("DepthToSpace", {x({2, 2, 3, 12})}, {{"block_size", 2}});
  add("SpaceToBatch", {x({2, 4, 6, 3}), pairs({1, 1, 2, 0})}, {{"block_size", 2}});
  add("BatchToSpace", {x({8, 2, 4, 3}), pairs({1, 1, 2, 0})}, {{"block_size", 2}});
  add("SpaceToBatchND", {x({2, 4, 6, 3}), numbers({3, 2}), pairs({1, 1, 2, 0})});
  add("BatchToSpaceND", {x({12, 2, 4, 3}), numbers({3, 2}), pairs({1, 1, 2, 0})});
  sum("AdjustContrast", {x({2, 2, 3, 2}), of(dtype::float32, {}), indices({}, {-2}, dtype::float32), indices({}, {3}, dtype::float32)});
  sum("AdjustContrastv2", {of(dtype::float32, {2, 2, 3, 2}), of(dtype::float32, {})});
  for (const char* type : {"AdjustHue", "AdjustSaturation"}) add(type, {of(dtype::float32, {2, 2, 3}), of(dtype::float32, {})});
  add("RGBToHSV", {x({2, 3})});
  list.back().sharp = true;  // the hue has jumps, and where a color is 0, the gradient is TensorFlow's
  add("HSVToRGB", {x({2, 3})});
  add("BiasAdd", {x({2, 3}), x({3})});
  add("BiasAddV1", {x({2, 3}), x({3})});
  add("BiasAddV1", {x({2, 3, 4}), x({4})});

  // arrangement
  add("Reshape", {x({2, 3}), numbers({3, -1})});
  add("Reshape", {x({2, 3}), numbers({6}, dtype::int64)});
  add("Reshape", {x({1}), numbers({})});
  add("Reshape", {x({0, 3}), numbers({3, 0})});
  add("Reshape", {x({2, 3}), numbers({4})});
  add("Squeeze", {x({2, 1, 3, 1})});
  add("Squeeze", {x({2, 1, 3, 1})}, {{"squeeze_dims", std::vector<std::int64_t>{1}}});
  add("Squeeze", {x({1, 1})}, {{"squeeze_dims", std::vector<std::int64_t>{-1}}});
  add("Squeeze", {x({0, 1})});
  for (double axis : {0.0, 1.0, 2.0, -1.0, -3.0}) add("ExpandDims", {x({2, 3}), number(axis)});
  add("ExpandDims", {x({}), number(0)});
  add("Transpose", {x({2, 3}), numbers({1, 0})});
  add("Transpose", {x({2, 3, 4}), numbers({2, 0, 1})});
  add("Transpose", {x({0, 3}), numbers({1, 0})});
  add("Transpose", {x({}), numbers({})});
  add("BroadcastTo", {x({3}), numbers({2, 3})});
  add("BroadcastTo", {x({2, 1}), numbers({4, 2, 3})});
  add("BroadcastTo", {x({}), numbers({2, 0})});
  add("BroadcastTo", {x({1}), numbers({1})});
  add("BroadcastTo", {x({2}), numbers({3})});
  add("Slice", {x({3, 4}), numbers({1, 0}), numbers({2, -1})});
  add("Slice", {x({3, 4}), numbers({0, 4}), numbers({3, 0})});
  add("Slice", {x({3, 4}), numbers({2, 0}), numbers({2, 1})});
  add("Pad", {x({2, 3}), {role::number, sized({2, 2}), dtype::int32, {1, 0, 2, 1}}});
  add("Pad", {x({0, 3}), {role::number, sized({2, 2}), dtype::int32, {1, 1, 0, 0}}});
  add("ConcatV2", {x({2, 3}), x({1, 3}), number(0)}, {{"N", 2}});
  add("ConcatV2", {x({2, 3}), x({2, 0}), x({2, 2}), number(-1)}, {{"N", 3}});
  add("ConcatV2", {x({2, 3}), x({1, 3}), number(1)}, {{"N", 2}});
  add("Concat", {number(1), x({2, 3}), x({2, 1})}, {{"N", 2}});
  add("ConcatOffset", {number(1), numbers({2, 3}), numbers({2, 1})}, {{"N", 2}});
  add("Pack", {x({2, 3}), x({2, 3})}, {{"N", 2}, {"axis", 1}});
  add("Pack", {x({}), x({}), x({})}, {{"N", 3}});
  add("Pack", {x({0}), x({0})}, {{"N", 2}, {"axis", -1}});
  add("Unpack", {x({2, 3})}, {{"num", 3}, {"axis", 1}});
  add("Unpack", {x({2})}, {{"num", 2}});
  add("Unpack", {x({2, 0})}, {{"num", 2}});
  add("Split", {number(1), x({2, 4})}, {{"num_split", 2}});
  add("Split", {number(-1), x({2, 3})}, {{"num_split", 3}});
  add("Split", {number(0), x({0, 3})}, {{"num_split", 2}});
  add("Split", {number(1), x({2, 3})}, {{"num_split", 2}});
  add("SplitV", {x({2, 4}), numbers({1, 3}), number(1)}, {{"num_split", 2}});
  add("SplitV", {x({2, 4}), numbers({1, -1}), number(1)}, {{"num_split", 2}});
  add("SplitV", {x({2, 4}), numbers({1, 1}), number(1)}, {{"num_split", 2}});
  add("Tile", {x({2, 3}), numbers({2, 1})});
  sum("TileGrad", {x({4, 3}), numbers({2, 3})});
  add("Tile", {x({2, 3}), numbers({3, 2})});
  add("Tile", {x({2, 1}), numbers({1, 4})});
  add("Tile", {x({2, 3}), numbers({0, 1})});
  add("Tile", {x({}), numbers({})});
  add("Tile", {x({2, 3, 4, 2, 2}), numbers({2, 2, 2, 2, 2})});
  list.back().sharp = true;  // more dimensions on the way than there may be
  add("Fill", {numbers({2, 3}), x({})});
  add("Fill", {numbers({}), x({})});
  add("Fill", {numbers({0, 2}), x({})});
  for (const char* type : {"StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal"})
    for (const dtype wanted : {dtype::float32, dtype::float64}) {
      add(type, {numbers({2, 3}), numbers({4, -9})}, {{"dtype", wanted}});
      add(type, {numbers({301}), numbers({1, 2})}, {{"dtype", wanted}});
      add(type, {numbers({}), numbers({0, 0})}, {{"dtype", wanted}});
      add(type, {numbers({0, 2}), numbers({0, 0})}, {{"dtype", wanted}});
      add(type, {numbers({2}), numbers({1})}, {{"dtype", wanted}});
    }
  add("StatelessRandomUniformInt", {numbers({2, 3}), numbers({4, -9}), number(-3), number(100)});
  add("StatelessRandomUniformInt", {numbers({0}), numbers({4, -9}), number(0), number(1)});
  add("StatelessRandomUniformInt", {numbers({2}), numbers({4, -9}), number(1), number(1)});
  for (const dtype wanted : {dtype::int32, dtype::int64}) {
    add("StatelessRandomUniformFullInt", {numbers({2, 3}), numbers({4, -9})}, {{"dtype", wanted}});
    add("StatelessRandomUniformFullInt", {numbers({0}), numbers({4, -9})}, {{"dtype", wanted}});
    add("StatelessRandomPoisson", {numbers({4, 3}), numbers({7, 8}), fixed({3}, {0.5, 1, 40})}, {{"dtype", wanted}});
  }
  add("StatelessRandomPoisson", {numbers({4, 3}), numbers({7, 8}), fixed({2}, {0.5, 1})}, {{"dtype", dtype::int64}});
  add("StatelessRandomGetAlg", {});
  add("StatelessMultinomial", {x({2, 3}), number(4), numbers({4, -9})});
  add("StatelessMultinomial", {x({0, 3}), number(4), numbers({4, -9})});
  add("StatelessMultinomial", {x({3}), number(4), numbers({4, -9})});
  add("Range", {rate(1), rate(7), rate(2)});
  add("Range", {rate(7), rate(1), rate(2)});
  add("ReverseV2", {x({2, 3}), numbers({1})});
  add("ReverseV2", {x({2, 3}), numbers({0, -1})});
  add("ReverseV2", {x({2, 3}), numbers({})});
  add("Reverse", {x({2, 3}), truth({2})});
  const auto slice = [&](sizes s, std::vector<double> begin, std::vector<double> end, std::vector<double> strides, attribute_map masks) {
    add("StridedSlice", {x(s), numbers(begin), numbers(end), numbers(strides)}, std::move(masks));
  };
  slice({4, 5}, {1, 0}, {3, 5}, {1, 2}, {});
  slice({4, 5}, {1, 1}, {3, 4}, {1, 1}, {});
  slice({4, 5}, {3, 0}, {0, 5}, {-1, 1}, {{"begin_mask", 2}});
  slice({4, 5}, {1}, {2}, {1}, {{"shrink_axis_mask", 1}});
  slice({4, 5}, {0, 0}, {0, 2}, {1, 1}, {{"ellipsis_mask", 1}, {"begin_mask", 2}});
  slice({4, 5}, {0, 1}, {0, 3}, {1, 1}, {{"new_axis_mask", 1}});
  slice({0, 5}, {0}, {0}, {1}, {{"begin_mask", 1}, {"end_mask", 1}});
  const auto slice_gradient = [&](std::vector<double> whole, std::vector<double> begin, std::vector<double> end,
                                  std::vector<double> strides, sizes s) {
    add("StridedSliceGrad", {numbers(whole), numbers(begin), numbers(end), numbers(strides), x(s)});
  };
  slice_gradient({4, 5}, {1, 1}, {3, 4}, {1, 1}, {2, 3});
  slice_gradient({4, 5}, {3, 0}, {0, 5}, {-1, 2}, {3, 3});
  slice_gradient({4}, {2}, {2}, {1}, {0});
  add("BroadcastGradientArgs", {numbers({2, 1}), numbers({3})});
  add("BroadcastGradientArgs", {numbers({}), numbers({3})});
  add("InvertPermutation", {indices({3}, {2, 0, 1})});
  for (dtype type : {dtype::int32, dtype::int64}) {
    add("GatherV2", {x({4, 3}), indices({2}, {3, 0}, type), number(0)});
    add("GatherV2", {x({4, 3}), indices({2, 2}, {1, 1, 0, 2}, type), number(0)});
    add("GatherV2", {x({4, 3}), indices({}, {2}, type), number(1)});
    add("GatherV2", {x({4, 3}), indices({0}, {}, type), number(0)});
    add("GatherV2", {x({4, 3}), indices({2}, {3, 4}, type), number(0)});
    add("GatherV2", {x({4, 3}), indices({1}, {-1}, type), number(0)});
    add("GatherV2", {x({4, 0}), indices({1}, {7}, type), number(0)});
    add("Gather", {x({4, 3}), indices({2}, {3, 0}, type)});
    add("Gather", {x({4, 3}), indices({2}, {3, 4}, type)});
    for (const char* segments : {"UnsortedSegmentSum", "UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd"}) {
      sum(segments, {x({4, 3}), indices({4}, {2, 0, 2, 0}, type), number(3)});
      sum(segments, {x({4}), indices({4}, {2, -1, 2, 0}, type), number(3)});
      list.back().sharp = std::string_view(segments).substr(15, 1) == "M";  // a segment without rows has the least or largest number
      sum(segments, {x({4}), indices({4}, {2, 3, 2, 0}, type), number(3)});
      sum(segments, {x({0, 3}), indices({0}, {}, type), number(2)});
    }
    for (const char* segments : {"SegmentSum", "SegmentMean", "SegmentMax", "SegmentMin", "SegmentProd"}) {
      sum(segments, {x({4, 3}), indices({4}, {0, 0, 2, 2}, type)});
      sum(segments, {x({4}), indices({4}, {0, 1, 0, 2}, type)});
      sum(segments, {x({0, 3}), indices({0}, {}, type)});
    }
    const argument on{role::number, {}, dtype::invalid, {3}}, off{role::number, {}, dtype::invalid, {2}};
    add("OneHot", {indices({3}, {0, 2, 5}, type), number(3), on, off});
    for (const std::int64_t axis : {-2, -1, 0, 1, 2, 3}) {
      add("OneHot", {indices({}, {2}, type), number(3), on, off}, {{"axis", axis}});
      add("OneHot", {indices({2, 3}, {0, -1, 2, 5, 1, 2}, type), number(3), on, off}, {{"axis", axis}});
    }
    add("OneHot", {indices({2, 0}, {}, type), number(3), on, off}, {{"axis", std::int64_t{1}}});
    add("OneHot", {indices({2, 3, 1, 2, 1}, {0, -1, 2, 5, 1, 2, 0, 0, 1, 1, 2, 3}, type), number(3), on, off}, {{"axis", std::int64_t{3}}});
    add("OneHot", {indices({2}, {0, 1}, type), number(0), on, off}, {{"axis", std::int64_t{0}}});
  }
  add("GatherNd", {x({3, 4}), indices({2, 2}, {0, 1, 2, 3})});
  add("GatherNd", {x({3, 4}), indices({2, 1}, {2, 0})});
  add("GatherNd", {x({3, 4}), indices({1, 2}, {3, 0})});
  sum("ScatterNd", {indices({2, 1}, {3, 1}), x({2, 2}), numbers({4, 2})});
  sum("ScatterNd", {indices({3, 1}, {1, 1, 0}), x({3}), numbers({4})});
  add("ScatterNd", {indices({1, 1}, {4}), x({1}), numbers({4})});
  add("DynamicPartition", {x({4, 2}), indices({4}, {0, 1, 0, 1})}, {{"num_partitions", 2}});
  for (const char* type : {"DynamicStitch", "ParallelDynamicStitch"})
    add(type, {indices({2}, {2, 0}), indices({1}, {1}), x({2, 3}), x({1, 3})}, {{"N", 2}});
  add("Where", {truth({2, 3})});
  add("Where", {truth({0})});
  add("TopKV2", {x({2, 5}), number(3)});
  add("TopKV2", {x({4}), number(0)});
  add("TopK", {x({2, 5})}, {{"k", 3}});
  for (const bool reverse : {false, true}) add("NthElement", {x({2, 5}), number(1)}, {{"reverse", reverse}});
  add("NthElement", {x({4}), number(3)});
  for (const dtype type : {dtype::int32, dtype::int64}) {
    add("BroadcastArgs", {numbers({3, 1}, type), numbers({2, 1, 4}, type)});
    add("BroadcastArgs", {numbers({}, type), numbers({2}, type)});
  }
  add("Empty", {numbers({2, 3})}, {{"dtype", dtype::float32}, {"init", true}});
  add("DeepCopy", {x({2, 3})});
  add("ParallelConcat", {x({1, 3}), x({1, 3})}, {{"N", 2}, {"shape", leat::to_proto(sized({2, 3}))}});
  add("InTopKV2", {of(dtype::float32, {2, 3}), indices({2}, {0, 2}), number(2)});
  add("InTopK", {of(dtype::float32, {2, 3}), indices({2}, {0, 2})}, {{"k", 2}});
  for (const char* type : {"Unique", "UniqueWithCounts"}) add(type, {indices({5}, {3, 1, 3, 2, 1})});
  for (const char* type : {"UniqueV2", "UniqueWithCountsV2"}) {
    add(type, {indices({3, 2}, {3, 1, 2, 1, 3, 1}), numbers({0}, dtype::int64)});
    add(type, {indices({5}, {3, 1, 3, 2, 1}), numbers({}, dtype::int64)});
  }
  add("ListDiff", {indices({5}, {3, 1, 3, 2, 1}), indices({2}, {1, 7})});

  // bytes, diagonals, elements by index
  for (dtype to : {dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8}) add("Bitcast", {x({3, 2})}, {{"type", to}});
  add("Roll", {x({2, 3}), numbers({1, -5}), numbers({1, 0})});
  add("Roll", {x({0, 3}), number(2), number(0)});
  for (const char* type : {"IdentityN", "AccumulateNV2"}) sum(type, {x({2, 3}), x({2, 3})});
  leat::tensor_shape_proto any_shape;
  any_shape.unknown_rank = true;
  for (const auto& s : {sized({2, 3}), sized({}), sized({0})}) {
    add("EnsureShape", {{role::tensor, s}}, {{"shape", any_shape}});
    add("ApproximateEqual", {{role::tensor, s}, {role::tensor, s}}, {{"tolerance", 0.5f}});
    add("Bucketize", {{role::tensor, s}}, {{"boundaries", std::vector<float>{-1, 0.5f, 3}}});
  }
  for (const char* type : {"Bincount", "DenseBincount"}) {
    sum(type, {indices({4}, {3, 1, 3, 7}), number(5), x({4})});
    sum(type, {indices({4}, {3, 1, 3, 7}), number(5), x({0})});
    sum(type, {indices({2}, {3, -1}), number(5), x({0})});
  }
  add("UnravelIndex", {indices({2}, {5, 1}), numbers({2, 3})});
  add("Diag", {x({3})});
  add("Diag", {x({2, 2})});
  add("DiagPart", {x({2, 3, 2, 3})});
  add("MatrixDiag", {x({2, 3})});
  add("MatrixDiagPart", {x({2, 3, 4})});
  add("MatrixSetDiag", {x({2, 3, 4}), x({2, 3})});
  for (const char* version : {"V2", "V3"}) {
    const std::string name = version;
    add("MatrixDiag" + name, {x({2, 3}), numbers({0, 1}), number(-1), number(-1), x({})});
    add("MatrixDiag" + name, {x({3}), number(-1), number(4), number(3), x({})});
    add("MatrixDiagPart" + name, {x({3, 4}), numbers({-1, 2}), x({})});
    add("MatrixSetDiag" + name, {x({3, 4}), x({2, 3}), numbers({0, 1})});
  }
  add("BatchMatrixBandPart", {x({2, 3, 4}), number(1, dtype::int64), number(-1, dtype::int64)});
  add("MatrixBandPart", {x({2, 3, 4}), number(1, dtype::int64), number(-1, dtype::int64)});
  for (dtype type : {dtype::int32, dtype::int64}) {
    for (const char* scatter : {"TensorScatterUpdate", "TensorScatterMin", "TensorScatterMax"}) {
      add(scatter, {x({4, 2}), indices({2, 1}, {3, 0}, type), x({2, 2})});
      add(scatter, {x({4}), indices({1, 1}, {4}, type), x({1})});
    }
    for (const char* scatter : {"TensorScatterAdd", "TensorScatterSub", "ScatterNdNonAliasingAdd"}) {
      sum(scatter, {x({4, 2}), indices({3, 1}, {3, 0, 3}, type), x({3, 2})});
      sum(scatter, {x({4}), indices({1, 1}, {4}, type), x({1})});
    }
    sum("SparseToDense", {indices({2, 2}, {0, 1, 1, 0}, type), numbers({2, 3}, type), x({2}), x({})});
    add("SparseToDense", {indices({2}, {1, 0}, type), numbers({3}, type), x({2}), x({})});
    for (const bool turned : {false, true})
      sum("SparseTensorDenseMatMul", {indices({3, 2}, {0, 1, 1, 0, 1, 2}, type), x({3}), numbers({2, 3}, dtype::int64), turned ? x({4, 3}) : x({3, 4})},
          {{"adjoint_b", turned}});
    sum("SparseTensorDenseMatMul", {indices({1, 2}, {1, 2}, type), x({1}), numbers({2, 3}, dtype::int64), x({2, 4})}, {{"adjoint_a", true}});
  }

  // matrices
  const auto even = fixed({2, 2, 2}, {4, 1, 1, 3, 5, -2, -2, 6}), general = fixed({2, 2, 2}, {1, 2, 3, 4, -2, 1, 0, 3});
  const auto right = fixed({2, 2, 1}, {1, 2, -1, 3}), lower = fixed({2, 2}, {2, 0, 1, 3});
  sum("Cholesky", {even});
  list.back().sharp = true;  // the gradient is symmetric, though only the lower half is read
  sum("Cholesky", {fixed({1, 1}, {4})});
  sum("Cholesky", {x({0, 3, 3})});
  sum("Cholesky", {fixed({2, 2}, {1, 2, 2, 1})});
  sum("CholeskyGrad", {lower, lower});
  sum("MatrixExponential", {general});
  sum("MatrixDeterminant", {general});
  sum("MatrixDeterminant", {x({3, 0, 0})});
  sum("LogMatrixDeterminant", {general});
  for (const bool adjoint : {false, true}) {
    sum("MatrixSolve", {general, right}, {{"adjoint", adjoint}});
    sum("MatrixInverse", {general}, {{"adjoint", adjoint}});
    for (const bool is_lower : {false, true})
      sum("MatrixTriangularSolve", {lower, right}, {{"adjoint", adjoint}, {"lower", is_lower}});
  }
  sum("MatrixSolve", {fixed({2, 2}, {1, 2, 2, 4}), fixed({2, 1}, {1, 2})});
  for (const char* type : {"SelfAdjointEig", "BatchSelfAdjointEig"}) sum(type, {even});
  sum("SelfAdjointEigV2", {even});
  sum("SelfAdjointEigV2", {even}, {{"compute_v", false}});
  sum("Lu", {general});
  for (const bool full : {false, true}) {
    sum("Qr", {fixed({3, 2}, {1, 2, 3, 4, -2, 1})}, {{"full_matrices", full}});
    sum("Svd", {fixed({3, 2}, {1, 2, 3, 4, -2, 1})}, {{"full_matrices", full}});
  }
  sum("Svd", {general}, {{"compute_uv", false}});
  for (const bool fast : {false, true})
    sum("MatrixSolveLs", {fixed({3, 2}, {1, 2, 3, 4, -2, 1}), fixed({3, 1}, {1, 2, 3}), {role::tensor, {}, dtype::float64, {0.5}}},
        {{"fast", fast}});

  for (const char* type : {"InplaceUpdate", "InplaceAdd", "InplaceSub"}) add(type, {x({4, 2}), indices({3}, {3, -4, 3}), x({3, 2})});

  add("TensorStridedSliceUpdate", {x({4, 3}), numbers({1, 2}), numbers({3, 0}), numbers({1, -2}), x({2, 1})});

  // what writes variables
  for (const char* type : {"Assign", "AssignAdd", "AssignSub"})
    for (const auto& s : {sized({2, 3}), sized({}), sized({0}), sized({37})}) add(type, {{role::variable, s}, {role::tensor, s}});
  for (const char* type : {"ScatterUpdate", "ScatterAdd", "ScatterSub", "ScatterMul", "ScatterDiv", "ScatterMin", "ScatterMax"}) {
    add(type, {variable({4, 2}), indices({2}, {3, 0}), x({2, 2})});
    add(type, {variable({4, 2}), indices({2}, {3, 0}), x({})});
    add(type, {variable({4}), indices({0}, {}), x({0})});
    add(type, {variable({4}), indices({1}, {4}), x({1})});
  }
  add("StridedSliceAssign", {variable({4, 3}), numbers({1, 2}), numbers({3, 0}), numbers({1, -2}), x({2, 1})});
  for (const char* type : {"ScatterNdUpdate", "ScatterNdAdd", "ScatterNdSub", "ScatterNdMin", "ScatterNdMax"})
    add(type, {variable({4, 2}), indices({2, 1}, {3, 0}), x({2, 2})});
  for (const auto& s : {sized({2, 3}), sized({}), sized({0}), sized({37})}) {
    const argument v{role::variable, s}, g{role::tensor, s};
    add("ApplyGradientDescent", {v, rate(0.25), g});
    add("ApplyAdaMax", {v, v, v, rate(0.5), rate(0.25), rate(0.5), rate(0.75), rate(0.0625), g});
    for (const char* type : {"ApplyAddSign", "ApplyPowerSign"}) add(type, {v, v, rate(0.25), rate(1.25), rate(0.5), rate(0.75), g});
    add("ApplyProximalGradientDescent", {v, rate(0.25), rate(0.5), rate(0.125), g});
    add("ApplyProximalGradientDescent", {v, rate(0.25), rate(0), rate(0.125), g});
    add("ApplyProximalAdagrad", {v, v, rate(0.25), rate(0.5), rate(0.125), g});
    add("ApplyProximalAdagrad", {v, v, rate(0.25), rate(0), rate(0.125), g});
    for (bool flag : {false, true}) {
      add("ApplyMomentum", {v, v, rate(0.25), g, rate(0.5)}, {{"use_nesterov", flag}});
      add("ApplyAdagrad", {v, v, rate(0.25), g}, {{"update_slots", flag}});
      add("ApplyAdagradV2", {v, v, rate(0.25), rate(0.0625), g}, {{"update_slots", flag}});
      add("ApplyAdam", {v, v, v, rate(0.5), rate(0.75), rate(0.25), rate(0.5), rate(0.75), rate(0.0625), g}, {{"use_nesterov", flag}});
      add("ApplyFtrl", {v, v, v, g, rate(0.25), rate(0.5), rate(0.125), rate(-0.5)}, {{"multiply_linear_by_lr", flag}});
      add("ApplyFtrl", {v, v, v, g, rate(0.25), rate(0), rate(0), rate(-0.75)}, {{"multiply_linear_by_lr", flag}});
    }
    add("ApplyFtrlV2", {v, v, v, g, rate(0.25), rate(0.5), rate(0.125), rate(0.75), rate(-0.5)});
    add("ApplyAdagradDA", {v, v, v, g, rate(0.25), rate(0.5), rate(0.125), indices({}, {3}, dtype::int64)});
    add("ApplyAdagradDA", {v, v, v, g, rate(0.25), rate(0), rate(0.125), indices({}, {3}, dtype::int64)});
    add("ApplyRMSProp", {v, v, v, rate(0.25), rate(0.5), rate(0.75), rate(0.0625), g});
    add("ApplyCenteredRMSProp", {v, v, v, v, rate(0.25), rate(0.5), rate(0.75), rate(0.0625), g});
    add("ApplyAdadelta", {v, v, v, rate(0.25), rate(0.5), rate(0.0625), g});
  }
  add("ApplyGradientDescent", {variable({2}), x({1}), x({2})});  // a rate that is no scalar
  {
    const argument v = variable({4, 2}), g = x({2, 2}), at = indices({2}, {3, 0});
    add("SparseApplyMomentum", {v, v, rate(0.25), g, at, rate(0.5)}, {{"use_nesterov", true}});
    add("SparseApplyAdagrad", {v, v, rate(0.25), g, at});
    add("SparseApplyAdagradV2", {v, v, rate(0.25), rate(0.0625), g, at});
    add("SparseApplyRMSProp", {v, v, v, rate(0.25), rate(0.5), rate(0.75), rate(0.0625), g, at});
    add("SparseApplyCenteredRMSProp", {v, v, v, v, rate(0.25), rate(0.5), rate(0.75), rate(0.0625), g, at});
    add("SparseApplyAdadelta", {v, v, v, rate(0.25), rate(0.5), rate(0.0625), g, at});
    add("SparseApplyFtrlV2", {v, v, v, g, at, rate(0.25), rate(0.5), rate(0.125), rate(0.75), rate(-0.5)});
    add("SparseApplyAdagradDA", {v, v, v, g, at, rate(0.25), rate(0.5), rate(0.125), indices({}, {3}, dtype::int64)});
    add("SparseApplyFtrl", {v, v, v, g, at, rate(0.25), rate(0.5), rate(0.125), rate(-0.5)});
    add("SparseApplyProximalGradientDescent", {v, rate(0.25), rate(0.5), rate(0.125), g, at});
    add("SparseApplyProximalAdagrad", {v, v, rate(0.25), rate(0.5), rate(0.125), g, at});
  }

  // Names of the same operators, with the same inputs and attributes.
  for (const leat::older_spelling& s : leat::older_spellings) {
    const auto is = [&list](std::string_view type) {
      return std::ranges::any_of(list, [&](const sample& one) { return one.type == type; });
    };
    if (s.number_first || !s.lacks.empty() || is(s.older)) continue;
    for (std::size_t k = 0, end = list.size(); k < end; ++k)
      if (list[k].type == s.current) {
        sample again = list[k];
        again.type = std::string(s.older);
        list.push_back(std::move(again));
      }
  }
  return list;
}

const std::vector<exemption>& exemptions() {
  static const std::vector<exemption> list{{"Placeholder", "leaf"},
                                           {"PlaceholderV2", "leaf"},
                                           {"PlaceholderWithDefault", "leaf"},
                                           {"Const", "leaf"},
                                           {"VariableV2", "leaf"},
                                           {"Variable", "leaf"},
                                           {"TemporaryVariable", "leaf"},
                                           {"DestroyTemporaryVariable", "leaf"},
                                           {"IsVariableInitialized", "leaf"},
                                           {"NoOp", "control"},
                                           {"ControlTrigger", "control"},
                                           {"Switch", "control"},
                                           {"RefSwitch", "control"},
                                           {"Merge", "control"},
                                           {"RefMerge", "control"},
                                           {"RefSelect", "control"},
                                           {"Timestamp", "the time"},
                                           {"Enter", "control"},
                                           {"RefEnter", "control"},
                                           {"Exit", "control"},
                                           {"RefExit", "control"},
                                           {"NextIteration", "control"},
                                           {"RefNextIteration", "control"},
                                           {"LoopCond", "control"},
                                           {"RefIdentity", "leaf"},
                                           {"Abort", "control"},
                                           {"Stack", "resource"},
                                           {"StackPush", "resource"},
                                           {"StackPop", "resource"},
                                           {"StackClose", "resource"},
                                           {"StackV2", "resource"},
                                           {"StackPushV2", "resource"},
                                           {"StackPopV2", "resource"},
                                           {"StackCloseV2", "resource"},
                                           {"TensorArray", "resource"},
                                           {"TensorArrayClose", "resource"},
                                           {"TensorArrayCloseV2", "resource"},
                                           {"TensorArrayCloseV3", "resource"},
                                           {"TensorArrayConcat", "resource"},
                                           {"TensorArrayConcatV2", "resource"},
                                           {"TensorArrayConcatV3", "resource"},
                                           {"TensorArrayGather", "resource"},
                                           {"TensorArrayGatherV2", "resource"},
                                           {"TensorArrayGatherV3", "resource"},
                                           {"TensorArrayGrad", "resource"},
                                           {"TensorArrayGradV2", "resource"},
                                           {"TensorArrayGradV3", "resource"},
                                           {"TensorArrayGradWithShape", "resource"},
                                           {"TensorArrayPack", "resource"},
                                           {"TensorArrayRead", "resource"},
                                           {"TensorArrayReadV2", "resource"},
                                           {"TensorArrayReadV3", "resource"},
                                           {"TensorArrayScatter", "resource"},
                                           {"TensorArrayScatterV2", "resource"},
                                           {"TensorArrayScatterV3", "resource"},
                                           {"TensorArraySize", "resource"},
                                           {"TensorArraySizeV2", "resource"},
                                           {"TensorArraySizeV3", "resource"},
                                           {"TensorArraySplit", "resource"},
                                           {"TensorArraySplitV2", "resource"},
                                           {"TensorArraySplitV3", "resource"},
                                           {"TensorArrayUnpack", "resource"},
                                           {"EmptyTensorList", "resource"},
                                           {"TensorListConcat", "resource"},
                                           {"TensorListConcatLists", "resource"},
                                           {"TensorListConcatV2", "resource"},
                                           {"TensorListElementShape", "resource"},
                                           {"TensorListFromTensor", "resource"},
                                           {"TensorListGather", "resource"},
                                           {"TensorListGetItem", "resource"},
                                           {"TensorListLength", "resource"},
                                           {"TensorListPopBack", "resource"},
                                           {"TensorListPushBack", "resource"},
                                           {"TensorListReserve", "resource"},
                                           {"TensorListResize", "resource"},
                                           {"TensorListScatter", "resource"},
                                           {"TensorListScatterIntoExistingList", "resource"},
                                           {"TensorListScatterV2", "resource"},
                                           {"TensorListSetItem", "resource"},
                                           {"TensorListSplit", "resource"},
                                           {"TensorListStack", "resource"},
                                           {"TensorArrayV2", "resource"},
                                           {"TensorArrayV3", "resource"},
                                           {"TensorArrayWrite", "resource"},
                                           {"TensorArrayWriteV2", "resource"},
                                           {"TensorArrayWriteV3", "resource"},
                                           {"Complex", "complex numbers"},
                                           {"Real", "complex numbers"},
                                           {"Imag", "complex numbers"},
                                           {"Conj", "complex numbers"},
                                           {"Angle", "complex numbers"},
                                           {"ComplexAbs", "complex numbers"},
                                           {"FFT", "complex numbers"},
                                           {"FFT2D", "complex numbers"},
                                           {"FFT3D", "complex numbers"},
                                           {"FFTND", "complex numbers"},
                                           {"IFFT", "complex numbers"},
                                           {"IFFT2D", "complex numbers"},
                                           {"IFFT3D", "complex numbers"},
                                           {"IFFTND", "complex numbers"},
                                           {"RFFT", "complex numbers"},
                                           {"RFFT2D", "complex numbers"},
                                           {"RFFT3D", "complex numbers"},
                                           {"RFFTND", "complex numbers"},
                                           {"IRFFT", "complex numbers"},
                                           {"IRFFT2D", "complex numbers"},
                                           {"IRFFT3D", "complex numbers"},
                                           {"IRFFTND", "complex numbers"},
                                           {"Print", "host"},
                                           {"PrintV2", "host"},
                                           {"Assert", "host"},
                                           {"CheckNumerics", "host"},
                                           {"PyFunc", "host"},
                                           {"PyFuncStateless", "host"},
                                           {"CountUpTo", "resource"},
                                           {"ReplicaAccumulatorAwait", "resource"},
                                           {"ReplicaAccumulatorGive", "resource"},
                                           {"ReplicaGradients", "resource"},
                                           {"ReplicaGradientsDrop", "resource"},
                                           {"ReplicaGradientsGive", "resource"},
                                           {"ReplicaGradientsGiveRows", "resource"},
                                           {"ReplicaGradientsMean", "resource"},
                                           {"ReplicaGradientsMeanRows", "resource"},
                                           {"ReplicaRounds", "resource"},
                                           {"ReplicaRoundsArrive", "resource"},
                                           {"ReplicaRoundsEnd", "resource"},
                                           {"ReplicaRoundsJoin", "resource"},
                                           {"ReplicaRoundsLeave", "resource"},
                                           {"ReplicaRoster", "resource"},
                                           {"ReplicaRosterGave", "resource"},
                                           {"ReplicaRosterJoin", "resource"},
                                           {"ReplicaRosterLeave", "resource"},
                                           {"ReplicaRosterLeft", "resource"},
                                           {"ReplicaRosterMissing", "resource"},
                                           {"ReplicaRosterNews", "resource"},
                                           {"ReplicaRosterRestore", "resource"},
                                           {"ReplicaRosterState", "resource"},
                                           {"ReplicaRosterTokens", "resource"},
                                           {"ReplicaRosterTook", "resource"},
                                           {"ReplicaRosterUpdated", "resource"},
                                           {"VarHandleOp", "leaf"},
                                           {"VarIsInitializedOp", "leaf"},
                                           {"StatefulUniform", "resource"},
                                           {"StatefulStandardNormalV2", "resource"},
                                           {"StatefulTruncatedNormal", "resource"},
                                           {"StatefulUniformInt", "resource"},
                                           {"StatefulUniformFullInt", "resource"},
                                           {"RngReadAndSkip", "resource"},
                                           {"RngSkip", "resource"},
                                           {"NonDeterministicInts", "random"},
                                           {"SampleDistortedBoundingBox", "random"},
                                           {"SampleDistortedBoundingBoxV2", "random"},
                                           {"StatelessRandomUniformV2", "uint64"},
                                           {"StatelessRandomNormalV2", "uint64"},
                                           {"StatelessTruncatedNormalV2", "uint64"},
                                           {"StatelessRandomUniformIntV2", "uint64"},
                                           {"StatelessRandomUniformFullIntV2", "uint64"},
                                           {"StatelessShuffle", "uint64"},
                                           {"StatelessRandomGetKeyCounter", "uint64"},
                                           {"StatelessRandomGetKeyCounterAlg", "uint64"},
                                           {"DisableCopyOnRead", "resource"},
                                           {"VariableShape", "resource"},
                                           {"StringJoin", "text"},
                                           {"RegexFullMatch", "text"},
                                           {"StaticRegexFullMatch", "text"},
                                           {"ShardedFilename", "text"},
                                           {"ShardedFilespec", "text"},
                                           {"StringSplit", "text"},
                                           {"StringSplitV2", "text"},
                                           {"StringLength", "text"},
                                           {"Substr", "text"},
                                           {"StringLower", "text"},
                                           {"StringUpper", "text"},
                                           {"StringStrip", "text"},
                                           {"ReduceJoin", "text"},
                                           {"RegexReplace", "text"},
                                           {"StaticRegexReplace", "text"},
                                           {"AsString", "text"},
                                           {"StringToNumber", "text"},
                                           {"StringToHashBucket", "text"},
                                           {"StringToHashBucketFast", "text"},
                                           {"EncodeBase64", "text"},
                                           {"DecodeBase64", "text"},
                                           {"DecodeRaw", "text"},
                                           {"DecodeCSV", "text"},
                                           {"SerializeTensor", "text"},
                                           {"ParseTensor", "text"},
                                           {"SerializeSparse", "text"},
                                           {"SerializeManySparse", "text"},
                                           {"DeserializeSparse", "text"},
                                           {"DeserializeManySparse", "text"},
                                           {"ParseExample", "text"},
                                           {"ParseExampleV2", "text"},
                                           {"ParseSingleExample", "text"},
                                           {"SaveV2", "files"},
                                           {"DecodePng", "text"},
                                           {"DecodeBmp", "text"},
                                           {"DecodeGif", "text"},
                                           {"DecodeJpeg", "text"},
                                           {"DecodeImage", "text"},
                                           {"EncodePng", "text"},
                                           {"EncodeJpeg", "text"},
                                           {"StringFormat", "text"},
                                           {"StringNGrams", "text"},
                                           {"UnsortedSegmentJoin", "text"},
                                           {"UnicodeTranscode", "text"},
                                           {"UnicodeDecode", "text"},
                                           {"UnicodeDecodeWithOffsets", "text"},
                                           {"UnicodeEncode", "text"},
                                           {"StringToHashBucketStrong", "text"},
                                           {"DecodeAndCropJpeg", "text"},
                                           {"ExtractJpegShape", "text"},
                                           {"EncodeJpegVariableQuality", "text"},
                                           {"DecodeWav", "text"},
                                           {"EncodeWav", "text"},
                                           {"TextLineReader", "files"},
                                           {"TFRecordReader", "files"},
                                           {"WholeFileReader", "files"},
                                           {"IdentityReader", "files"},
                                           {"ReaderRead", "files"},
                                           {"ReaderReadUpTo", "files"},
                                           {"ReaderReset", "files"},
                                           {"ReaderNumRecordsProduced", "files"},
                                           {"ReaderNumWorkUnitsCompleted", "files"},
                                           {"TextLineReaderV2", "files"},
                                           {"TFRecordReaderV2", "files"},
                                           {"WholeFileReaderV2", "files"},
                                           {"IdentityReaderV2", "files"},
                                           {"ReaderReadV2", "files"},
                                           {"ReaderReadUpToV2", "files"},
                                           {"ReaderResetV2", "files"},
                                           {"ReaderNumRecordsProducedV2", "files"},
                                           {"ReaderNumWorkUnitsCompletedV2", "files"},
                                           {"ReadFile", "files"},
                                           {"WriteFile", "files"},
                                           {"MatchingFiles", "files"},
                                           {"Stage", "resource"},
                                           {"Unstage", "resource"},
                                           {"StagePeek", "resource"},
                                           {"StageSize", "resource"},
                                           {"StageClear", "resource"},
                                           {"HashTable", "resource"},
                                           {"MutableHashTable", "resource"},
                                           {"InitializeTable", "resource"},
                                           {"InitializeTableFromTextFile", "files"},
                                           {"LookupTableFind", "resource"},
                                           {"LookupTableInsert", "resource"},
                                           {"LookupTableImport", "resource"},
                                           {"LookupTableExport", "resource"},
                                           {"LookupTableSize", "resource"},
                                           {"HashTableV2", "resource"},
                                           {"MutableHashTableV2", "resource"},
                                           {"InitializeTableV2", "resource"},
                                           {"InitializeTableFromTextFileV2", "files"},
                                           {"LookupTableFindV2", "resource"},
                                           {"LookupTableInsertV2", "resource"},
                                           {"LookupTableImportV2", "resource"},
                                           {"LookupTableExportV2", "resource"},
                                           {"LookupTableSizeV2", "resource"},
                                           {"LookupTableRemoveV2", "resource"},
                                           {"MergeV2Checkpoints", "files"},
                                           {"RestoreV2", "files"},
                                           {"Save", "files"},
                                           {"SaveSlices", "files"},
                                           {"Restore", "files"},
                                           {"RestoreSlice", "files"},
                                           {"DecodeJSONExample", "text"},
                                           {"ParseSequenceExample", "text"},
                                           {"ParseSequenceExampleV2", "text"},
                                           {"ParseSingleSequenceExample", "text"},
                                           {"RaggedCross", "text"},
                                           {"SparseCross", "text"},
                                           {"SparseCrossHashed", "text"},
                                           {"SparseCrossV2", "text"},
                                           {"DenseCountSparseOutput", "one kernel"},
                                           {"Dequantize", "one kernel"},
                                           {"QuantizeAndDequantizeV4", "one kernel"},
                                           {"QuantizeAndDequantizeV4Grad", "one kernel"},
                                           {"QuantizeDownAndShrinkRange", "one kernel"},
                                           {"QuantizeV2", "one kernel"},
                                           {"QuantizedAdd", "one kernel"},
                                           {"QuantizedAvgPool", "one kernel"},
                                           {"QuantizedBatchNormWithGlobalNormalization", "one kernel"},
                                           {"QuantizedBiasAdd", "one kernel"},
                                           {"QuantizedConcat", "one kernel"},
                                           {"QuantizedConv2D", "one kernel"},
                                           {"QuantizedInstanceNorm", "one kernel"},
                                           {"QuantizedMatMul", "one kernel"},
                                           {"QuantizedMaxPool", "one kernel"},
                                           {"QuantizedMul", "one kernel"},
                                           {"QuantizedRelu", "one kernel"},
                                           {"QuantizedRelu6", "one kernel"},
                                           {"QuantizedReluX", "one kernel"},
                                           {"QuantizedReshape", "one kernel"},
                                           {"QuantizedResizeBilinear", "one kernel"},
                                           {"RaggedBincount", "one kernel"},
                                           {"RaggedCountSparseOutput", "one kernel"},
                                           {"RaggedFillEmptyRows", "one kernel"},
                                           {"RaggedFillEmptyRowsGrad", "one kernel"},
                                           {"RaggedGather", "one kernel"},
                                           {"RaggedRange", "one kernel"},
                                           {"RaggedTensorToSparse", "one kernel"},
                                           {"RaggedTensorToTensor", "one kernel"},
                                           {"RequantizationRange", "one kernel"},
                                           {"Requantize", "one kernel"},
                                           {"SparseBincount", "one kernel"},
                                           {"SparseCountSparseOutput", "one kernel"},
                                           {"PreventGradient", "leaf"},
                                           {"Snapshot", "leaf"}};
  return list;
}

}  // namespace conformance
