#pragma once
// Saved models: a graph with the values of its variables in a folder (model_files.hpp), and its signatures, named computations with
// named inputs and outputs.
//
//   io::save_model("model", s, {.signatures = {{"serving_default", {.inputs = {{"x", x}}, .outputs = {{"y", y}}}}}});
//   io::saved_model m = io::load_model("model");
//   const std::vector<float> ys = m.run("serving_default", {{"x", xs}})["y"];
//
// Sessions of typed expressions are saved by saved_typed_model.hpp. Source: TensorFlow 1.x `saved_model.simple_save`,
// `saved_model.loader.load`.

#include <leat/io/collections.hpp>
#include <leat/io/model_files.hpp>
#include <leat/named/exchange/import.hpp>
#include <leat/named/exchange/to_graph.hpp>
#include <leat/session/graph_variables.hpp>

#include <memory>

namespace leat::io {

/// A tensor or an operation for a saved model: a graph's, its name, or a typed expression.
class model_tensor {
 public:
  model_tensor(const output& tensor) : held_(fetch_item(tensor)) {}
  model_tensor(const graph_operation& operation) : held_(fetch_item(operation)) {}
  model_tensor(const graph_element& element) : held_(fetch_item(element)) {}
  model_tensor(const char* name) : held_(fetch_item(name)) {}
  model_tensor(std::string name) : held_(fetch_item(std::move(name))) {}
  template <expression E>
  model_tensor(const E& e) : held_(leat::detail::as_any_expression(e)) {}

  /// The typed expression; null for anything else.
  const leat::detail::any_expression* typed() const { return std::get_if<leat::detail::any_expression>(&held_); }
  /// Errors: not_found, invalid_argument if the graph has no such element; invalid_argument for a typed expression.
  graph_element resolve(graph& g) const {
    if (typed() != nullptr)
      throw invalid_argument("a typed expression in the saved model of a session that runs a graph");
    return std::get<fetch_item>(held_).resolve(g);
  }
  /// Replaces it by an element of a graph.
  void replace(const graph_element& element) { held_ = fetch_item(element); }

 private:
  std::variant<fetch_item, leat::detail::any_expression> held_;
};

/// A signature: the inputs and outputs of a computation, by names of their own.
struct model_signature {
  std::map<std::string, model_tensor> inputs{};
  std::map<std::string, model_tensor> outputs{};
  std::string method_name = "tensorflow/serving/predict";
};

/// Options of `save_model`.
struct save_model_options {
  std::map<std::string, model_signature> signatures{};
  std::map<std::string, std::vector<model_tensor>>
      collections{};  // added to the graph's, such as {"train_op", {train}}
  std::vector<std::string> tags{"serve"};
  named_texts metadata{};  // strings stored with the variables
  /// Whether to save the whole graph, or only what the signatures need, then without the graph's own collections.
  bool whole_graph = true;
};

namespace detail {

inline signature_tensor signature_entry(graph& g, const model_tensor& item, const std::string& where) {
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

inline meta_graph_def make_meta_graph(graph& g, const save_model_options& options) {
  meta_graph_def meta;
  meta.meta_info.tags = options.tags;
  for (const auto& [name, s] : options.signatures) {
    signature_def& def = meta.signatures[name];
    def.method_name = s.method_name;
    for (const auto& [key, item] : s.inputs)
      def.inputs[key] = signature_entry(g, item, "signature '" + name + "', input '" + key + "'");
    for (const auto& [key, item] : s.outputs)
      def.outputs[key] = signature_entry(g, item, "signature '" + name + "', output '" + key + "'");
  }
  meta.graph = export_graph(g);
  std::map<std::string, collection_def> added;
  for (const auto& [name, items] : options.collections) {
    collection_def::node_list list;
    for (const auto& item : items)
      std::visit([&](const auto& element) { list.value.push_back(element.name()); }, item.resolve(g));
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
  }
  for (auto& [name, def] : added) meta.collections.insert_or_assign(name, std::move(def));
  return meta;
}

// The variables in the saved part of the graph.
inline std::map<std::string, output, std::less<>> variables_in(graph& g, const graph_def& def) {
  std::map<std::string, bool, std::less<>> there;
  for (const node_def& node : def.nodes) there.emplace(node.name, true);
  auto variables = saved_variables(g);
  std::erase_if(variables, [&](const auto& entry) { return !there.contains(entry.first); });
  return variables;
}

inline array_bytes bytes_of(const tensor_value& v) {
  return {v.type(), v.extent(), std::span<const std::byte>(v.data(), v.bytes())};
}
inline tensor_value to_value(const array_bytes& array) {
  tensor_value value(array.type, array.extent);
  if (!array.bytes.empty()) std::memcpy(value.data(), array.bytes.data(), array.bytes.size());
  return value;
}
inline session_values to_values(const safetensors& file) {
  session_values values;
  for (const std::string& name : file.names()) values.emplace(name, to_value(file[name]));
  return values;
}
inline named_arrays to_arrays(const session_values& values) {
  named_arrays arrays;
  for (const auto& [name, value] : values) arrays.emplace(name, bytes_of(value));
  return arrays;
}

}  // namespace detail

/// Saves a session's graph and the values of its variables, except local ones, into a folder; replaces an existing saved model
/// atomically. Errors: failed_precondition for uninitialized variables, a folder that holds anything else or cannot be written;
/// invalid_argument, naming signature and key, for elements that the graph does not have, and for variables of dtypes that safetensors
/// lacks. Source: TensorFlow `saved_model.simple_save`.
inline void save_model(const std::filesystem::path& folder, graph_session& s, const save_model_options& options = {}) {
  const meta_graph_def meta = detail::make_meta_graph(s.owner(), options);
  const session_values values = values_of(s, detail::variables_in(s.owner(), meta.graph));
  write_model_files(folder, meta, detail::to_arrays(values), options.metadata);
}

/// Saves the variables of a session alone, as a .safetensors file. Errors: see `save_model`.
inline void save_variables(const std::filesystem::path& path, graph_session& s, const named_texts& metadata = {}) {
  const session_values values = values_of(s);
  write_safetensors(path, detail::to_arrays(values), metadata);
}
/// Restores all non-local variables of a session from a saved model's folder, or a .safetensors file.
/// Errors: those of `read_variables` and `restore_values`, naming the file; then nothing is assigned.
inline void restore_variables(graph_session& s, const std::filesystem::path& path) {
  const session_values values = detail::to_values(read_variables(path));
  detail::naming(path, [&] { restore_values(s, values); });
}

struct load_model_options {
  session_options session{};
  bool checksums = true;  // see `read_model_options`
};

/// A loaded model: its graph, a session with its variables, and its signatures. It owns them; movable.
class saved_model {
 public:
  /// Errors: see `load_model`.
  explicit saved_model(model_files files, const session_options& options = {})
      : signatures_(std::move(files.meta.signatures)),
        metadata_(std::move(files.metadata)),
        tags_(files.meta.meta_info.tags),
        graph_(std::make_unique<leat::graph>()) {
    graph_->named();
    import_graph(*graph_, files.meta.graph, {.name = ""});
    import_collections(*graph_, files.meta.collections);
    for (const auto& [name, s] : signatures_) {
      for (const auto& [key, tensor] : s.inputs) find(tensor, name, key);
      for (const auto& [key, tensor] : s.outputs) find(tensor, name, key);
    }
    session_ = std::make_unique<graph_session>(*graph_, options);
    restore_values(*session_, detail::to_values(files.variables));
  }

  /// The model's graph.
  leat::graph& graph() const { return *graph_; }
  /// The session with the model's variables.
  graph_session& session() const { return *session_; }
  /// The signatures, metadata and tags as saved.
  const std::map<std::string, signature_def>& signatures() const { return signatures_; }
  const named_texts& metadata() const { return metadata_; }
  const std::vector<std::string>& tags() const { return tags_; }

  /// An input tensor of a signature, to be fed to the session. Errors: not_found, listing what exists.
  output input(std::string_view signature, std::string_view key) const {
    return find(entry(signature, signature_of(signature).inputs, key, "input"), signature, key);
  }
  /// An output tensor of a signature. Errors: not_found, listing what exists.
  output result(std::string_view signature, std::string_view key) const {
    return find(entry(signature, signature_of(signature).outputs, key, "output"), signature, key);
  }

  /// Runs a signature: inputs by their names in the signature; returns all its outputs by theirs.
  /// Errors: not_found for an unknown signature or input; invalid_argument for a missing input; those of `graph_session::run`.
  std::map<std::string, tensor_value> run(std::string_view signature, const feed_list& inputs = {},
                                          const run_options& how = {}) const {
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
      if (in.operation().type() == "Placeholder")
        throw invalid_argument("signature '" + std::string(signature) + "': the input '" + key +
                               "' is not given: " + dtype_name(in.type()) + " " + brackets(in.extent()));
    }
    std::map<std::string, fetch_item> fetches;
    for (const auto& [key, tensor] : s.outputs) fetches.emplace(key, find(tensor, signature, key));
    return session_->run(fetches, feed_list(std::move(feeds)), how);
  }

 private:
  const signature_def& signature_of(std::string_view name) const {
    const auto at = signatures_.find(std::string(name));
    if (at != signatures_.end()) return at->second;
    throw not_found("the model has no signature '" + std::string(name) + "'; it has " + listed(signatures_));
  }
  static const signature_tensor& entry(std::string_view signature, const std::map<std::string, signature_tensor>& side,
                                       std::string_view key, const char* what) {
    const auto at = side.find(std::string(key));
    if (at != side.end()) return at->second;
    throw not_found("signature '" + std::string(signature) + "' has no " + what + " '" + std::string(key) +
                    "'; it has " + listed(side));
  }
  template <class Map>
  static std::string listed(const Map& map) {
    std::vector<std::string> names;
    for (const auto& [name, value] : map) names.push_back(name);
    return names.empty() ? "none" : leat::detail::name_list(names);
  }
  output find(const signature_tensor& tensor, std::string_view signature, std::string_view key) const {
    const auto where = [&] { return "signature '" + std::string(signature) + "', '" + std::string(key) + "': "; };
    const auto* name = std::get_if<std::string>(&tensor.encoding);
    if (name == nullptr) throw unimplemented(where() + "is no single tensor");
    try {
      const output found = get_tensor_by_name(*graph_, name->find(':') == name->npos ? *name + ":0" : *name);
      if (tensor.dtype != data_type::invalid && to_data_type(found.type()) != data_type::invalid &&
          base_of(tensor.dtype) != to_data_type(found.type()))
        throw invalid_argument("is " + name_of_data_type(tensor.dtype) + ", but the graph has " +
                               dtype_name(found.type()));
      return found;
    } catch (const not_found& e) {
      throw invalid_argument(where() + e.what());
    } catch (const invalid_argument& e) {
      throw invalid_argument(where() + e.what());
    }
  }

  std::map<std::string, signature_def> signatures_;
  named_texts metadata_;
  std::vector<std::string> tags_;
  std::unique_ptr<leat::graph> graph_;
  std::unique_ptr<graph_session> session_;
};

/// Loads a saved model into a graph and a session of its own, with all variables restored; local variables are uninitialized.
/// Errors, naming the folder: those of `read_model_files`, `import_graph`; invalid_argument, naming them, for variables missing in the
/// files or the graph, or of other dtypes or shapes, and for signatures of elements that the graph does not have.
/// Source: TensorFlow `saved_model.loader.load`.
inline saved_model load_model(const std::filesystem::path& folder, const load_model_options& options = {}) {
  model_files files = read_model_files(folder, {.checksums = options.checksums});
  try {
    return saved_model(std::move(files), options.session);
  } catch (const error& e) {
    leat::detail::rethrow_saying(e, folder.string() + ": " + e.what());
  }
}

}  // namespace leat::io
