#pragma once
// Implementation of variable_scope.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/variables/partitioned_variables.hpp>
#include <leat/named/variables/variable_scope.hpp>
#include <leat/named/variables/variables.hpp>

namespace leat {

LEAT_FUNCTION variable_scope::variable_scope(std::string_view name, const variable_scope_options& options)
    : graph_(&default_graph()), nodes_(&graph_->named()) {
  const bool opens = options.auxiliary_name_scope ? !name.empty() : true;
  if (opens) open_names(options.auxiliary_name_scope ? std::string(name) : std::string{}, options.auxiliary_name_scope);
  enter(std::string(name), options, opens ? names_->text() : std::string(name));
}

LEAT_FUNCTION variable_scope::variable_scope(std::nullptr_t, const variable_scope_options& options)
    : graph_(&default_graph()), nodes_(&graph_->named()) {
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

LEAT_FUNCTION variable_scope::variable_scope(const variable_scope_object& object, const variable_scope_options& options)
    : graph_(&default_graph()), nodes_(&graph_->named()), jumps_(true) {
  const std::string& full = object.name();
  const std::string last = full.substr(full.rfind('/') == full.npos ? 0 : full.rfind('/') + 1);
  if (!options.auxiliary_name_scope || !last.empty()) open_names(last, options.auxiliary_name_scope);
  auto& store = nodes_->variables;
  outer_ = store.current;
  auto state = std::make_shared<variable_scope_state>(object.state());
  if (options.reuse.mode() != reuse_mode::none) state->reuse = options.reuse.mode();
  apply(*state, options);
  if (state->partitioner) nodes_->partitioned.get_variable = &detail::value_of_partitioned;
  ++store.open_count[full];
  outer_count_ = store.open_count;
  entered_ = full;
  store.current = std::move(state);
}

LEAT_FUNCTION variable_scope::~variable_scope() {
  auto& store = nodes_->variables;
  if (jumps_) {
    store.open_count = std::move(outer_count_);
  } else {
    const std::string prefix = entered_ + "/";
    const auto end = store.open_count.end();
    for (auto at = store.open_count.lower_bound(prefix); at != end && at->first.starts_with(prefix); ++at) at->second = 0;
  }
  store.current = std::move(outer_);
}

LEAT_FUNCTION void variable_scope::open_names(const std::string& name, bool fresh) {
  if (fresh) {
    static_cast<void>(names_.emplace(*graph_, name));
  } else {  // re-enters the current name scope
    const std::string& current = nodes_->names.scope();
    static_cast<void>(names_.emplace(*graph_, current.empty() ? std::string{} : current + "/"));
  }
}

LEAT_FUNCTION void variable_scope::apply(variable_scope_state& state, const variable_scope_options& options) {
  if (options.initializer.rule()) state.initializer = options.initializer.rule();
  if (const auto& value = options.initializer.value()) {
    if (value->literal() == nullptr) throw invalid_argument("variable_scope: the initializer is a tensor; give a value or a rule");
    state.initializer = constant_initializer(value->literal()->number(0));
  }
  if (options.regularizer) state.regularizer = options.regularizer;
  if (options.partitioner) state.partitioner = options.partitioner;
  if (options.type) state.type = *options.type;
  if (options.use_resource) state.use_resource = *options.use_resource;
}

LEAT_FUNCTION void variable_scope::enter(const std::string& name, const variable_scope_options& options, std::string original) {
  auto& store = nodes_->variables;
  outer_ = store.current;
  auto state = std::make_shared<variable_scope_state>(*outer_);
  state->name = outer_->name.empty() ? name : outer_->name + "/" + name;
  state->original_name_scope = std::move(original);
  if (options.reuse.mode() != reuse_mode::none) state->reuse = options.reuse.mode();
  apply(*state, options);
  if (state->partitioner) nodes_->partitioned.get_variable = &detail::value_of_partitioned;
  ++store.open_count[state->name];
  entered_ = state->name;
  store.current = std::move(state);
}

LEAT_FUNCTION variable_scope_object get_variable_scope() { return variable_scope_object(default_graph().named().variables.current); }

LEAT_FUNCTION void variable_scope::reuse_variables() { nodes_->variables.current->reuse = reuse_mode::yes; }

}  // namespace leat
