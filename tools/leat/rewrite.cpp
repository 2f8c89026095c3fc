#include "rewrite.hpp"

#include <leat/core/error.hpp>
#include <leat/proto/node_index.hpp>
#include <leat/proto/validate.hpp>

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

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

/// The fields of a serialized message that are names, of nodes and tensors, or of scopes and variables in slices; and those that are
/// messages with such fields.
struct name_fields {
  std::vector<std::uint32_t> nodes, scopes;
  std::vector<std::pair<std::uint32_t, const name_fields*>> messages;
};
/// Those of the messages that TensorFlow writes into collections; null for texts of other kinds.
/// Source: TensorFlow variable.proto, control_flow.proto, queue_runner.proto, saver.proto.
const name_fields* message_in(std::string_view collection) {
  static const name_fields slice{{}, {1}, {}}, variable{{1, 2, 3, 6}, {}, {{4, &slice}}};
  static const name_fields queue_runner{{1, 2, 3, 4}, {}, {}}, saver{{1, 2, 3}, {}, {}};
  static const name_fields pair{{1, 2}, {}, {}}, values{{1}, {}, {{2, &pair}}};
  static name_fields branch{{2, 3}, {1}, {{5, &values}}}, loop{{5, 6, 7, 8, 10, 11}, {1}, {{9, &values}}};
  static const name_fields nested = [] {
    branch.messages.emplace_back(6, &nested);
    loop.messages.emplace_back(12, &nested);
    return name_fields{{}, {}, {{1, &branch}, {2, &loop}}};
  }();
  if (collection == "cond_context") return &branch;
  if (collection == "while_context") return &loop;
  if (collection == "queue_runners") return &queue_runner;
  if (collection == "savers") return &saver;
  for (const std::string_view name : {"variables", "trainable_variables", "local_variables", "model_variables", "moving_average_variables",
                                      "metric_variables", "global_step", "eval_step"})
    if (collection == name) return &variable;
  return nullptr;
}
/// The message with each name as `change` makes it, which is told whether it is a node's. Errors: protozero's.
template <class F>
std::string with_names(std::string_view message, const name_fields& fields, F change) {
  std::string made;
  protozero::pbf_writer out(made);
  for (protozero::pbf_reader in(message.data(), message.size()); in.next();) {
    const std::uint32_t tag = in.tag();
    const auto holds = [&](const std::vector<std::uint32_t>& list) { return std::ranges::find(list, tag) != list.end(); };
    switch (in.wire_type()) {
      case protozero::pbf_wire_type::varint: out.add_uint64(tag, in.get_uint64()); break;
      case protozero::pbf_wire_type::fixed64: out.add_fixed64(tag, in.get_fixed64()); break;
      case protozero::pbf_wire_type::fixed32: out.add_fixed32(tag, in.get_fixed32()); break;
      default: {
        const auto view = in.get_view();
        std::string text(view.data(), view.size());
        if (const bool is_node = holds(fields.nodes); is_node || holds(fields.scopes)) change(text, is_node);
        for (const auto& [number, its] : fields.messages)
          if (number == tag) text = with_names(text, *its, change);
        out.add_bytes(tag, text);
      }
    }
  }
  return made;
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
    if (auto* list = std::get_if<collection_def::node_list>(&collection.kind)) {
      std::erase_if(list->value, is_gone);
    } else if (auto* texts = std::get_if<collection_def::bytes_list>(&collection.kind)) {
      // An entry with a name that is nowhere would make the whole file unreadable for TensorFlow.
      const name_fields* const fields = message_in(name);
      if (fields != nullptr) std::erase_if(texts->value, [&](const std::string& text) {
          bool any = false;
          try {
            with_names(text, *fields, [&](const std::string& its, bool is_node) { any = any || (is_node && is_gone(its)); });
          } catch (const protozero::exception&) {
          }
          return any;
        });
    }
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
    if (auto* list = std::get_if<collection_def::node_list>(&collection.kind)) {
      for (auto& entry : list->value) rename(entry);
    } else if (auto* texts = std::get_if<collection_def::bytes_list>(&collection.kind)) {
      if (const name_fields* const fields = message_in(name))
        for (auto& text : texts->value) try {
            text = with_names(text, *fields, [&](std::string& its, bool) { rename(its); });
          } catch (const protozero::exception&) {  // no such message
          }
    }
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
