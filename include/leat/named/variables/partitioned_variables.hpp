#pragma once
// Partitioned variables: to the model one variable, stored as slices along an axis. Each slice is a variable of its own, "w/part_0",
// "w/part_1", ..., and can be placed on a task of its own. As an operand a partitioned variable is the concatenation of its slices; in a
// checkpoint it is one tensor, however it is cut. Source: TensorFlow 1.x `PartitionedVariable`, `partitioned_variables`, `get_variable`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/embedding.hpp>
#include <leat/named/variables/variables.hpp>

namespace leat {

/// Cuts a variable into `num_shards` slices along an axis, or into as many as the axis has elements if these are fewer.
/// Errors: invalid_argument for no shards, and, where a variable is made, for an axis that it does not have. Source: TensorFlow
/// `fixed_size_partitioner`.
variable_partitioner fixed_size_partitioner(std::int64_t num_shards, int axis = 0);

/// Options of `variable_axis_size_partitioner`.
struct variable_axis_size_options {
  int axis = 0;                                // the axis that is cut
  std::int64_t bytes_per_string_element = 16;  // what a string counts for
  std::int64_t max_shards = 0;                 // 0: no limit
};
/// Cuts a variable along an axis into slices of at most `max_shard_bytes` bytes, but of at least one element of the axis.
/// Errors: invalid_argument for arguments below 1. Source: TensorFlow `variable_axis_size_partitioner`.
variable_partitioner variable_axis_size_partitioner(std::int64_t max_shard_bytes, const variable_axis_size_options& options = {});

/// Options of `min_max_variable_partitioner`.
struct min_max_partitioner_options {
  std::int64_t max_partitions = 1;          // the most slices
  int axis = 0;                             // the axis that is cut
  std::int64_t min_slice_size = 256 << 10;  // bytes
  std::int64_t bytes_per_string_element = 16;
};
/// Cuts a variable into at most `max_partitions` slices, of at least `min_slice_size` bytes each. Errors: invalid_argument for settings
/// below 1, and, where a variable is made, for an axis that it does not have. Source: TensorFlow `min_max_variable_partitioner`.
variable_partitioner min_max_variable_partitioner(const min_max_partitioner_options& options = {});

/// A variable stored as slices. Copies of the object refer to the same variable.
class partitioned_variable {
 public:
  partitioned_variable(graph& g, std::string name);

  /// The name of the whole variable, "w"; no node has this name.
  const std::string& name() const { return name_; }
  shape extent() const { return entry().full_shape; }
  dtype type() const { return entry().type; }
  graph& owner() const { return *graph_; }
  /// The number of slices along each axis.
  const std::vector<std::int64_t>& partitions() const { return entry().partitions; }
  /// The axis that it is cut along; 0 for a single slice.
  int axis() const;
  /// The slices in order: variables "w/part_0:0", "w/part_1:0", ...
  const std::vector<output>& parts() const { return parts_; }
  std::size_t size() const { return parts_.size(); }
  const output& operator[](std::size_t k) const { return parts_[k]; }
  auto begin() const { return parts_.begin(); }
  auto end() const { return parts_.end(); }

  /// The variable's value: the slices concatenated, "w/ConcatPartitions/concat", and an Identity "w". Each call makes new nodes, which wait
  /// for no control dependencies. Shapes and dtypes: those of the whole variable. Source: `PartitionedVariable.as_tensor`.
  output as_tensor(const std::source_location& where = std::source_location::current()) const;
  operator output() const { return as_tensor(); }
  operator operand_value() const { return operand_value(as_tensor()); }

 private:
  const partitioned_store::entry& entry() const;
  graph* graph_;
  std::string name_;
  std::vector<output> parts_;
};

/// A partitioner given explicitly: a function of shape and dtype. The scope's partitioner is `get_variable_scope().partitioner()`.
class partitioner_setting {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, partitioner_setting> && std::is_constructible_v<variable_partitioner, F>)
  partitioner_setting(F&& partitioner) : held_(std::forward<F>(partitioner)) {}
  const variable_partitioner& function() const { return held_; }

 private:
  variable_partitioner held_;
};

/// Settings of `get_variable` for a partitioned variable: those of `variable_settings`, and its partitioner.
struct partitioned_variable_settings {
  std::optional<dtype> type{};
  first_value initializer{};
  variable_regularizer regularizer{};
  bool trainable = true;
  std::vector<std::string> collections{};
  partitioner_setting partitioner;
};

/// The partitioned variable with this name in the current variable scope, new or existing: `get_variable("table", {1000, 64}, {.partitioner
/// = fixed_size_partitioner(3)})`. An initializer makes each slice's part of the whole; one that takes `(shape, dtype, const
/// partition_info&)` also gets that part's position. An initial value is sliced. Each slice is regularized.
/// Errors: invalid_argument, with TensorFlow's message, as for `get_variable`; if a variable of this name exists that is not partitioned,
/// or is cut in another way; if the partitioner does not return one value of at least 1 for each axis, or cuts more than one axis.
/// Source: `get_variable` with `partitioner`.
partitioned_variable get_variable(std::string_view name, const shape_value& extent, const partitioned_variable_settings& settings,
                                  const std::source_location& where = std::source_location::current());
/// `get_variable` for a partitioned variable with an initial value, which determines the shape.
partitioned_variable get_variable(std::string_view name, const partitioned_variable_settings& settings,
                                  const std::source_location& where = std::source_location::current());

/// The rows of a partitioned table at ids. The slices are consecutive rows: `partition_strategy::div` finds row i of the whole table; with
/// `mod` the slices are taken as n separate tables, as in TensorFlow. Shapes: table [rows, d…], ids [i…]; result [i…, d…].
/// Source: `embedding_lookup`.
output embedding_lookup(const partitioned_variable& table, const operand_value& ids, partition_strategy strategy = partition_strategy::mod,
                        std::string_view name = "embedding_lookup", const std::source_location& where = std::source_location::current());

/// Assigns to each slice its part of a value, or adds or subtracts that part; returns the operations' results. Shapes: value like the whole
/// variable. Errors: invalid_argument for another shape.
/// Source: `PartitionedVariable.assign`, `assign_add`, `assign_sub`.
std::vector<output> assign(const partitioned_variable& variable, const operand_value& value,
                           const std::source_location& where = std::source_location::current());
std::vector<output> assign_add(const partitioned_variable& variable, const operand_value& value,
                               const std::source_location& where = std::source_location::current());
std::vector<output> assign_sub(const partitioned_variable& variable, const operand_value& value,
                               const std::source_location& where = std::source_location::current());

/// The position of a slice in its partitioned variable; null for a variable that is not a slice.
const save_slice_info* save_slice_info_of(const output& variable);

namespace detail {

// Finds or makes a partitioned variable. Without a partitioner the variable must exist.
partitioned_variable find_or_make_partitioned(std::string_view name, const std::optional<shape>& extent, const variable_settings& settings,
                                              const variable_partitioner& partitioner, const std::source_location& where);
// `get_variable` where `is_partitioned_here`: the value of the partitioned variable.
output value_of_partitioned(std::string_view name, const std::optional<shape>& extent, const variable_settings& settings,
                            const std::source_location& where);
// Registers the slot of a slice as a slice of the whole variable's slot, so that a checkpoint stores the slots as one tensor, too.
void slice_like(const output& slot, const output& primary);

}  // namespace detail

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/variables/impl/partitioned_variables.hpp>
#endif
