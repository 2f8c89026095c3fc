#pragma once
// Implementation of partitioned_variables.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/array.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/graph/call.hpp>
#include <leat/named/variables/partitioned_variables.hpp>

#include <algorithm>

namespace leat::detail {

LEAT_FUNCTION std::string list_text(const std::vector<std::int64_t>& numbers) {
  std::string text = "[";
  for (const std::int64_t n : numbers) text += (text.size() > 1 ? ", " : "") + std::to_string(n);
  return text + "]";
}

LEAT_FUNCTION void check_axis(const shape& extent, int axis) {
  if (axis < 0 || axis >= extent.rank)
    throw invalid_argument("Cannot partition variable along axis " + std::to_string(axis) + " when shape is only " +
                           leat::shape_text(extent));
}

LEAT_FUNCTION std::vector<std::int64_t> cut_along(const shape& extent, int axis, std::int64_t slices) {
  std::vector<std::int64_t> list(static_cast<std::size_t>(extent.rank), 1);
  list[static_cast<std::size_t>(axis)] = slices;
  return list;
}

LEAT_FUNCTION std::int64_t quotient_rounded_up(std::int64_t a, std::int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

LEAT_FUNCTION std::int64_t bytes_of_element(dtype type, std::int64_t of_string) {
  return to_data_type(type) == data_type::string ? of_string : size_of(type);
}

// Calls a partitioner and checks its result.
LEAT_FUNCTION std::vector<std::int64_t> partitions_by(const variable_partitioner& partitioner, const shape& extent, dtype type) {
  if (!extent.is_static())
    throw invalid_argument("Shape of a new partitioned variable must be fully defined, but instead was " + leat::shape_text(extent) + ".");
  if (extent.rank < 1) throw invalid_argument("A partitioned Variable must have rank at least 1, shape: " + leat::shape_text(extent));
  std::vector<std::int64_t> list = partitioner(extent, type);
  if (list.size() != static_cast<std::size_t>(extent.rank))
    throw invalid_argument("Partitioner returned a partition list that does not match the Variable's rank: " + list_text(list) + " vs. " +
                           leat::shape_text(extent));
  if (std::any_of(list.begin(), list.end(), [](std::int64_t n) { return n < 1; }))
    throw invalid_argument("Partitioner returned zero partitions for some axes: " + list_text(list));
  if (std::count_if(list.begin(), list.end(), [](std::int64_t n) { return n > 1; }) > 1)
    throw invalid_argument("Can only slice a variable along one dimension: shape: " + leat::shape_text(extent) +
                           ", partitioning: " + list_text(list));
  constexpr std::int64_t most = 1'000'000;  // a limit, because each slice is four nodes
  for (const std::int64_t n : list)
    if (n > most) throw invalid_argument("Partitioner returned more than a million partitions: " + list_text(list));
  return list;
}

LEAT_FUNCTION std::size_t axis_of_partitions(const std::vector<std::int64_t>& partitions) {
  const auto cut = std::find_if(partitions.begin(), partitions.end(), [](std::int64_t n) { return n > 1; });
  return cut == partitions.end() ? 0 : static_cast<std::size_t>(cut - partitions.begin());
}

// During its lifetime initial values are made for one slice.
struct making_slice {
  partitioned_store& of;
  const partition_info* outer;
  making_slice(partitioned_store& store, const partition_info& part) : of(store), outer(std::exchange(store.current, &part)) {}
  making_slice(const making_slice&) = delete;
  making_slice& operator=(const making_slice&) = delete;
  ~making_slice() { of.current = outer; }
};

LEAT_FUNCTION partitioned_variable find_or_make_partitioned(std::string_view name, const std::optional<shape>& extent,
                                                            const variable_settings& settings, const variable_partitioner& partitioner,
                                                            const std::source_location& where) {
  graph& g = default_graph();
  named_part& nodes = g.named();
  const source_scope line(g, where);
  const name_scope root(g, "");
  const variable_scope_state& scope = *nodes.variables.current;
  nodes.partitioned.get_variable = &value_of_partitioned;
  const std::string full = full_variable_name(nodes, name);
  const auto& known = nodes.variables.variables;
  if (known.contains(full))
    throw invalid_argument("A partitioner was provided, but an unpartitioned version of the variable was found: " + full +
                           ".  Perhaps a variable of the same name was already created without partitioning?");
  const auto& value = settings.initializer.value();
  shape whole = extent.value_or(shape::unknown());
  dtype type = settings.type.value_or(scope.type);
  if (value) {
    const shape its = shape_of_value(*value);
    if (!may_equal(whole, its))
      throw invalid_argument("Shapes " + leat::shape_text(whole) + " and " + leat::shape_text(its) + " are not compatible");
    if (!whole.is_static()) whole = its;
    const dtype its_type = value->tensor() != nullptr ? value->tensor()->type() : to_dtype(value->literal()->type());
    if (settings.type && its_type != *settings.type)
      throw invalid_argument("Initializer type '" + std::string(name_of_dtype(its_type)) + "' and explicit dtype '" +
                             std::string(name_of_dtype(*settings.type)) + "' don't match.");
    type = its_type;
  }
  std::vector<std::int64_t> partitions;
  if (partitioner) partitions = partitions_by(partitioner, whole, type);

  if (const auto at = nodes.partitioned.variables.find(full); at != nodes.partitioned.variables.end()) {
    const partitioned_store::entry& there = at->second;
    if (scope.reuse == reuse_mode::none)
      throw invalid_argument("Partitioned variable with name " + full +
                             " already exists. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in VarScope?");
    const std::string trying = "Trying to reuse partitioned variable " + full + ", but specified ";
    if (!may_equal(whole, there.full_shape))
      throw invalid_argument(trying + "shape " + leat::shape_text(whole) + " and found shape " + leat::shape_text(there.full_shape) + ".");
    if (type != there.type)
      throw invalid_argument(trying + "dtype " + std::string(name_of_dtype(type)) + " and found dtype " +
                             std::string(name_of_dtype(there.type)) + ".");
    if (partitioner && partitions != there.partitions)
      throw invalid_argument(trying + "partitions " + list_text(partitions) + " and found partitions " + list_text(there.partitions) + ".");
    return {g, full};
  }
  if (scope.reuse == reuse_mode::yes)
    throw invalid_argument("PartitionedVariable " + full +
                           " does not exist, or was not created with tf.get_variable(). Did you mean to set reuse=False or "
                           "reuse=tf.AUTO_REUSE in VarScope?");
  if (!partitioner) throw invalid_argument("Partitioner must be callable, but received: None");

  const std::size_t axis = axis_of_partitions(partitions);
  const std::int64_t count = partitions[axis];
  const auto part_name = [&](std::int64_t k) { return full + "/part_" + std::to_string(k); };
  if (known.contains(part_name(0))) {
    const std::string differs = "Partitioner returned a different partitioning than what was already found.  Partitioner returned " +
                                std::to_string(count) + " shards, and shard " + part_name(0) + " was found, but ";
    if (!known.contains(part_name(count - 1))) throw invalid_argument(differs + part_name(count - 1) + " was not.");
    if (known.contains(part_name(count))) throw invalid_argument(differs + "so was the extra shard " + part_name(count) + ".");
  }

  partitioned_store::entry made{{}, whole, type, partitions};
  partition_info part{whole, std::vector<std::int64_t>(static_cast<std::size_t>(whole.rank), 0)};
  const std::int64_t least = whole.dim[axis] / count;
  const std::int64_t longer = whole.dim[axis] % count;  // the first `longer` slices have one element more
  for (std::int64_t k = 0; k < count; ++k) {
    shape its = whole;
    its.dim[axis] = least + (k < longer ? 1 : 0);
    variable_settings its_settings = settings;
    its_settings.type = type;
    {
      const name_scope names(g, part_name(k) + "/PartitionedInitializer");
      if (value) {
        const output all =
            value->tensor() != nullptr ? nodes.value_of(*value->tensor()) : nodes.make_constant(g, *value->literal(), "Const");
        std::vector<std::int32_t> begin, size;
        for (int i = 0; i < whole.rank; ++i) {
          begin.push_back(static_cast<std::int32_t>(part.var_offset[static_cast<std::size_t>(i)]));
          size.push_back(static_cast<std::int32_t>(its[i]));
        }
        its_settings.initializer = first_value(slice(all, begin, size, "Slice", where));
      }
    }
    const making_slice with(nodes.partitioned, part);
    const output one = find_or_make_named(g, part_name(k), value ? std::nullopt : std::optional(its), its_settings);
    nodes.partitioned.slices.insert_or_assign(one.index(), save_slice_info{full, whole, part.var_offset, its});
    made.slices.push_back(one.index());
    part.var_offset[axis] += its.dim[axis];
  }
  nodes.partitioned.variables.emplace(full, std::move(made));
  return {g, full};
}

LEAT_FUNCTION output value_of_partitioned(std::string_view name, const std::optional<shape>& extent, const variable_settings& settings,
                                          const std::source_location& where) {
  return find_or_make_partitioned(name, extent, settings, default_graph().named().variables.current->partitioner, where).as_tensor(where);
}

LEAT_FUNCTION void slice_like(const output& slot, const output& primary) {
  const save_slice_info* of = save_slice_info_of(primary);
  if (of == nullptr || slot.extent().rank != of->full_shape.rank) return;
  const std::string own = primary.operation().name();
  std::string name = slot.operation().name();
  const std::size_t at = name.find(own + "/");
  if (at == name.npos) return;
  save_slice_info its = *of;
  its.full_name = name.replace(at, own.size(), of->full_name);
  slot.owner().named().partitioned.slices.insert_or_assign(slot.index(), std::move(its));
}

// Calls `f` with each slice and its part of a value.
template <class F>
std::vector<output> assign_parts(const partitioned_variable& variable, const operand_value& value, const std::source_location& where, F f) {
  graph& g = variable.owner();
  named_part& nodes = g.named();
  const source_scope line(g, where);
  const output whole = value.tensor() != nullptr ? nodes.value_of(*value.tensor()) : nodes.make_constant(g, *value.literal(), "Const");
  if (!may_equal(whole.extent(), variable.extent()))
    throw invalid_argument("Shapes " + leat::shape_text(whole.extent()) + " and " + leat::shape_text(variable.extent()) +
                           " of a value and the partitioned variable " + variable.name() + " are not compatible");
  std::vector<output> made;
  if (variable.size() == 1) return {f(variable[0], whole)};
  std::vector<std::int32_t> sizes;
  for (const output& part : variable) sizes.push_back(static_cast<std::int32_t>(part.extent()[variable.axis()]));
  const auto parts = call_operator(g, "SplitV", {whole, tensor_literal(sizes), tensor_literal(std::int32_t{variable.axis()})},
                                   {{"num_split", static_cast<std::int64_t>(sizes.size())}}, "split")
                         .outputs();
  for (std::size_t k = 0; k < parts.size(); ++k) made.push_back(f(variable[k], parts[k]));
  return made;
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION variable_partitioner fixed_size_partitioner(std::int64_t num_shards, int axis) {
  if (num_shards < 1) throw invalid_argument("fixed_size_partitioner: num_shards must be positive, not " + std::to_string(num_shards));
  return [num_shards, axis](const shape& extent, dtype) {
    detail::check_axis(extent, axis);
    return detail::cut_along(extent, axis, std::min(num_shards, extent[axis]));
  };
}

LEAT_FUNCTION variable_partitioner variable_axis_size_partitioner(std::int64_t max_shard_bytes, const variable_axis_size_options& options) {
  if (max_shard_bytes < 1 || options.bytes_per_string_element < 1)
    throw invalid_argument("Both max_shard_bytes and bytes_per_string_element must be positive. Currently, max_shard_bytes is " +
                           std::to_string(max_shard_bytes) + " and bytes_per_string_element is " +
                           std::to_string(options.bytes_per_string_element));
  if (options.max_shards < 0) throw invalid_argument("max_shards must be positive.");
  return [max_shard_bytes, options](const shape& extent, dtype type) {
    detail::check_axis(extent, options.axis);
    const std::int64_t length = extent[options.axis];
    const std::int64_t slice_bytes =
        length == 0 ? 0 : extent.elements() / length * detail::bytes_of_element(type, options.bytes_per_string_element);
    const std::int64_t together =
        slice_bytes == 0 ? std::max<std::int64_t>(length, 1) : std::max<std::int64_t>(1, max_shard_bytes / slice_bytes);
    std::int64_t shards = std::max<std::int64_t>(1, detail::quotient_rounded_up(length, together));
    if (options.max_shards > 0) shards = std::min(options.max_shards, shards);
    return detail::cut_along(extent, options.axis, shards);
  };
}

LEAT_FUNCTION variable_partitioner min_max_variable_partitioner(const min_max_partitioner_options& options) {
  if (options.max_partitions < 1 || options.min_slice_size < 1 || options.bytes_per_string_element < 1)
    throw invalid_argument(
        "min_max_variable_partitioner: max_partitions, min_slice_size and bytes_per_string_element must be positive, but are " +
        std::to_string(options.max_partitions) + ", " + std::to_string(options.min_slice_size) + ", " +
        std::to_string(options.bytes_per_string_element));
  return [options](const shape& extent, dtype type) {
    detail::check_axis(extent, options.axis);
    const std::int64_t bytes = extent.elements() * detail::bytes_of_element(type, options.bytes_per_string_element);
    const std::int64_t wanted = detail::quotient_rounded_up(bytes, options.min_slice_size);
    const std::int64_t most = std::min(extent[options.axis], options.max_partitions);
    return detail::cut_along(extent, options.axis, std::max<std::int64_t>(1, std::min(most, wanted)));
  };
}

LEAT_FUNCTION partitioned_variable::partitioned_variable(graph& g, std::string name) : graph_(&g), name_(std::move(name)) {
  for (const int index : entry().slices) parts_.emplace_back(g, index);
}

LEAT_FUNCTION const partitioned_store::entry& partitioned_variable::entry() const {
  const auto& all = graph_->named().partitioned.variables;
  const auto at = all.find(name_);
  if (at == all.end()) throw not_found("the graph has no partitioned variable '" + name_ + "'");
  return at->second;
}

LEAT_FUNCTION int partitioned_variable::axis() const { return static_cast<int>(detail::axis_of_partitions(partitions())); }

LEAT_FUNCTION output partitioned_variable::as_tensor(const std::source_location& where) const {
  const default_graph_scope here(*graph_);
  const source_scope line(*graph_, where);
  const control_dependencies free(nullptr);
  output whole = parts_.front();
  if (parts_.size() > 1) {
    const name_scope scope(*graph_, name_ + "/ConcatPartitions/");
    whole = concat(parts_, axis(), "concat", where);
  }
  const name_scope root(*graph_, "");
  return identity(whole, name_, where);
}

LEAT_FUNCTION partitioned_variable get_variable(std::string_view name, const shape_value& extent,
                                                const partitioned_variable_settings& settings, const std::source_location& where) {
  if (!settings.partitioner.function()) throw invalid_argument("Partitioner must be callable, but received: None");
  return detail::find_or_make_partitioned(
      name, extent, {settings.type, settings.initializer, settings.regularizer, settings.trainable, settings.collections},
      settings.partitioner.function(), where);
}

LEAT_FUNCTION partitioned_variable get_variable(std::string_view name, const partitioned_variable_settings& settings,
                                                const std::source_location& where) {
  if (!settings.partitioner.function()) throw invalid_argument("Partitioner must be callable, but received: None");
  return detail::find_or_make_partitioned(
      name, std::nullopt, {settings.type, settings.initializer, settings.regularizer, settings.trainable, settings.collections},
      settings.partitioner.function(), where);
}

LEAT_FUNCTION output embedding_lookup(const partitioned_variable& table, const operand_value& ids, partition_strategy strategy,
                                      std::string_view name, const std::source_location& where) {
  return embedding_lookup(table.parts(), ids, strategy, name, where);
}

LEAT_FUNCTION std::vector<output> assign(const partitioned_variable& variable, const operand_value& value,
                                         const std::source_location& where) {
  return detail::assign_parts(variable, value, where, [&](const output& v, const output& part) { return assign(v, part, {}, where); });
}
LEAT_FUNCTION std::vector<output> assign_add(const partitioned_variable& variable, const operand_value& value,
                                             const std::source_location& where) {
  return detail::assign_parts(variable, value, where, [&](const output& v, const output& part) { return assign_add(v, part, {}, where); });
}
LEAT_FUNCTION std::vector<output> assign_sub(const partitioned_variable& variable, const operand_value& value,
                                             const std::source_location& where) {
  return detail::assign_parts(variable, value, where, [&](const output& v, const output& part) { return assign_sub(v, part, {}, where); });
}

LEAT_FUNCTION const save_slice_info* save_slice_info_of(const output& variable) {
  const auto& all = variable.owner().named().partitioned.slices;
  const auto at = all.find(variable.index());
  return at == all.end() ? nullptr : &at->second;
}

}  // namespace leat
