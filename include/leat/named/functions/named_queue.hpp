#pragma once
// Queues in named graphs: `fifo_queue(100, {dtype::float32}, {{}})` adds a queue's node, and member functions add the nodes that
// enqueue, dequeue and close. Elements are tuples of tensors, the components. Node names, checks and shapes follow TensorFlow 1.x.
// Source: TensorFlow 1.x `FIFOQueue`, `PaddingFIFOQueue`, `RandomShuffleQueue`, `QueueBase`.

#include <leat/named/functions/named_random.hpp>
#include <leat/named/graph/lookup.hpp>

namespace leat {

/// Options of a new queue.
struct queue_options {
  std::string shared_name{};  // queues with the same shared name are one queue in a session
  std::string name{};         // name of the node; empty: the queue's kind, "fifo_queue"
  std::uint64_t seed = 0;     // for the order of a random_shuffle_queue; 0: another order in each session
};

/// Handle of a queue in a graph.
class graph_queue {
 public:
  /// Adds one element when it runs; blocks while the queue is full. Errors: invalid_argument for a wrong number of components. In a
  /// run: invalid_argument for wrong dtypes or shapes, cancelled if the queue is closed. Source: `enqueue`.
  graph_operation enqueue(const std::vector<operand_value>& components, std::string_view name = {},
                          const std::source_location& where = std::source_location::current()) const {
    return add("QueueEnqueueV2", "_enqueue", components, name, where);
  }
  /// Adds one element for each row of the components. Errors: as above. Source: `enqueue_many`.
  graph_operation enqueue_many(const std::vector<operand_value>& components, std::string_view name = {},
                               const std::source_location& where = std::source_location::current()) const {
    return add("QueueEnqueueManyV2", "_EnqueueMany", components, name, where);
  }
  /// Removes the next element and returns its components; blocks while the queue is empty. Errors in a run: out_of_range if the queue
  /// is closed and has too few elements. Source: `dequeue`.
  std::vector<output> dequeue(std::string_view name = {}, const std::source_location& where = std::source_location::current()) const {
    return take("QueueDequeueV2", "_Dequeue", std::nullopt, unknown_dimension, name, where);
  }
  /// Removes n elements and returns each component as one tensor of n rows. The queue must have shapes. Source: `dequeue_many`.
  std::vector<output> dequeue_many(const operand_value& n, std::string_view name = {},
                                   const std::source_location& where = std::source_location::current()) const {
    const bool is_known = n.literal() != nullptr && n.literal()->extent().rank == 0;
    return take("QueueDequeueManyV2", "_DequeueMany", n, is_known ? static_cast<std::int64_t>(n.literal()->number(0)) : unknown_dimension,
                name, where);
  }
  /// The same, but a closed queue returns what is left if that is less than n. Source: `dequeue_up_to`.
  std::vector<output> dequeue_up_to(const operand_value& n, std::string_view name = {},
                                    const std::source_location& where = std::source_location::current()) const {
    return take("QueueDequeueUpToV2", "_DequeueUpTo", n, unknown_dimension, name, where);
  }
  /// Makes later enqueues fail. A blocked enqueue still completes, unless `cancel_pending_enqueues`. Source: `close`.
  graph_operation close(bool cancel_pending_enqueues = false, std::string_view name = {},
                        const std::source_location& where = std::source_location::current()) const {
    return call("QueueCloseV2", "_Close", {}, {{"cancel_pending_enqueues", cancel_pending_enqueues}}, name, where);
  }
  /// The number of elements, an int32 scalar. Source: `size`.
  output size(std::string_view name = {}, const std::source_location& where = std::source_location::current()) const {
    return call("QueueSizeV2", "_Size", {}, {}, name, where).result();
  }
  /// Whether the queue is closed, a bool scalar. Source: `is_closed`.
  output is_closed(std::string_view name = {}, const std::source_location& where = std::source_location::current()) const {
    return call("QueueIsClosedV2", "_Is_Closed", {}, {}, name, where).result();
  }
  /// The queue's handle.
  const output& reference() const { return reference_; }
  const std::vector<dtype>& types() const { return types_; }
  /// Empty if any shapes are allowed.
  const std::vector<shape_value>& shapes() const { return shapes_; }

 private:
  friend graph_queue fifo_queue(std::int64_t, const std::vector<dtype>&, const std::vector<shape_value>&, const queue_options&,
                                const std::source_location&);
  friend graph_queue padding_fifo_queue(std::int64_t, const std::vector<dtype>&, const std::vector<shape_value>&, const queue_options&,
                                        const std::source_location&);
  friend graph_queue random_shuffle_queue(std::int64_t, std::int64_t, const std::vector<dtype>&, const std::vector<shape_value>&,
                                          const queue_options&, const std::source_location&);

  static std::vector<data_type> data_types(const std::vector<dtype>& types) {
    std::vector<data_type> list;
    for (const dtype t : types) list.push_back(to_data_type(t));
    return list;
  }
  graph_queue(std::string_view type, std::string_view default_name, const std::vector<dtype>& types, const std::vector<shape_value>& shapes,
        attribute_map attributes, const queue_options& options, const std::source_location& where)
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

  graph_operation call(std::string_view type, std::string_view suffix, std::vector<number_argument> given, attribute_map attributes,
                       std::string_view name, const std::source_location& where) const {
    graph& g = reference_.owner();
    const source_scope line(g, where);
    given.insert(given.begin(), reference_);
    const std::string full = reference_.operation().name();
    const std::string own = full.substr(full.rfind('/') == full.npos ? 0 : full.rfind('/') + 1) + std::string(suffix);
    return call_operator(g, type, std::span<const number_argument>(given), std::move(attributes),
                         name.empty() ? std::string_view(own) : name);
  }
  graph_operation add(std::string_view type, std::string_view suffix, const std::vector<operand_value>& components, std::string_view name,
                      const std::source_location& where) const {
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
  std::vector<output> take(std::string_view type, std::string_view suffix, const std::optional<operand_value>& n, std::int64_t rows,
                           std::string_view name, const std::source_location& where) const {
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

  output reference_;
  std::vector<dtype> types_;
  std::vector<shape_value> shapes_;
};

/// A first in, first out queue in the default graph. `capacity`: the most elements it holds; below 0: no limit.
/// `shapes`: one for each component, or empty to allow any shapes; then `dequeue_many` is not possible.
/// Errors: invalid_argument if `shapes` is neither empty nor as long as `types`. Source: `FIFOQueue`.
[[nodiscard]] inline graph_queue fifo_queue(std::int64_t capacity, const std::vector<dtype>& types,
                                            const std::vector<shape_value>& shapes = {}, const queue_options& options = {},
                                            const std::source_location& where = std::source_location::current()) {
  return {"FIFOQueueV2", "fifo_queue", types, shapes, {{"capacity", capacity}}, options, where};
}
/// The same for elements whose sizes vary where `shapes` has -1; batches are padded with zeros. Source: `PaddingFIFOQueue`.
[[nodiscard]] inline graph_queue padding_fifo_queue(std::int64_t capacity, const std::vector<dtype>& types,
                                                    const std::vector<shape_value>& shapes, const queue_options& options = {},
                                                    const std::source_location& where = std::source_location::current()) {
  return {"PaddingFIFOQueueV2", "padding_fifo_queue", types, shapes, {{"capacity", capacity}}, options, where};
}
/// A queue that returns its elements in random order. While it is open, at least `least` elements remain after each dequeue.
/// Source: `RandomShuffleQueue`.
[[nodiscard]] inline graph_queue random_shuffle_queue(std::int64_t capacity, std::int64_t least, const std::vector<dtype>& types,
                                                const std::vector<shape_value>& shapes = {}, const queue_options& options = {},
                                                const std::source_location& where = std::source_location::current()) {
  attribute_map attributes{{"capacity", capacity},
                           {"min_after_dequeue", least},
                           {"seed", options.seed == 0 ? std::int64_t{0} : std::int64_t{87654321}},
                           {"seed2", static_cast<std::int64_t>(options.seed)}};
  return {"RandomShuffleQueueV2", "random_shuffle_queue", types, shapes, std::move(attributes), options, where};
}

}  // namespace leat
