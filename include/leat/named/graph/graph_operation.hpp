#pragma once
// Handle of a node in a graph with names, TensorFlow 1.x's `Operation`: name, type, inputs, results, attributes and device. `output`
// is the handle of one of its results.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/nodes.hpp>

namespace leat {

namespace detail {
const named_nodes& nodes_of(const graph& g);
}  // namespace detail

/// A node of a named graph.
class graph_operation {
 public:
  graph_operation() = default;
  graph_operation(graph& owner, int index) : owner_(&owner), index_(index) {}

  /// The graph of the node; `index()` is the node's row in the table.
  graph& owner() const { return *owner_; }
  int index() const { return index_; }
  /// Whether the handle refers to a node.
  explicit operator bool() const { return owner_ != nullptr; }
  bool operator==(const graph_operation&) const = default;

  /// The node's full name, "scope/mul".
  const std::string& name() const { return detail::nodes_of(*owner_).name_text(index_); }
  /// The operator's TensorFlow name, "MatMul".
  std::string_view type() const { return owner_->at(index_).op->type; }
  /// The requested device, "" for none.
  std::string device() const { return std::string(record().device); }
  /// All named attributes.
  const attribute_map& attributes() const { return record().attributes; }
  /// A named attribute. Errors: not_found if the node has none of this name.
  const attribute_value& attribute(std::string_view name) const;
  /// The data inputs in order, including those that hold axes and shapes.
  std::vector<output> inputs() const;
  /// The operations that must run before this one.
  std::vector<graph_operation> control_inputs() const;
  /// All results in order.
  std::vector<output> outputs() const;
  /// Result `port`. Errors: out_of_range if there is none.
  output result(int port = 0) const;
  /// The source line that made the node.
  source_position made_at() const { return record().made_at; }

 private:
  const node_record& record() const { return detail::nodes_of(*owner_).record(index_); }
  graph* owner_ = nullptr;
  int index_ = -1;
};

inline graph_operation output::operation() const { return {*owner_, index_}; }
inline std::string output::name() const { return detail::nodes_of(*owner_).result_name(index_, port_); }

/// The dtype as text: "float32", or "float32_ref" for a reference to a variable, which variables and assignments return.
std::string dtype_text(const output& o);

/// A shape as TensorFlow writes it: "(?, 3)", or "<unknown>" if the rank is unknown.
std::string shape_text(const shape& s, std::string_view unknown = "?");

/// A tensor as text for messages: `Tensor("mul:0", shape=(?, 3), dtype=float32)`.
std::string describe(const output& o);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/graph/impl/graph_operation.hpp>
#endif
