#pragma once
// Implementation of named_variables.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/control/control_flow.hpp>
#include <leat/named/functions/random.hpp>
#include <leat/named/graph/lookup.hpp>
#include <leat/named/variables/guarded_first_value.hpp>
#include <leat/named/variables/variables.hpp>

namespace leat::detail {

LEAT_FUNCTION void collect_variable(graph& g, const output& itself, const variable_options& options) {
  if (options.collections.empty()) add_to_collection(g, collection::global_variables, itself);
  for (const auto& name : options.collections) add_to_collection(g, name, itself);
  if (options.trainable) add_to_collection(g, collection::trainable_variables, itself);
}

// A variable by handle. Its name is that of its scope, and the handle of a session is found by it.
LEAT_FUNCTION output finish_handle(graph& g, const output& first_value, const tensor_info& info, const std::string& scope,
                                   const variable_options& options) {
  named_part& nodes = g.named();
  const std::string name = scope.empty() ? nodes.names.node_name("VarHandleOp") : scope;
  attribute_map attributes{{"shape", to_proto(info.extent)}, {"dtype", info.type}, {"container", ""}, {"shared_name", name}};
  const std::int64_t numbers[]{static_cast<std::int64_t>(initializer_kind::zeros), options.trainable ? 1 : 0, 0};
  const int made = nodes.append(
      g, {.op = &info_of<handle_variable_op>, .name = name, .numbers = numbers, .attributes = std::move(attributes), .results = {info}});
  const output itself(g, made);
  nodes.first_values.emplace(made, first_value);
  {
    const name_scope asks(g, "IsInitialized");
    nodes.raw(g, "VarIsInitializedOp", std::array{itself}, {}, {{dtype::boolean, {}}});
  }
  nodes.record(made).initializer = nodes
                                       .raw(g, "AssignVariableOp", std::array{itself, guarded_first_value(g, scope).guard(first_value)},
                                            {{"dtype", info.type}, {"validate_shape", false}}, {}, "Assign")
                                       .index();
  {
    const name_scope reads(g, "Read");
    nodes.record(made).read = nodes.read_handle(g, itself).index();
  }
  collect_variable(g, itself, options);
  return itself;
}

LEAT_FUNCTION output finish_variable(graph& g, const output& first_value, const std::string& scope, const variable_options& options) {
  named_part& nodes = g.named();
  if (options.validate_shape && !first_value.extent().is_static())
    throw invalid_argument("initial_value must have a shape specified: " + describe(first_value));
  const tensor_info info{first_value.type(), options.validate_shape ? first_value.extent() : shape::unknown()};
  if (options.use_resource.value_or(nodes.variables.current->use_resource)) return finish_handle(g, first_value, info, scope, options);
  attribute_map attributes{{"shape", to_proto(info.extent)}, {"dtype", info.type}, {"container", ""}, {"shared_name", ""}};
  const std::int64_t numbers[]{static_cast<std::int64_t>(initializer_kind::zeros), options.trainable ? 1 : 0, 0};
  const int made = nodes.append(g, {.op = &info_of<variable_op>,
                                    .name = scope.empty() ? nodes.names.node_name("VariableV2") : scope,
                                    .numbers = numbers,
                                    .attributes = std::move(attributes),
                                    .results = {info}});
  const output itself(g, made);
  nodes.first_values.emplace(made, first_value);
  const output both[]{itself, guarded_first_value(g, scope).guard(first_value)};
  const int first = nodes.build(g, info_of<assign_op>, both, {}, "Assign").index();
  if (!options.validate_shape) nodes.record(first).attributes["validate_shape"] = false;
  const colocate_with there(itself);
  const output only[]{itself};
  const int read = nodes.build(g, info_of<identity_op>, only, {}, "read").index();
  nodes.record(made).read = read;
  nodes.record(made).initializer = first;
  collect_variable(g, itself, options);
  return itself;
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION output variable(const operand_value& initial, std::string_view name, const variable_options& options,
                              const std::source_location& where) {
  graph& g = initial.tensor() != nullptr ? initial.tensor()->owner() : default_graph();
  const source_scope line(g, where);
  if (initial.tensor() != nullptr && static_cast<bool>(*initial.tensor()) &&
      detail::result_context(g, g.named().value_of(*initial.tensor()).index()) != nullptr)
    throw invalid_argument("Initializer for variable " + std::string(name.empty() ? "Variable" : name) +
                           " is from inside a control-flow construct, such as a loop or conditional: " + describe(*initial.tensor()));
  const detail::without_controls free(g.named());
  const name_scope scope(g, name.empty() ? "Variable" : name);
  const bool by_handle = options.use_resource.value_or(g.named().variables.current->use_resource);
  const output first = initial.tensor() != nullptr
                           ? g.named().value_of(*initial.tensor())
                           : g.named().make_constant(g, *initial.literal(), by_handle ? "Initializer/initial_value" : "initial_value");
  return detail::finish_variable(g, first, std::string(without_slash(scope.text())), options);
}

LEAT_FUNCTION graph_operation initializer_of(const output& variable) {
  const int first = variable.owner().named().record(variable.index()).initializer;
  if (first < 0) throw invalid_argument(describe(variable) + " is not a variable");
  return {variable.owner(), first};
}

LEAT_FUNCTION output read_value(const output& variable, std::string_view name, const std::source_location& where) {
  graph& g = variable.owner();
  const source_scope line(g, where);
  if (g.named().is_handle(variable)) {
    output now;
    {
      const name_scope scope(g, name == "read" ? "Read" : name);
      now = g.named().read_handle(g, variable);
    }
    return identity(now, "Identity", where);
  }
  return g.named()
      .raw(g, "Identity", std::array{variable}, {{"T", variable.type()}}, {{variable.type(), variable.extent()}}, name)
      .result();
}

}  // namespace leat

namespace leat::detail {

LEAT_FUNCTION partition_info current_part(const shape& extent) {
  const partition_info* part = default_graph().named().partitioned.current;
  if (part != nullptr) return *part;
  return {extent, std::vector<std::int64_t>(static_cast<std::size_t>(std::max(extent.rank, 0)), 0)};
}

LEAT_FUNCTION void regularize(graph& g, const output& made, const std::string& name, const variable_regularizer& regularizer) {
  if (!static_cast<bool>(regularizer(made))) return;
  const colocate_with there(made);
  const name_scope scope(g, name + "/Regularizer/");
  add_to_collection(g, collection::regularization_losses, regularizer(made));
}

LEAT_FUNCTION output make_shared_variable(graph& g, const std::string& name, const std::optional<shape>& extent,
                                          const variable_settings& settings) {
  named_part& nodes = g.named();
  const variable_scope_state& scope = *nodes.variables.current;
  const variable_options options{
      .trainable = settings.trainable, .collections = settings.collections, .use_resource = settings.use_resource};
  if (const auto& value = settings.initializer.value()) return variable(*value, name, options, std::source_location());
  const dtype type = settings.type.value_or(scope.type);
  variable_initializer rule = settings.initializer.rule() ? settings.initializer.rule() : scope.initializer;
  if (!extent) throw invalid_argument("Variable " + name + " did not get an initializer, so its `shape` argument must be specified.");
  if (!extent->is_static())
    throw invalid_argument("The initializer passed is not valid: the shape of the new variable " + name + ", " + leat::shape_text(*extent) +
                           ", should be fully defined.");
  if (!rule) rule = is_floating(type) ? as_variable_initializer(glorot_uniform()) : as_variable_initializer(zeros);
  const without_controls free(nodes);
  const name_scope variable_names(g, name);
  const std::string true_name(without_slash(variable_names.text()));
  const beside_variable with_it(nodes, true_name);
  const output first = made_in_initializer(g, [&] { return rule(*extent, type); });
  return finish_variable(g, first, true_name, options);
}

LEAT_FUNCTION std::string full_variable_name(const named_part& nodes, std::string_view name) {
  const std::string& scope = nodes.variables.current->name;
  return scope.empty() ? std::string(name) : scope + "/" + std::string(name);
}

LEAT_FUNCTION shape shape_of_value(const operand_value& value) {
  return value.tensor() != nullptr ? value.tensor()->extent() : value.literal()->extent();
}

LEAT_FUNCTION bool is_partitioned_here(std::string_view name, const std::optional<shape>& extent, const variable_settings& settings) {
  const named_part& nodes = default_graph().named();
  const variable_scope_state& scope = *nodes.variables.current;
  if (!scope.partitioner) return scope.reuse == reuse_mode::yes && nodes.partitioned.variables.contains(full_variable_name(nodes, name));
  if (extent) return extent->rank != 0;
  return settings.initializer.value() && shape_of_value(*settings.initializer.value()).rank != 0;
}

LEAT_FUNCTION output find_or_make_variable(std::string_view name, const std::optional<shape>& extent, const variable_settings& settings,
                                           const std::source_location& where) {
  graph& g = default_graph();
  const source_scope line(g, where);
  const name_scope root(g, "");
  return find_or_make_named(g, full_variable_name(g.named(), name), extent, settings);
}

LEAT_FUNCTION output find_or_make_named(graph& g, const std::string& full, const std::optional<shape>& extent,
                                        const variable_settings& settings) {
  named_part& nodes = g.named();
  const variable_scope_state& scope = *nodes.variables.current;
  const auto& value = settings.initializer.value();
  if (nodes.variables.variables.contains(full + "/part_0"))
    throw invalid_argument("No partitioner was provided, but a partitioned version of the variable was found: " + full +
                           "/part_0. Perhaps a variable of the same name was already created with partitioning?");
  if (value && settings.type) {
    const dtype its = value->tensor() != nullptr ? value->tensor()->type() : to_dtype(value->literal()->type());
    if (its != *settings.type)
      throw invalid_argument("Initializer type '" + std::string(name_of_dtype(its)) + "' and explicit dtype '" +
                             std::string(name_of_dtype(*settings.type)) + "' don't match.");
  }
  if (value && extent) throw invalid_argument("If initializer is a constant, do not specify shape.");
  const auto known = nodes.variables.variables.find(full);
  if (known != nodes.variables.variables.end()) {
    const output found(g, known->second);
    if (scope.reuse == reuse_mode::none) {
      const auto at = nodes.record(known->second).made_at;
      throw invalid_argument(
          "Variable " + full +
          " already exists, disallowed. Did you mean to set reuse=true or reuse=AUTO_REUSE in the variable_scope? Originally defined at " +
          at.file + ":" + std::to_string(at.line));
    }
    if (extent && !may_equal(*extent, found.extent()))
      throw invalid_argument("Trying to share variable " + full + ", but specified shape " + leat::shape_text(*extent) +
                             " and found shape " + leat::shape_text(found.extent()) + ".");
    const dtype wanted = settings.type.value_or(scope.type);
    if (!value && wanted != found.type())
      throw invalid_argument("Trying to share variable " + full + ", but specified dtype " + std::string(name_of_dtype(wanted)) +
                             " and found dtype " + dtype_text(found) + ".");
    return found;
  }
  if (scope.reuse == reuse_mode::yes)
    throw invalid_argument(
        "Variable " + full +
        " does not exist, or was not created with get_variable(). Did you mean to set reuse=AUTO_REUSE in the variable_scope?");
  const output made = detail::make_shared_variable(g, full, extent, settings);
  nodes.variables.variables.emplace(full, made.index());
  if (const auto& term = settings.regularizer ? settings.regularizer : scope.regularizer) detail::regularize(g, made, full, term);
  return made;
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION graph_operation variables_initializer(const std::vector<output>& variables, std::string_view name) {
  std::vector<control_input> first;
  for (const output& v : variables) first.push_back(initializer_of(v));
  return group(first, name);
}

}  // namespace leat

namespace leat::detail {

LEAT_FUNCTION without_controls::~without_controls() {
  outer_.swap(nodes_->controls);
  nodes_->context = context_;
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION output value_of(const output& variable) { return variable.owner().named().value_of(variable); }

LEAT_FUNCTION std::vector<output> global_variables(std::string_view scope) {
  return get_tensors(default_graph(), collection::global_variables, scope);
}

LEAT_FUNCTION std::vector<output> local_variables(std::string_view scope) {
  return get_tensors(default_graph(), collection::local_variables, scope);
}

LEAT_FUNCTION std::vector<output> trainable_variables(std::string_view scope) {
  return get_tensors(default_graph(), collection::trainable_variables, scope);
}

}  // namespace leat

namespace leat::detail {

LEAT_FUNCTION std::string shared_problem(std::string_view name, std::string_view what) {
  return "Variable " + std::string(name) + " " + std::string(what);
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION output get_variable(std::string_view name, const shape_value& extent, const variable_settings& settings,
                                  const std::source_location& where) {
  if (detail::is_partitioned_here(name, extent, settings))
    return default_graph().named().partitioned.get_variable(name, extent, settings, where);
  return detail::find_or_make_variable(name, extent, settings, where);
}

LEAT_FUNCTION output get_variable(std::string_view name, const variable_settings& settings, const std::source_location& where) {
  if (detail::is_partitioned_here(name, std::nullopt, settings))
    return default_graph().named().partitioned.get_variable(name, std::nullopt, settings, where);
  return detail::find_or_make_variable(name, std::nullopt, settings, where);
}

}  // namespace leat
