#pragma once
// Registers the library's operators under TensorFlow's names. Imported graphs need them, and so do variables, because their assignments and
// reads are nodes.

#include <leat/core/fill.hpp>
#include <leat/graph/known_operators.hpp>
#include <leat/ops/add_n.hpp>
#include <leat/ops/blocks.hpp>
#include <leat/ops/decompositions.hpp>
#include <leat/ops/diagonals.hpp>
#include <leat/ops/image_operators.hpp>
#include <leat/ops/images.hpp>
#include <leat/ops/local_response.hpp>
#include <leat/ops/lookups.hpp>
#include <leat/ops/matrix_functions.hpp>
#include <leat/ops/mirror_pad.hpp>
#include <leat/ops/random.hpp>
#include <leat/ops/resize.hpp>
#include <leat/ops/spectra.hpp>
#include <leat/ops/stacked_matmul.hpp>
#include <leat/ops/state.hpp>
#include <leat/ops/top_k.hpp>

namespace leat {

namespace detail {

template <class... Ops>
struct operator_list {
  static bool enter() {
    (register_operator<Ops>(), ...);
    return true;
  }
  static void enter_for_expressions() { (register_expression_operator<Ops>(), ...); }
};

using library_operators =
    operator_list<placeholder_op, variable_op, first_variable_op, handle_variable_op, constant_op, add_op, sub_op, mul_op, neg_op,
                  reciprocal_op, real_div_op, div_op,
                  truncate_div_op, floor_div_op, floor_mod_op, truncate_mod_op, maximum_op, minimum_op, square_op, squared_difference_op,
                  abs_op, sign_op, floor_op, ceil_op, round_op, equal_op, not_equal_op, less_op, less_equal_op, greater_op,
                  greater_equal_op, logical_and_op, logical_or_op, logical_not_op, is_nan_op, is_inf_op, is_finite_op, select_op, cast_op,
                  clip_by_value_op, exp_op, expm1_op, log_op, log1p_op, sqrt_op, rsqrt_op, tanh_op, sigmoid_op, softplus_op, sin_op, cos_op,
                  tan_op, asin_op, acos_op, atan_op, atan2_op, sinh_op, cosh_op, erf_op, pow_op, div_no_nan_op, xdivy_op, xlogy_op,
                  sqrt_grad_op, rsqrt_grad_op, reciprocal_grad_op, tanh_grad_op,
                  sigmoid_grad_op, softplus_grad_op, relu_grad_op, relu6_grad_op, elu_grad_op, selu_grad_op, selu_op, softsign_grad_op,
                  softsign_op, erfc_op, asinh_op,
                  acosh_op, atanh_op, rint_op, zeta_op, polygamma_op, digamma_op, lgamma_op, bitwise_and_op, bitwise_or_op, bitwise_xor_op,
                  invert_op, left_shift_op, right_shift_op, matmul_op, reshape_op, squeeze_op, expand_dims_op,
                  transpose_op, broadcast_to_op, slice_op, pad_op, concat_op, segment_sum_op,
                  segment_max_op, segment_min_op, segment_prod_op, cumsum_op, cumprod_op, linspace_op, euclidean_norm_op, gather_op,
                  identity_op, stop_gradient_op,
                  sum_op, max_op, min_op, prod_op, all_op, any_op, mean_op, relu_op, relu6_op, leaky_relu_op, leaky_relu_grad_op, elu_op,
                  softmax_op,
                  log_softmax_op, one_hot_op, softmax_cross_entropy_op, sparse_softmax_cross_entropy_op, l2_loss_op, argmax_op, argmin_op,
                  cholesky_op, cholesky_grad_op, matrix_triangular_solve_op, matrix_solve_op, matrix_inverse_op,
                  matrix_determinant_op, matrix_exponential_op,
                  assign_op, assign_add_op, assign_sub_op, group_op, add_n_op>;

// Operators on images of typed expressions. Graphs with names have them by their definitions alone (named/definitions/nn.hpp), whose
// kernels take more dtypes, layouts and volumes.
using image_operators =
    operator_list<convolution_op<convolved::images>, convolution_op<convolved::channels>, convolution_op<convolved::volumes>,
                  convolution_input_grad_op<convolved::images>, convolution_input_grad_op<convolved::channels>,
                  convolution_input_grad_op<convolved::volumes>, convolution_filter_grad_op<convolved::images>,
                  convolution_filter_grad_op<convolved::channels>, convolution_filter_grad_op<convolved::volumes>, max_pool_op<2>,
                  max_pool_op<3>, max_pool_grad_op<2>, max_pool_grad_op<3>, max_pool_grad_grad_op<2>, max_pool_grad_grad_op<3>,
                  avg_pool_op<2>, avg_pool_op<3>, avg_pool_grad_op<2>, avg_pool_grad_op<3>, resize_nearest_op, resize_nearest_grad_op,
                  resize_bilinear_op, resize_bilinear_grad_op, local_response_op, local_response_grad_op, block_exchange_op<true>,
                  block_exchange_op<false>, batch_exchange_op<true>, batch_exchange_op<false>, mirror_pad_op, mirror_pad_grad_op>;

// Operators within those on matrices, which graphs with names have in one operator.
using matrix_operators =
    operator_list<lu_op, lu_solve_op, lu_determinant_op, log_determinant_op, qr_op, symmetric_eigen_op, svd_op, exponential_op>;
// Random numbers, and operators that rearrange arrays, of typed expressions. Graphs with names have them by their definitions alone
// (named/definitions/array.hpp, diagonal.hpp), whose kernels take more dtypes, and numbers that are computed.
using random_operators = operator_list<stateless_uniform_op, stateless_normal_op, stateless_truncated_normal_op, stateless_integers_op,
                                       stateless_multinomial_op, stateless_order_op>;
using array_operators = operator_list<reverse_op, gather_nd_op, scatter_nd_op, gather_places_op, scatter_places_op, top_places_op,
                                      top_values_op, dynamic_stitch_op, matrix_diag_op, matrix_diag_part_op, matrix_set_diag_op,
                                      matrix_band_part_op>;

LEAT_FILL(fill_library_operators) {
  library_operators::enter();
  register_older_spellings();
  register_expression_operator<stacked_matmul_op>();
  register_expression_operator<stacked_products_op>();
  image_operators::enter_for_expressions();
  random_operators::enter_for_expressions();
  array_operators::enter_for_expressions();
  matrix_operators::enter_for_expressions();
}

}  // namespace detail

}  // namespace leat
