#pragma once
// Lookup of nodes and tensors by name, and collections. "mul" is an operation, "mul:0" its first result. Error messages are those of
// TensorFlow 1.x. Source: TensorFlow `Graph.as_graph_element` and related methods, `add_to_collection`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/default_graph.hpp>
#include <leat/named/graph/graph_operation.hpp>
#include <leat/named/graph/part.hpp>

namespace leat {

/// A tensor or an operation.
using graph_element = std::variant<output, graph_operation>;

/// The kinds of element that a lookup may return.
struct element_kinds {
  bool tensors = true;
  bool operations = true;
};

/// The operation or tensor with this name: "mul" is an operation, "mul:0" a tensor.
/// Errors: not_found if the graph has no such node or the node no such result; invalid_argument for a name of the wrong kind or form.
graph_element as_graph_element(graph& g, std::string_view name, element_kinds kinds = {});

/// Returns the tensor itself after checking that it belongs to this graph. Errors: invalid_argument if it does not.
output as_graph_element(graph& g, const output& o);
graph_operation as_graph_element(graph& g, const graph_operation& o);

/// The tensor with this name, "mul:0". Errors: as for `as_graph_element`.
output get_tensor_by_name(graph& g, std::string_view name);
/// The operation with this name, "mul". Errors: as for `as_graph_element`.
graph_operation get_operation_by_name(graph& g, std::string_view name);
/// All operations of a graph in order of creation.
std::vector<graph_operation> get_operations(graph& g);
/// Whether two handles refer to the same tensor, or both to none. `a == b` does not compile, because it could be meant as `equal(a, b)`.
inline bool same_tensor(const output& a, const output& b) {
  return static_cast<bool>(a) == static_cast<bool>(b) &&
         (!static_cast<bool>(a) || (&a.owner() == &b.owner() && a.index() == b.index() && a.port() == b.port()));
}
/// All tensors of a graph: the results of all operations in order of creation. With a name, the tensors of that collection.
std::vector<output> get_tensors(graph& g);
/// The operations that take this tensor, each once per use.
std::vector<graph_operation> consumers(const output& o);

/// Makes the graph refuse new nodes, with failed_precondition. Source: TensorFlow `Graph.finalize`.
void finalize(graph& g);
/// Whether a graph refuses new nodes.
bool is_finalized(const graph& g);

/// A name in the current scope that no node or scope has. It is reserved unless `mark_as_used` is false.
std::string unique_name(std::string_view name, bool mark_as_used = true);
/// The current name scope, without its slash.
std::string get_name_scope();

namespace detail {
// A shape as text: "[?,3]".
std::string shape_in_brackets(const shape& s);
}  // namespace detail

/// Refines a tensor's static shape. Errors: invalid_argument if the two shapes are incompatible.
void set_shape(const output& o, const shape& more);
/// Refines a tensor's static shape, given in braces: `set_shape(x, {-1, 3})`, with -1 for an unknown dimension.
void set_shape(const output& o, std::initializer_list<std::int64_t> sizes);

// ---- collections ----------------------------------------------------------------------------------------------------

/// Names of the collections that the library itself fills or reads.
namespace collection {
/// All variables, except local ones: what `global_variables()` returns and savers save.
inline constexpr std::string_view global_variables = "variables";
/// Variables that belong to one process and are not saved, such as counts of epochs.
inline constexpr std::string_view local_variables = "local_variables";
/// What optimizers train if they are given no list.
inline constexpr std::string_view trainable_variables = "trainable_variables";
/// The totals and counts of metrics, which are local variables, too.
inline constexpr std::string_view metric_variables = "metric_variables";
/// The losses that `losses::get_total_loss` sums up.
inline constexpr std::string_view losses = "losses";
/// The terms of regularizers, of variables and layers.
inline constexpr std::string_view regularization_losses = "regularization_losses";
/// Operations that belong to a training step, such as the moving averages of batch normalization; who makes the step runs them with it.
inline constexpr std::string_view update_ops = "update_ops";
/// What `summary::merge_all` merges.
inline constexpr std::string_view summaries = "summaries";
/// Training steps, for tools that read the graph from a file.
inline constexpr std::string_view train_op = "train_op";
/// Variables of which moving averages are kept.
inline constexpr std::string_view moving_average_variables = "moving_average_variables";
/// The counter of training steps: one variable.
inline constexpr std::string_view global_step = "global_step";
/// Operations that fill lookup tables before the first run.
inline constexpr std::string_view table_initializers = "table_initializer";
}  // namespace collection

/// Adds an item to a graph's collection; duplicates are kept. Errors: failed_precondition in a finalized graph.
void add_to_collection(graph& g, std::string_view name, collection_item item);
void add_to_collection(std::string_view name, collection_item item);

/// A copy of a collection, empty if there is none; with a scope, only items whose name begins with it.
std::vector<collection_item> get_collection(graph& g, std::string_view name, std::string_view scope = {});
std::vector<collection_item> get_collection(std::string_view name, std::string_view scope = {});

/// The tensors of a collection; with a scope, only those whose name begins with it.
std::vector<output> get_tensors(graph& g, std::string_view name, std::string_view scope = {});
/// The names of all collections, sorted.
std::vector<std::string> get_all_collection_keys(graph& g);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/graph/impl/lookup.hpp>
#endif
