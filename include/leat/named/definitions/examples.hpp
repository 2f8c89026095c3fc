#pragma once
// Definitions of operators that read tf.Example messages, and messages of tensors, which others write; their kernels are in a higher layer
// (data/kernels_examples.hpp, data/kernels_tensors.hpp).

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>
#include <leat/named/graph/literal.hpp>

namespace leat::detail {

/// Results of sparse features first, `sparse` of them, then dense ones in the shapes of the attribute `dense_shapes`, then `ragged` ones. A
/// batch is a vector of `examples` messages, or one message (-2).
inline void example_shapes(shape_context& c, std::int64_t sparse, std::int64_t ragged, std::int64_t examples) {
  const auto* given = c.attribute("dense_shapes");
  const auto* shapes = given != nullptr ? given->get_list<tensor_shape_proto>() : nullptr;
  const std::int64_t dense = shapes != nullptr ? static_cast<std::int64_t>(shapes->size()) : 0;
  const bool is_single = examples == -2;
  if (sparse < 0 || sparse > c.result_count() || 3 * sparse + dense + 2 * ragged != c.result_count())
    c.fail("the attributes tell of " + std::to_string(3 * sparse + dense + 2 * ragged) + " results, the node has " +
           std::to_string(c.result_count()));
  shape pairs = shapes::vector_of(-1);
  pairs.push(is_single ? 1 : 2);
  for (std::int64_t k = 0; k < sparse; ++k) {
    c.set(static_cast<int>(k), pairs);
    c.set(static_cast<int>(sparse + k), shapes::vector_of(-1));
    c.set(static_cast<int>(2 * sparse + k), shapes::vector_of(is_single ? 1 : 2));
  }
  for (std::int64_t k = 0; k < dense; ++k) {
    const shape each = to_shape((*shapes)[static_cast<std::size_t>(k)]);
    if (!each.has_rank()) c.fail("dense_shapes[" + std::to_string(k) + "] has unknown rank or unknown inner dimensions");
    shape result = is_single ? shape{} : shapes::vector_of(examples);
    for (int axis = 0; axis < each.rank; ++axis) {
      if (axis > 0 && each[axis] < 0) c.fail("dense_shapes[" + std::to_string(k) + "] has unknown rank or unknown inner dimensions");
      result.push(each[axis]);
    }
    c.set(static_cast<int>(3 * sparse + k), result);
  }
  for (std::int64_t k = 3 * sparse + dense; k < c.result_count(); ++k) c.set(static_cast<int>(k), shapes::vector_of(-1));
}
inline std::int64_t example_count(const shape_context& c) {
  return c.input(0).extent.has_rank() ? c.input(0).extent[0] : unknown_dimension;
}

LEAT_FILL(fill_example_definitions) {
  constexpr facts pure{.is = nature::pure, .stops_gradient = true};
  constexpr facts moves{.is = nature::pure, .narrow = narrow_rule::any, .stops_gradient = true};
  define_operator("SerializeTensor(tensor: T) -> (serialized: string)", moves, shapes::numbers);
  define_operator("ParseTensor(serialized: string) -> (output: out_type); out_type: type", moves,
                  [](shape_context& c) { shapes::want_rank(c, 0, 0); });
  for (const bool many : {false, true}) {
    const std::string kind = many ? "SerializeManySparse" : "SerializeSparse";
    define_operator(
        kind + "(sparse_indices: int64, sparse_values: T, sparse_shape: int64) -> (serialized_sparse: out_type); out_type: type = string",
        moves, [many](shape_context& c) {
          shapes::want_rank(c, 0, 2);
          shapes::want_rank(c, 1, 1);
          shapes::want_rank(c, 2, 1);
          shape result;
          if (many) result.push(unknown_dimension);
          result.push(3);
          c.set(0, result);
        });
  }
  const auto read = [](shape_context& c) {
    const shape& s = c.input(0).extent;
    if (s.has_rank() && s.rank > 0 && !may_equal(s[s.rank - 1], 3)) c.fail("Dimension must be 3 but is " + std::to_string(s[s.rank - 1]));
    shape indices = shapes::vector_of(-1);
    indices.push(unknown_dimension);
    c.set(0, indices);
    c.set(1, shapes::vector_of(-1));
    c.set(2, shapes::vector_of(-1));
  };
  const std::string parts = " -> (sparse_indices: int64, sparse_values: dtype, sparse_shape: int64); dtype: type";
  define_operator("DeserializeSparse(serialized_sparse: Tserialized)" + parts + "; Tserialized: type = string", moves, read);
  define_operator("DeserializeManySparse(serialized_sparse: string)" + parts, moves, read);
  define_operator(
      "ParseExample(serialized: string, names: string, sparse_keys: Nsparse*string, dense_keys: Ndense*string, dense_defaults: "
      "list(Tdense)) -> (sparse_indices: Nsparse*int64, sparse_values: list(sparse_types), sparse_shapes: Nsparse*int64, dense_values: "
      "list(Tdense)); Nsparse: int >= 0; Ndense: int >= 0; sparse_types: list(type); Tdense: list(type); dense_shapes: list(shape)",
      pure, [](shape_context& c) {
        shapes::want_rank(c, 0, 1);
        example_shapes(c, c.integer("Nsparse"), 0, example_count(c));
      });
  define_operator(
      "ParseExampleV2(serialized: string, names: string, sparse_keys: string, dense_keys: string, ragged_keys: string, dense_defaults: "
      "list(Tdense)) -> (sparse_indices: num_sparse*int64, sparse_values: list(sparse_types), sparse_shapes: num_sparse*int64, "
      "dense_values: list(Tdense), ragged_values: list(ragged_value_types), ragged_row_splits: list(ragged_split_types)); Tdense: "
      "list(type); num_sparse: int >= 0; sparse_types: list(type); ragged_value_types: list(type); ragged_split_types: list(type); "
      "dense_shapes: list(shape)",
      pure, [](shape_context& c) {
        const shape& batch = c.input(0).extent;
        const auto* types = c.attribute("ragged_value_types");
        const auto* ragged = types != nullptr ? types->get_list<data_type>() : nullptr;
        if (!batch.has_rank()) return;
        if (batch.rank > 1) c.fail("Shape must be at most rank 1 but is rank " + std::to_string(batch.rank));
        example_shapes(c, c.integer("num_sparse"), ragged != nullptr ? static_cast<std::int64_t>(ragged->size()) : 0,
                       batch.rank == 0 ? -2 : example_count(c));
      });
  define_operator(
      "ParseSingleExample(serialized: string, dense_defaults: list(Tdense)) -> (sparse_indices: num_sparse*int64, sparse_values: "
      "list(sparse_types), sparse_shapes: num_sparse*int64, dense_values: list(Tdense)); num_sparse: int >= 0; sparse_keys: list(string); "
      "dense_keys: list(string); sparse_types: list(type); Tdense: list(type); dense_shapes: list(shape)",
      pure, [](shape_context& c) {
        shapes::want_rank(c, 0, 0);
        example_shapes(c, c.integer("num_sparse"), 0, -2);
      });
}

}  // namespace leat::detail
