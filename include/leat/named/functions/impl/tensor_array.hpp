#pragma once
// Implementation of tensor_array.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/impl/slice.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/functions/shape.hpp>
#include <leat/named/functions/slice.hpp>
#include <leat/named/functions/tensor_array.hpp>
#include <leat/named/graph/call.hpp>
#include <leat/named/graph/known_value.hpp>
#include <leat/named/graph/lookup.hpp>

namespace leat {

namespace detail {

// A scope called `name`, or like its operator if that is empty; TensorFlow then uses `name` for the operator, too.
inline std::string_view scope_name(std::string_view name, std::string_view otherwise) { return name.empty() ? otherwise : name; }
// The numbers 0, 1, ... before `count`.
inline output indices_before(const output& count) {
  graph& g = count.owner();
  const name_scope scope(g, "range");
  const output start = g.named().make_constant(g, std::int32_t{0}, "start");
  const output delta = g.named().make_constant(g, std::int32_t{1}, "delta");
  const auto known = fully_known_numbers(count);
  shape rows;
  rows.push(known && known->size() == 1 ? (*known)[0] : unknown_dimension);
  return g.named()
      .raw(g, "Range", std::array{start, count, delta}, {{"Tidx", dtype::int32}}, {{dtype::int32, rows}}, scope.text())
      .result();
}

}  // namespace detail

LEAT_FUNCTION tensor_array::tensor_array(dtype type, const operand_value& size, const tensor_array_options& options,
                                         const std::source_location& where)
    : type_(type), shared_(std::make_shared<common>()) {
  graph& g = size.tensor() != nullptr ? size.tensor()->owner() : default_graph();
  const source_scope line(g, where);
  *shared_ = {.element = options.element_shape,
              .infers = options.infer_shape,
              .is_dynamic = options.dynamic_size,
              .size = size,
              .colocates = options.colocate_with_first_write_call};
  const name_scope scope(g, detail::scope_name(options.name, "TensorArray"));
  const number_argument only[]{detail::argument_of(size)};
  const graph_operation made = call_operator(g, "TensorArrayV3", only,
                                             {{"dtype", to_data_type(type)},
                                              {"element_shape", to_proto(options.element_shape)},
                                              {"identical_element_shapes", options.infer_shape},
                                              {"dynamic_size", options.dynamic_size},
                                              {"clear_after_read", options.clear_after_read},
                                              {"tensor_array_name", options.tensor_array_name}},
                                             scope.text());
  handle_ = made.result(0);
  flow_ = made.result(1);
}
LEAT_FUNCTION tensor_array::tensor_array(dtype type, const output& handle, const output& flow, bool infer_shape)
    : type_(type), handle_(handle), flow_(flow), shared_(std::make_shared<common>()) {
  const name_scope scope(handle.owner(), "TensorArray");  // TensorFlow takes this name for each handle
  shared_->infers = infer_shape;
}
LEAT_FUNCTION tensor_array tensor_array::with_flow(const output& flow) const {
  const name_scope scope(handle_.owner(), "TensorArray");
  return {*this, flow};
}
LEAT_FUNCTION tensor_array tensor_array::identity(const std::source_location& where) const {
  return with_flow(leat::identity(flow_, {}, where));
}

LEAT_FUNCTION graph_operation tensor_array::call(std::string_view type, std::vector<number_argument> given, attribute_map attributes,
                                                 std::string_view name) const {
  given.insert(given.begin(), handle_);
  return call_operator(handle_.owner(), type, std::span<const number_argument>(given), std::move(attributes),
                       detail::scope_name(name, type));
}
LEAT_FUNCTION void tensor_array::check_element(const shape& element) const {
  common& its = *shared_;
  if (!may_equal(its.element, element))
    throw invalid_argument("Inconsistent shapes: saw " + shape_text(element) + " but expected " + shape_text(its.element));
  if (its.infers) its.element = known_of(its.element, element);
}
LEAT_FUNCTION void tensor_array::set_element_shape(const output& o, bool is_stacked, std::int64_t count) const {
  const shape& element = shared_->element;
  if (!element.has_rank() || (is_stacked && element.rank == max_rank)) return;
  shape all;
  if (is_stacked) all.push(count);
  for (int i = 0; i < element.rank; ++i) all.push(element[i]);
  set_shape(o, all);
}
LEAT_FUNCTION output tensor_array::value_for(const operand_value& value) const {
  graph& g = handle_.owner();
  const output o = value.tensor() != nullptr ? g.named().value_of(*value.tensor()) : g.named().make_constant(g, *value.literal(), "value");
  if (o.type() != type_)
    throw invalid_argument("TensorArray dtype is " + std::string(name_of_dtype(type_)) + " but Op is trying to write dtype " +
                           dtype_text(o));
  return o;
}
LEAT_FUNCTION tensor_array tensor_array::written(std::string_view type, std::vector<number_argument> given, std::string_view name,
                                                 const output& value) const {
  given.emplace_back(flow_);
  if (!shared_->colocates) return with_flow(call(type, std::move(given), {{"T", to_data_type(type_)}}, name).result());
  if (!static_cast<bool>(shared_->first_written)) shared_->first_written = value;
  output flow;
  {
    const colocate_with with{control_input(shared_->first_written)};
    flow = call(type, std::move(given), {{"T", to_data_type(type_)}}, name).result();
  }
  return with_flow(flow);
}

LEAT_FUNCTION output tensor_array::read(const operand_value& index, std::string_view name, const std::source_location& where) const {
  const source_scope line(handle_.owner(), where);
  const output value = call("TensorArrayReadV3", {detail::argument_of(index), flow_}, {{"dtype", to_data_type(type_)}}, name).result();
  set_element_shape(value, false);
  return value;
}
LEAT_FUNCTION tensor_array tensor_array::write(const operand_value& index, const operand_value& value, std::string_view name,
                                               const std::source_location& where) const {
  const source_scope line(handle_.owner(), where);
  const name_scope scope(handle_.owner(), detail::scope_name(name, "TensorArrayWrite"));
  const output v = value_for(value);
  check_element(v.extent());
  return written("TensorArrayWriteV3", {detail::argument_of(index), v}, name, v);
}
LEAT_FUNCTION output tensor_array::stack(std::string_view name, const std::source_location& where) const {
  const source_scope line(handle_.owner(), where);
  const colocate_with with{control_input(handle_)};
  const name_scope scope(handle_.owner(), detail::scope_name(name, "TensorArrayStack"));
  const output count = size({}, where);
  const output value = gather(detail::indices_before(count), name, where);
  const auto known = known_numbers(count);
  if (!shared_->is_dynamic && shared_->size)
    set_element_shape(value, true, known && known->size() == 1 && (*known)[0] >= 0 ? (*known)[0] : unknown_dimension);
  return value;
}
LEAT_FUNCTION output tensor_array::gather(const operand_value& indices, std::string_view name, const std::source_location& where) const {
  const source_scope line(handle_.owner(), where);
  const output value = call("TensorArrayGatherV3", {detail::argument_of(indices), flow_},
                            {{"dtype", to_data_type(type_)}, {"element_shape", to_proto(shared_->element)}}, name)
                           .result();
  set_element_shape(value, true);
  return value;
}
LEAT_FUNCTION output tensor_array::concat(std::string_view name, const std::source_location& where) const {
  const source_scope line(handle_.owner(), where);
  const shape& element = shared_->element;
  shape rest = shape::unknown();
  if (element.has_rank()) rest = shape{};
  for (int i = 1; i < element.rank; ++i) rest.push(element[i]);
  const output value =
      call("TensorArrayConcatV3", {flow_}, {{"dtype", to_data_type(type_)}, {"element_shape_except0", to_proto(rest)}}, name).result(0);
  if (!element.has_rank() || element.rank == 0) return value;
  shape joined;
  joined.push(unknown_dimension);
  for (int i = 0; i < rest.rank; ++i) joined.push(rest[i]);
  set_shape(value, joined);
  return value;
}
LEAT_FUNCTION tensor_array tensor_array::unstack(const operand_value& value, std::string_view name,
                                                 const std::source_location& where) const {
  graph& g = handle_.owner();
  const source_scope line(g, where);
  const name_scope scope(g, detail::scope_name(name, "TensorArrayUnstack"));
  const output v = value_for(value);
  return scatter(detail::indices_before(index(shape_of(v), {0})), v, name, where);
}
LEAT_FUNCTION tensor_array tensor_array::scatter(const operand_value& indices, const operand_value& value, std::string_view name,
                                                 const std::source_location& where) const {
  const source_scope line(handle_.owner(), where);
  const name_scope scope(handle_.owner(), detail::scope_name(name, "TensorArrayScatter"));
  const output v = value_for(value);
  if (v.extent().has_rank() && v.extent().rank == 0)
    throw invalid_argument("Input value for unpack must be at least a vector but received shape: " + shape_text(v.extent()));
  shape element = shape::unknown();
  if (v.extent().has_rank()) element = shape{};
  for (int i = 1; i < v.extent().rank; ++i) element.push(v.extent()[i]);
  check_element(element);
  return written("TensorArrayScatterV3", {detail::argument_of(indices), v}, name, v);
}
LEAT_FUNCTION tensor_array tensor_array::split(const operand_value& value, const operand_value& lengths, std::string_view name,
                                               const std::source_location& where) const {
  graph& g = handle_.owner();
  const source_scope line(g, where);
  const name_scope scope(g, detail::scope_name(name, "TensorArraySplit"));
  const output v = value_for(value);
  const output counts = lengths.tensor() != nullptr ? *lengths.tensor() : g.named().make_constant(g, *lengths.literal(), "Const");
  const output wide = counts.type() == dtype::int64 ? counts : cast(counts, dtype::int64);
  const auto known = fully_known_numbers(counts);
  if (v.extent().has_rank() && v.extent().rank > 0 && known && !known->empty() &&
      std::equal(known->begin() + 1, known->end(), known->begin())) {
    shape element;
    element.push(known->front());
    for (int i = 1; i < v.extent().rank; ++i) element.push(v.extent()[i]);
    check_element(element);
  }
  return written("TensorArraySplitV3", {v, wide}, name, v);
}
LEAT_FUNCTION output tensor_array::size(std::string_view name, const std::source_location& where) const {
  graph& g = handle_.owner();
  const source_scope line(g, where);
  if (shared_->is_dynamic || !shared_->size) return call("TensorArraySizeV3", {flow_}, {}, name).result();
  const operand_value& given = *shared_->size;
  return given.tensor() != nullptr ? *given.tensor() : g.named().make_constant(g, *given.literal(), "Const");
}
LEAT_FUNCTION graph_operation tensor_array::close(std::string_view name, const std::source_location& where) const {
  const source_scope line(handle_.owner(), where);
  return call("TensorArrayCloseV3", {}, {}, name);
}
LEAT_FUNCTION tensor_array tensor_array::grad(std::string_view source, const output& flow, std::string_view name,
                                              const std::source_location& where) const {
  const source_scope line(handle_.owner(), where);
  const name_scope scope(handle_.owner(), detail::scope_name(name, "TensorArrayGrad"));
  const colocate_with with{control_input(handle_)};
  const output from = static_cast<bool>(flow) ? flow : flow_;
  const output made = call("TensorArrayGradV3", {from}, {{"source", std::string(source)}}, name).result(0);
  output after;
  {
    const control_dependencies later({made});
    after = leat::identity(from, "gradient_flow", where);
  }
  tensor_array array(type_, made, after, shared_->infers);
  array.shared_->element = shared_->element;
  return array;
}

}  // namespace leat
