#pragma once
// A saved model on disk: a folder with graph.json, a MetaGraphDef (graph, collections, signatures, tags), and variables.safetensors, the
// values of its variables by name. The second file's metadata has checksums (CRC-32C) of each array, of graph.json, and of its own header,
// so that modifications and truncation are detected. A model is written to a folder next to its destination and moved there by one atomic
// exchange of names: after a crash at any moment the destination is either the old or the new model, complete. Only one writer at a time is
// supported.

#include <leat/core/function_bodies.hpp>
#include <leat/io/crc32c.hpp>
#include <leat/io/json.hpp>
#include <leat/io/safetensors.hpp>
#include <leat/proto/freeze.hpp>

#include <sys/stat.h>

#include <cstdio>
#include <functional>

namespace leat::io {

/// Names of the files of a saved model.
inline constexpr const char* model_graph_file = "graph.json";
inline constexpr const char* model_variables_file = "variables.safetensors";

using named_arrays = std::map<std::string, array_bytes, std::less<>>;
using named_texts = std::map<std::string, std::string, std::less<>>;

/// The contents of a saved model's files. The arrays of `variables` point into the file's contents, which it owns.
struct model_files {
  meta_graph_def meta{};
  safetensors variables;
  named_texts metadata{};  // user-defined strings
  /// For TensorFlow's files: variables of strings, which `variables` cannot hold.
  variable_values texts{};
  /// Whether the model was written by TensorFlow: such a model may contain elements that the library does not support, which are left out
  /// when it is loaded.
  bool is_of_tensorflow = false;
};

/// Options of `read_model_files`.
struct read_model_options {
  /// Whether to refuse modified files. Turn it off for a graph.json that was edited on purpose, or for variables from another source.
  bool checksums = true;
};

namespace detail {

// Metadata keys that are reserved for the format.
inline constexpr std::string_view model_format_key = "leat.format";
inline constexpr std::string_view model_format = "saved model 1";
inline constexpr std::string_view model_graph_key = "leat.crc32c.graph.json";
inline constexpr std::string_view model_header_key = "leat.crc32c.header";
inline constexpr std::string_view model_array_key = "leat.crc32c.array/";  // followed by the array's name

// The checksum of a header's names, dtypes, shapes and strings, without offsets.
template <class Arrays>
std::uint32_t header_checksum(const Arrays& arrays, const named_texts& metadata) {
  std::string all;
  const auto put = [&](std::string_view text) { all.append(text) += '\0'; };
  for (const auto& [key, text] : metadata)
    if (key != model_header_key) put(key), put(text);
  for (const auto& [name, array] : arrays) {
    put(name), put(name_of_dtype(array.type));
    for (int i = 0; i < array.extent.rank; ++i) put(std::to_string(array.extent[i]));
  }
  return crc32c(all);
}

inline named_arrays arrays_of(const safetensors& file) {
  named_arrays arrays;
  for (const std::string& name : file.names()) arrays.emplace(name, file[name]);
  return arrays;
}

// Verifies all checksums. Errors: data_loss if anything was modified.
void verify_variables(const safetensors& file);

inline bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}
// The folder's canonical path, without links and trailing slashes.
std::filesystem::path model_place(const std::filesystem::path& folder);
inline std::filesystem::path beside(std::filesystem::path place, const char* ending) { return place += ending; }

// These only replace or remove the files of a saved model. Errors: failed_precondition if the folder contains anything else.
void check_replaceable(const std::filesystem::path& folder);
void remove_model(const std::filesystem::path& folder);

void sync_folder(const std::filesystem::path& folder);

// Moves a folder to the place of another. If the file system cannot exchange two names, the old folder is at ".old" for a moment, where
// readers look for it. The old model is kept until the new names are synced to disk; if syncing fails, it is put back; if that fails, too,
// `made_must_stay` is set, because `made` may be the old model.
void put_in_place(const std::filesystem::path& made, const std::filesystem::path& place, bool& made_must_stay);

// Calls `write` with an empty folder next to `place`, then moves this folder to `place`. If there is an error, `place` stays as it is.
void replace_folder(const std::filesystem::path& place, const std::function<void(const std::filesystem::path&)>& write);

// The identity of the folder at a path. The folder is held open, so no other folder can get the same identity during the lifetime of the
// object.
class folder_identity {
 public:
  explicit folder_identity(const std::filesystem::path& folder)
      : path_(folder), number_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}
  folder_identity(const folder_identity&) = delete;
  folder_identity& operator=(const folder_identity&) = delete;
  ~folder_identity() {
    if (number_ >= 0) ::close(number_);
  }
  /// Whether the path still refers to the same folder.
  bool holds() const;

 private:
  std::filesystem::path path_;
  int number_;
};

}  // namespace detail

/// Whether a folder looks like a saved model.
inline bool is_model_folder(const std::filesystem::path& folder) {
  return detail::is_there(folder / model_graph_file) || detail::is_there(folder / model_variables_file);
}

/// Writes a saved model, replacing an existing one. Metadata are strings stored with the variables.
/// Errors: failed_precondition if the folder contains anything else or cannot be written; those of `write_json` and `write_safetensors`.
/// After an error the old contents are unchanged.
void write_model_files(const std::filesystem::path& folder, const meta_graph_def& meta, const named_arrays& variables,
                       const named_texts& metadata = {});

namespace detail {
model_files read_model_once(const std::filesystem::path& folder, const read_model_options& options);
}  // namespace detail

/// Reads a saved model; reads it again if it is replaced meanwhile. Errors, each naming the file: not_found if a file is missing;
/// data_loss, naming the array, for modified or truncated data; those of `read_json` and `safetensors`; unimplemented for a SavedModel of
/// TensorFlow.
model_files read_model_files(const std::filesystem::path& folder, const read_model_options& options = {});

/// Variables from a file: a saved model's folder, or any .safetensors file. Verifies checksums if the file has any.
safetensors read_variables(const std::filesystem::path& path);

/// An array as the value of a graph's constant.
tensor_proto to_proto(const array_bytes& array);
/// The arrays of a file, for `freeze`: all of them, or only those whose names `is_wanted` accepts, so that other arrays may have dtypes
/// that cannot be read.
template <class Wanted>
variable_values to_variable_values(const safetensors& file, Wanted is_wanted) {
  variable_values values;
  for (const std::string& name : file.names())
    if (is_wanted(name)) values.emplace(name, to_proto(file[name]));
  return values;
}
inline variable_values to_variable_values(const safetensors& file) {
  return to_variable_values(file, [](const std::string&) { return true; });
}

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/model_files.hpp>
#endif
