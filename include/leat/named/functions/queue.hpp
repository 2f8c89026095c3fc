#pragma once
// Queues in named graphs: `fifo_queue(100, {dtype::float32}, {{}})` adds a queue's node, and member functions add the nodes that
// enqueue, dequeue and close. Elements are tuples of tensors, the components. Node names, checks and shapes follow TensorFlow 1.x.
// Source: TensorFlow 1.x `FIFOQueue`, `PaddingFIFOQueue`, `RandomShuffleQueue`, `QueueBase`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/operand.hpp>
#include <leat/named/graph/part.hpp>

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
                          const std::source_location& where = std::source_location::current()) const;
  /// Adds one element for each row of the components. Errors: as for `enqueue`. Source: `enqueue_many`.
  graph_operation enqueue_many(const std::vector<operand_value>& components, std::string_view name = {},
                               const std::source_location& where = std::source_location::current()) const;
  /// Removes the next element and returns its components; blocks while the queue is empty. Errors in a run: out_of_range if the queue
  /// is closed and has too few elements. Source: `dequeue`.
  std::vector<output> dequeue(std::string_view name = {}, const std::source_location& where = std::source_location::current()) const;
  /// Removes n elements and returns each component as one tensor of n rows. The queue must have been made with shapes. Errors in a run: as
  /// for `dequeue`. Source: `dequeue_many`.
  std::vector<output> dequeue_many(const operand_value& n, std::string_view name = {},
                                   const std::source_location& where = std::source_location::current()) const;
  /// Like `dequeue_many`, but a closed queue with fewer than n elements returns those that remain. Source: `dequeue_up_to`.
  std::vector<output> dequeue_up_to(const operand_value& n, std::string_view name = {},
                                    const std::source_location& where = std::source_location::current()) const;
  /// Makes later enqueues fail. An enqueue that is blocked still completes, unless `cancel_pending_enqueues`. Source: `close`.
  graph_operation close(bool cancel_pending_enqueues = false, std::string_view name = {},
                        const std::source_location& where = std::source_location::current()) const;
  /// The number of elements, an int32 scalar. Source: `size`.
  output size(std::string_view name = {}, const std::source_location& where = std::source_location::current()) const;
  /// Whether the queue is closed, a bool scalar. Source: `is_closed`.
  output is_closed(std::string_view name = {}, const std::source_location& where = std::source_location::current()) const;
  /// The tensor that is the queue's handle.
  const output& reference() const { return reference_; }
  const std::vector<dtype>& types() const { return types_; }
  /// The shapes of the components; empty if any shapes are allowed.
  const std::vector<shape_value>& shapes() const { return shapes_; }

 private:
  friend graph_queue fifo_queue(std::int64_t, const std::vector<dtype>&, const std::vector<shape_value>&, const queue_options&,
                                const std::source_location&);
  friend graph_queue padding_fifo_queue(std::int64_t, const std::vector<dtype>&, const std::vector<shape_value>&, const queue_options&,
                                        const std::source_location&);
  friend graph_queue random_shuffle_queue(std::int64_t, std::int64_t, const std::vector<dtype>&, const std::vector<shape_value>&,
                                          const queue_options&, const std::source_location&);

  static std::vector<data_type> data_types(const std::vector<dtype>& types);
  graph_queue(std::string_view type, std::string_view default_name, const std::vector<dtype>& types, const std::vector<shape_value>& shapes,
              attribute_map attributes, const queue_options& options, const std::source_location& where);

  graph_operation call(std::string_view type, std::string_view suffix, std::vector<number_argument> given, attribute_map attributes,
                       std::string_view name, const std::source_location& where) const;
  graph_operation add(std::string_view type, std::string_view suffix, const std::vector<operand_value>& components, std::string_view name,
                      const std::source_location& where) const;
  std::vector<output> take(std::string_view type, std::string_view suffix, const std::optional<operand_value>& n, std::int64_t rows,
                           std::string_view name, const std::source_location& where) const;

  output reference_;
  std::vector<dtype> types_;
  std::vector<shape_value> shapes_;
};

/// A first-in, first-out queue in the default graph. `capacity`: the maximum number of elements; unlimited if negative.
/// `shapes`: one for each component, or empty to allow any shapes; without shapes `dequeue_many` is not possible.
/// Errors: invalid_argument if `shapes` is neither empty nor as long as `types`. Source: `FIFOQueue`.
[[nodiscard]] graph_queue fifo_queue(std::int64_t capacity, const std::vector<dtype>& types, const std::vector<shape_value>& shapes = {},
                                     const queue_options& options = {},
                                     const std::source_location& where = std::source_location::current());
/// A first-in, first-out queue for elements whose sizes vary in the dimensions where `shapes` has -1; batches are padded with zeros.
/// Source: `PaddingFIFOQueue`.
[[nodiscard]] graph_queue padding_fifo_queue(std::int64_t capacity, const std::vector<dtype>& types, const std::vector<shape_value>& shapes,
                                             const queue_options& options = {},
                                             const std::source_location& where = std::source_location::current());
/// A queue that returns its elements in random order. While it is open, at least `least` elements remain after each dequeue.
/// Source: `RandomShuffleQueue`.
[[nodiscard]] graph_queue random_shuffle_queue(std::int64_t capacity, std::int64_t least, const std::vector<dtype>& types,
                                               const std::vector<shape_value>& shapes = {}, const queue_options& options = {},
                                               const std::source_location& where = std::source_location::current());

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/functions/impl/queue.hpp>
#endif
