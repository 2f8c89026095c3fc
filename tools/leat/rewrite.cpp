#include "rewrite.hpp"

#include <leat/core/error.hpp>
#include <leat/proto/node_index.hpp>
#include <leat/proto/validate.hpp>

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>

namespace tool {

using namespace leat;

namespace {

constexpr std::string_view colocation = "loc:@";

/// The node that "name", "name:1" or "^name" is of.
std::string_view node_of(std::string_view text) {
  if (text.starts_with('^')) text.remove_prefix(1);
  return text.substr(0, text.find(':'));
}

/// The names of a node's colocations, if it has any.
std::vector<std::string>* colocations_of(node_def& node) {
  auto* value = node.attributes.find_to_change("_class");
  auto* list = value != nullptr ? value->get_if<attribute_list>() : nullptr;
  return list != nullptr ? std::get_if<std::vector<std::string>>(&list->values) : nullptr;
}

}  // namespace

void prune(meta_graph_def& meta, const std::vector<std::string>& fetches) {
  auto& nodes = meta.graph.nodes;
  std::unordered_set<std::string> gone;
  {
    proto::detail::node_index table(nodes);
    for (std::size_t i = 0; i < nodes.size(); ++i) table.insert(i);
    std::vector<char> needed(nodes.size(), 0);
    std::vector<std::size_t> open;
    const auto need = [&](std::size_t i) {
      if (needed[i] != 0) return;
      needed[i] = 1;
      open.push_back(i);
    };
    for (const auto& fetch : fetches) {
      const auto at = table.find(node_of(fetch));
      if (at == proto::detail::node_index::none)
        throw not_found("there is no node \"" + std::string(node_of(fetch)) + "\" to fetch");
      need(at);
    }
    while (!open.empty()) {
      const auto i = open.back();
      open.pop_back();
      for (const auto& input : nodes[i].inputs) need(table.find(node_of(input)));
    }
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (needed[i] == 0) gone.insert(nodes[i].name);
  }
  std::erase_if(nodes, [&](const node_def& node) { return gone.contains(node.name); });

  const auto is_gone = [&](std::string_view tensor) { return gone.contains(std::string(node_of(tensor))); };
  for (auto& node : nodes)
    if (auto* list = colocations_of(node)) {
      std::erase_if(*list, [&](const std::string& entry) {
        return std::string_view(entry).starts_with(colocation) && gone.contains(entry.substr(colocation.size()));
      });
      if (list->empty()) node.attributes.erase("_class");
    }
  for (auto& [name, collection] : meta.collections)
    if (auto* list = std::get_if<collection_def::node_list>(&collection.kind)) std::erase_if(list->value, is_gone);
  std::erase_if(meta.signatures, [&](const auto& entry) {
    const auto missing = [&](const auto& tensor) {
      const auto& encoding = tensor.second.encoding;
      if (const auto* text = std::get_if<std::string>(&encoding)) return is_gone(*text);
      const auto* sparse = std::get_if<signature_tensor::sparse>(&encoding);
      return sparse != nullptr && (is_gone(sparse->values_tensor_name) || is_gone(sparse->indices_tensor_name) ||
                                   is_gone(sparse->dense_shape_tensor_name));
    };
    const auto& s = entry.second;
    return std::any_of(s.inputs.begin(), s.inputs.end(), missing) ||
           std::any_of(s.outputs.begin(), s.outputs.end(), missing);
  });
  if (meta.saver && (is_gone(meta.saver->filename_tensor_name) || is_gone(meta.saver->save_tensor_name) ||
                     is_gone(meta.saver->restore_op_name)))
    meta.saver.reset();
}

void freeze(meta_graph_def& meta, variable_values values) {
  std::unordered_set<std::string_view> variables;
  for (const auto& node : meta.graph.nodes)
    if (leat::detail::is_variable(node)) variables.insert(node.name);
  std::erase_if(values, [&](const auto& entry) { return !variables.contains(entry.first); });
  meta.graph = leat::freeze(meta.graph, values);
  for (const auto* name : {"variables", "trainable_variables", "local_variables", "model_variables", "moving_average_variables"})
    meta.collections.erase(name);
  meta.saver.reset();
}

void add_prefix(meta_graph_def& meta, const std::string& prefix) {
  const auto rename = [&](std::string& text) {
    if (!text.empty()) text.insert(text.starts_with('^') ? 1 : 0, prefix + "/");
  };
  const auto rename_tensor = [&](signature_tensor& tensor) {
    if (auto* text = std::get_if<std::string>(&tensor.encoding)) {
      rename(*text);
    } else if (auto* sparse = std::get_if<signature_tensor::sparse>(&tensor.encoding)) {
      rename(sparse->values_tensor_name);
      rename(sparse->indices_tensor_name);
      rename(sparse->dense_shape_tensor_name);
    }
  };
  for (auto& node : meta.graph.nodes) {
    rename(node.name);
    for (auto& input : node.inputs) rename(input);
    if (auto* list = colocations_of(node))
      for (auto& entry : *list)
        if (std::string_view(entry).starts_with(colocation)) entry.insert(colocation.size(), prefix + "/");
  }
  for (auto& [name, collection] : meta.collections)
    if (auto* list = std::get_if<collection_def::node_list>(&collection.kind))
      for (auto& entry : list->value) rename(entry);
  for (auto& [name, s] : meta.signatures) {
    for (auto& [key, tensor] : s.inputs) rename_tensor(tensor);
    for (auto& [key, tensor] : s.outputs) rename_tensor(tensor);
  }
  for (auto& file : meta.asset_files)
    if (file.tensor_info) rename_tensor(*file.tensor_info);
  if (meta.saver) {
    rename(meta.saver->filename_tensor_name);
    rename(meta.saver->save_tensor_name);
    rename(meta.saver->restore_op_name);
  }
}

}  // namespace tool
