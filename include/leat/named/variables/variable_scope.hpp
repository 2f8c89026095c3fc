#pragma once
// Variable scopes: a prefix of the names that `get_variable` uses, a policy for existing names, and defaults for new variables. A scope
// also opens a new name scope. Source: TensorFlow 1.x `variable_scope`.

#include <leat/named/variables/named_variables.hpp>

namespace leat {

/// A value of `reuse`: none (inherit), true, false (the same as none), AUTO_REUSE.
class reuse_setting {
 public:
  constexpr reuse_setting() = default;
  constexpr reuse_setting(std::nullptr_t) {}
  template <std::same_as<bool> T>
  constexpr reuse_setting(T reuse) : mode_(reuse ? reuse_mode::yes : reuse_mode::none) {}
  constexpr reuse_setting(reuse_mode mode) : mode_(mode) {}
  constexpr reuse_mode mode() const { return mode_; }

 private:
  reuse_mode mode_ = reuse_mode::none;
};

/// Settings of a variable scope; those not given are inherited.
struct variable_scope_options {
  reuse_setting reuse{};
  first_value initializer{};
  variable_regularizer regularizer{};
  std::optional<dtype> type{};
  std::string default_name{};        // used, and made unique, if the name is null
  bool auxiliary_name_scope = true;  // whether a name scope is opened
};

/// A variable scope as an object, which `variable_scope` can re-enter.
class variable_scope_object {
 public:
  explicit variable_scope_object(std::shared_ptr<variable_scope_state> state) : state_(std::move(state)) {}
  const std::string& name() const { return state_->name; }
  /// The name scope that was opened with it: "foo/".
  const std::string& original_name_scope() const { return state_->original_name_scope; }
  reuse_mode reuse() const { return state_->reuse; }
  /// Makes `get_variable` return existing variables only.
  void reuse_variables() { state_->reuse = reuse_mode::yes; }
  const variable_scope_state& state() const { return *state_; }

 private:
  std::shared_ptr<variable_scope_state> state_;
};

/// The current variable scope of the default graph.
inline variable_scope_object get_variable_scope() { return variable_scope_object(default_graph().named().variables.current); }

/// `auto s = variable_scope("foo");`, `auto s = variable_scope("foo", {.reuse = true});`, `auto s = variable_scope(object);`.
/// Errors: invalid_argument without a name and a default name, or for reuse with a default name.
class [[nodiscard]] variable_scope {
 public:
  explicit variable_scope(std::string_view name, const variable_scope_options& options = {})
      : graph_(&default_graph()), nodes_(&graph_->named()) {
    const bool opens = options.auxiliary_name_scope ? !name.empty() : true;
    if (opens) open_names(options.auxiliary_name_scope ? std::string(name) : std::string{}, options.auxiliary_name_scope);
    enter(std::string(name), options, opens ? names_->text() : std::string(name));
  }
  explicit variable_scope(const char* name, const variable_scope_options& options = {}) : variable_scope(std::string_view(name), options) {}
  /// Without a name: `options.default_name`, with a number if it is taken.
  explicit variable_scope(std::nullptr_t, const variable_scope_options& options) : graph_(&default_graph()), nodes_(&graph_->named()) {
    if (options.default_name.empty()) throw invalid_argument("If default_name is None then name_or_scope is required");
    if (options.reuse.mode() != reuse_mode::none) throw invalid_argument("reuse=True cannot be used without a name_or_scope");
    open_names(options.auxiliary_name_scope ? options.default_name : std::string{}, options.auxiliary_name_scope);
    const auto& store = nodes_->variables;
    const std::string prefix = store.current->name.empty() ? std::string{} : store.current->name + "/";
    const auto is_open = [&](const std::string& name) {
      const auto at = store.open_count.find(prefix + name);
      return at != store.open_count.end() && at->second > 0;
    };
    std::string unique = options.default_name;
    for (int i = 1; is_open(unique); ++i) unique = options.default_name + "_" + std::to_string(i);
    enter(unique, options, names_->text());
  }
  /// Re-enters the object's scope: variables go there, operations to a name scope here.
  explicit variable_scope(const variable_scope_object& object, const variable_scope_options& options = {})
      : graph_(&default_graph()), nodes_(&graph_->named()), jumps_(true) {
    const std::string& full = object.name();
    const std::string last = full.substr(full.rfind('/') == full.npos ? 0 : full.rfind('/') + 1);
    if (!options.auxiliary_name_scope || !last.empty()) open_names(last, options.auxiliary_name_scope);
    auto& store = nodes_->variables;
    outer_ = store.current;
    auto state = std::make_shared<variable_scope_state>(object.state());
    if (options.reuse.mode() != reuse_mode::none) state->reuse = options.reuse.mode();
    apply(*state, options);
    ++store.open_count[full];
    outer_count_ = store.open_count;
    entered_ = full;
    store.current = std::move(state);
  }
  variable_scope(const variable_scope&) = delete;
  variable_scope& operator=(const variable_scope&) = delete;
  ~variable_scope() {
    auto& store = nodes_->variables;
    if (jumps_) {
      store.open_count = std::move(outer_count_);
    } else {
      const std::string prefix = entered_ + "/";
      for (auto& [name, count] : store.open_count)
        if (name.starts_with(prefix)) count = 0;
    }
    store.current = std::move(outer_);
  }

  const std::string& name() const { return nodes_->variables.current->name; }
  const std::string& original_name_scope() const { return nodes_->variables.current->original_name_scope; }
  /// The scope as an object, to be re-entered.
  variable_scope_object object() const { return variable_scope_object(nodes_->variables.current); }
  operator variable_scope_object() const { return object(); }
  void reuse_variables() { nodes_->variables.current->reuse = reuse_mode::yes; }

 private:
  void open_names(const std::string& name, bool fresh) {
    if (fresh) {
      static_cast<void>(names_.emplace(*graph_, name));
    } else {  // re-enters the current name scope
      const std::string& current = nodes_->names.scope();
      static_cast<void>(names_.emplace(*graph_, current.empty() ? std::string{} : current + "/"));
    }
  }
  static void apply(variable_scope_state& state, const variable_scope_options& options) {
    if (options.initializer.rule()) state.initializer = options.initializer.rule();
    if (const auto& value = options.initializer.value()) {
      if (value->literal() == nullptr) throw invalid_argument("variable_scope: the initializer is a tensor; give a value or a rule");
      state.initializer = constant_initializer(value->literal()->number(0));
    }
    if (options.regularizer) state.regularizer = options.regularizer;
    if (options.type) state.type = *options.type;
  }
  void enter(const std::string& name, const variable_scope_options& options, std::string original) {
    auto& store = nodes_->variables;
    outer_ = store.current;
    auto state = std::make_shared<variable_scope_state>(*outer_);
    state->name = outer_->name.empty() ? name : outer_->name + "/" + name;
    state->original_name_scope = std::move(original);
    if (options.reuse.mode() != reuse_mode::none) state->reuse = options.reuse.mode();
    apply(*state, options);
    ++store.open_count[state->name];
    entered_ = state->name;
    store.current = std::move(state);
  }

  graph* graph_;
  named_part* nodes_;
  std::optional<name_scope> names_;
  std::shared_ptr<variable_scope_state> outer_;
  std::map<std::string, int, std::less<>> outer_count_;
  std::string entered_;
  bool jumps_ = false;
};

}  // namespace leat
