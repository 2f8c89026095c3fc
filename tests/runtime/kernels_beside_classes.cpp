// Operators that have a class and, for nodes of graphs with names, a kernel of their own. A node runs by its operator's class
// (runtime/kernels/node_program.hpp): a second text is allowed only for a reason that stands here. The list is compared with the tables
// themselves, so that classes made by templates count, too.

#include <leat/runtime/kernels/kernel.hpp>

#include <leat/graph/known_operators.hpp>
#include <leat/graphs.hpp>
#include <leat/ops/known.hpp>
#include <leat/session/graph_session.hpp>

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>

using namespace leat;

namespace {

struct reason {
  std::string_view why;
  std::initializer_list<std::string_view> types;
};
const reason reasons[]{
    {"begins, reads, writes or reports something of the session",
     {"Assign", "AssignAdd", "AssignSub", "Const", "NoOp", "Placeholder", "VarHandleOp", "Variable", "VariableV2"}},
    // A program copies: 1.3 to 1.9 times the time for 32 elements, 90 times for 128 Ki.
    {"its result is the memory of its operand, of any dtype", {"ExpandDims", "Identity", "Reshape", "Squeeze", "StopGradient"}},
    // For the same shapes a program takes 0.8 to 1.0 of the time; for ever new ones it is compiled again, 25 times the time of a small array.
    {"moves texts, which programs do not have, more than 64 arrays, or rows along any axis", {"ConcatV2", "GatherV2"}},
    {"how many axes the indices name is known in a run alone, where the class is a composite of other operators",
     {"DynamicStitch", "GatherNd", "ScatterNd", "TopKV2"}},
    // One text of the algorithm, as fast in a program (0.8 to 1.1 of the time): the node's kernel checks its inputs in TensorFlow's words, with
    // their sizes, and is not compiled for each shape.
    {"runs the class's kernel, for more dtypes, texts among them, or with numbers that are values of a run",
     {"BatchMatMulV2", "LRN", "LRNGrad", "MatrixBandPart", "MatrixDiag", "MatrixDiagPart", "MatrixSetDiag", "MirrorPad", "MirrorPadGrad",
      "ResizeBilinear", "ResizeBilinearGrad", "ResizeNearestNeighbor", "ResizeNearestNeighborGrad", "ReverseV2", "StatelessMultinomial",
      "StatelessRandomNormal", "StatelessRandomUniform", "StatelessRandomUniformInt", "StatelessTruncatedNormal"}},
    {"runs the loops of the CPU that the class's kernel stands for, for more layouts and dtypes",
     {"AvgPool", "AvgPool3D", "AvgPool3DGrad", "AvgPoolGrad", "Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput", "Conv3D",
      "Conv3DBackpropFilterV2", "Conv3DBackpropInputV2", "DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropFilter",
      "DepthwiseConv2dNativeBackpropInput", "MaxPool", "MaxPool3D", "MaxPool3DGrad", "MaxPool3DGradGrad", "MaxPoolGrad", "MaxPoolGradGrad"}},
    {"moves blocks in one step, of any dtype, where the class is a composite of views",
     {"BatchToSpaceND", "DepthToSpace", "SpaceToBatchND", "SpaceToDepth"}},
};

}  // namespace

TEST_CASE("a class and a kernel of its own, each with its reason") {
  std::map<std::string_view, std::string_view> listed;
  for (const reason& r : reasons)
    for (const std::string_view type : r.types) CHECK(listed.emplace(type, r.why).second);
  std::set<std::string_view> classes;
  for (const std::string_view type : known_operator_types())
    if (find_operator(type)->infer != nullptr) classes.insert(type);
  for (const auto& [code, info] : detail::operators_of_expressions()) classes.insert(info->type);
  CHECK(classes.size() > 200);
  std::set<std::string> both;
  for (const std::string& type : kernel_types()) {
    if (!classes.contains(type)) continue;
    both.insert(type);
    INFO(type << " has a class and a kernel of its own");
    CHECK(listed.contains(type));
  }
  for (const auto& [type, why] : listed) {
    INFO(type << " is listed here, and has no kernel beside its class any more");
    CHECK(both.contains(std::string(type)));
  }
  CHECK(both.size() == 62);
}
