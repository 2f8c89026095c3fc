#pragma once
// TensorFlow's older spellings of operators, and other names of the same: one table. Files may have them. A node keeps the spelling with
// which it was imported or made, and is written with it again; in all else, the order of its inputs among it, it is a node of the current
// operator.

#include <string_view>

namespace leat {

/// An older spelling of an operator, and how its nodes differ in files from those of the current spelling.
struct older_spelling {
  std::string_view older, current;
  bool number_first = false;       // the number that is the last input in the current spelling is the first one
  std::string_view lacks{};        // an attribute of the current spelling alone
  bool refuses_broadcasts = false;
};

inline constexpr older_spelling older_spellings[]{
    {"Add", "AddV2"},
    {"BatchCholesky", "Cholesky"},
    {"BatchCholeskyGrad", "CholeskyGrad"},
    {.older = "BatchMatMul", .current = "BatchMatMulV2", .refuses_broadcasts = true},
    {"BatchMatrixDeterminant", "MatrixDeterminant"},
    {"BatchMatrixDiag", "MatrixDiag"},
    {"BatchMatrixDiagPart", "MatrixDiagPart"},
    {"BatchMatrixInverse", "MatrixInverse"},
    {"BatchMatrixSetDiag", "MatrixSetDiag"},
    {"BatchMatrixSolve", "MatrixSolve"},
    {"BatchMatrixSolveLs", "MatrixSolveLs"},
    {"BatchMatrixTriangularSolve", "MatrixTriangularSolve"},
    {"BatchSelfAdjointEigV2", "SelfAdjointEigV2"},
    {"BatchSvd", "Svd"},
    {.older = "BiasAddV1", .current = "BiasAdd", .lacks = "data_format"},
    {.older = "Concat", .current = "ConcatV2", .number_first = true, .lacks = "Tidx"},
    {"ConjugateTranspose", "Transpose"},  // of real numbers; for complex ones it has a kernel and a gradient of its own
    {"GuaranteeConst", "Identity"},       // a promise to TensorFlow's compiler
    {"Inv", "Reciprocal"},
    {"InvGrad", "ReciprocalGrad"},
    {"Mod", "TruncateMod"},
    {"SegmentMaxV2", "UnsortedSegmentMax"},
    {"SegmentMinV2", "UnsortedSegmentMin"},
    {"SegmentProdV2", "UnsortedSegmentProd"},
    {"SegmentSumV2", "UnsortedSegmentSum"},
};

/// The row of an older spelling; null for any other type.
constexpr const older_spelling* find_older_spelling(std::string_view type) {
  for (const older_spelling& s : older_spellings)
    if (s.older == type) return &s;
  return nullptr;
}
/// The current spelling of an operator's type, which is the type itself unless it is an older spelling.
constexpr std::string_view current_spelling(std::string_view type) {
  const older_spelling* const s = find_older_spelling(type);
  return s != nullptr ? s->current : type;
}

namespace detail {
/// A field of an operator in a table by type (core/operator_table.hpp). An older spelling without it has that of the current spelling.
template <class Table, class Field>
auto find_by_spelling(const Table& table, std::string_view type, Field field) {
  auto found = table.find(type, field);
  return found || find_older_spelling(type) == nullptr ? found : table.find(current_spelling(type), field);
}
}  // namespace detail

}  // namespace leat
