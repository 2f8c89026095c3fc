#pragma once
// Definitions of operators that read tf.SequenceExample messages: features of the whole message, its context, and lists of features, with
// one feature for each step. DecodeJSONExample makes messages from JSON. The kernels are in a higher layer (data/kernels_sequences.hpp).
// Source: TensorFlow `ParseSequenceExample`, `ParseSequenceExampleV2`, `ParseSingleSequenceExample`, `DecodeJSONExample`.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>
#include <leat/named/graph/literal.hpp>

namespace leat::detail {

/// Sets the shapes of the results of such an operator, in the order of the results.
class sequence_shapes {
 public:
  explicit sequence_shapes(shape_context& c) : c_(c) {}

  /// Indices of `columns` columns, values and shapes of sparse features, whose dtypes are an attribute.
  void sparse(std::string_view types, std::int64_t columns) {
    const std::size_t count = length(types);
    shape indices = shapes::vector_of(-1);
    indices.push(columns);
    for (std::size_t k = 0; k < count; ++k) set(indices);
    for (std::size_t k = 0; k < count; ++k) set(shapes::vector_of(-1));
    for (std::size_t k = 0; k < count; ++k) set(shapes::vector_of(columns));
  }
  /// Dense features with the shapes of an attribute, behind the dimensions of `before`.
  void dense(std::string_view shapes_of_features, const shape& before) {
    const auto* a = c_.attribute(shapes_of_features);
    const auto* list = a != nullptr ? a->get_list<tensor_shape_proto>() : nullptr;
    for (std::size_t k = 0; list != nullptr && k < list->size(); ++k) {
      const shape each = to_shape((*list)[k]);
      shape result = each.has_rank() ? before : shape::unknown();
      for (int axis = 0; axis < each.rank; ++axis) result.push(each[axis]);
      set(result);
    }
  }
  /// One result of this shape for each dtype of an attribute.
  void each(std::string_view types, const shape& extent) {
    for (std::size_t k = length(types); k > 0; --k) set(extent);
  }
  /// Errors: invalid_argument if the attributes do not fit the number of results.
  void end() const {
    if (at_ != c_.result_count())
      c_.fail("the attributes describe " + std::to_string(at_) + " results, the node has " + std::to_string(c_.result_count()));
  }

 private:
  std::size_t length(std::string_view types) const {
    const auto* a = c_.attribute(types);
    const auto* list = a != nullptr ? a->get_list<data_type>() : nullptr;
    return list != nullptr ? list->size() : 0;
  }
  void set(const shape& extent) {
    if (at_ < c_.result_count()) c_.set(at_, extent);
    ++at_;
  }
  shape_context& c_;
  int at_ = 0;
};

/// The results for one message, `batch` being null, or for a vector of messages.
inline void sequence_results(shape_context& c, const std::int64_t* batch, bool has_ragged, bool has_lengths) {
  sequence_shapes s(c);
  const shape list = shapes::vector_of(-1);
  shape context, steps, splits = list;
  if (batch != nullptr) {
    context.push(*batch);
    steps.push(*batch);
    splits = shapes::vector_of(*batch < 0 ? -1 : *batch + 1);
  }
  steps.push(unknown_dimension);
  s.sparse("context_sparse_types", context.rank + 1);
  s.dense("context_dense_shapes", context);
  if (has_ragged) {
    s.each("context_ragged_value_types", list);
    s.each("context_ragged_split_types", splits);
  }
  s.sparse("feature_list_sparse_types", context.rank + 2);
  s.dense("feature_list_dense_shapes", steps);
  if (has_lengths) s.each("feature_list_dense_types", context);
  if (has_ragged) {
    s.each("feature_list_ragged_value_types", list);
    s.each("feature_list_ragged_split_types", splits);
    s.each("feature_list_ragged_split_types", list);
  }
  s.end();
}

LEAT_FILL(fill_sequence_example_definitions) {
  constexpr facts pure{.is = nature::pure, .stops_gradient = true};
  const std::string results =
      "context_sparse_indices: Ncontext_sparse*int64, context_sparse_values: list(context_sparse_types), context_sparse_shapes: "
      "Ncontext_sparse*int64, context_dense_values: list(Tcontext_dense), ";
  const std::string list_results =
      "feature_list_sparse_indices: Nfeature_list_sparse*int64, feature_list_sparse_values: list(feature_list_sparse_types), "
      "feature_list_sparse_shapes: Nfeature_list_sparse*int64, feature_list_dense_values: list(feature_list_dense_types)";
  const std::string lengths = ", feature_list_dense_lengths: Nfeature_list_dense*int64";
  const std::string counts = "; Ncontext_sparse: int >= 0 = 0; Nfeature_list_sparse: int >= 0 = 0; Nfeature_list_dense: int >= 0 = 0; ";
  const std::string types =
      "context_sparse_types: list(type) = []; Tcontext_dense: list(type) = []; context_dense_shapes: list(shape) = []; "
      "feature_list_sparse_types: list(type) = []; feature_list_dense_types: list(type) = []; feature_list_dense_shapes: list(shape) = []";
  define_operator("ParseSequenceExample(serialized: string, debug_name: string, context_dense_defaults: list(Tcontext_dense)) -> (" +
                      results + list_results + lengths + ")" + counts +
                      "Ncontext_dense: int >= 0 = 0; feature_list_dense_missing_assumed_empty: list(string); context_sparse_keys: "
                      "list(string); context_dense_keys: list(string); feature_list_sparse_keys: list(string); feature_list_dense_keys: "
                      "list(string); " +
                      types,
                  pure, [](shape_context& c) {
                    shapes::want_rank(c, 0, 1);
                    const shape& messages = c.input(0).extent;
                    const std::int64_t batch = messages.has_rank() ? messages[0] : unknown_dimension;
                    sequence_results(c, &batch, false, true);
                  });
  define_operator(
      "ParseSequenceExampleV2(serialized: string, debug_name: string, context_sparse_keys: string, context_dense_keys: string, "
      "context_ragged_keys: string, feature_list_sparse_keys: string, feature_list_dense_keys: string, feature_list_ragged_keys: string, "
      "feature_list_dense_missing_assumed_empty: bool, context_dense_defaults: list(Tcontext_dense)) -> (" +
          results +
          "context_ragged_values: list(context_ragged_value_types), context_ragged_row_splits: list(context_ragged_split_types), " +
          list_results + lengths +
          ", feature_list_ragged_values: list(feature_list_ragged_value_types), feature_list_ragged_outer_splits: "
          "list(feature_list_ragged_split_types), feature_list_ragged_inner_splits: list(feature_list_ragged_split_types))" +
          counts +
          "context_ragged_value_types: list(type) = []; context_ragged_split_types: list(type) = []; feature_list_ragged_value_types: "
          "list(type) = []; feature_list_ragged_split_types: list(type) = []; " +
          types,
      pure, [](shape_context& c) {
        const shape& messages = c.input(0).extent;
        if (!messages.has_rank()) return;
        if (messages.rank > 1) c.fail("Shape must be at most rank 1 but is rank " + std::to_string(messages.rank));
        const std::int64_t batch = messages.rank == 1 ? messages[0] : 0;
        sequence_results(c, messages.rank == 1 ? &batch : nullptr, true, true);
      });
  define_operator(
      "ParseSingleSequenceExample(serialized: string, feature_list_dense_missing_assumed_empty: string, context_sparse_keys: "
      "Ncontext_sparse*string, context_dense_keys: Ncontext_dense*string, feature_list_sparse_keys: Nfeature_list_sparse*string, "
      "feature_list_dense_keys: Nfeature_list_dense*string, context_dense_defaults: list(Tcontext_dense), debug_name: string) -> (" +
          results + list_results + ")" + counts + "Ncontext_dense: int >= 0 = 0; " + types,
      pure, [](shape_context& c) {
        shapes::want_rank(c, 0, 0);
        shapes::want_rank(c, 1, 1);
        sequence_results(c, nullptr, false, false);
      });
  define_operator("DecodeJSONExample(json_examples: string) -> (binary_examples: string)", pure, shapes::like<0>);
}

}  // namespace leat::detail
