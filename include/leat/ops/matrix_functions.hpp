#pragma once
// The exponential of matrices and least squares, along the last two axes of an array. Errors of all functions: rules.hpp.

#include <leat/ops/decompositions.hpp>
#include <leat/ops/splits.hpp>

namespace leat {

/// e^A, and the memory of its computation: [..., 8, n, n], of which the first matrix is the result.
struct exponential_op {
  static constexpr std::string_view type = "leat.Exponential";
  static constexpr facts what{.work = work_kind::product, .by_matrix = true};
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) { return rule::square_matrices::infer_stacks(x, 8); }
};

/// Source: TensorFlow `MatrixExponential`.
struct matrix_exponential_op : rule::square_matrices {
  static constexpr std::string_view type = "MatrixExponential";
  static constexpr field form[]{{field_kind::operand, "input"}, {field_kind::type_of, "T"}};
  static constexpr op_kind kind = op_kind::composite;
  template <class G>
  static constexpr output expand(G& g) {
    const output packed = make_node<exponential_op>({}, g.input(0));
    const int rank = packed.extent().rank;
    std::int64_t numbers[2 * max_rank]{};
    for (int i = 0; i < rank; ++i) numbers[rank + i] = i == rank - 3 ? 1 : -1;
    return reshape_to(make_node<slice_op>({numbers, static_cast<std::size_t>(2 * rank)}, packed), g.result().extent());
  }
  /// The upper right quarter of e to the power of [[Aᵀ, dy], [0, Aᵀ]] is the gradient. Source: Higham, Functions of Matrices, 3.6.
  template <class G>
  static constexpr void gradient(G& g) {
    if (!g.wants(0)) return;
    const int rank = g.dy().extent().rank;
    const std::int64_t n = rule::matrices::rows(g.dy().extent());
    const std::int64_t down[]{rank - 2}, across[]{rank - 1};
    const output turned = matrix_rows::adjoint(g.input(0));
    const output none = matrix_rows::zeros(g.dy());
    const output above = make_node<concat_op>(across, turned, g.dy());
    const output below = make_node<concat_op>(across, none, turned);
    const output all = make_node<matrix_exponential_op>({}, make_node<concat_op>(down, above, below));
    std::int64_t part[2 * max_rank]{};
    for (int i = 0; i < rank; ++i) part[rank + i] = -1;
    part[rank - 1] = part[2 * rank - 2] = part[2 * rank - 1] = n;
    give(g, 0, make_node<slice_op>({part, static_cast<std::size_t>(2 * rank)}, all));
  }
};

/// The exponential of matrices, I + a + a²/2 + …. Shapes: a [..., n, n]; result as a. Dtypes: floating point. Matrices with elements
/// that are not finite give NaN. Source: TensorFlow `MatrixExponential`.
LEAT_FUNCTION_OF_ONE(expm, matrix_exponential_op);

}  // namespace leat
