#include <leat/named/gradients/functions.hpp>

#include "support/slopes.hpp"

#include <leat/graph/known_operators.hpp>
#include <leat/graphs.hpp>
#include <leat/named/gradients/way.hpp>

#include <doctest/doctest.h>

using namespace leat;

namespace {

// What TensorFlow 2.21 answers (compat.v1: `tf.gradients` of an instance of each operator by each floating-point input; where none could be
// made, its registry of gradients): a tensor, perhaps of zeros, for some input; None for all; LookupError.
constexpr std::string_view have_gradients[]{
    "Abs", "Acos", "Acosh", "Add", "AddN", "AddV2", "Asin", "Asinh", "Atan", "Atan2", "Atanh", "BatchMatMul", "BatchMatMulV2", "BiasAdd", "BiasAddGrad",
    "BiasAddV1", "BroadcastTo", "Cast", "CheckNumerics", "ClipByValue", "Concat", "ConcatV2", "Cos", "Cosh", "Cumprod", "Cumsum",
    "Digamma", "Div", "DivNoNan", "DynamicPartition", "DynamicStitch", "Elu", "EluGrad", "Enter", "Erf", "Erfc", "EuclideanNorm", "Exit", "Exp", "ExpandDims", "Expm1",
    "Fill", "FloorMod", "Gather", "GatherNd", "GatherV2", "Identity", "InvGrad", "L2Loss", "LeakyRelu", "LeakyReluGrad", "Lgamma", "Log",
    "Log1p", "LogSoftmax", "MatMul", "Max", "Maximum", "Mean", "Merge", "Min", "Minimum", "Mul", "Neg", "NextIteration", "Pack",
    "Pad", "ParallelDynamicStitch", "PlaceholderWithDefault", "Polygamma", "Pow", "Print", "Prod", "RealDiv", "Reciprocal", "ReciprocalGrad",
    "RefEnter", "RefExit", "RefIdentity", "RefMerge", "RefNextIteration", "RefSwitch", "Relu", "Relu6", "Relu6Grad", "ReluGrad",
    "Reshape", "ReverseV2", "Rsqrt", "RsqrtGrad", "ScatterNd", "Select", "SelectV2", "Selu", "SeluGrad", "Sigmoid", "SigmoidGrad",
    "Sign", "Sin", "Sinh", "Slice", "Softmax", "SoftmaxCrossEntropyWithLogits", "Softplus", "SoftplusGrad", "Softsign",
    "SparseSoftmaxCrossEntropyWithLogits", "Split", "SplitV", "Sqrt", "SqrtGrad", "Square", "SquaredDifference", "Squeeze",
    "StridedSlice", "StridedSliceGrad", "Sub", "Sum", "Switch", "Tan", "Tanh", "TanhGrad", "Tile", "TopKV2", "Transpose", "Unpack",
    "SegmentMax", "SegmentMean", "SegmentMin", "SegmentProd", "SegmentSum", "UnsortedSegmentMax", "UnsortedSegmentMin",
    "UnsortedSegmentProd", "UnsortedSegmentSum", "Xdivy", "Xlogy", "Zeta", "AccumulateNV2", "Diag", "DiagPart", "EnsureShape", "IdentityN",
    "MatrixBandPart", "MatrixDiag", "MatrixDiagPart", "MatrixDiagPartV2", "MatrixDiagPartV3", "MatrixDiagV2", "MatrixDiagV3",
    "MatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3", "RGBToHSV", "Roll", "ScatterNdNonAliasingAdd", "SparseToDense",
    "TensorScatterAdd", "TensorScatterMax", "TensorScatterMin", "TensorScatterSub", "TensorScatterUpdate"};
constexpr std::string_view pass_nothing[]{
    "ApproximateEqual", "Assert", "Assign", "AssignAdd", "AssignSub", "AudioSummary", "AudioSummaryV2", "BroadcastGradientArgs", "Ceil", "ConcatOffset",
    "Floor", "FloorDiv", "HSVToRGB", "ImageSummary", "MergeSummary", "OneHot", "OnesLike", "PyFunc", "PyFuncStateless", "QueueClose",
    "QueueDequeue", "QueueDequeueMany", "QueueDequeueUpTo", "QueueEnqueue", "QueueEnqueueMany", "QueueSize", "RandomShuffle",
    "RandomStandardNormal", "RandomUniform", "Range", "Rint", "Round", "ScatterAdd", "ScatterDiv", "ScatterMul", "ScatterNdAdd", "ScatterNdSub", "ScatterNdUpdate",
    "ScatterSub", "StopGradient", "TensorSummaryV2", "TruncatedNormal", "ZerosLike"};
constexpr std::string_view are_refused[]{
    "AdjustContrastv2", "AdjustHue", "AdjustSaturation", "Bincount", "DenseBincount", "ScatterNdMax", "ScatterNdMin", "UniqueV2",
    "UniqueWithCounts", "UniqueWithCountsV2", "ApplyAdadelta", "ApplyAdagrad", "ApplyAdagradDA", "ApplyAdam", "ApplyCenteredRMSProp", "ApplyFtrl", "ApplyFtrlV2",
    "ApplyGradientDescent", "ApplyMomentum", "ApplyProximalAdagrad", "ApplyProximalGradientDescent", "ApplyRMSProp",
    "DestroyTemporaryVariable", "ListDiff", "Mod", "ScatterMax", "ScatterMin", "ScatterUpdate", "Snapshot",
    "SparseApplyAdadelta", "SparseApplyAdagrad", "SparseApplyAdagradDA", "SparseApplyCenteredRMSProp", "SparseApplyFtrl",
    "SparseApplyFtrlV2", "SparseApplyMomentum", "SparseApplyProximalAdagrad", "SparseApplyProximalGradientDescent",
    "SparseApplyRMSProp", "TruncateMod"};

}  // namespace

TEST_CASE("which operators have gradients, pass none, or are refused: as TensorFlow answers") {
  using detail::gradient_way;
  const auto way_of = [](std::string_view type) {
    const op_info* const op = find_operator(type);
    return detail::gradient_way_of(op != nullptr ? *op : find_definition(type)->info);
  };
  for (const auto type : have_gradients) {
    const gradient_way way = way_of(type);
    CHECK_MESSAGE((way == gradient_way::function || way == gradient_way::by_class), std::string(type));
  }
  for (const auto type : pass_nothing) CHECK_MESSAGE(way_of(type) == gradient_way::nothing, std::string(type));
  for (const auto type : are_refused) CHECK_MESSAGE(way_of(type) == gradient_way::unknown, std::string(type));
  CHECK(way_of("SoftsignGrad") == gradient_way::by_class);  // TensorFlow has none
}

TEST_CASE("functions of steps: zeros of Sign, none of others; what is refused is refused only where a gradient comes") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1}, "x");
  const auto slope = gradients({sign(x) * 3.0f}, {x})[0];
  REQUIRE(static_cast<bool>(slope));
  CHECK(slope.operation().type() == "ZerosLike");
  CHECK(slope.name() == "gradients/Sign_grad/zeros_like:0");
  CHECK(leat_test::evaluator({{"x", {{2}, {-2, 3}}}})(slope).at == std::vector<double>{0, 0});
  for (const output& y : {floor(x, {}), ceil(x, {}), round(x, {}), zeros_like(x)}) CHECK(!gradients({y}, {x})[0]);
  CHECK(!gradients({floordiv(x, 2.0f)}, {x})[0]);
  const auto rest = call_operator(g, "Mod", {x, tensor_literal(2.0f)}, {}, "rest").result();
  CHECK_THROWS_WITH_AS(gradients({rest}, {x}), doctest::Contains("the node 'rest' (Mod): no gradient is known of this operator"),
                       unimplemented);
  CHECK(static_cast<bool>(gradients({x * stop_gradient(rest)}, {x})[0]));
  CHECK(!gradients({floor(rest, {})}, {x})[0]);
  const auto kept = call_operator(g, "PreventGradient", {x}, {{"message", "not this"}}, "kept").result();
  CHECK_THROWS_WITH_AS(gradients({kept}, {x}), doctest::Contains("Gradient explicitly disabled. Reason: not this"), unimplemented);
}

TEST_CASE("a program says how gradients pass an operator that the library does not know") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {2}, "x");
  const auto unknown =
      g.named().raw(g, "Thrice", std::array{x}, {{"T", dtype::float32}}, {{dtype::float32, x.extent()}}, "thrice").result();
  CHECK_THROWS_WITH_AS(gradients({unknown}, {x}),
                       doctest::Contains("the node 'thrice' (Thrice): no gradient is known of this operator: register_gradient"),
                       unimplemented);
  register_gradient("Thrice", [](const gradient_call& c) { return std::vector<gradient_value>{c.dy() * 3.0f}; });
  const auto dx = gradients({unknown}, {x}, {.name = "again"})[0];
  CHECK(dx.name() == "again/thrice_grad/mul:0");
  CHECK(leat_test::evaluator({})(dx).at == std::vector<double>{3, 3});
  // a function may give more than there are inputs, which is told
  register_gradient("Thrice", [](const gradient_call& c) { return std::vector<gradient_value>{c.dy(), c.dy()}; });
  CHECK_THROWS_WITH_AS(gradients({unknown}, {x}), doctest::Contains("gives 2 gradients for 1 inputs"), unimplemented);
}

TEST_CASE("several results: those that no gradient reaches get zeros") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {2}, "x");
  const graph_operation two =
      g.named().raw(g, "SumAndDifference", std::array{x, x}, {}, {{dtype::float32, x.extent()}, {dtype::float32, x.extent()}}, "two");
  register_gradient("SumAndDifference", [](const gradient_call& c) {
    CHECK(c.all().size() == 2);
    CHECK(c.dy(1).operation().type() == "ZerosLike");
    CHECK(c.dy(1).name().ends_with("/zeros_like:0"));
    const output first = c.dy(0) + c.dy(1);
    return std::vector<gradient_value>{first, c.dy(0) - c.dy(1)};
  });
  CHECK(gradients({two.result(0)}, {x})[0].operation().type() == "AddN");
}
