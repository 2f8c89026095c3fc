#pragma once
// Implementation of saved_model.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/saved_model.hpp>
#include <leat/io/saver_nodes.hpp>
#include <leat/io/tensor_parts.hpp>

#include <set>

namespace leat::io::detail {

LEAT_FUNCTION signature_tensor signature_entry(graph& g, const model_tensor& item, const std::string& where) {
  graph_element element;
  try {
    element = item.resolve(g);
  } catch (const not_found& e) {
    throw invalid_argument(where + ": " + e.what());
  } catch (const invalid_argument& e) {
    throw invalid_argument(where + ": " + e.what());
  }
  const auto* tensor = std::get_if<output>(&element);
  if (tensor == nullptr)
    throw invalid_argument(where + ": '" + std::get<graph_operation>(element).name() + "' is an operation, not a tensor");
  return {.encoding = tensor->name(), .dtype = to_data_type(tensor->type()), .tensor_shape = to_proto(tensor->extent())};
}

LEAT_FUNCTION std::string place_in_signature(std::string_view signature, std::string_view key) {
  return "signature '" + std::string(signature) + "', '" + std::string(key) + "': ";
}

LEAT_FUNCTION graph_element signature_element(graph& g, const signature_tensor& tensor, const std::string& where) {
  const auto* name = std::get_if<std::string>(&tensor.encoding);
  if (name == nullptr) throw unimplemented(where + "is no single tensor");
  // Signatures of initializers name operations, with or without ":0".
  const int operation = g.named().find(name->substr(0, name->find(':')));
  if (operation >= 0 && g.named().record(operation).results == 0) return graph_operation(g, operation);
  try {
    return get_tensor_by_name(g, name->find(':') == name->npos ? *name + ":0" : *name);
  } catch (const not_found& e) {
    throw invalid_argument(where + e.what());
  } catch (const invalid_argument& e) {
    throw invalid_argument(where + e.what());
  }
}

LEAT_FUNCTION output signature_output(graph& g, const signature_tensor& tensor, const std::string& where) {
  const graph_element element = signature_element(g, tensor, where);
  const auto* found = std::get_if<output>(&element);
  if (found == nullptr)
    throw invalid_argument(where + "the operation '" + std::get<graph_operation>(element).name() +
                           "' has no value: run it by session().run");
  if (tensor.dtype != data_type::invalid && to_data_type(found->type()) != data_type::invalid &&
      base_of(tensor.dtype) != to_data_type(found->type()))
    throw invalid_argument(where + "is " + name_of_data_type(tensor.dtype) + ", but the graph has " + dtype_name(found->type()));
  return *found;
}

LEAT_FUNCTION meta_graph_def make_meta_graph(graph& g, const save_model_options& options) {
  meta_graph_def meta;
  meta.meta_info.tags = options.tags;
  for (const auto& [name, s] : options.signatures) {
    signature_def& def = meta.signatures[name];
    def.method_name = s.method_name;
    for (const auto& [key, item] : s.inputs) def.inputs[key] = signature_entry(g, item, "signature '" + name + "', input '" + key + "'");
    for (const auto& [key, item] : s.outputs) def.outputs[key] = signature_entry(g, item, "signature '" + name + "', output '" + key + "'");
  }
  meta.graph = export_graph(g);
  std::map<std::string, collection_def> added;
  for (const auto& [name, items] : options.collections) {
    collection_def::node_list list;
    for (const auto& item : items) std::visit([&](const auto& element) { list.value.push_back(element.name()); }, item.resolve(g));
    added.emplace(name, collection_def{list});
  }
  if (options.whole_graph) {
    meta.collections = export_collections(g);
  } else {
    std::vector<std::string> needed;
    for (const auto& [name, s] : meta.signatures)
      for (const auto* side : {&s.inputs, &s.outputs})
        for (const auto& [key, tensor] : *side) needed.push_back(std::get<std::string>(tensor.encoding));
    for (const auto& [name, def] : added)
      for (const auto& node : std::get<collection_def::node_list>(def.kind).value) needed.push_back(node);
    if (needed.empty()) throw invalid_argument("a saved model of what its signatures need has no signatures");
    meta.graph = extract_sub_graph(meta.graph, needed);
    meta.graph.library = library_for(g.named(), meta.graph.nodes);
  }
  for (auto& [name, def] : added) meta.collections.insert_or_assign(name, std::move(def));
  return meta;
}

LEAT_FUNCTION std::map<std::string, output, std::less<>> variables_in(graph& g, const graph_def& def) {
  std::map<std::string, bool, std::less<>> there;
  for (const node_def& node : def.nodes) there.emplace(node.name, true);
  auto variables = saved_variables(g);
  std::erase_if(variables, [&](const auto& entry) { return !there.contains(entry.first); });
  return variables;
}

LEAT_FUNCTION tensor_value to_value(const array_bytes& array) {
  tensor_value value(array.type, array.extent);
  if (!array.bytes.empty()) std::memcpy(value.data(), array.bytes.data(), array.bytes.size());
  return value;
}

LEAT_FUNCTION void write_model(const std::filesystem::path& folder, const meta_graph_def& meta, const named_arrays& variables,
                               const save_model_options& options, const slices_by_name& slices) {
  if (options.format == model_format::leat) return write_model_files(folder, meta, variables, options.metadata);
  if (!options.metadata.empty()) throw invalid_argument(folder.string() + ": a SavedModel of TensorFlow's has no place for metadata");
  // A graph without its collections does not record which of its variables are slices.
  write_saved_model_folder(folder, meta, variables, options.whole_graph ? slices : slices_by_name(),
                           options.format == model_format::tensorflow_text);
}

LEAT_FUNCTION slices_by_name slices_in(graph& g) {
  slices_by_name slices;
  for (const auto& [index, its] : g.named().partitioned.slices) slices.emplace(output(g, index).operation().name(), its);
  return slices;
}

LEAT_FUNCTION void cut_into_slices(session_values& values, const slices_by_name& slices) {
  std::set<std::string, std::less<>> wholes;
  for (const auto& [name, its] : slices) {
    if (values.contains(name)) continue;
    const auto whole = values.find(its.full_name);
    if (whole == values.end() || whole->second.extent() != its.full_shape) continue;  // reported below, as a variable without a value
    wholes.insert(its.full_name);
    values.emplace(name, leat::detail::take_block(whole->second, {its.var_offset, its.var_shape}));
  }
  for (const std::string& name : wholes)
    if (!slices.contains(name)) values.erase(values.find(name));
}

}  // namespace leat::io::detail

namespace leat::io {

LEAT_FUNCTION void save_model(const std::filesystem::path& folder, graph_session& s, const save_model_options& options) {
  const meta_graph_def meta = detail::make_meta_graph(s.owner(), options);
  const session_values values = values_of(s, detail::variables_in(s.owner(), meta.graph));
  detail::write_model(folder, meta, detail::to_arrays(values), options, detail::slices_in(s.owner()));
}

LEAT_FUNCTION saved_model::saved_model(model_files files, const session_options& options)
    : signatures_(std::move(files.meta.signatures)),
      metadata_(std::move(files.metadata)),
      tags_(files.meta.meta_info.tags),
      graph_(std::make_unique<leat::graph>()) {
  graph_->named();
  import_graph(*graph_, files.meta.graph, {.name = ""});
  session_values values = detail::to_values(files.variables);
  if (!files.is_of_tensorflow) {
    import_collections(*graph_, files.meta.collections);
    for (const auto& [name, s] : signatures_)
      for (const auto* side : {&s.inputs, &s.outputs})
        for (const auto& [key, tensor] : *side) detail::signature_element(*graph_, tensor, detail::place_in_signature(name, key));
    session_ = std::make_unique<graph_session>(*graph_, options);
    detail::cut_into_slices(values, detail::slices_in(*graph_));
    restore_values(*session_, values);
    return;
  }
  for (const auto& [name, collection] : files.meta.collections) try {
      import_collections(*graph_, {{name, collection}});
    } catch (const error& e) {
      left_out_.emplace_back(e.what());
    }
  session_ = std::make_unique<graph_session>(*graph_, options);
  for (const auto& [name, text] : files.texts) values.emplace(name, tensor_value::from_proto(text));
  // First: the saver of a graph restores each slice by the name of the whole.
  detail::cut_into_slices(values, detail::slices_in(*graph_));
  if (files.meta.saver)
    for (const auto& [variable, name] : names_in_checkpoint(*graph_, *files.meta.saver))
      if (const auto saved = values.find(name); saved != values.end() && !values.contains(variable)) {
        tensor_value its = saved->second;
        values.emplace(variable, std::move(its));
      }
  for (auto& [name, reason] : restore_known_values(*session_, values)) left_out_.push_back(std::move(reason));
}

LEAT_FUNCTION std::string saved_model::with_left_out(std::string_view what) const {
  std::string text(what);
  for (std::size_t k = 0; k < left_out_.size() && k < 5; ++k)
    text += (k == 0 ? "; of the model's files was left out: " : "; ") + left_out_[k];
  if (left_out_.size() > 5) text += "; and " + std::to_string(left_out_.size() - 5) + " more";
  return text;
}

LEAT_FUNCTION std::map<std::string, tensor_value> saved_model::run(std::string_view signature, const feed_list& inputs,
                                                                   const run_options& how) const {
  const signature_def& s = signature_of(signature);
  std::vector<feed_item> feeds = inputs.items();
  std::map<std::string, bool, std::less<>> given;
  for (feed_item& f : feeds) {
    const std::string* key = f.tensor.name();
    if (key == nullptr) continue;
    given.emplace(*key, true);
    f.tensor = feed_key(find(entry(signature, s.inputs, *key, "input"), signature, *key));
  }
  for (const auto& [key, tensor] : s.inputs) {
    if (given.contains(key)) continue;
    const output in = find(tensor, signature, key);
    if (in.owner().at(in.index()).op->kind == op_kind::placeholder)
      throw invalid_argument("signature '" + std::string(signature) + "': the input '" + key + "' is not given: " + dtype_name(in.type()) +
                             " " + brackets(in.extent()));
  }
  std::map<std::string, fetch_item> fetches;
  for (const auto& [key, tensor] : s.outputs) fetches.emplace(key, find(tensor, signature, key));
  try {
    return session_->run(fetches, feed_list(std::move(feeds)), how);
  } catch (const failed_precondition& e) {
    throw failed_precondition(with_left_out(e.what()));
  }
}

LEAT_FUNCTION const signature_def& saved_model::signature_of(std::string_view name) const {
  const auto at = signatures_.find(std::string(name));
  if (at != signatures_.end()) return at->second;
  throw not_found("the model has no signature '" + std::string(name) + "'; it has " + listed(signatures_));
}

LEAT_FUNCTION const signature_tensor& saved_model::entry(std::string_view signature, const std::map<std::string, signature_tensor>& side,
                                                         std::string_view key, const char* what) {
  const auto at = side.find(std::string(key));
  if (at != side.end()) return at->second;
  throw not_found("signature '" + std::string(signature) + "' has no " + what + " '" + std::string(key) + "'; it has " + listed(side));
}

LEAT_FUNCTION output saved_model::find(const signature_tensor& tensor, std::string_view signature, std::string_view key) const {
  return detail::signature_output(*graph_, tensor, detail::place_in_signature(signature, key));
}

LEAT_FUNCTION saved_model load_model(const std::filesystem::path& folder, const load_model_options& options) {
  model_files files = !is_model_folder(folder) && is_saved_model_folder(folder)
                          ? read_saved_model_folder(folder, options.tags)
                          : read_model_files(folder, {.checksums = options.checksums});
  try {
    return saved_model(std::move(files), options.session);
  } catch (const error& e) {
    leat::detail::rethrow_saying(e, folder.string() + ": " + e.what());
  }
}

}  // namespace leat::io
