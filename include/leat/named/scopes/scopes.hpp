#pragma once
// Scopes of this thread's default graph: names, control dependencies, devices. Each is in effect during its lifetime; scopes end in reverse
// order, as C++ objects do. Source: TensorFlow `name_scope`, `control_dependencies`, `device`, `colocate_with`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/default_graph.hpp>
#include <leat/named/graph/graph_operation.hpp>
#include <leat/named/graph/part.hpp>

#include <utility>

namespace leat {

/// `auto s = name_scope("foo");`: new nodes are called "foo/...". A name that is taken gets a number; "foo/" re-enters exactly that
/// scope, from anywhere; "" or nullptr goes to the root.
/// Errors: invalid_argument for a name that TensorFlow does not accept.
class [[nodiscard]] name_scope {
 public:
  explicit name_scope(std::string_view name) : name_scope(default_graph(), name) {}
  explicit name_scope(std::nullptr_t) : name_scope(std::string_view{}) {}
  name_scope(graph& g, std::string_view name);
  name_scope(const name_scope&) = delete;
  name_scope& operator=(const name_scope&) = delete;
  ~name_scope();

  /// The scope's name with its slash, "foo/", which re-enters the scope; "" at the root.
  const std::string& text() const { return text_; }

 private:
  name_table* names_;
  std::string outer_;
  std::string text_;
};

/// A node that other nodes can wait for: an operation, or the operation of a tensor. Errors: invalid_argument for an element of a
/// collection that is neither, and for a tensor that is not a node of a graph.
class control_input {
 public:
  control_input(const output& o) : owner_(&o.owner()), index_(o.index()) {}
  control_input(const graph_operation& o) : owner_(&o.owner()), index_(o.index()) {}
  control_input(const collection_item& item);
  /// The graph of the operation.
  graph& owner() const { return *owner_; }
  /// Its place in the graph.
  int index() const { return index_; }

 private:
  graph* owner_;
  int index_;
};

/// `auto c = control_dependencies({a, b});`: new nodes run after these, even if they do not use them. Nested scopes add up; nullptr clears
/// the outer ones, and leaves the branch or loop that is being built. A tensor that was made before the scope is not delayed.
/// Errors: invalid_argument for a node of another graph.
class [[nodiscard]] control_dependencies {
 public:
  explicit control_dependencies(std::initializer_list<control_input> inputs) : control_dependencies(std::vector<control_input>(inputs)) {}
  explicit control_dependencies(const std::vector<control_input>& inputs);
  /// Takes a vector of tensors or operations, or the result of `get_collection`.
  template <class Item>
    requires(std::is_convertible_v<const Item&, control_input>)
  explicit control_dependencies(const std::vector<Item>& inputs)
      : control_dependencies(std::vector<control_input>(inputs.begin(), inputs.end())) {}
  explicit control_dependencies(std::nullptr_t);
  control_dependencies(const control_dependencies&) = delete;
  control_dependencies& operator=(const control_dependencies&) = delete;
  ~control_dependencies();

 private:
  graph* graph_;
  bool clears_ = false;
  std::vector<named_nodes::control_frame> outer_;
  control_flow_context* context_ = nullptr;
};

/// `auto d = device("/job:ps/task:0");`: the device of new nodes. Inner scopes override outer ones part by part; nullptr clears all outer
/// scopes, "" changes nothing. A function is called for each new node, after the scopes inside it have been applied, and its result
/// replaces their device.
/// Errors: invalid_argument for a malformed device name.
class [[nodiscard]] device {
 public:
  explicit device(std::string_view text);
  explicit device(const char* text) : device(std::string_view(text)) {}
  explicit device(std::nullptr_t);
  /// An empty function clears all outer scopes, as nullptr does.
  explicit device(device_function function);
  device(const device&) = delete;
  device& operator=(const device&) = delete;
  ~device();

 private:
  void push(named_nodes::device_frame frame);
  graph* graph_;
};

/// `auto c = colocate_with(v);`: new nodes are placed on the same device as this one, whatever device scopes say.
class [[nodiscard]] colocate_with {
 public:
  explicit colocate_with(const control_input& with);
  colocate_with(const colocate_with&) = delete;
  colocate_with& operator=(const colocate_with&) = delete;
  ~colocate_with();

 private:
  graph* graph_;
};

/// `auto mine = container("b");`: new variables and queues are stored in this container of the task that holds them, apart from those of
/// the same names in other containers; `graph_session::reset` drops the contents of a container. Source: TensorFlow `Graph.container`.
class [[nodiscard]] container {
 public:
  explicit container(std::string name) : container(default_graph(), std::move(name)) {}
  container(graph& g, std::string name);
  container(const container&) = delete;
  container& operator=(const container&) = delete;
  ~container();

 private:
  graph* graph_;
};

/// Sets the source line that messages and new nodes refer to, during its lifetime. Functions that take a name record the line of their call
/// themselves; operators cannot.
class [[nodiscard]] source_scope {
 public:
  explicit source_scope(const std::source_location& where = std::source_location::current()) : source_scope(default_graph(), where) {}
  source_scope(graph& g, const std::source_location& where);
  source_scope(const source_scope&) = delete;
  source_scope& operator=(const source_scope&) = delete;
  ~source_scope() { nodes_->position = outer_; }

 private:
  named_nodes* nodes_;
  source_position outer_;
};

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/scopes/impl/scopes.hpp>
#endif
