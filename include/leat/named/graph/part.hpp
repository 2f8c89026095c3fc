#pragma once
// The named part of a graph: collections, variables, values of constants, and the functions that make nodes with TensorFlow's inputs and
// attributes. Users include named/graph/named.hpp, which also has the definitions of functions declared here (impl/part.hpp).

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/graph_operation.hpp>
#include <leat/named/graph/literal.hpp>
#include <leat/named/graph/nodes.hpp>
#include <leat/named/graph/random_seed.hpp>
#include <leat/named/graph/variable_store.hpp>
#include <leat/proto/node_def.hpp>

#include <map>
#include <mutex>
#include <variant>

namespace leat {

/// The graph version that TensorFlow 1.15 writes.
inline constexpr std::int32_t graph_def_producer = 134;

/// An element of a collection.
using collection_item = std::variant<output, graph_operation, std::string, std::int64_t, double>;
/// An input that holds numeric attributes (axes, a shape), given as an array or a tensor.
using number_argument = std::variant<tensor_literal, output>;

std::optional<std::vector<std::int64_t>> known_numbers(const output& o);  // in named/graph/known_value.hpp
namespace detail {
class attributes_key;
// The elements of a tensor of sizes if all of them are known, and the shape that it describes as far as it is known. Implemented with
// named/graph/known_value.hpp.
std::optional<tensor_literal> whole_numbers(const output& o);
shape partial_shape(const op_info& op, std::span<const number_argument> arguments);
// A batched matrix product, which is a separate operator in TensorFlow; in named/graph/call.hpp.
// The node that an operator on a variable is for a variable by handle: writes give a read after them. Empty for other operators.
output call_by_handle(graph& g, const op_info& op, std::span<const output> operands, std::span<const std::int64_t> numbers,
                      std::string_view name);
output stacked_product(graph& g, std::span<const output> operands, std::span<const std::int64_t> transposed, std::string_view name);
// The absolute values of complex numbers, which are a separate operator, too; in named/graph/call.hpp.
output magnitude(graph& g, const output& x, std::string_view name);
}  // namespace detail

/// A host function: takes its inputs and returns its results. See named/functions/host_function.hpp.
using host_callback = std::function<std::vector<tensor_literal>(std::span<const tensor_literal>)>;

/// The named part of a graph, which `graph::named` returns.
class named_part final : public named_nodes {
 public:
  named_part();
  LEAT_INLINE ~named_part() override;

  /// A number above 0 that no other graph of the process has or had. Data about a graph that are stored outside of it use it as key: an
  /// address is not unique, because a later graph may get it.
  std::uint64_t serial() const { return serial_; }

  std::map<std::string, std::vector<collection_item>, std::less<>> collections;
  variable_store variables;
  std::map<int, output> first_values;                                // by variable: its value before reads of others were guarded
  std::map<std::string, host_callback, std::less<>> host_functions;  // by token
  std::vector<control_flow_context*> cond_contexts;                  // outermost branches and loops in order of creation:
  std::vector<control_flow_context*> while_contexts;                 // TensorFlow's collections of these names
  version_def versions{.producer = graph_def_producer, .min_consumer = 0, .bad_consumers = {}};  // for files
  std::string library;  // functions that nodes name in attributes, such as those of datasets: a FunctionDefLibrary in binary form
  partitioned_store partitioned;
  node_seeds seeds;

  // ---- called by the table ----

  LEAT_INLINE output make(graph& g, const op_info& op, std::span<const output> operands, std::span<const std::int64_t> numbers,
                          std::span<const int> waits) override;
  LEAT_INLINE output make_leaf(graph& g, const op_info& op, const tensor_info& result, std::string_view name,
                               std::span<const std::int64_t> numbers) override;
  LEAT_INLINE output make_number(graph& g, const tensor_info& result, double value) override;

  // ---- nodes ----

  /// A constant without a name: the operator that takes it will name it.
  output make_literal(graph& g, const tensor_literal& value);
  /// A constant with this name.
  output make_constant(graph& g, const tensor_literal& value, std::string_view name) {
    const std::uint64_t hash = names.put_node_name(name_, name);
    return append_constant(g, value, name_, hash);
  }

  /// Makes a node. `arguments` are the inputs that hold numeric attributes, if given as arrays or tensors; if not given, they are made from
  /// `numbers`.
  output build(graph& g, const op_info& op, std::span<const output> operands, std::span<const std::int64_t> numbers, std::string_view name,
               std::span<const number_argument> arguments = {}, std::vector<int> waits = {});

  /// Makes a node of any type, known or not, from its complete inputs, results and attributes.
  graph_operation raw(graph& g, std::string_view type, std::span<const output> inputs, attribute_map attributes,
                      std::vector<tensor_info> results, std::string_view name = {}, std::vector<int> waits = {});

  /// The operator of a type, known or defined. Any other type gets an opaque operator, whose nodes can be shown but not run.
  const op_info& operator_or_opaque(std::string_view type);
  static bool is_opaque(const op_info& op) { return op.infer == nullptr; }

  /// A tensor as an operand: for a variable the node that reads its value; other tensors unchanged.
  output value_of(const output& o) const;
  /// Whether a tensor is a variable by handle, of which each use makes a read of its own.
  bool is_handle(const output& o) const;
  /// A new read of a variable by handle, which waits for these nodes and for the control dependencies around it.
  output read_handle(graph& g, const output& handle, std::vector<int> waits = {});

  /// Names a constant after the argument that takes it, if it has no name yet.
  void name_number(graph& g, const output& o, std::string_view name) { give_name(g, o, name); }
  /// Names every constant that no operator has named. Thread-safe for sessions of one graph.
  void settle_names(graph& g);

  /// The value of a constant; null for other nodes.
  const tensor_proto* contents_of(const graph& g, int index) const;

  void check_graph(const graph& g, std::span<const output> operands) const;
  /// The place of a node for messages: " (node 'foo/MatMul', made at main.cpp:12)".
  std::string place(std::string_view name) const;

 private:
  struct opaque_operator {
    std::string type;
    op_info info;
  };

  // A cache of attribute lists by the values that determine them, so that equal lists are made once and shared.
  struct known_attributes {
    std::vector<std::int64_t> key;
    attribute_supply attributes;
    std::optional<std::int64_t> number;  // of a constant: its only element
  };
  template <class Make>
  known_attributes& attributes_for(const detail::attributes_key& key, Make make);
  static constexpr std::size_t most_known_attributes = 256;
  std::vector<known_attributes> known_attributes_;

  output append_constant(graph& g, const tensor_literal& value, std::string_view name, std::uint64_t name_hash);
  void give_name(graph& g, const output& o, std::string_view name);
  void check_types(const op_info& op, detail::list_view<field> fields, std::span<const output> operands, std::string_view name) const;
  output all_axes(graph& g, const output& operand);

  const std::uint64_t serial_;
  std::map<std::string, std::unique_ptr<opaque_operator>, std::less<>> opaque_;
  std::vector<int> unnamed_;
  std::mutex settling_;
  // Strings whose memory is reused: the name of the node that is being made, and that of an operator whose inputs are being made.
  std::string name_, scope_;
};

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/graph/impl/part.hpp>
#endif
