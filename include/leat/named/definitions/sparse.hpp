#pragma once
// Definitions of operators on sparse tensors and sets, and of distances and labels of sequences, which are sparse tensors.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>

namespace leat::detail {

LEAT_FILL(fill_sparse_definitions) {
  constexpr facts pure{.is = nature::pure};
  constexpr facts stops{.is = nature::pure, .stops_gradient = true};
  define_operator(
      "SparseTensorDenseMatMul(a_indices: Tindices, a_values: T, a_shape: int64, b: T) -> (product: T); Tindices: {int32, int64} = int64; "
      "adjoint_a: bool = false; adjoint_b: bool = false",
      {.is = nature::pure, .work = work_kind::product, .values = {2, 1}}, [](shape_context& c) {
        shapes::want_rank(c, 0, 2);
        shapes::want_rank(c, 1, 1);
        shapes::want_rank(c, 2, 1);
        shapes::want_rank(c, 3, 2);
        const shape a = shapes::from_numbers(c, 2);
        const shape& b = c.input(3).extent;
        if (a.has_rank() && a.rank != 2) c.fail("Tensor 'a_shape' must have 2 elements");
        const bool ta = c.flag("adjoint_a"), tb = c.flag("adjoint_b");
        if (a.has_rank() && b.has_rank() && !may_equal(a[ta ? 0 : 1], b[tb ? 1 : 0]))
          c.fail("Cannot multiply A and B because inner dimension does not match: " + std::to_string(a[ta ? 0 : 1]) + " vs. " +
                 std::to_string(b[tb ? 1 : 0]));
        shape result = shapes::vector_of(a.has_rank() ? a[ta ? 1 : 0] : unknown_dimension);
        result.push(b.has_rank() ? b[tb ? 0 : 1] : unknown_dimension);
        c.set(0, result);
      });
  define_operator("SparseReorder(input_indices: int64, input_values: T, input_shape: int64) -> (output_indices: int64, output_values: T)",
                  pure, shapes::each);
  const auto open = [](shape_context& c) {
    shape pairs = shapes::vector_of(-1);
    const shape& one = c.input(0).extent;
    pairs.push(one.has_rank() && one.rank == 2 ? one[1] : unknown_dimension);
    c.set(0, pairs);
    c.set(1, shapes::vector_of(-1));
    c.set(2, shapes::vector_of(pairs[1]));
  };
  const std::string sparse = " -> (output_indices: int64, output_values: T, output_shape: int64)";
  define_operator(
      "SparseSplit(split_dim: int64, indices: int64, values: T, shape: int64) -> (output_indices: num_split*int64, output_values: "
      "num_split*T, output_shape: num_split*int64); num_split: int >= 1",
      {.is = nature::pure, .narrow = narrow_rule::moves}, [](shape_context& c) {
        shapes::want_rank(c, 0, 0);
        const int parts = c.result_count() / 3;
        shape pairs = shapes::vector_of(-1);
        const shape& given = c.input(1).extent;
        pairs.push(given.has_rank() && given.rank == 2 ? given[1] : unknown_dimension);
        for (int k = 0; k < parts; ++k) {
          c.set(k, pairs);
          c.set(parts + k, shapes::vector_of(-1));
          c.set(2 * parts + k, shapes::vector_of(pairs[1]));
        }
      });
  define_operator("SparseConcat(indices: N*int64, values: N*T, shapes: N*int64)" + sparse + "; concat_dim: int; N: int >= 2", stops, open);
  define_operator("SparseSlice(indices: int64, values: T, shape: int64, start: int64, size: int64)" + sparse, pure, open);

  const std::string sets =
      " -> (result_indices: int64, result_values: T, result_shape: int64); set_operation: string; validate_indices: bool = true";
  const auto combined = [](shape_context& c) {
    int rank = unknown_dimension;
    for (int k = 0; k < c.input_count(); ++k) {  // a tensor of sets, or the indices of one
      const shape& s = c.input(k).extent;
      const bool is_sparse = c.input_count() > 2 && (k > 0 || c.input_count() == 6);
      if (is_sparse) shapes::want_rank(c, k, 2);
      else if (s.has_rank() && s.rank < 2) c.fail("Input rank must be at least 2 but is " + std::to_string(s.rank));
      if (s.has_rank()) rank = is_sparse ? static_cast<int>(std::min<std::int64_t>(s[1], max_rank)) : s.rank;
      if (is_sparse) k += 2;
    }
    shape pairs = shapes::vector_of(-1);
    pairs.push(rank);
    c.set(0, pairs);
    c.set(1, shapes::vector_of(-1));
    c.set(2, shapes::vector_of(rank));
  };
  const std::string first = "set1_indices: int64, set1_values: T, set1_shape: int64, ";
  const std::string second = "set2_indices: int64, set2_values: T, set2_shape: int64";
  define_operator("DenseToDenseSetOperation(set1: T, set2: T)" + sets, stops, combined);
  define_operator("DenseToSparseSetOperation(set1: T, " + second + ")" + sets, stops, combined);
  define_operator("SparseToSparseSetOperation(" + first + second + ")" + sets, stops, combined);

  define_operator(
      "EditDistance(hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64, truth_indices: int64, truth_values: T, "
      "truth_shape: int64) -> (output: float32); normalize: bool = true",
      stops, [](shape_context& c) {
        for (const int k : {0, 3}) {
          shapes::want_rank(c, k, 2);
          shapes::want_rank(c, k + 1, 1);
          shapes::want_rank(c, k + 2, 1);
        }
        const auto guess = c.numbers(2), truth = c.numbers(5);
        if (!guess || !truth || guess->size() != truth->size() || guess->size() < 2 || guess->size() > max_rank) return;
        shape result;
        for (std::size_t d = 0; d + 1 < guess->size(); ++d)
          result.push((*guess)[d] < 0 || (*truth)[d] < 0 ? unknown_dimension : std::max((*guess)[d], (*truth)[d]));
        c.set(0, result);
      });
  // One or several decodings: indices, values and shape of each, as sparse tensors; then a logarithm for each.
  const auto decoded = [](shape_context& c) {
    shapes::want_rank(c, 0, 3);
    shapes::want_rank(c, 1, 1);
    shape pairs = shapes::vector_of(-1);
    pairs.push(2);
    const int paths = (c.result_count() - 1) / 3;
    for (int p = 0; p < paths; ++p) {
      c.set(p, pairs);
      c.set(paths + p, shapes::vector_of(-1));
      c.set(2 * paths + p, shapes::vector_of(2));
    }
    shape sums = shapes::vector_of(c.input(0).extent.has_rank() ? c.input(0).extent[1] : unknown_dimension);
    sums.push(paths);
    c.set(3 * paths, sums);
  };
  define_operator(
      "CTCGreedyDecoder(inputs: T, sequence_length: int32) -> (decoded_indices: int64, decoded_values: int64, decoded_shape: int64, "
      "log_probability: T); merge_repeated: bool = false; blank_index: int = -1; T: {float32, float64} = float32",
      stops, decoded);
  define_operator(
      "CTCBeamSearchDecoder(inputs: T, sequence_length: int32) -> (decoded_indices: top_paths*int64, decoded_values: top_paths*int64, "
      "decoded_shape: top_paths*int64, log_probability: T); beam_width: int >= 1; top_paths: int >= 1; merge_repeated: bool = true; T: "
      "{float32, float64} = float32",
      stops, decoded);
}

}  // namespace leat::detail
