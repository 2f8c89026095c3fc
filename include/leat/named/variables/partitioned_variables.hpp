#pragma once
// Partitioned variables: one variable in the words of the model, cut along an axis into slices that are variables of their own,
// "w/part_0", "w/part_1", ..., so that each can lie at another task. As an operand the whole is its slices' concatenation; in a checkpoint it
// is one tensor, whatever the slices. Source: TensorFlow 1.x `PartitionedVariable`, `partitioned_variables`, `get_variable`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/named_embedding.hpp>
#include <leat/named/variables/named_variables.hpp>

namespace leat {

/// `num_shards` slices along an axis, or as many as it has elements. Errors: invalid_argument for no shards, and, where a variable is made,
/// for an axis that it has not. Source: TensorFlow `fixed_size_partitioner`.
variable_partitioner fixed_size_partitioner(std::int64_t num_shards, int axis = 0);

/// Settings of `variable_axis_size_partitioner`.
struct variable_axis_size_options {
  int axis = 0;
  std::int64_t bytes_per_string_element = 16;
  std::int64_t max_shards = 0;  // 0: no limit
};
/// Slices of at most so many bytes along an axis, but of one element along it at least.
/// Errors: invalid_argument for numbers below 1. Source: TensorFlow `variable_axis_size_partitioner`.
variable_partitioner variable_axis_size_partitioner(std::int64_t max_shard_bytes, const variable_axis_size_options& options = {});

/// Settings of `min_max_variable_partitioner`.
struct min_max_partitioner_options {
  std::int64_t max_partitions = 1;
  int axis = 0;
  std::int64_t min_slice_size = 256 << 10;  // bytes
  std::int64_t bytes_per_string_element = 16;
};
/// At most `max_partitions` slices, of at least `min_slice_size` bytes. Errors: invalid_argument for numbers below 1, and, where a variable
/// is made, for an axis that it has not. Source: TensorFlow `min_max_variable_partitioner`.
variable_partitioner min_max_variable_partitioner(const min_max_partitioner_options& options = {});

/// A variable in slices. Copies are the same variable.
class partitioned_variable {
 public:
  partitioned_variable(graph& g, std::string name);

  /// The name of the whole, "w": no node's name.
  const std::string& name() const { return name_; }
  shape extent() const { return entry().full_shape; }
  dtype type() const { return entry().type; }
  graph& owner() const { return *graph_; }
  /// How many slices it has along each axis.
  const std::vector<std::int64_t>& partitions() const { return entry().partitions; }
  /// The axis that it is cut along; 0 for a single slice.
  int axis() const;
  /// The slices in order: variables "w/part_0:0", "w/part_1:0", ...
  const std::vector<output>& parts() const { return parts_; }
  std::size_t size() const { return parts_.size(); }
  const output& operator[](std::size_t k) const { return parts_[k]; }
  auto begin() const { return parts_.begin(); }
  auto end() const { return parts_.end(); }

  /// Its value: the slices concatenated, "w/ConcatPartitions/concat", and an Identity "w". Each call makes new nodes, which wait for no control
  /// dependencies. Source: `PartitionedVariable.as_tensor`.
  output as_tensor(const std::source_location& where = std::source_location::current()) const;
  operator output() const { return as_tensor(); }
  operator operand_value() const { return operand_value(as_tensor()); }

 private:
  const partitioned_store::entry& entry() const;
  graph* graph_;
  std::string name_;
  std::vector<output> parts_;
};

/// A partitioner that is asked for: a function of shape and dtype. One of the scope is `get_variable_scope().partitioner()`.
class partitioner_setting {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, partitioner_setting> && std::is_constructible_v<variable_partitioner, F>)
  partitioner_setting(F&& partitioner) : held_(std::forward<F>(partitioner)) {}
  const variable_partitioner& function() const { return held_; }

 private:
  variable_partitioner held_;
};

/// Settings of `get_variable` for a partitioned variable: those of `variable_settings`, and who cuts it.
struct partitioned_variable_settings {
  std::optional<dtype> type{};
  first_value initializer{};
  variable_regularizer regularizer{};
  bool trainable = true;
  std::vector<std::string> collections{};
  partitioner_setting partitioner;
};

/// The partitioned variable with this name in the current variable scope, new or found: `get_variable("table", {1000, 64}, {.partitioner =
/// fixed_size_partitioner(3)})`. An initializer makes each slice's part of the whole: one that takes `(shape, dtype, const partition_info&)`
/// is told which; a value is sliced. Each slice is regularized.
/// Errors: invalid_argument, in TensorFlow's words, as for `get_variable`; if a variable of this name was made whole, or cut otherwise; for a
/// partitioner that gives not one number of 1 or more for each axis, or cuts along more than one.
/// Source: `get_variable` with `partitioner`.
partitioned_variable get_variable(std::string_view name, const shape_value& extent, const partitioned_variable_settings& settings,
                                  const std::source_location& where = std::source_location::current());
/// The same with an initial value, which determines the shape.
partitioned_variable get_variable(std::string_view name, const partitioned_variable_settings& settings,
                                  const std::source_location& where = std::source_location::current());

/// The rows of a partitioned table at ids. Its slices are consecutive rows, so that `partition_strategy::div` finds row i of the whole; with mod
/// they are n tables of their own, as in TensorFlow.
/// Source: `embedding_lookup`.
output embedding_lookup(const partitioned_variable& table, const operand_value& ids, partition_strategy strategy = partition_strategy::mod,
                        std::string_view name = "embedding_lookup", const std::source_location& where = std::source_location::current());

/// Sets, raises or lowers each slice by its part of a value of the whole's shape. Errors: invalid_argument for another shape.
/// Source: `PartitionedVariable.assign`, `assign_add`, `assign_sub`.
std::vector<output> assign(const partitioned_variable& variable, const operand_value& value,
                           const std::source_location& where = std::source_location::current());
std::vector<output> assign_add(const partitioned_variable& variable, const operand_value& value,
                               const std::source_location& where = std::source_location::current());
std::vector<output> assign_sub(const partitioned_variable& variable, const operand_value& value,
                               const std::source_location& where = std::source_location::current());

/// Where a variable lies in a partitioned one; null for one that is no slice.
const save_slice_info* save_slice_info_of(const output& variable);

namespace detail {

// Without a partitioner it must be there.
partitioned_variable find_or_make_partitioned(std::string_view name, const std::optional<shape>& extent, const variable_settings& settings,
                                              const variable_partitioner& partitioner, const std::source_location& where);
// `get_variable` where `is_partitioned_here`.
output value_of_partitioned(std::string_view name, const std::optional<shape>& extent, const variable_settings& settings,
                            const std::source_location& where);
// A slot of a slice is a slice of the whole's slot: so that all of them are one tensor in a checkpoint, too.
void slice_like(const output& slot, const output& primary);

}  // namespace detail

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/variables/partitioned_variables_bodies.hpp>
#endif
