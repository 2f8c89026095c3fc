#pragma once
// Data of shared variables: the variables of a graph by name, the slices of partitioned ones, and the scope that configures new ones. Used
// by `named/variables/variables.hpp`. Source: TensorFlow `variable_scope`.

#include <leat/graph/operator.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

namespace leat {

/// How `get_variable` treats a name: it creates the variable, requires that it exists, or does either.
enum class reuse_mode { none, yes, automatic };
/// A variable of the name is used if there is one, and created otherwise. Source: TensorFlow `AUTO_REUSE`.
inline constexpr reuse_mode AUTO_REUSE = reuse_mode::automatic;

/// Makes the initial value of a variable from its shape and dtype, for `get_variable`.
using variable_initializer = std::function<output(const shape&, dtype)>;
/// Makes the term of a variable that is added to the loss.
using variable_regularizer = std::function<output(const output&)>;

/// Returns, for a variable's shape and dtype, the number of slices along each axis; at most one of these is above 1.
using variable_partitioner = std::function<std::vector<std::int64_t>(const shape&, dtype)>;

/// The part of a partitioned variable for which an initial value is made: the slice starts at `var_offset`. Source: TensorFlow
/// `_PartitionInfo`.
struct partition_info {
  shape full_shape{};                      // of the whole variable
  std::vector<std::int64_t> var_offset{};  // where the slice starts, along each axis
};

/// For a slice of a partitioned variable: the name under which the whole is saved, and the position of the slice in it.
/// Source: TensorFlow `Variable.SaveSliceInfo`.
struct save_slice_info {
  std::string full_name{};                 // of the whole variable, in checkpoints
  shape full_shape{};                      // of the whole variable
  std::vector<std::int64_t> var_offset{};  // where the slice starts, along each axis
  shape var_shape{};                       // of the slice
  bool operator==(const save_slice_info&) const = default;
};

/// A variable scope as an object: it can be re-entered elsewhere.
struct variable_scope_state {
  std::string name;
  std::string original_name_scope;
  reuse_mode reuse = reuse_mode::none;
  variable_initializer initializer{};
  variable_regularizer regularizer{};
  dtype type = dtype::float32;
  variable_partitioner partitioner{};
  bool use_resource = false;
};

/// The shared variables of a graph, and its current variable scope.
struct variable_store {
  std::map<std::string, int, std::less<>> variables;  // by full name: the node
  std::shared_ptr<variable_scope_state> current = std::make_shared<variable_scope_state>();
  std::map<std::string, int, std::less<>> open_count;  // how many times a scope was opened, for default names
};

struct variable_settings;

/// The partitioned variables of a graph.
struct partitioned_store {
  struct entry {
    std::vector<int> slices;  // nodes, in the order of their offsets
    shape full_shape{};
    dtype type = dtype::invalid;
    std::vector<std::int64_t> partitions;
  };
  std::map<std::string, entry, std::less<>> variables;  // by full name
  std::map<int, save_slice_info> slices;                // by the slice's node; slots of slices, too
  const partition_info* current = nullptr;              // set while the initial value of a slice is made
  // Implements `get_variable` for partitioned variables; set when a graph gets its first scope with a partitioner or its first partitioned
  // variable.
  output (*get_variable)(std::string_view name, const std::optional<shape>& extent, const variable_settings& settings,
                         const std::source_location& where) = nullptr;
};

}  // namespace leat
