#pragma once
// What becomes in graphs with names of typed expressions' nodes that hold several results: TensorFlow's node of several results, and these
// in the layout of the typed node, of which its users take their parts.

#include <leat/named/functions/array.hpp>
#include <leat/named/functions/shape.hpp>
#include <leat/named/functions/slice.hpp>
#include <leat/named/graph/call.hpp>
#include <leat/ops/spectra.hpp>

#include <vector>

namespace leat::detail {

/// Matrices [..., m, n] as lines [..., m n].
inline output as_lines(const output& x, const output& stack_sizes, std::int64_t elements) {
  const output length = x.owner().named().make_constant(x.owner(), tensor_literal({static_cast<std::int32_t>(elements)}), "length");
  return reshape(x, concat({stack_sizes, length}, 0));
}

/// The results of `op` on x, or an empty output for any other operator. `numbers` are the node's, `result` its shape.
inline output packed_results(const op_info& op, const output& x, std::span<const std::int64_t> numbers, const shape& result) {
  graph& g = x.owner();
  const auto stacked = [&](const std::vector<output>& parts, int axis) { return stack(parts, axis); };
  if (is_operator<log_determinant_op>(op)) {
    const graph_operation both = call_operator(g, "LogMatrixDeterminant", {x}, {});
    return stacked({both.result(0), both.result(1)}, result.rank - 1);
  }
  if (is_operator<symmetric_eigen_op>(op)) {
    const bool has_vectors = numbers[0] != 0;
    const graph_operation both = call_operator(g, "SelfAdjointEigV2", {x}, {{"compute_v", has_vectors}});
    const output none = zeros_like(x);
    const output rows = none + expand_dims(both.result(0), -2);
    return stacked({has_vectors ? both.result(1) : none, none, rows}, result.rank - 3);
  }
  std::vector<output> lines;
  std::int64_t elements = 0;
  const auto add = [&](const output& part, const output& sizes, std::int64_t count) {
    lines.push_back(as_lines(part, sizes, count));
    elements += count;
  };
  const auto stack_sizes = [&] { return index(shape_of(x), {along::until(-2)}); };
  if (is_operator<qr_op>(op)) {
    const qr_sizes of = qr_op::sizes(x.extent(), numbers[0] != 0);
    const graph_operation both = call_operator(g, "Qr", {x}, {{"full_matrices", of.is_full}});
    const output sizes = stack_sizes();
    add(both.result(0), sizes, of.m * of.between());
    add(both.result(1), sizes, of.between() * of.n);
  } else if (is_operator<svd_op>(op)) {
    const svd_sizes of = svd_op::sizes(x.extent(), numbers[0] != 0, numbers[1] != 0);
    const graph_operation all = call_operator(g, "Svd", {x}, {{"compute_uv", of.has_vectors}, {"full_matrices", of.is_full}});
    const output sizes = stack_sizes();
    add(all.result(0), sizes, of.least());
    if (of.has_vectors) {
      add(all.result(1), sizes, of.m * of.columns_of_u());
      add(all.result(2), sizes, of.n * of.columns_of_v());
    }
  } else {
    return {};
  }
  const output joined = lines.size() == 1 ? lines[0] : concat(lines, -1);
  // The typed node also holds the memory of its decomposition.
  std::vector<std::int64_t> numbers_of_pad(static_cast<std::size_t>(2 * result.rank), 0);
  numbers_of_pad.back() = result[result.rank - 1] - elements;
  return make_node<pad_op>(numbers_of_pad, joined);
}

}  // namespace leat::detail
