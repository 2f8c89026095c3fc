#pragma once
// Data of shared variables: those of a graph by name, the slices of partitioned ones, and the scope that configures new ones. `named/variables/named_variables.hpp`
// works with it. Source: TensorFlow `variable_scope`.

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

/// What `get_variable` does with a name: create it, require that it exists, or either.
enum class reuse_mode { none, yes, automatic };
inline constexpr reuse_mode AUTO_REUSE = reuse_mode::automatic;

/// Makes a variable's initial value of a shape and dtype, for `get_variable`.
using variable_initializer = std::function<output(const shape&, dtype)>;
/// A term that is added to the loss for a variable.
using variable_regularizer = std::function<output(const output&)>;

/// Into how many slices a new variable of a shape and dtype is cut, for each axis; at most one number is above 1.
using variable_partitioner = std::function<std::vector<std::int64_t>(const shape&, dtype)>;

/// What part of the whole the initial value of a slice is for: the slice begins at `var_offset`. Source: TensorFlow `_PartitionInfo`.
struct partition_info {
  shape full_shape{};
  std::vector<std::int64_t> var_offset{};
};

/// Of a variable that is a slice of a partitioned one: under which name the whole is saved, and where the slice lies in it.
/// Source: TensorFlow `Variable.SaveSliceInfo`.
struct save_slice_info {
  std::string full_name{};
  shape full_shape{};
  std::vector<std::int64_t> var_offset{};
  shape var_shape{};
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
};

struct variable_store {
  std::map<std::string, int, std::less<>> variables;  // by full name: the node
  std::shared_ptr<variable_scope_state> current = std::make_shared<variable_scope_state>();
  std::map<std::string, int, std::less<>> open_count;  // how often a scope was opened, for default names
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
  const partition_info* current = nullptr;              // while the initial value of a slice is made
  // `get_variable` where a scope has a partitioner or a variable is partitioned; set by whoever brings the first of these.
  output (*get_variable)(std::string_view name, const std::optional<shape>& extent, const variable_settings& settings,
                         const std::source_location& where) = nullptr;
};

}  // namespace leat
