#pragma once
// Implementation of named_queue.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/queue.hpp>
#include <leat/named/graph/call.hpp>
#include <leat/named/graph/lookup.hpp>

namespace leat {

LEAT_FUNCTION std::vector<output> graph_queue::dequeue_many(const operand_value& n, std::string_view name,
                                                            const std::source_location& where) const {
  const bool is_known = n.literal() != nullptr && n.literal()->extent().rank == 0;
  return take("QueueDequeueManyV2", "_DequeueMany", n, is_known ? static_cast<std::int64_t>(n.literal()->number(0)) : unknown_dimension,
              name, where);
}

LEAT_FUNCTION graph_queue::graph_queue(std::string_view type, std::string_view default_name, const std::vector<dtype>& types,
                                       const std::vector<shape_value>& shapes, attribute_map attributes, const queue_options& options,
                                       const std::source_location& where)
    : types_(types), shapes_(shapes) {
  if (types.empty()) throw invalid_argument("a queue of no components");
  if (!shapes.empty() && shapes.size() != types.size())
    throw invalid_argument("Queue shapes must have the same length as dtypes, but got " + std::to_string(types.size()) + " dtypes and " +
                           std::to_string(shapes.size()) + " shapes");
  graph& g = default_graph();
  const source_scope line(g, where);
  std::vector<tensor_shape_proto> protos;
  for (const shape& s : shapes) protos.push_back(to_proto(s));
  attributes["component_types"] = data_types(types);
  if (!protos.empty()) attributes["shapes"] = protos;
  attributes["shared_name"] = options.shared_name;
  reference_ = call_operator(g, type, {}, std::move(attributes), options.name.empty() ? default_name : options.name).result();
}

LEAT_FUNCTION graph_operation graph_queue::call(std::string_view type, std::string_view suffix, std::vector<number_argument> given,
                                                attribute_map attributes, std::string_view name, const std::source_location& where) const {
  graph& g = reference_.owner();
  const source_scope line(g, where);
  given.insert(given.begin(), reference_);
  const std::string full = reference_.operation().name();
  const std::string own = full.substr(full.rfind('/') == full.npos ? 0 : full.rfind('/') + 1) + std::string(suffix);
  return call_operator(g, type, std::span<const number_argument>(given), std::move(attributes),
                       name.empty() ? std::string_view(own) : name);
}

LEAT_FUNCTION graph_operation graph_queue::add(std::string_view type, std::string_view suffix, const std::vector<operand_value>& components,
                                               std::string_view name, const std::source_location& where) const {
  if (components.size() != types_.size())
    throw invalid_argument("the queue '" + reference_.operation().name() + "' has " + std::to_string(types_.size()) + " components, " +
                           std::to_string(components.size()) + " are given");
  std::vector<number_argument> given;
  for (const operand_value& v : components) {
    if (v.tensor() != nullptr) given.emplace_back(*v.tensor());
    else given.emplace_back(*v.literal());
  }
  return call(type, suffix, std::move(given), {{"Tcomponents", data_types(types_)}}, name, where);
}

LEAT_FUNCTION std::vector<output> graph_queue::take(std::string_view type, std::string_view suffix, const std::optional<operand_value>& n,
                                                    std::int64_t rows, std::string_view name, const std::source_location& where) const {
  std::vector<number_argument> given;
  if (n && n->tensor() != nullptr) given.emplace_back(*n->tensor());
  else if (n) given.emplace_back(*n->literal());
  const graph_operation made = call(type, suffix, given, {{"component_types", data_types(types_)}}, name, where);
  std::vector<output> components;
  for (std::size_t k = 0; k < types_.size(); ++k) {
    components.push_back(made.result(static_cast<int>(k)));
    if (shapes_.empty()) continue;
    shape known;
    if (n && shapes_[k].rank == max_rank) throw invalid_argument("rows of 8 dimensions make an array of more than 8 dimensions");
    if (n) known.push(rows);
    for (int i = 0; i < shapes_[k].rank; ++i) known.push(shapes_[k][i]);
    set_shape(components.back(), known);
  }
  return components;
}

LEAT_FUNCTION graph_queue random_shuffle_queue(std::int64_t capacity, std::int64_t least, const std::vector<dtype>& types,
                                               const std::vector<shape_value>& shapes, const queue_options& options,
                                               const std::source_location& where) {
  const auto [first, second] = default_graph().named().seeds.next(options.seed);
  attribute_map attributes{{"capacity", capacity}, {"min_after_dequeue", least}, {"seed", first}, {"seed2", second}};
  return {"RandomShuffleQueueV2", "random_shuffle_queue", types, shapes, std::move(attributes), options, where};
}

LEAT_FUNCTION graph_operation graph_queue::close(bool cancel_pending_enqueues, std::string_view name,
                                                 const std::source_location& where) const {
  return call("QueueCloseV2", "_Close", {}, {{"cancel_pending_enqueues", cancel_pending_enqueues}}, name, where);
}

LEAT_FUNCTION output graph_queue::size(std::string_view name, const std::source_location& where) const {
  return call("QueueSizeV2", "_Size", {}, {}, name, where).result();
}

LEAT_FUNCTION output graph_queue::is_closed(std::string_view name, const std::source_location& where) const {
  return call("QueueIsClosedV2", "_Is_Closed", {}, {}, name, where).result();
}

LEAT_FUNCTION std::vector<data_type> graph_queue::data_types(const std::vector<dtype>& types) {
  std::vector<data_type> list;
  for (const dtype t : types) list.push_back(to_data_type(t));
  return list;
}

LEAT_FUNCTION graph_queue fifo_queue(std::int64_t capacity, const std::vector<dtype>& types, const std::vector<shape_value>& shapes,
                                     const queue_options& options, const std::source_location& where) {
  return {"FIFOQueueV2", "fifo_queue", types, shapes, {{"capacity", capacity}}, options, where};
}

LEAT_FUNCTION graph_queue padding_fifo_queue(std::int64_t capacity, const std::vector<dtype>& types, const std::vector<shape_value>& shapes,
                                             const queue_options& options, const std::source_location& where) {
  return {"PaddingFIFOQueueV2", "padding_fifo_queue", types, shapes, {{"capacity", capacity}}, options, where};
}

LEAT_FUNCTION graph_operation graph_queue::enqueue(const std::vector<operand_value>& components, std::string_view name,
                                                   const std::source_location& where) const {
  return add("QueueEnqueueV2", "_enqueue", components, name, where);
}

LEAT_FUNCTION graph_operation graph_queue::enqueue_many(const std::vector<operand_value>& components, std::string_view name,
                                                        const std::source_location& where) const {
  return add("QueueEnqueueManyV2", "_EnqueueMany", components, name, where);
}

LEAT_FUNCTION std::vector<output> graph_queue::dequeue(std::string_view name, const std::source_location& where) const {
  return take("QueueDequeueV2", "_Dequeue", std::nullopt, unknown_dimension, name, where);
}

LEAT_FUNCTION std::vector<output> graph_queue::dequeue_up_to(const operand_value& n, std::string_view name,
                                                             const std::source_location& where) const {
  return take("QueueDequeueUpToV2", "_DequeueUpTo", n, unknown_dimension, name, where);
}

}  // namespace leat
