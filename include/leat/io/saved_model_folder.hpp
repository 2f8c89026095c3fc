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
inline constexpr const char* saved_model_text_file = "saved_model.pbtxt";  // the same in text format; read if the other is missing
inline constexpr const char* saved_model_variables = "variables/variables";

/// Whether a folder looks like a SavedModel of TensorFlow.
bool is_saved_model_folder(const std::filesystem::path& folder);

/// All graphs of a saved_model.pb or saved_model.pbtxt; the format is detected from the contents. Errors: those of `read_binary` and
/// `read_text`; data_loss for another file; unimplemented for a later schema.
std::vector<meta_graph_def> read_saved_model(std::string_view bytes);
/// The contents of saved_model.pb. Errors: those of `write_binary`.
std::string write_saved_model(const meta_graph_def& meta);
/// The contents of saved_model.pbtxt. Errors: those of `write_text`.
std::string write_saved_model_text(const meta_graph_def& meta);

/// The variables that are slices of partitioned variables, by name.
using slices_by_name = std::map<std::string, save_slice_info, std::less<>>;

/// All tensors of a checkpoint of TensorFlow, with their checksums verified; a partitioned variable is one tensor. Strings are added to
/// `texts`; other dtypes that a safetensors file cannot store are left out. Errors: not_found, data_loss and invalid_argument, naming file
/// and tensor.
safetensors read_bundle(const std::string& prefix, variable_values* texts = nullptr);
/// Writes such a checkpoint, in which slices are parts of a whole tensor. Errors: those of `staged_file`.
void write_bundle(const std::string& prefix, const named_arrays& arrays, const slices_by_name& slices = {});

/// The graph with these tags, or the only graph if no tags are given, and the values of its variables.
/// Errors: not_found, listing the existing tags, if there is no such graph; invalid_argument if there are several; those of the functions
/// above.
model_files read_saved_model_folder(const std::filesystem::path& folder, const std::vector<std::string>& tags = {});

/// Writes a SavedModel that TensorFlow loads, with its graph in binary form or in text format, replacing an existing one. Errors:
/// failed_precondition if the folder contains anything else or cannot be written; those of `write_saved_model`. After an error the old
/// contents are unchanged.
void write_saved_model_folder(const std::filesystem::path& folder, const meta_graph_def& meta, const named_arrays& variables,
                              const slices_by_name& slices = {}, bool as_text = false);

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/saved_model_folder.hpp>
#endif
