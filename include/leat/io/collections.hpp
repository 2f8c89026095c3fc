#pragma once
// Converts collections of a graph to and from a MetaGraphDef. Variables are VariableDef messages, as TensorFlow writes them, with the names
// of their node, their initializer, and the tensor that reads them.
// Source: TensorFlow meta_graph.proto, variable.proto, `Graph.add_to_collection`, `Variable.to_proto`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/lookup.hpp>
#include <leat/proto/graph_def.hpp>

namespace leat::io {

namespace detail {

// A variable as the names of its four nodes. The comments are the numbers of the fields.
struct variable_def {
  std::string variable_name{};             // 1
  std::string initializer_name{};          // 2
  std::string snapshot_name{};             // 3
  std::string initial_value_name{};        // 6
  bool trainable = true;                   // 7
  bool is_resource = false;                // 5
  std::optional<save_slice_info> slice{};  // 4, for a slice of a partitioned variable
};

std::string write_slice_info(const save_slice_info& its);
// Returns nothing if the bytes are not such a message, or if the slice exceeds its variable.
std::optional<save_slice_info> read_slice_info(std::string_view bytes);

std::string write_variable_def(const variable_def& v);

// Returns nothing if the bytes are not such a message. Other fields are skipped.
std::optional<variable_def> read_variable_def(std::string_view bytes);

inline bool is_of_variables(std::string_view collection) {
  for (const std::string_view name : {"variables", "trainable_variables", "local_variables", "model_variables", "moving_average_variables"})
    if (collection == name) return true;
  return false;
}

std::optional<variable_def> variable_def_of(graph& g, const collection_item& item, bool trainable);

template <class List, class T, class Convert>
std::optional<collection_def> list_of(const std::vector<collection_item>& items, Convert convert) {
  List list;
  for (const auto& item : items) {
    const auto* value = std::get_if<T>(&item);
    if (value == nullptr) return std::nullopt;
    list.value.push_back(convert(*value));
  }
  return collection_def{list};
}

}  // namespace detail

/// The collections of a graph, except those with elements of several kinds, which no message can represent.
std::map<std::string, collection_def> export_collections(graph& g);

/// Adds a file's collections to a graph that was imported from that file under the same names. Records which nodes read and initialize
/// variables. Errors: not_found, invalid_argument, naming the collection, for names that the graph does not have.
void import_collections(graph& g, const std::map<std::string, collection_def>& all);

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/collections.hpp>
#endif
