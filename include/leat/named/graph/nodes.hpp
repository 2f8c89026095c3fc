#pragma once
// Nodes with names: the record that a user's graph has for each row of its table, and how rows are appended. New nodes get their control
// inputs, device and colocation here, as in TensorFlow 1.x.

#include <leat/core/blocks.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/core/short_list.hpp>
#include <leat/graph/graph.hpp>
#include <leat/named/graph/device.hpp>
#include <leat/named/graph/kept_text.hpp>
#include <leat/named/graph/names.hpp>
#include <leat/proto/attribute_value.hpp>

#include <atomic>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <source_location>
#include <unordered_map>
#include <unordered_set>

namespace leat {

class graph_operation;
class named_nodes;
struct node_request;

/// A branch of a `cond`, or a loop, as an interface for the nodes that are made in it; named/control/control_flow.hpp implements both.
class control_flow_context {
 public:
  control_flow_context() = default;
  control_flow_context(const control_flow_context&) = delete;
  control_flow_context& operator=(const control_flow_context&) = delete;
  virtual ~control_flow_context() = default;
  /// The context to which a new node belongs while this is the current one.
  virtual control_flow_context* home_of(const node_request&) { return this; }
  /// Called before a node is appended: brings in inputs from outside, and replaces control inputs from elsewhere.
  virtual void admit(const node_request& request, std::vector<output>& inputs, std::vector<int>& controls) = 0;
  /// Called after a node was appended: registers its results in the context.
  virtual void note(int index) = 0;
  /// Checks that a node of `user` (null: a node outside of all contexts) may take a tensor that was made in this context.
  /// Errors: invalid_argument.
  virtual void check_use(const node_request& request, control_flow_context* user, const output& input) = 0;
};

/// The source line that made a node.
struct source_position {
  const char* file = "";
  unsigned line = 0;
  constexpr source_position() = default;
  constexpr source_position(const std::source_location& where) : file(where.file_name()), line(where.line()) {}
};

/// A device function: takes a node, whose `device()` is the one that inner scopes asked for, and returns its device. Returning nullopt is
/// an error.
using device_function = std::function<std::optional<std::string>(const graph_operation&)>;

/// The record of a named graph for a row of the table. Graphs have many of these, so that data that few nodes have are behind one pointer.
struct node_record {
  kept_text name;
  kept_text device;
  attribute_map attributes;
  source_position made_at;
  control_flow_context* context = nullptr;      // the branch or loop in which the node was made
  std::unique_ptr<tensor_info[]> beyond_first;  // see `further`
  int results = 1;
  int order = 0;          // position in files, where operands may come after their users, unlike in the table
  int number_inputs = 0;  // number of inputs, after the operands, that hold numeric attributes: axes, a shape
  int read = -1;          // for a variable: the node that reads it
  int initializer = -1;   // for a variable: the node that assigns its initial value
  bool unnamed = false;   // a constant for a plain value, until an operator names it
  bool complete = true;   // all numeric attributes are known; if false, some are known only at run time
  bool fetchable = true;  // false inside branches and loops, which may not run, or run several times
  bool feedable = true;

  /// Dtypes and shapes of the results after the first.
  std::span<const tensor_info> further() const {
    return {beyond_first.get(), beyond_first != nullptr ? static_cast<std::size_t>(results - 1) : 0};
  }
};

/// Dtypes and shapes of a node's results. Nearly all nodes have one result.
using result_list = detail::short_list<tensor_info, 1>;

/// A node to be made. `inputs` are all of TensorFlow's inputs except control inputs: operands first, then those that hold numeric
/// attributes. Strings are borrowed from the caller; the graph stores copies.
struct node_request {
  const op_info* op = nullptr;
  std::string_view name;
  std::uint64_t name_hash = 0;  // hash of the name by `name_table`; 0 if not computed yet
  std::span<const output> inputs{};
  int number_inputs = 0;
  std::span<const std::int64_t> numbers{};
  attribute_map attributes{};
  std::vector<int> controls{};
  result_list results{};
  bool complete = true;
  int stands_with = -1;           // a variable with which the node is colocated
  std::string_view device{};      // the device that a file asks for
  std::uint64_t open_inputs = 0;  // bit k is set if input k is added later: a loop's back edge
};

/// The records of a graph's nodes, and the state of the scopes in which new nodes are made.
class named_nodes : public graph_names {
 public:
  named_nodes();
  LEAT_INLINE ~named_nodes() override;

  name_table names;

  const node_record& record(int index) const { return records_[static_cast<std::size_t>(index)]; }
  node_record& record(int index) { return records_[static_cast<std::size_t>(index)]; }
  int size() const { return static_cast<int>(records_.size()); }
  bool is_finalized() const { return finalized_; }
  /// Makes the graph refuse new nodes.
  void finalize() { finalized_ = true; }

  /// The index of the node with exactly this name, or -1.
  int find(std::string_view name) const;
  /// Input `k` of a node, including those that hold numeric attributes.
  output input(graph& g, int index, int k) const;
  int input_count(const graph& g, int index) const { return g.at(index).input_count + record(index).number_inputs; }
  LEAT_INLINE tensor_info further_result(int index, int port) const override;
  /// Sets input `k`, which was left open because its node is newer: a loop's back edge.
  void set_input(graph& g, int index, int k, int to);
  /// Adds a control input to an existing node; `to` may be newer than it.
  void add_control(graph& g, int index, int to);
  /// Stores a device's name, once for all nodes that have it.
  kept_text keep_device(std::string_view device);
  /// A node's name as a `std::string`, which is made on first use and is valid as long as the graph. Thread-safe.
  const std::string& name_text(int index) const;

  // ---- state of scopes ----

  struct control_frame {
    std::vector<int> nodes;
    std::unordered_set<int> inside;  // made in this scope: nodes with an input from here need not wait
  };
  struct device_frame {
    enum class kind { text, function, clear } what = kind::text;
    device_spec spec;
    device_function function;
  };
  std::vector<control_frame> controls;
  std::vector<device_frame> devices;
  std::vector<int> colocations;
  std::vector<std::string> containers;           // names of containers for new variables and queues
  std::vector<std::string> initializer_classes;  // "loc:@v" while a variable's initial value is made
  source_position position;                      // source line of the current call
  std::atomic<int> runs{0};                      // number of runs of sessions in progress; the graph accepts no nodes meanwhile
  std::map<int, std::exception_ptr> refusals;    // by node: the error of a run that needs it, for nodes of a file that no run can execute
  bool position_held = false;                    // true during a call that makes further calls, whose source lines are ignored
  control_flow_context* context = nullptr;       // the branch or loop to which new nodes belong

  /// Stores a context as long as the graph exists.
  template <class Context>
  Context& keep(std::unique_ptr<Context> made) {
    Context& kept = *made;
    contexts_.push_back(std::move(made));
    return kept;
  }
  /// The control inputs that a node with these inputs gets from the open scopes.
  std::vector<int> waits_for(std::span<const output> inputs) const;
  /// Records a node as made inside all open scopes of control dependencies.
  void note_waiting(int index) {
    for (control_frame& frame : controls) frame.inside.insert(index);
  }

  /// Appends a row and its record. Errors: failed_precondition in a finalized graph.
  int append(graph& g, node_request&& request);

  /// A snapshot of a graph's size and names, for `return_to`.
  struct growth {
    std::size_t nodes, edges, numbers, ports;
    name_table names;
  };
  growth reached(const graph& g) const;
  /// Removes the nodes appended since a snapshot, and their names. These nodes must be outside of all branches and loops.
  void return_to(graph& g, growth before);

  /// Names a node that was made without a name.
  void name_node(graph& g, int index, std::string_view name);
  /// The name of a result for messages, "mul:0".
  std::string result_name(int index, int port) const { return record(index).name + ":" + std::to_string(port); }

  /// The colocation groups of a node, such as "loc:@v".
  std::vector<std::string> classes_of(int index) const;

 private:
  // The id of a node. The index is mixed in, because names that differ only in case have the same hash.
  static std::uint64_t id_of(std::uint64_t name_hash, int index) { return mix(name_hash, static_cast<std::uint64_t>(index)); }
  // The request's inputs, replaced by the nodes that bring them into the context.
  std::vector<output> brought_in(node_request& request, control_flow_context* home);
  static void put_controls(graph& g, node& n, const node_request& request);

  // Determines the node's device, from the innermost scope outward. A device's name adds the parts that inner scopes left open; a
  // function's result replaces them.
  void apply_devices(graph& g, int index);

  void put_colocations(int index);

  text_store texts_;
  detail::blocks<node_record, 64> records_;
  std::vector<std::uint16_t> ports_;  // result numbers of the table's edges, up to the last that is not 0
  std::unordered_map<std::string_view, kept_text> devices_;
  mutable std::unordered_map<int, std::string> name_texts_;
  mutable std::mutex naming_;
  std::vector<std::unique_ptr<control_flow_context>> contexts_;
  bool finalized_ = false;
};

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/graph/impl/nodes.hpp>
#endif
