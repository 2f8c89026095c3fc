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

#include <leat/core/function_bodies.hpp>
#include <leat/io/collections.hpp>
#include <leat/io/model_files.hpp>
#include <leat/io/saved_model_folder.hpp>
#include <leat/named/exchange/import.hpp>
#include <leat/named/exchange/to_graph.hpp>
#include <leat/session/graph_variables.hpp>

#include <memory>

namespace leat::io {

/// A tensor or an operation for a saved model: an element of a graph, its name, or a typed expression.
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
  /// The element of the graph. Errors: not_found, invalid_argument if the graph has no such element; invalid_argument for a typed
  /// expression.
  graph_element resolve(graph& g) const {
    if (typed() != nullptr) throw invalid_argument("a typed expression in the saved model of a session that runs a graph");
    return std::get<fetch_item>(held_).resolve(g);
  }
  /// Replaces the tensor or operation by an element of a graph.
  void replace(const graph_element& element) { held_ = fetch_item(element); }

 private:
  std::variant<fetch_item, leat::detail::any_expression> held_;
};

/// A signature: the inputs and outputs of a computation, under names of their own.
struct model_signature {
  std::map<std::string, model_tensor> inputs{};            // what is fed
  std::map<std::string, model_tensor> outputs{};           // what is fetched
  std::string method_name = "tensorflow/serving/predict";  // what servers of models go by
};

/// The format of a model's files.
enum class model_format {
  leat,             // graph.json and variables.safetensors
  tensorflow,       // TensorFlow's SavedModel: saved_model.pb and variables/
  tensorflow_text,  // the same with saved_model.pbtxt, as TensorFlow writes it with `as_text`
};

/// Options of `save_model`.
struct save_model_options {
  std::map<std::string, model_signature> signatures{};
  std::map<std::string, std::vector<model_tensor>> collections{};  // added to the graph's, such as {"train_op", {train}}
  std::vector<std::string> tags{"serve"};
  named_texts metadata{};  // strings stored with the variables
  /// Whether to save the whole graph, or only the subgraph that the signatures need, without the graph's own collections.
  bool whole_graph = true;
  /// TensorFlow's formats have no place for metadata: with metadata they fail with invalid_argument.
  model_format format = model_format::leat;
};

namespace detail {

signature_tensor signature_entry(graph& g, const model_tensor& item, const std::string& where);

// Returns "signature 's', 'key': ", for messages.
std::string place_in_signature(std::string_view signature, std::string_view key);
// The element that a signature names: a tensor, or an operation without results. Errors: invalid_argument if the graph does not have it.
graph_element signature_element(graph& g, const signature_tensor& tensor, const std::string& where);
// The same if it must be a tensor of the signature's dtype. Errors: also invalid_argument for an operation or another dtype.
output signature_output(graph& g, const signature_tensor& tensor, const std::string& where);

meta_graph_def make_meta_graph(graph& g, const save_model_options& options);

// The variables in `def`, the saved part of the graph.
std::map<std::string, output, std::less<>> variables_in(graph& g, const graph_def& def);

inline array_bytes bytes_of(const tensor_value& v) { return {v.type(), v.extent(), std::span<const std::byte>(v.data(), v.bytes())}; }
tensor_value to_value(const array_bytes& array);
// Writes a model in the format of the options.
void write_model(const std::filesystem::path& folder, const meta_graph_def& meta, const named_arrays& variables,
                 const save_model_options& options, const slices_by_name& slices = {});
// The slices of partitioned variables that a graph records.
slices_by_name slices_in(graph& g);
// Replaces the value of a whole partitioned variable, as TensorFlow's files have it, by the values of its slices.
void cut_into_slices(session_values& values, const slices_by_name& slices);
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

/// Saves a session's graph and the values of its variables, except local ones, into a folder; replaces an existing saved model atomically.
/// Errors: failed_precondition for uninitialized variables, and if the folder contains anything else or cannot be written;
/// invalid_argument, naming signature and key, for elements that the graph does not have, and for variables of dtypes that safetensors
/// lacks. Source: TensorFlow `saved_model.simple_save`.
void save_model(const std::filesystem::path& folder, graph_session& s, const save_model_options& options = {});

/// Saves only the variables of a session, as a .safetensors file. Errors: see `save_model`.
inline void save_variables(const std::filesystem::path& path, graph_session& s, const named_texts& metadata = {}) {
  const session_values values = values_of(s);
  write_safetensors(path, detail::to_arrays(values), metadata);
}
/// Restores all non-local variables of a session from a saved model's folder, or a .safetensors file.
/// Errors: those of `read_variables` and `restore_values`, naming the file; after an error nothing is assigned.
inline void restore_variables(graph_session& s, const std::filesystem::path& path) {
  const session_values values = detail::to_values(read_variables(path));
  detail::naming(path, [&] { restore_values(s, values); });
}

/// Options of `load_model`.
struct load_model_options {
  session_options session{};
  bool checksums = true;  // see `read_model_options`
  /// For a SavedModel of TensorFlow: the tags of the graph to load; if empty, the only graph.
  std::vector<std::string> tags{};
};

/// A loaded model: owns its graph, a session with its variables, and its signatures. Movable.
class saved_model {
 public:
  /// A model from the contents of its files. Errors: see `load_model`.
  explicit saved_model(model_files files, const session_options& options = {});

  /// The model's graph.
  leat::graph& graph() const { return *graph_; }
  /// The session with the model's variables.
  graph_session& session() const { return *session_; }
  /// The signatures, metadata and tags as saved.
  const std::map<std::string, signature_def>& signatures() const { return signatures_; }
  const named_texts& metadata() const { return metadata_; }
  const std::vector<std::string>& tags() const { return tags_; }
  /// The elements of TensorFlow's files that were left out, one sentence each: variables whose values are missing, do not fit, or have a
  /// dtype that the library has no arrays of, and collections of unsupported elements. Runs that need such a variable fail, like runs that
  /// need an uninitialized one.
  const std::vector<std::string>& left_out() const { return left_out_; }

  /// An input tensor of a signature, to be fed to the session. Errors: not_found, listing the existing ones.
  output input(std::string_view signature, std::string_view key) const {
    return find(entry(signature, signature_of(signature).inputs, key, "input"), signature, key);
  }
  /// An output tensor of a signature. Errors: not_found, listing the existing ones.
  output result(std::string_view signature, std::string_view key) const {
    return find(entry(signature, signature_of(signature).outputs, key, "output"), signature, key);
  }

  /// Runs a signature. Takes inputs and returns all outputs by their names in the signature.
  /// Errors: not_found for an unknown signature or input; invalid_argument for a missing input; those of `graph_session::run`.
  std::map<std::string, tensor_value> run(std::string_view signature, const feed_list& inputs = {}, const run_options& how = {}) const;

 private:
  const signature_def& signature_of(std::string_view name) const;
  static const signature_tensor& entry(std::string_view signature, const std::map<std::string, signature_tensor>& side,
                                       std::string_view key, const char* what);
  template <class Map>
  static std::string listed(const Map& map) {
    std::vector<std::string> names;
    for (const auto& [name, value] : map) names.push_back(name);
    return names.empty() ? "none" : leat::detail::name_list(names);
  }
  // The message of a failed run, followed by the list of elements that were left out.
  std::string with_left_out(std::string_view what) const;
  output find(const signature_tensor& tensor, std::string_view signature, std::string_view key) const;

  std::map<std::string, signature_def> signatures_;
  named_texts metadata_;
  std::vector<std::string> tags_;
  std::vector<std::string> left_out_;
  std::unique_ptr<leat::graph> graph_;
  std::unique_ptr<graph_session> session_;
};

/// Loads a saved model of leat or a SavedModel of TensorFlow into a graph and a session of its own, with all variables restored; local
/// variables are uninitialized. Elements of TensorFlow's files that are not supported are left out (`saved_model::left_out`), and their
/// signatures are checked only when they are used.
/// Errors, naming the folder: those of `read_model_files`, `read_saved_model_folder`, `import_graph`; for leat's files invalid_argument,
/// naming them, for variables that are missing in the files or the graph, or have other dtypes or shapes, and for signatures of elements
/// that the graph does not have.
/// Source: TensorFlow `saved_model.loader.load`.
saved_model load_model(const std::filesystem::path& folder, const load_model_options& options = {});

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/saved_model.hpp>
#endif
