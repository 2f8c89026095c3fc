#pragma once
// Implementation of producer.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/proto/producer.hpp>

#include <algorithm>
#include <iterator>

namespace leat {

LEAT_FUNCTION std::optional<tensor_shape_proto> declared_shape(const node_def& node, std::int32_t producer) {
  const auto* attribute = node.attributes.find("shape");
  const auto* said = attribute != nullptr ? attribute->get_if<tensor_shape_proto>() : nullptr;
  if (said == nullptr) return std::nullopt;
  tensor_shape_proto shape = *said;
  if (shape.dims.empty() && (node.op == "Variable" || (node.op == "Placeholder" && producer < first_with_scalar_placeholders)))
    shape.unknown_rank = true;
  return shape;
}

LEAT_FUNCTION std::optional<std::int32_t> deprecated_from(std::string_view op) {
  struct row {
    std::string_view op;
    std::int32_t producer;
  };
  static constexpr row rows[]{{"AdjustContrast", 2},
                              {"AudioSummary", 15},
                              {"BatchCholesky", 13},
                              {"BatchCholeskyGrad", 13},
                              {"BatchFFT", 15},
                              {"BatchFFT2D", 15},
                              {"BatchFFT3D", 15},
                              {"BatchIFFT", 15},
                              {"BatchIFFT2D", 15},
                              {"BatchIFFT3D", 15},
                              {"BatchMatrixBandPart", 14},
                              {"BatchMatrixDeterminant", 13},
                              {"BatchMatrixDiag", 14},
                              {"BatchMatrixDiagPart", 14},
                              {"BatchMatrixInverse", 13},
                              {"BatchMatrixSetDiag", 14},
                              {"BatchMatrixSolve", 13},
                              {"BatchMatrixSolveLs", 13},
                              {"BatchMatrixTriangularSolve", 13},
                              {"BatchNormWithGlobalNormalization", 9},
                              {"BatchNormWithGlobalNormalizationGrad", 9},
                              {"BatchSelfAdjointEig", 11},
                              {"BatchSelfAdjointEigV2", 13},
                              {"BatchSvd", 13},
                              {"Conv3DBackpropFilter", 10},
                              {"Conv3DBackpropInput", 10},
                              {"FixedLengthRecordReader", 26},
                              {"IdentityReader", 26},
                              {"MatrixExponential", 27},
                              {"NegTrain", 19},
                              {"PlaceholderV2", 23},
                              {"QuantizeAndDequantize", 22},
                              {"RandomCrop", 8},
                              {"RandomPoisson", 25},
                              {"SelfAdjointEig", 11},
                              {"Skipgram", 19},
                              {"StatefulStandardNormal", 29},
                              {"TFRecordReader", 26},
                              {"TensorArray", 16},
                              {"TensorArrayClose", 16},
                              {"TensorArrayCloseV2", 26},
                              {"TensorArrayConcat", 16},
                              {"TensorArrayGather", 16},
                              {"TensorArrayGatherV2", 26},
                              {"TensorArrayGrad", 16},
                              {"TensorArrayGradV2", 26},
                              {"TensorArrayPack", 16},
                              {"TensorArrayRead", 16},
                              {"TensorArrayReadV2", 26},
                              {"TensorArrayScatter", 19},
                              {"TensorArrayScatterV2", 26},
                              {"TensorArraySize", 16},
                              {"TensorArraySizeV2", 26},
                              {"TensorArraySplit", 16},
                              {"TensorArraySplitV2", 26},
                              {"TensorArrayUnpack", 20},
                              {"TensorArrayV2", 26},
                              {"TensorArrayWrite", 16},
                              {"TensorArrayWriteV2", 26},
                              {"TextLineReader", 26},
                              {"TileGrad", 3},
                              {"TopK", 7}};
  static_assert(std::ranges::is_sorted(rows, {}, &row::op));
  const row* const at = std::ranges::lower_bound(rows, op, {}, &row::op);
  return at != std::end(rows) && at->op == op ? std::optional(at->producer) : std::nullopt;
}

LEAT_FUNCTION version_def versions_to_write(const std::vector<node_def>& nodes, version_def versions) {
  if (versions.producer >= first_with_scalar_placeholders) return versions;
  bool has_scalar = false, may_be_raised = true;
  for (const node_def& node : nodes) {
    if (node.op == "Placeholder") {
      const auto shape = declared_shape(node, first_with_scalar_placeholders);
      has_scalar = has_scalar || (shape && shape->dims.empty() && !shape->unknown_rank);
    }
    const auto deprecated = deprecated_from(node.op);
    may_be_raised = may_be_raised && (!deprecated || *deprecated > first_with_scalar_placeholders);
  }
  if (has_scalar && may_be_raised) versions.producer = first_with_scalar_placeholders;
  return versions;
}

}  // namespace leat
