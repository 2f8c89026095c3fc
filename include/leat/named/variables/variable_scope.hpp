#pragma once
// Variable scopes: a prefix of the names that `get_variable` uses, a policy for existing names, and defaults for new variables. A scope
// also opens a new name scope. Source: TensorFlow 1.x `variable_scope`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/variables/variables.hpp>

namespace leat {

/// A value of `reuse`: none (inherit), true, false (the same as none), or AUTO_REUSE.
class reuse_setting {
 public:
  constexpr reuse_setting() = default;
  constexpr reuse_setting(std::nullptr_t) {}
  template <std::same_as<bool> T>
  constexpr reuse_setting(T reuse) : mode_(reuse ? reuse_mode::yes : reuse_mode::none) {}
  constexpr reuse_setting(reuse_mode mode) : mode_(mode) {}
  /// What was asked for.
  constexpr reuse_mode mode() const { return mode_; }

 private:
  reuse_mode mode_ = reuse_mode::none;
};

/// Options of a variable scope; those not given are inherited.
struct variable_scope_options {
  reuse_setting reuse{};               // `true`: variables must exist; AUTO_REUSE: they are made where they do not
  first_value initializer{};           // of variables without an initializer of their own
  variable_regularizer regularizer{};  // of variables without a regularizer of their own
  std::optional<dtype> type{};         // of variables without a dtype of their own
  std::string default_name{};          // used, and made unique, if the name is null
  bool auxiliary_name_scope = true;    // whether a name scope is opened
  variable_partitioner partitioner{};
  std::optional<bool> use_resource{};  // whether new variables are variables by handle
};

/// A variable scope as an object, which `variable_scope` can re-enter.
class variable_scope_object {
 public:
  explicit variable_scope_object(std::shared_ptr<variable_scope_state> state) : state_(std::move(state)) {}
  /// The name of the scope, "foo/bar", in front of variables.
  const std::string& name() const { return state_->name; }
  /// The name scope that was opened with the variable scope: "foo/".
  const std::string& original_name_scope() const { return state_->original_name_scope; }
  reuse_mode reuse() const { return state_->reuse; }
  /// Cuts new variables into slices; empty if they are not partitioned.
  const variable_partitioner& partitioner() const { return state_->partitioner; }
  /// Makes `get_variable` return existing variables only.
  void reuse_variables() { state_->reuse = reuse_mode::yes; }
  const variable_scope_state& state() const { return *state_; }

 private:
  std::shared_ptr<variable_scope_state> state_;
};

/// The current variable scope of the default graph.
variable_scope_object get_variable_scope();

/// `auto s = variable_scope("foo");`, `auto s = variable_scope("foo", {.reuse = true});`, `auto s = variable_scope(object);`.
/// Errors: invalid_argument without a name and a default name, or for reuse with a default name.
class [[nodiscard]] variable_scope {
 public:
  explicit variable_scope(std::string_view name, const variable_scope_options& options = {});
  explicit variable_scope(const char* name, const variable_scope_options& options = {}) : variable_scope(std::string_view(name), options) {}
  /// A scope without a given name: it is called `options.default_name`, with a number appended if that is taken.
  explicit variable_scope(std::nullptr_t, const variable_scope_options& options);
  /// Re-enters the object's scope: variables are named in the object's scope, operations in a new name scope under the current one.
  explicit variable_scope(const variable_scope_object& object, const variable_scope_options& options = {});
  variable_scope(const variable_scope&) = delete;
  variable_scope& operator=(const variable_scope&) = delete;
  ~variable_scope();

  /// The name of the scope, "foo/bar", in front of variables.
  const std::string& name() const { return nodes_->variables.current->name; }
  /// The name scope that was opened with the variable scope: "foo/".
  const std::string& original_name_scope() const { return nodes_->variables.current->original_name_scope; }
  /// The scope as an object, with which it can be re-entered.
  variable_scope_object object() const { return variable_scope_object(nodes_->variables.current); }
  operator variable_scope_object() const { return object(); }
  void reuse_variables();

 private:
  void open_names(const std::string& name, bool fresh);
  static void apply(variable_scope_state& state, const variable_scope_options& options);
  void enter(const std::string& name, const variable_scope_options& options, std::string original);

  graph* graph_;
  named_part* nodes_;
  std::optional<name_scope> names_;
  std::shared_ptr<variable_scope_state> outer_;
  std::map<std::string, int, std::less<>> outer_count_;
  std::string entered_;
  bool jumps_ = false;
};

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/variables/impl/variable_scope.hpp>
#endif
