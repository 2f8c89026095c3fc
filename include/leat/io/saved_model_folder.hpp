#pragma once
// TensorFlow's SavedModel folders: saved_model.pb or saved_model.pbtxt with a graph, its signatures and collections for each set of tags,
// and the values of its variables in variables/variables.index and .data-*. Files are untrusted. Source: TensorFlow saved_model.proto,
// saved_model/README.md.

#include <leat/core/function_bodies.hpp>
#include <leat/io/model_files.hpp>
#include <leat/named/graph/variable_store.hpp>

#include <map>
#include <string>
#include <vector>

namespace leat::io {

inline constexpr const char* saved_model_graph_file = "saved_model.pb";
inline constexpr const char* saved_model_text_file = "saved_model.pbtxt";  // the same in text format; read if the other is not there
inline constexpr const char* saved_model_variables = "variables/variables";

/// Whether a folder looks like one of TensorFlow's.
bool is_saved_model_folder(const std::filesystem::path& folder);

/// All graphs of a saved_model.pb or saved_model.pbtxt, which its content tells. Errors: those of `read_binary` and `read_text`; data_loss
/// for another file; unimplemented for a later schema.
std::vector<meta_graph_def> read_saved_model(std::string_view bytes);
/// As saved_model.pb holds it. Errors: those of `write_binary`.
std::string write_saved_model(const meta_graph_def& meta);
/// As saved_model.pbtxt holds it. Errors: those of `write_text`.
std::string write_saved_model_text(const meta_graph_def& meta);

/// Which variables are slices of partitioned ones, by name.
using slices_by_name = std::map<std::string, save_slice_info, std::less<>>;

/// All tensors of a checkpoint of TensorFlow's, with checksums looked at; a partitioned variable is one. Strings go to `texts`; other dtypes
/// that a safetensors file cannot hold are left out. Errors: not_found, data_loss and invalid_argument, naming file and tensor.
safetensors read_bundle(const std::string& prefix, variable_values* texts = nullptr);
/// Writes one, in which slices are parts of the whole. Errors: those of `staged_file`.
void write_bundle(const std::string& prefix, const named_arrays& arrays, const slices_by_name& slices = {});

/// The graph with these tags, the only one if none are given, and the values of its variables.
/// Errors: not_found, listing the tags that there are, if there is no such graph; invalid_argument if there are several; those above.
model_files read_saved_model_folder(const std::filesystem::path& folder, const std::vector<std::string>& tags = {});

/// Writes a SavedModel that TensorFlow loads, replacing one, its graph binary or in text format. Errors: failed_precondition if the folder
/// holds anything else or cannot be written; those of `write_saved_model`. An error leaves the old contents in place.
void write_saved_model_folder(const std::filesystem::path& folder, const meta_graph_def& meta, const named_arrays& variables,
                              const slices_by_name& slices = {}, bool as_text = false);

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/saved_model_folder_bodies.hpp>
#endif
