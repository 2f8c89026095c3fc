// The table of operators, docs/operators.md, from the operators' definitions: `document_operators REPOSITORY` compares it
// with the file, `document_operators REPOSITORY --write` writes it. What a definition does not say of itself stands in
// `all_operators`: how a call is written, and operands to try it with. Dtypes are found by asking its rule, gradients by
// differentiating it, devices by looking for its kernel. An operator of the headers that the list lacks is an error.

#include <leat/ops/add_n.hpp>
#include <leat/ops/blocks.hpp>
#include <leat/ops/diagonals.hpp>
#include <leat/ops/local_response.hpp>
#include <leat/ops/mirror_pad.hpp>
#include <leat/ops/resize.hpp>
#include <leat/ops/converged.hpp>
#include <leat/ops/print.hpp>
#include <leat/ops/image_operators.hpp>
#include <leat/ops/lookups.hpp>
#include <leat/ops/matrix_functions.hpp>
#include <leat/ops/reorder.hpp>
#include <leat/ops/random.hpp>
#include <leat/ops/spectra.hpp>
#include <leat/ops/stacked_matmul.hpp>
#include <leat/ops/state.hpp>
#include <leat/ops/top_k.hpp>
#include <leat/passes/gradient.hpp>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using namespace leat;

namespace {

struct trial_operand {
  shape extent;
  dtype type = dtype::invalid;  // invalid: the dtype that is tried
};
struct operator_row {
  std::string_view family;
  std::string_view class_name;
  const op_info* op;
  std::string_view call;
  std::vector<trial_operand> operands;
  std::vector<std::int64_t> attributes;
};

constexpr shape sized(std::initializer_list<std::int64_t> dimensions) {
  shape s;
  for (auto d : dimensions) s.push(d);
  return s;
}
const trial_operand row{sized({3})}, matrix{sized({2, 3})}, column{sized({2, 1})}, stack{sized({4, 2, 3})};
const trial_operand square{sized({3, 3})}, row_of_square{sized({3})}, decomposed{sized({2, 3, 3})};
const trial_operand images{sized({2, 3, 3, 2})}, filters{sized({2, 2, 2, 2})}, by_channel{sized({2, 2, 2, 1})};
const trial_operand volumes{sized({2, 3, 3, 3, 2})}, blocks{sized({2, 2, 2, 2, 2})};
const trial_operand condition{sized({2, 3}), dtype::boolean}, numbers{sized({2}), dtype::int32};
const trial_operand tuples{sized({2, 2}), dtype::int32};

constexpr std::string_view comparison = "Comparison, logic, selection, conversion";
constexpr std::string_view networks = "Neural networks";

#define LEAT_OPERATOR(family, name, call, ...) \
  operator_row { family, #name, &info_of<name>, call, __VA_ARGS__ }

std::vector<operator_row> all_operators() {
  const std::vector<trial_operand> one{matrix}, two{matrix, matrix}, three{matrix, matrix, matrix};
  return {
      LEAT_OPERATOR("Arithmetic", add_op, "a + b", two, {}),
      LEAT_OPERATOR("Arithmetic", sub_op, "a - b", two, {}),
      LEAT_OPERATOR("Arithmetic", mul_op, "a * b", two, {}),
      LEAT_OPERATOR("Arithmetic", real_div_op, "a / b", two, {}),
      LEAT_OPERATOR("Arithmetic", div_op, "the quotient of older graphs", two, {}),
      LEAT_OPERATOR("Arithmetic", truncate_div_op, "a / b", two, {}),
      LEAT_OPERATOR("Arithmetic", floor_div_op, "floor_divide(a, b)", two, {}),
      LEAT_OPERATOR("Arithmetic", floor_mod_op, "floor_mod(a, b)", two, {}),
      LEAT_OPERATOR("Arithmetic", truncate_mod_op, "truncate_mod(a, b)", two, {}),
      LEAT_OPERATOR("Arithmetic", neg_op, "-x", one, {}),
      LEAT_OPERATOR("Arithmetic", reciprocal_op, "reciprocal(x)", one, {}),
      LEAT_OPERATOR("Arithmetic", square_op, "square(x)", one, {}),
      LEAT_OPERATOR("Arithmetic", squared_difference_op, "squared_difference(a, b)", two, {}),
      LEAT_OPERATOR("Arithmetic", maximum_op, "maximum(a, b)", two, {}),
      LEAT_OPERATOR("Arithmetic", minimum_op, "minimum(a, b)", two, {}),
      LEAT_OPERATOR("Arithmetic", clip_by_value_op, "clip_by_value(x, low, high)", three, {}),
      LEAT_OPERATOR("Arithmetic", abs_op, "abs(x)", one, {}),
      LEAT_OPERATOR("Arithmetic", sign_op, "sign(x)", one, {}),
      LEAT_OPERATOR("Arithmetic", floor_op, "floor(x)", one, {}),
      LEAT_OPERATOR("Arithmetic", ceil_op, "ceil(x)", one, {}),
      LEAT_OPERATOR("Arithmetic", round_op, "round(x)", one, {}),
      LEAT_OPERATOR("Arithmetic", rint_op, "rint(x)", one, {}),
      LEAT_OPERATOR("Arithmetic", div_no_nan_op, "div_no_nan(a, b)", two, {}),
      LEAT_OPERATOR("Arithmetic", xdivy_op, "xdivy(x, y)", two, {}),
      LEAT_OPERATOR("Arithmetic", bitwise_and_op, "bitwise_and(a, b)", two, {}),
      LEAT_OPERATOR("Arithmetic", bitwise_or_op, "bitwise_or(a, b)", two, {}),
      LEAT_OPERATOR("Arithmetic", bitwise_xor_op, "bitwise_xor(a, b)", two, {}),
      LEAT_OPERATOR("Arithmetic", invert_op, "invert(x)", one, {}),
      LEAT_OPERATOR("Arithmetic", left_shift_op, "left_shift(a, b)", two, {}),
      LEAT_OPERATOR("Arithmetic", right_shift_op, "right_shift(a, b)", two, {}),

      LEAT_OPERATOR("Functions", exp_op, "exp(x)", one, {}),
      LEAT_OPERATOR("Functions", expm1_op, "expm1(x)", one, {}),
      LEAT_OPERATOR("Functions", log_op, "log(x)", one, {}),
      LEAT_OPERATOR("Functions", log1p_op, "log1p(x)", one, {}),
      LEAT_OPERATOR("Functions", sqrt_op, "sqrt(x)", one, {}),
      LEAT_OPERATOR("Functions", rsqrt_op, "rsqrt(x)", one, {}),
      LEAT_OPERATOR("Functions", pow_op, "pow(a, b)", two, {}),
      LEAT_OPERATOR("Functions", sin_op, "sin(x)", one, {}),
      LEAT_OPERATOR("Functions", cos_op, "cos(x)", one, {}),
      LEAT_OPERATOR("Functions", tan_op, "tan(x)", one, {}),
      LEAT_OPERATOR("Functions", asin_op, "asin(x)", one, {}),
      LEAT_OPERATOR("Functions", acos_op, "acos(x)", one, {}),
      LEAT_OPERATOR("Functions", atan_op, "atan(x)", one, {}),
      LEAT_OPERATOR("Functions", atan2_op, "atan2(y, x)", two, {}),
      LEAT_OPERATOR("Functions", sinh_op, "sinh(x)", one, {}),
      LEAT_OPERATOR("Functions", cosh_op, "cosh(x)", one, {}),
      LEAT_OPERATOR("Functions", tanh_op, "tanh(x)", one, {}),
      LEAT_OPERATOR("Functions", asinh_op, "asinh(x)", one, {}),
      LEAT_OPERATOR("Functions", acosh_op, "acosh(x)", one, {}),
      LEAT_OPERATOR("Functions", atanh_op, "atanh(x)", one, {}),
      LEAT_OPERATOR("Functions", erf_op, "erf(x)", one, {}),
      LEAT_OPERATOR("Functions", erfc_op, "erfc(x)", one, {}),
      LEAT_OPERATOR("Functions", lgamma_op, "lgamma(x)", one, {}),
      LEAT_OPERATOR("Functions", digamma_op, "digamma(x)", one, {}),
      LEAT_OPERATOR("Functions", polygamma_op, "polygamma(a, x)", two, {}),
      LEAT_OPERATOR("Functions", zeta_op, "zeta(x, q)", two, {}),
      LEAT_OPERATOR("Functions", xlogy_op, "xlogy(x, y)", two, {}),
      LEAT_OPERATOR("Functions", sigmoid_op, "sigmoid(x)", one, {}),
      LEAT_OPERATOR("Functions", softplus_op, "softplus(x)", one, {}),

      LEAT_OPERATOR(comparison, equal_op, "equal(a, b)", two, {}),
      LEAT_OPERATOR(comparison, not_equal_op, "not_equal(a, b)", two, {}),
      LEAT_OPERATOR(comparison, less_op, "a < b, less(a, b)", two, {}),
      LEAT_OPERATOR(comparison, less_equal_op, "a <= b, less_equal(a, b)", two, {}),
      LEAT_OPERATOR(comparison, greater_op, "a > b, greater(a, b)", two, {}),
      LEAT_OPERATOR(comparison, greater_equal_op, "a >= b, greater_equal(a, b)", two, {}),
      LEAT_OPERATOR(comparison, logical_and_op, "a && b, logical_and(a, b)", two, {}),
      LEAT_OPERATOR(comparison, logical_or_op, "a \\|\\| b, logical_or(a, b)", two, {}),
      LEAT_OPERATOR(comparison, logical_not_op, "!x, logical_not(x)", one, {}),
      LEAT_OPERATOR(comparison, is_nan_op, "is_nan(x)", one, {}),
      LEAT_OPERATOR(comparison, is_inf_op, "is_inf(x)", one, {}),
      LEAT_OPERATOR(comparison, is_finite_op, "is_finite(x)", one, {}),
      LEAT_OPERATOR(comparison, select_op, "select(condition, a, b)", {condition, matrix, matrix}, {}),
      LEAT_OPERATOR(comparison, cast_op, "cast<float>(x)", one, {static_cast<int>(dtype::float32)}),

      LEAT_OPERATOR("Reductions", sum_op, "reduce_sum<axes...>(x)", one, {0, 1}),
      LEAT_OPERATOR("Reductions", mean_op, "reduce_mean<axes...>(x)", one, {0, 1}),
      LEAT_OPERATOR("Reductions", max_op, "reduce_max<axes...>(x)", one, {0, 1}),
      LEAT_OPERATOR("Reductions", min_op, "reduce_min<axes...>(x)", one, {0, 1}),
      LEAT_OPERATOR("Reductions", prod_op, "reduce_prod<axes...>(x)", one, {0, 1}),
      LEAT_OPERATOR("Reductions", euclidean_norm_op, "reduce_euclidean_norm<axes...>(x)", one, {0, 1}),
      LEAT_OPERATOR("Reductions", all_op, "reduce_all<axes...>(x)", one, {0, 1}),
      LEAT_OPERATOR("Reductions", any_op, "reduce_any<axes...>(x)", one, {0, 1}),
      LEAT_OPERATOR("Reductions", argmax_op, "argmax<axis>(x)", one, {1, static_cast<int>(dtype::int64)}),
      LEAT_OPERATOR("Reductions", argmin_op, "argmin<axis>(x)", one, {1, static_cast<int>(dtype::int64)}),

      LEAT_OPERATOR("Products", matmul_op, "matmul(a, b), matmul<true, false>(a, b)", two, {0, 1}),
      LEAT_OPERATOR("Products", stacked_matmul_op, "matmul(a, b)", {stack, stack}, {0, 1}),
      LEAT_OPERATOR("Products", stacked_products_op, "within matmul of stacks, of larger matrices", {stack, stack}, {0, 1}),

      LEAT_OPERATOR("Matrices", cholesky_op, "cholesky(a)", {square}, {}),
      LEAT_OPERATOR("Matrices", cholesky_grad_op, "the gradient of cholesky(a) in graphs", {square, square}, {}),
      LEAT_OPERATOR("Matrices", matrix_triangular_solve_op, "triangular_solve<lower, adjoint>(a, b)", {square, square}, {1, 0}),
      LEAT_OPERATOR("Matrices", matrix_solve_op, "solve(a, b), solve<true>(a, b)", {square, square}, {0}),
      LEAT_OPERATOR("Matrices", matrix_inverse_op, "inverse(a)", {square}, {0}),
      LEAT_OPERATOR("Matrices", matrix_determinant_op, "determinant(a)", {square}, {}),
      LEAT_OPERATOR("Matrices", log_determinant_op, "log_determinant(a)", {square}, {}),
      LEAT_OPERATOR("Matrices", matrix_exponential_op, "expm(a)", {square}, {}),
      LEAT_OPERATOR("Matrices", qr_op, "qr(a), qr<true>(a)", {square}, {0}),
      LEAT_OPERATOR("Matrices", symmetric_eigen_op, "symmetric_eigen(a), symmetric_eigenvalues(a)", {square}, {1}),
      LEAT_OPERATOR("Matrices", svd_op, "svd(a), svd<true>(a), singular_values(a)", {square}, {1, 0}),
      LEAT_OPERATOR("Matrices", lu_op, "within solve, inverse and determinant", {square}, {}),
      LEAT_OPERATOR("Matrices", lu_solve_op, "within solve and inverse", {decomposed, square}, {0, 0}),
      LEAT_OPERATOR("Matrices", lu_determinant_op, "within determinant and log_determinant", {decomposed}, {0}),
      LEAT_OPERATOR("Matrices", exponential_op, "within expm", {square}, {}),

      LEAT_OPERATOR("Images", convolution_op<convolved::images>, "conv2d<strides, padding, dilations>(images, filters)", {images, filters},
                    {1, 1, 1, 1, 0, 1, 1, 1, 1}),
      LEAT_OPERATOR("Images", convolution_op<convolved::channels>, "depthwise_conv2d<strides, padding, dilations>(images, filters)",
                    {images, filters}, {1, 1, 1, 1, 0, 1, 1, 1, 1}),
      LEAT_OPERATOR("Images", max_pool_op<2>, "max_pool<window, strides, padding>(images)", {images}, {1, 2, 2, 1, 1, 1, 1, 1, 0}),
      LEAT_OPERATOR("Images", avg_pool_op<2>, "avg_pool<window, strides, padding>(images)", {images}, {1, 2, 2, 1, 1, 1, 1, 1, 0}),
      LEAT_OPERATOR("Images", convolution_input_grad_op<convolved::images>, "the gradient of conv2d by images", {filters, images},
                    {2, 3, 3, 2, 1, 1, 1, 1, 0, 1, 1, 1, 1}),
      LEAT_OPERATOR("Images", convolution_filter_grad_op<convolved::images>, "the gradient of conv2d by filters", {images, images},
                    {2, 2, 2, 2, 1, 1, 1, 1, 0, 1, 1, 1, 1}),
      LEAT_OPERATOR("Images", convolution_input_grad_op<convolved::channels>, "the gradient of depthwise_conv2d by images",
                    {by_channel, images}, {2, 3, 3, 2, 1, 1, 1, 1, 0, 1, 1, 1, 1}),
      LEAT_OPERATOR("Images", convolution_filter_grad_op<convolved::channels>, "the gradient of depthwise_conv2d by filters",
                    {images, images}, {2, 2, 2, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1}),
      LEAT_OPERATOR("Images", max_pool_grad_op<2>, "the gradient of max_pool", {images, images, images}, {1, 2, 2, 1, 1, 1, 1, 1, 0}),
      LEAT_OPERATOR("Images", max_pool_grad_grad_op<2>, "the gradient of that gradient", {images, images, images},
                    {1, 2, 2, 1, 1, 1, 1, 1, 0}),
      LEAT_OPERATOR("Images", avg_pool_grad_op<2>, "the gradient of avg_pool", {images}, {2, 3, 3, 2, 1, 2, 2, 1, 1, 1, 1, 1, 0}),

      LEAT_OPERATOR("Images", convolution_op<convolved::volumes>, "conv3d<strides, padding, dilations>(volumes, filters)",
                    {volumes, blocks}, {1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1}),
      LEAT_OPERATOR("Images", convolution_input_grad_op<convolved::volumes>, "the gradient of conv3d by volumes", {blocks, volumes},
                    {2, 3, 3, 3, 2, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1}),
      LEAT_OPERATOR("Images", convolution_filter_grad_op<convolved::volumes>, "the gradient of conv3d by filters", {volumes, volumes},
                    {2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1}),
      LEAT_OPERATOR("Images", max_pool_op<3>, "max_pool3d<window, strides, padding>(volumes)", {volumes},
                    {1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 0}),
      LEAT_OPERATOR("Images", avg_pool_op<3>, "avg_pool3d<window, strides, padding>(volumes)", {volumes},
                    {1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 0}),
      LEAT_OPERATOR("Images", max_pool_grad_op<3>, "the gradient of max_pool3d", {volumes, volumes, volumes},
                    {1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 0}),
      LEAT_OPERATOR("Images", max_pool_grad_grad_op<3>, "the gradient of that gradient", {volumes, volumes, volumes},
                    {1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 0}),
      LEAT_OPERATOR("Images", avg_pool_grad_op<3>, "the gradient of avg_pool3d", {volumes},
                    {2, 3, 3, 3, 2, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 0}),
      LEAT_OPERATOR("Images", resize_nearest_op, "resize_nearest_neighbor<height, width>(images)", {images}, {0, 0, 5, 4}),
      LEAT_OPERATOR("Images", resize_bilinear_op, "resize_bilinear<height, width>(images)", {images}, {0, 0, 5, 4}),
      LEAT_OPERATOR("Images", resize_nearest_grad_op, "the gradient of resize_nearest_neighbor", {images}, {0, 0, 5, 4}),
      LEAT_OPERATOR("Images", resize_bilinear_grad_op, "the gradient of resize_bilinear", {images},
                    {0, 0, 5, 4, static_cast<int>(dtype::float64)}),
      LEAT_OPERATOR("Images", local_response_op, "local_response_normalization<depth_radius, bias, alpha, beta>(images)", {images},
                    {1, 0, 0, 0}),
      LEAT_OPERATOR("Images", local_response_grad_op, "the gradient of local_response_normalization", {images, images, images},
                    {1, 0, 0, 0}),
      LEAT_OPERATOR("Images", block_exchange_op<true>, "space_to_depth<block>(images)", {{sized({2, 4, 4, 1})}}, {2}),
      LEAT_OPERATOR("Images", block_exchange_op<false>, "depth_to_space<block>(images)", {{sized({2, 1, 1, 4})}}, {2}),
      LEAT_OPERATOR("Images", batch_exchange_op<true>, "space_to_batch<sizes<...>, before<...>, behind<...>>(x)", {stack},
                    {2, 3, 0, 0, 0, 0}),
      LEAT_OPERATOR("Images", batch_exchange_op<false>, "batch_to_space<sizes<...>, before<...>, behind<...>>(x)", {stack},
                    {2, 1, 0, 0, 0, 0}),
      LEAT_OPERATOR("Images", mirror_pad_op, "mirror_pad<mode, before<...>, behind<...>>(x)", {matrix}, {0, 1, 0, 0, 2}),
      LEAT_OPERATOR("Images", mirror_pad_grad_op, "the gradient of mirror_pad", {matrix}, {1, 1, 0, 0, 1}),

      LEAT_OPERATOR("Random numbers", stateless_random_op<distribution_of_numbers::uniform>,
                    "stateless_random_uniform<float, sizes...>(seed)", {numbers}, {static_cast<int>(dtype::float32), 3}),
      LEAT_OPERATOR("Random numbers", stateless_random_op<distribution_of_numbers::normal>,
                    "stateless_random_normal<float, sizes...>(seed)", {numbers}, {static_cast<int>(dtype::float32), 3}),
      LEAT_OPERATOR("Random numbers", stateless_random_op<distribution_of_numbers::truncated_normal>,
                    "stateless_truncated_normal<float, sizes...>(seed)", {numbers}, {static_cast<int>(dtype::float32), 3}),
      LEAT_OPERATOR("Random numbers", stateless_integers_op, "stateless_random_integer<int, low, high, sizes...>(seed)", {numbers},
                    {static_cast<int>(dtype::int32), 0, 9, 3}),
      LEAT_OPERATOR("Random numbers", stateless_multinomial_op, "stateless_multinomial<samples>(logits, seed)", {matrix, numbers},
                    {5, static_cast<int>(dtype::int64)}),
      LEAT_OPERATOR("Random numbers", stateless_order_op, "within stateless_shuffle", {numbers}, {3}),

      LEAT_OPERATOR("Arrangement", reshape_op, "reshape<3, -1>(x)", one, {3, -1}),
      LEAT_OPERATOR("Arrangement", squeeze_op, "squeeze<axes...>(x)", {column}, {1}),
      LEAT_OPERATOR("Arrangement", expand_dims_op, "expand_dims<axis>(x)", one, {0}),
      LEAT_OPERATOR("Arrangement", transpose_op, "transpose<1, 0>(x)", one, {1, 0}),
      LEAT_OPERATOR("Arrangement", broadcast_to_op, "broadcast_to<2, 3>(x)", {row}, {2, 3}),
      LEAT_OPERATOR("Arrangement", slice_op, "slice<begins<0, 1>, sizes<-1, 2>>(x)", one, {0, 1, -1, 2}),
      LEAT_OPERATOR("Arrangement", pad_op, "pad<before<0, 1>, behind<0, 1>>(x)", one, {0, 1, 0, 1}),
      LEAT_OPERATOR("Arrangement", concat_op, "concat<axis>(a, b, ...)", two, {0}),
      LEAT_OPERATOR("Arrangement", gather_op, "gather(params, indices)", {matrix, numbers}, {}),
      LEAT_OPERATOR("Arrangement", gather_nd_op, "gather_nd(params, indices)", {matrix, tuples}, {}),
      LEAT_OPERATOR("Arrangement", scatter_nd_op, "scatter_nd<sizes...>(indices, updates)", {tuples, {sized({2})}}, {2, 3}),
      LEAT_OPERATOR("Arrangement", reverse_op, "reverse<axes...>(x)", one, {0}),
      LEAT_OPERATOR("Arrangement", dynamic_stitch_op, "dynamic_stitch<rows>(indices, arrays)", {matrix, numbers}, {4, 1}),
      LEAT_OPERATOR("Arrangement", top_places_op, "the positions in top_k<k>(x)", one, {2}),
      LEAT_OPERATOR("Arrangement", top_values_op, "the values in top_k<k>(x)", {matrix, {sized({2, 2}), dtype::int32}}, {}),
      LEAT_OPERATOR("Arrangement", matrix_diag_op, "matrix_diag(x)", one, {}),
      LEAT_OPERATOR("Arrangement", matrix_diag_part_op, "matrix_diag_part(x)", one, {}),
      LEAT_OPERATOR("Arrangement", matrix_set_diag_op, "matrix_set_diag(x, diagonal)", {matrix, {sized({2})}}, {}),
      LEAT_OPERATOR("Arrangement", matrix_band_part_op, "matrix_band_part<below, above>(x)", one, {1, 0}),
      LEAT_OPERATOR("Arrangement", gather_places_op, "within gather_nd", {matrix, numbers}, {1}),
      LEAT_OPERATOR("Arrangement", scatter_places_op, "within scatter_nd", {matrix, numbers}, {4}),
      LEAT_OPERATOR("Arrangement", segment_sum_op, "unsorted_segment_sum<n>(data, ids)", {matrix, numbers}, {4}),
      LEAT_OPERATOR("Arrangement", segment_max_op, "unsorted_segment_max<n>(data, ids)", {matrix, numbers}, {4}),
      LEAT_OPERATOR("Arrangement", segment_min_op, "unsorted_segment_min<n>(data, ids)", {matrix, numbers}, {4}),
      LEAT_OPERATOR("Arrangement", segment_prod_op, "unsorted_segment_prod<n>(data, ids)", {matrix, numbers}, {4}),
      LEAT_OPERATOR("Arrangement", cumsum_op, "cumsum<axis>(x), cumsum<axis, exclusive, reverse>(x)", one, {0, 0, 1}),
      LEAT_OPERATOR("Arrangement", cumprod_op, "cumprod<axis>(x)", one, {0, 0, 1}),
      LEAT_OPERATOR("Arrangement", linspace_op, "linspace<n>(start, stop)", {{sized({})}, {sized({})}}, {5}),
      LEAT_OPERATOR("Arrangement", one_hot_op, "one_hot<depth>(indices)", {row}, {4, static_cast<int>(dtype::float32), 0, 0, -1}),
      LEAT_OPERATOR("Arrangement", identity_op, "identity(x)", one, {}),
      LEAT_OPERATOR("Arrangement", stop_gradient_op, "stop_gradient(x)", one, {}),
      LEAT_OPERATOR("Arrangement", print_op, "print<\"message\">(x, data...)", one, {3, 1, 1, 0}),
      LEAT_OPERATOR("Arrangement", check_converged_op, "within solve_root, fixed_point and argmin", {matrix, {sized({})}}, {0, 1, 0}),

      LEAT_OPERATOR(networks, relu_op, "relu(x)", one, {}),
      LEAT_OPERATOR(networks, relu6_op, "relu6(x)", one, {}),
      LEAT_OPERATOR(networks, leaky_relu_op, "leaky_relu(x), leaky_relu(x, 0.1_c)", one, {rule::setting_bits(0.2)}),
      LEAT_OPERATOR(networks, elu_op, "elu(x)", one, {}),
      LEAT_OPERATOR(networks, selu_op, "selu(x)", one, {}),
      LEAT_OPERATOR(networks, softsign_op, "softsign(x)", one, {}),
      LEAT_OPERATOR(networks, softmax_op, "softmax<axis>(x)", one, {1}),
      LEAT_OPERATOR(networks, log_softmax_op, "log_softmax<axis>(x)", one, {1}),
      LEAT_OPERATOR(networks, softmax_cross_entropy_op, "softmax_cross_entropy_with_logits(labels, logits)", two, {}),
      LEAT_OPERATOR(networks, sparse_softmax_cross_entropy_op, "sparse_softmax_cross_entropy_with_logits(labels, logits)",
                    {matrix, numbers}, {}),
      LEAT_OPERATOR(networks, l2_loss_op, "l2_loss(x)", one, {}),
      LEAT_OPERATOR(networks, check_range_op, "within the sparse cross entropy", {numbers}, {3}),

      LEAT_OPERATOR("Gradients of graphs with names", add_n_op, "within gradients, where several meet", two, {}),
      LEAT_OPERATOR("Gradients of graphs with names", fill_op, "within gradients, where they start", {numbers, {sized({})}}, {2, 3}),

      LEAT_OPERATOR("Gradients of functions", sqrt_grad_op, "the gradient of sqrt(x)", two, {}),
      LEAT_OPERATOR("Gradients of functions", rsqrt_grad_op, "the gradient of rsqrt(x)", two, {}),
      LEAT_OPERATOR("Gradients of functions", reciprocal_grad_op, "the gradient of reciprocal(x)", two, {}),
      LEAT_OPERATOR("Gradients of functions", tanh_grad_op, "the gradient of tanh(x)", two, {}),
      LEAT_OPERATOR("Gradients of functions", sigmoid_grad_op, "the gradient of sigmoid(x)", two, {}),
      LEAT_OPERATOR("Gradients of functions", softplus_grad_op, "the gradient of softplus(x)", two, {}),
      LEAT_OPERATOR("Gradients of functions", relu_grad_op, "the gradient of relu(x)", two, {}),
      LEAT_OPERATOR("Gradients of functions", relu6_grad_op, "the gradient of relu6(x)", two, {}),
      LEAT_OPERATOR("Gradients of functions", leaky_relu_grad_op, "the gradient of leaky_relu(x)", two, {rule::setting_bits(0.2)}),
      LEAT_OPERATOR("Gradients of functions", elu_grad_op, "the gradient of elu(x)", two, {}),
      LEAT_OPERATOR("Gradients of functions", selu_grad_op, "the gradient of selu(x)", two, {}),
      LEAT_OPERATOR("Gradients of functions", softsign_grad_op, "the gradient of softsign(x)", two, {}),

      LEAT_OPERATOR("State", assign_op, "assign(variable, x)", two, {}),
      LEAT_OPERATOR("State", assign_add_op, "assign_add(variable, x)", two, {}),
      LEAT_OPERATOR("State", assign_sub_op, "assign_sub(variable, x)", two, {}),
      LEAT_OPERATOR("State", group_op, "group(updates...)", {}, {}),
  };
}

constexpr dtype every_dtype[]{dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8, dtype::boolean};

std::vector<tensor_info> operands_of(const operator_row& r, dtype tried) {
  std::vector<tensor_info> infos;
  for (const auto& o : r.operands) infos.push_back({o.type == dtype::invalid ? tried : o.type, o.extent});
  return infos;
}
bool accepts(const operator_row& r, dtype tried) {
  const auto infos = operands_of(r, tried);
  const auto operands = static_cast<int>(infos.size()), attributes = static_cast<int>(r.attributes.size());
  return r.op->infer({infos.data(), operands, r.attributes.data(), attributes}).problem.empty();
}

std::string dtypes_of(const operator_row& r) {
  bool tried = false;
  for (const auto& o : r.operands) tried = tried || o.type == dtype::invalid;
  if (!tried) return r.operands.empty() ? "-" : "int32, int64";
  std::string text;
  int count = 0;
  for (dtype d : every_dtype)
    if (accepts(r, d)) {
      text += (count++ > 0 ? ", " : "") + std::string(name_of_dtype(d));
    }
  return count == 6 ? "all" : text;
}

// To which of the operands that could have one a gradient comes.
std::string gradient_of(const operator_row& r) {
  if (!accepts(r, dtype::float64) || r.operands.empty() || r.op->kind == op_kind::assign) return "no";
  graph g;
  std::vector<int> inputs, wanted;
  for (const auto& info : operands_of(r, dtype::float64)) {
    inputs.push_back(g.add_leaf(info_of<placeholder_op>, info, "x", 1 + inputs.size()));
    if (is_floating(info.type)) wanted.push_back(inputs.back());
  }
  const int y = g.add(*r.op, inputs, r.attributes);
  std::size_t reached = 0;
  for (int got : passes::gradients(g, y, wanted)) reached += got >= 0 ? 1 : 0;
  if (reached == 0) return "no";
  return reached == wanted.size() ? "yes" : std::to_string(reached) + " of " + std::to_string(wanted.size());
}

// The name of a class, or of the template of which it is an instance.
std::string class_template(std::string_view name) { return std::string(name.substr(0, name.find('<'))); }

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string_view how(op_kind kind) {
  switch (kind) {
    case op_kind::element: return "fused";
    case op_kind::reduction: return "fused";
    case op_kind::assign: return "fused";
    case op_kind::view: return "view";
    case op_kind::composite: return "written in others";
    case op_kind::kernel: return "kernel";
    default: return "nothing to run";
  }
}

std::string table(const std::filesystem::path& repository, const std::vector<operator_row>& rows) {
  const std::string cpu = read(repository / "include/leat/cpu/execute.hpp");
  const std::string thrust = read(repository / "include/leat/thrust/kernel_step.hpp");
  std::string kernels;
  for (const char* header : {"converged", "diagonals", "images", "local_response", "lookups", "matrices", "mirror_pad", "print", "random", "resize",
                             "spectra", "stacked_matmul", "top_k", "whole_array"})
    kernels += read(repository / "include/leat/kernels" / (std::string(header) + ".hpp"));
  std::ostringstream out;
  out << "# Operators\n\n"
         "Generated from the operators' definitions by `tests/docs/operators.cpp`, and compared with them by the test\n"
         "`docs.operators`. To write it anew, run the program `document_operators . --write` in the repository's root.\n\n"
         "- *type*: TensorFlow's name of the operator, which messages and graphs use.\n"
         "- *dtypes*: of the operands, or of the first one where labels, indices and conditions have their own.\n"
         "- *gradient*: whether gradients reach its floating-point operands; \"1 of 2\" names how many of them.\n"
         "- *runs as*: *fused* into loops with its neighbors; a *view*, the same elements read otherwise; a *kernel* of\n"
         "  whole arrays; or *written in others* before anything runs.\n"
         "- *devices*: the CPU, and Thrust's systems (serial, OpenMP, TBB, CUDA), see [thrust.md](thrust.md).\n\n"
         "Binary operators broadcast, and take a number on either side: `x + 1`, `0.5_c * x`. A `_keep` behind the name of\n"
         "a reduction (`reduce_sum_keep<1>(x)`) keeps reduced axes as 1; without axes everything is reduced. Negative axes\n"
         "count from the end. Integers are not divided by zero: that is an error, see [errors.md](errors.md).\n";
  std::string_view family;
  for (const auto& r : rows) {
    if (r.family != family) {
      family = r.family;
      out << "\n## " << family << "\n\n| in leat | type | dtypes | gradient | runs as | devices |\n"
          << "|---|---|---|---|---|---|\n";
    }
    const std::string name(r.class_name), branch = "is_same_v<op, " + name + ">";
    const std::string whole = name == "cumsum_op" || name == "cumprod_op" ? "kernel_of<cumulative_op<"
                              : name.find('<') != name.npos               ? "kernel_of<" + class_template(name) + "<"
                                                                          : "kernel_of<" + name + ">";
    std::string devices = "CPU, Thrust";
    if (r.op->kind == op_kind::kernel && kernels.find(whole) == std::string::npos) {
      devices = cpu.find(branch) != std::string::npos ? "CPU" : "";
      if (thrust.find(branch) != std::string::npos) devices += devices.empty() ? "Thrust" : ", Thrust";
    }
    const bool has_call = r.call.find(' ') == r.call.npos || (!r.call.starts_with("the ") && !r.call.starts_with("within "));
    const std::string_view quote = has_call ? "`" : "";
    out << "| " << quote << r.call << quote << " | " << r.op->type << " | " << dtypes_of(r) << " | " << gradient_of(r)
        << " | " << how(r.op->kind) << " | " << devices << " |\n";
  }
  out << "\n## Composed\n\n"
         "Functions that are written in the operators above, and have no node of their own:\n"
         "`sigmoid_cross_entropy_with_logits(labels, logits)`, `moments<axes...>(x)` (mean and variance as a tuple),\n"
         "`segment_sum<n>(data, ids)`, `segment_mean<n>`, `segment_max<n>`, `segment_min<n>`, `segment_prod<n>`,\n"
         "`clip_by_norm(x, limit)`, `global_norm(x, ...)`, `clip_by_global_norm(limit, x, ...)` (a tuple),\n"
         "`after(x, updates...)`, `split<axis, count>(x)`, `split_sizes<axis, sizes...>(x)`, `unstack<axis>(x)` (tuples),\n"
         "`tile<counts...>(x)`, `roll<axis, shift>(x)`, `range<start, limit, delta>()`, `gather<axis>(params, indices)`,\n"
         "`cholesky_solve(l, b)`, `trace(x)`, `index<entries...>(x)` (strided slices), `bias_add(x, bias)`,\n"
         "`tensordot<axes>(a, b)`, `einsum<\"ij,jk->ik\">(a, b)`,\n"
         "and the layers `dense<\"name\", units>(x)`, `conv<\"name\", filters, size>(x)`, `dropout<\"name\">(x, rate, step)`.\n\n"
         "## Leaves\n\n"
         "`placeholder` (Placeholder), `variable` and `untrainable_variable` (VariableV2), `constant<0.5f>()` and `0.5_c`\n"
         "(Const), plain numbers, constant arrays (`constant(array)`, `constant<float, 3, 2>(values)`) and\n"
         "`parameter<\"name\">(0.1f)` (PlaceholderWithDefault). Gradients may add Size, a product of named dimensions, and\n"
         "Range, the position along an axis.\n";
  return out.str();
}

// What the headers define and the list lacks.
std::string missing(const std::filesystem::path& repository, const std::vector<operator_row>& rows) {
  std::string names;
  const std::regex definition("struct ([a-z_0-9]+_op)\\b");
  for (const auto& entry : std::filesystem::directory_iterator(repository / "include/leat/ops")) {
    const std::string text = read(entry.path());
    for (std::sregex_iterator it(text.begin(), text.end(), definition), end; it != end; ++it) {
      const std::string name = (*it)[1];
      bool known = name == "arg_reduce_op" || name == "cumulative_op" || name == "multiply_add_op";  // argmax_op, argmin_op, ...; part of products
      for (const auto& r : rows) known = known || class_template(r.class_name) == name;
      if (!known) names += " " + name;
    }
  }
  return names;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return std::fputs("document_operators REPOSITORY [--write]\n", stderr), 2;
  const std::filesystem::path repository = arguments[1];
  const auto rows = all_operators();
  if (const auto names = missing(repository, rows); !names.empty()) {
    std::printf("not in tests/docs/operators.cpp:%s\n", names.c_str());
    return 1;
  }
  const auto path = repository / "docs/operators.md";
  const std::string text = table(repository, rows);
  if (count > 2 && std::string_view(arguments[2]) == "--write") {
    std::ofstream(path) << text;
    return 0;
  }
  if (read(path) == text) return 0;
  std::istringstream expected(text), found(read(path));
  std::string a, b;
  do {
    a = b = "(end)";
    std::getline(expected, a);
    std::getline(found, b);
  } while (a == b);
  std::printf("docs/operators.md is not what the operators say; its first such line\n  %s\nshould be\n  %s\n", b.c_str(),
              a.c_str());
  return 1;
}
