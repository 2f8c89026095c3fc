#pragma once
// Definitions of operators on ragged tensors, which are values with the places where their rows begin and end; of counts, dense and sparse;
// and of crossed features. Source: TensorFlow's operators of the same names.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>
#include <leat/named/definitions/sparse_rows.hpp>

#include <optional>

namespace leat::detail {

/// How one axis of a ragged tensor is divided: `splits` are the places where its rows begin, and the last one's end; `row_ids` are the rows
/// of the values; `first_size` is the number of rows, before `row_ids`.
enum class row_partition { first_size, row_ids, splits };

/// The partitions that an attribute names. Nothing if one has another name.
inline std::optional<std::vector<row_partition>> row_partitions_of(const attribute_value* names) {
  const auto* list = names != nullptr ? names->get_list<std::string>() : nullptr;
  std::vector<row_partition> made;
  for (std::size_t k = 0; list != nullptr && k < list->size(); ++k) {
    const std::string& name = (*list)[k];
    if (name == "FIRST_DIM_SIZE") made.push_back(row_partition::first_size);
    else if (name == "VALUE_ROWIDS") made.push_back(row_partition::row_ids);
    else if (name == "ROW_SPLITS") made.push_back(row_partition::splits);
    else return std::nullopt;
  }
  return made;
}
/// What is wrong with these partitions, or an empty string.
inline std::string problem_of(const std::vector<row_partition>& partitions, std::int64_t arrays) {
  if (partitions.empty()) return "Partition info types should not be empty";
  for (std::size_t k = 1; k < partitions.size(); ++k)
    if (partitions[k] == row_partition::first_size) return "FIRST_DIM_SIZE must be first";
  if (partitions[0] == row_partition::first_size && (partitions.size() < 2 || partitions[1] != row_partition::row_ids))
    return "FIRST_DIM_SIZE must be followed by VALUE_ROWIDS";
  if (partitions[0] == row_partition::row_ids) return "VALUE_ROWIDS cannot be first";
  if (static_cast<std::int64_t>(partitions.size()) != arrays)
    return "Number of row partition tensors (" + std::to_string(arrays) + ") does not equal the number of row partition types(" +
           std::to_string(partitions.size()) + ").";
  return {};
}
/// How many axes they divide.
inline int ragged_rank_of(const std::vector<row_partition>& partitions) {
  return static_cast<int>(partitions.size()) - (!partitions.empty() && partitions[0] == row_partition::first_size ? 1 : 0);
}
/// The shape of a dense array: the sizes asked for, and those of the values where none is asked for. The ragged rank is at least 1.
/// Nothing if they contradict each other.
inline std::optional<shape> dense_shape_of_ragged(int ragged_rank, const shape& asked, const shape& values) {
  if (!values.has_rank() && !asked.has_rank()) return shape::unknown();
  shape made = asked;
  if (!asked.has_rank()) {
    if (ragged_rank + values.rank > max_rank) return std::nullopt;
    made = shape{};
    for (int k = 0; k < ragged_rank + values.rank; ++k) made.push(unknown_dimension);
  }
  if (!values.has_rank()) return made;
  if (made.rank != ragged_rank + values.rank) return std::nullopt;
  for (int k = 1; k < values.rank; ++k) {
    std::int64_t& size = made.dim[ragged_rank + k];
    if (values[k] >= 0 && size >= 0 && size != values[k]) return std::nullopt;
    if (size < 0) size = values[k];
  }
  return made;
}

inline void dense_ragged_shape(shape_context& c) {
  const auto partitions = row_partitions_of(c.attribute("row_partition_types"));
  if (!partitions) c.fail("Unknown string for partition info type.");
  const std::int64_t arrays = c.input_count() - 3;
  if (const std::string problem = problem_of(*partitions, arrays); !problem.empty()) c.fail(problem);
  for (std::size_t k = 0; k < partitions->size(); ++k) {
    const shape& s = c.input(3 + static_cast<int>(k)).extent;
    const bool is_size = (*partitions)[k] == row_partition::first_size;
    if (s.has_rank() && s.rank != (is_size ? 0 : 1))
      c.fail(is_size ? "FIRST_DIM_SIZE must be a scalar." : "Row partition must be a vector.");
  }
  const shape& values = c.input(1).extent;
  const shape& otherwise = c.input(2).extent;
  if (values.has_rank() && values.rank < 1) c.fail("Shape must be at least rank 1 but is rank 0");
  if (values.has_rank() && otherwise.has_rank() && otherwise.rank >= values.rank)
    c.fail("default_value.shape=" + leat::shape_text(otherwise) + " and rt_input.flat_values.shape=" + leat::shape_text(values) +
           " are incompatible: default_value.rank = " + std::to_string(otherwise.rank) +
           "  must be less than rt_input.flat_values.rank = " + std::to_string(values.rank));
  const bool is_open = c.input(0).extent.has_rank() && c.input(0).extent.rank == 0;  // a scalar asks for no shape
  const shape asked = is_open ? shape::unknown() : shapes::from_numbers(c, 0);
  const auto made = dense_shape_of_ragged(ragged_rank_of(*partitions), asked, values);
  if (!made)
    c.fail("rt_input.shape and shape=" + leat::shape_text(asked) + " are incompatible: rt_input.rank = " +
           std::to_string(ragged_rank_of(*partitions) + values.rank) + " but shape.rank = " + std::to_string(asked.rank));
  c.set(0, *made);
}

/// A sparse tensor of unknown size with this many columns of indices; -1 if their number is not known.
inline void set_sparse(shape_context& c, std::int64_t columns) {
  c.set(0, indices_of(-1, columns));
  c.set(1, shapes::vector_of(-1));
  c.set(2, shapes::vector_of(columns));
}
inline std::int64_t rank_or_unknown(const shape& s) { return s.has_rank() ? s.rank : unknown_dimension; }

LEAT_FILL(fill_ragged_definitions) {
  constexpr facts pure{.is = nature::pure};
  constexpr facts stops{.is = nature::pure, .stops_gradient = true};
  constexpr facts moves{.is = nature::pure, .narrow = narrow_rule::moves};
  define_operator(
      "RaggedRange(starts: T, limits: T, deltas: T) -> (rt_nested_splits: Tsplits, rt_dense_values: T); T: {bfloat16, float32, float64, "
      "int32, int64} = int32; Tsplits: {int32, int64} = int64",
      stops, [](shape_context& c) {
        std::int64_t rows = unknown_dimension;
        for (int k = 0; k < 3; ++k) {
          const shape& s = c.input(k).extent;
          if (!s.has_rank()) continue;
          if (s.rank > 1) c.fail("Shape must be at most rank 1 but is rank " + std::to_string(s.rank));
          if (s.rank == 0 || s[0] < 0) continue;
          if (rows >= 0 && rows != s[0])
            c.fail("Dimensions must be equal, but are " + std::to_string(rows) + " and " + std::to_string(s[0]));
          rows = s[0];
        }
        bool all_scalars = true;
        for (int k = 0; k < 3; ++k) all_scalars = all_scalars && c.input(k).extent.rank == 0;
        c.set(0, shapes::vector_of(all_scalars ? 2 : rows < 0 ? -1 : rows + 1));
        c.set(1, shapes::vector_of(-1));
      });
  define_operator(
      "RaggedGather(params_nested_splits: PARAMS_RAGGED_RANK*Tsplits, params_dense_values: Tvalues, indices: Tindices) -> "
      "(output_nested_splits: OUTPUT_RAGGED_RANK*Tsplits, output_dense_values: Tvalues); Tindices: {int32, int64}; Tsplits: {int32, int64} = "
      "int64; OUTPUT_RAGGED_RANK: int >= 0",
      moves, [](shape_context& c) {
        const int levels = c.input_count() - 2, given = c.result_count() - 1;
        for (int k = 0; k < levels; ++k) shapes::want_rank(c, k, 1);
        const shape &values = c.input(levels).extent, &places = c.input(levels + 1).extent;
        if (values.has_rank() && values.rank < 1) c.fail("Shape must be at least rank 1 but is rank 0");
        if (places.has_rank() && places.rank + levels - 1 != given)
          c.fail("OUTPUT_RAGGED_RANK must be " + std::to_string(places.rank + levels - 1) + ", not " + std::to_string(given));
        for (int k = 0; k < given; ++k) c.set(k, shapes::vector_of(-1));
        shape made = values;
        if (made.has_rank()) made.dim[0] = unknown_dimension;
        c.set(given, made);
      });
  define_operator(
      "RaggedTensorToTensor(shape: Tshape, values: T, default_value: T, row_partition_tensors: num_row_partition_tensors*Tindex) -> "
      "(result: T); Tindex: {int64, int32}; Tshape: {int64, int32}; row_partition_types: list(string)",
      {.is = nature::pure, .narrow = narrow_rule::moves, .values = {0, 1}}, dense_ragged_shape);
  define_operator(
      "RaggedTensorToSparse(rt_nested_splits: RAGGED_RANK*Tsplits, rt_dense_values: T) -> (sparse_indices: int64, sparse_values: T, "
      "sparse_dense_shape: int64); Tsplits: {int32, int64} = int64",
      moves, [](shape_context& c) {
        const int levels = c.input_count() - 1;
        for (int k = 0; k < levels; ++k) shapes::want_rank(c, k, 1);
        const shape& values = c.input(levels).extent;
        if (values.has_rank() && values.rank < 1) c.fail("Shape must be at least rank 1 but is rank 0");
        const std::int64_t rank = values.has_rank() ? values.rank + levels : unknown_dimension;
        const std::int64_t count = values.is_static() && values.is_countable() ? values.elements() : unknown_dimension;
        c.set(0, indices_of(count, rank));
        c.set(1, shapes::vector_of(count));
        c.set(2, shapes::vector_of(rank));
      });
  define_operator(
      "RaggedFillEmptyRows(value_rowids: int64, values: T, nrows: int64, default_value: T) -> (output_value_rowids: int64, output_values: T, "
      "empty_row_indicator: bool, reverse_index_map: int64)",
      moves, [](shape_context& c) {
        shapes::want_rank(c, 0, 1);
        shapes::want_rank(c, 1, 1);
        shapes::want_rank(c, 2, 0);
        shapes::want_rank(c, 3, 0);
        c.set(0, shapes::vector_of(-1));
        c.set(1, shapes::vector_of(-1));
        c.set(2, shapes::vector_of(shapes::number(c, 2).value_or(-1)));
        c.set(3, shapes::vector_of(dimension_of(c, 0, 0)));
      });
  define_operator("RaggedFillEmptyRowsGrad(reverse_index_map: int64, grad_values: T) -> (d_values: T, d_default_value: T)", pure,
                  [](shape_context& c) {
                    shapes::want_rank(c, 0, 1);
                    shapes::want_rank(c, 1, 1);
                    c.set(0, shapes::vector_of(dimension_of(c, 0, 0)));
                    c.set(1, shapes::scalar);
                  });

  // How often each number occurs, or the sum of its weights.
  const std::string kinds = "Tidx: {int32, int64}; T: {int32, int64, float32, float64}; binary_output: bool = false";
  define_operator("RaggedBincount(splits: int64, values: Tidx, size: Tidx, weights: T) -> (output: T); " + kinds,
                  {.is = nature::pure, .values = {2, 1}}, [](shape_context& c) {
                    shapes::want_rank(c, 0, 1);
                    shapes::want_rank(c, 2, 0);
                    const std::int64_t splits = dimension_of(c, 0, 0);
                    shape made = shapes::vector_of(splits < 1 ? -1 : splits - 1);
                    made.push(std::max(shapes::number(c, 2).value_or(unknown_dimension), unknown_dimension));
                    c.set(0, made);
                  });
  define_operator("SparseBincount(indices: int64, values: Tidx, dense_shape: int64, size: Tidx, weights: T) -> (output: T); " + kinds,
                  {.is = nature::pure, .values = {3, 1}}, [](shape_context& c) {
                    shapes::want_rank(c, 3, 0);
                    const std::int64_t rank = dimension_of(c, 2, 0), size = shapes::number(c, 3).value_or(unknown_dimension);
                    if (rank != 1 && rank != 2) return;
                    const auto sizes = c.numbers(2);
                    shape made;
                    if (rank == 2) made.push(sizes && sizes->size() == 2 ? std::max((*sizes)[0], unknown_dimension) : unknown_dimension);
                    made.push(std::max(size, unknown_dimension));
                    c.set(0, made);
                  });
  const std::string lengths =
      "minlength: int >= -1 = -1; maxlength: int >= -1 = -1; binary_output: bool; T: {int32, int64}; output_type: {int32, int64, float32, "
      "float64}";
  const std::string counted = ", weights: output_type) -> (output_indices: int64, output_values: output_type, output_dense_shape: int64); ";
  define_operator("DenseCountSparseOutput(values: T" + counted + lengths, pure,
                  [](shape_context& c) { set_sparse(c, rank_or_unknown(c.input(0).extent)); });
  define_operator("SparseCountSparseOutput(indices: int64, values: T, dense_shape: int64" + counted + lengths, pure,
                  [](shape_context& c) { set_sparse(c, dimension_of(c, 2, 0)); });
  define_operator("RaggedCountSparseOutput(splits: int64, values: T" + counted + lengths, pure, [](shape_context& c) { set_sparse(c, 2); });

  // Each combination of one feature of each of several columns, as a string or its hash.
  const std::string columns = "(indices: N*int64, values: list(sparse_types), shapes: N*int64, dense_inputs: list(dense_types)";
  const std::string lists = "N: int >= 0; sparse_types: list(type); dense_types: list(type)";
  const auto crossed = [](shape_context& c) { set_sparse(c, 2); };
  define_operator(
      "SparseCross" + columns +
          ") -> (output_indices: int64, output_values: out_type, output_shape: int64); hashed_output: bool; num_buckets: int >= 0; "
          "hash_key: int; out_type: {int64, string}; internal_type: {int64, string}; " +
          lists,
      stops, crossed);
  define_operator(
      "SparseCrossHashed" + columns +
          ", num_buckets: int64, strong_hash: bool, salt: int64) -> (output_indices: int64, output_values: int64, output_shape: "
          "int64); " +
          lists,
      stops, crossed);
  define_operator(
      "SparseCrossV2" + columns + ", sep: string) -> (output_indices: int64, output_values: string, output_shape: int64); " + lists, stops,
      crossed);
  define_operator(
      "RaggedCross(ragged_values: list(ragged_values_types), ragged_row_splits: list(ragged_splits_types), sparse_indices: Nsparse*int64, "
      "sparse_values: list(sparse_values_types), sparse_shape: Nsparse*int64, dense_inputs: list(dense_types)) -> (output_values: "
      "out_values_type, output_row_splits: out_row_splits_type); Nsparse: int >= 0; input_order: string; hashed_output: bool; num_buckets: "
      "int >= 0; hash_key: int; ragged_values_types: list(type); ragged_splits_types: list(type); sparse_values_types: list(type); "
      "dense_types: list(type); out_values_type: {int64, string}; out_row_splits_type: {int32, int64}",
      stops, [](shape_context& c) { c.set_all(shapes::vector_of(-1)); });
}

}  // namespace leat::detail
