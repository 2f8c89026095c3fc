#pragma once
// Data of shared variables: those of a graph by name, and the scope that configures new ones. `named/variables/named_variables.hpp`
// works with it. Source: TensorFlow `variable_scope`.

#include <functional>
#include <leat/graph/operator.hpp>
#include <map>
#include <memory>
#include <string>

namespace leat {

/// What `get_variable` does with a name: create it, require that it exists, or either.
enum class reuse_mode { none, yes, automatic };
inline constexpr reuse_mode AUTO_REUSE = reuse_mode::automatic;

/// Makes a variable's initial value of a shape and dtype, for `get_variable`.
using variable_initializer = std::function<output(const shape&, dtype)>;
/// A term that is added to the loss for a variable.
using variable_regularizer = std::function<output(const output&)>;

/// A variable scope as an object: it can be re-entered elsewhere.
struct variable_scope_state {
  std::string name;
  std::string original_name_scope;
  reuse_mode reuse = reuse_mode::none;
  variable_initializer initializer{};
  variable_regularizer regularizer{};
  dtype type = dtype::float32;
};

struct variable_store {
  std::map<std::string, int, std::less<>> variables;  // by full name: the node
  std::shared_ptr<variable_scope_state> current = std::make_shared<variable_scope_state>();
  std::map<std::string, int, std::less<>> open_count;  // how often a scope was opened, for default names
};

}  // namespace leat
