#pragma once
// Implementation of model_files.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/model_files.hpp>
#include <leat/io/staged_file.hpp>

namespace leat::io::detail {

LEAT_FUNCTION void verify_variables(const safetensors& file) {
  const auto told = [&](std::string_view key) -> std::string_view {
    const auto at = file.metadata.find(key);
    return at == file.metadata.end() ? std::string_view{} : std::string_view(at->second);
  };
  if (told(model_format_key) != model_format)
    throw data_loss("the metadata lacks " + std::string(model_format_key) + " \"" + std::string(model_format) +
                    "\": not a saved model's variables, or altered");
  for (const std::string& name : file.names()) {
    const std::string_view wanted = told(std::string(model_array_key) + name);
    if (wanted.empty()) throw data_loss("array " + in_quotes(name) + " has no checksum: altered");
    if (const std::string is = checksum_text(crc32c(file[name].bytes)); is != wanted)
      throw data_loss("array " + in_quotes(name) + ": its bytes have the checksum " + is + ", not " + std::string(wanted) + ": altered");
  }
  for (const auto& [key, text] : file.metadata)
    if (key.starts_with(model_array_key) && !file.contains(std::string_view(key).substr(model_array_key.size())))
      throw data_loss("array " + in_quotes(std::string_view(key).substr(model_array_key.size())) + " is missing: altered");
  if (checksum_text(header_checksum(arrays_of(file), file.metadata)) != told(model_header_key))
    throw data_loss("the header (names, shapes, metadata) does not have its checksum: altered");
}

LEAT_FUNCTION std::filesystem::path model_place(const std::filesystem::path& folder) {
  std::error_code ignored;
  const std::filesystem::path whole = std::filesystem::absolute(folder, ignored).lexically_normal();
  std::filesystem::path place = std::filesystem::weakly_canonical(whole, ignored);
  if (ignored || place.empty()) place = whole;
  return place.has_filename() ? place : place.parent_path();
}

LEAT_FUNCTION void check_replaceable(const std::filesystem::path& folder) {
  std::error_code problem;
  if (!std::filesystem::is_directory(folder, problem)) throw failed_precondition(folder.string() + ": is there and is no folder");
  // Files of TensorFlow's folders, allowed if the folder has TensorFlow's graph file, or is a ".part" folder, in which it may still be
  // missing.
  static const std::set<std::string, std::less<>> of_tensorflow{"saved_model.pb", "saved_model.pbtxt", "variables",
                                                                "assets",         "assets.extra",      "fingerprint.pb"};
  const bool is_of_tensorflow =
      is_there(folder / "saved_model.pb") || is_there(folder / "saved_model.pbtxt") || folder.extension() == ".part";
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
    const std::string name = entry.path().filename().string();
    std::string_view whole = staged_name(name);
    if (whole.ends_with(".part")) whole.remove_suffix(5);  // the ending that earlier versions left
    if (whole != model_graph_file && whole != model_variables_file && !(is_of_tensorflow && of_tensorflow.contains(whole)))
      throw failed_precondition(folder.string() + ": holds " + in_quotes(name) +
                                ", which is no part of a saved model: name another folder");
  }
  if (problem) throw failed_precondition(folder.string() + ": cannot be looked into: " + problem.message());
}

LEAT_FUNCTION void remove_model(const std::filesystem::path& folder) {
  if (!is_there(folder)) return;
  check_replaceable(folder);
  std::error_code problem;
  std::filesystem::remove_all(folder, problem);
  if (problem) throw failed_precondition(folder.string() + ": cannot be removed: " + problem.message());
}

LEAT_FUNCTION void sync_folder(const std::filesystem::path& folder) {
  const int number = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool done = number >= 0 && ::fsync(number) == 0;
  if (number >= 0) ::close(number);
  if (!done) throw failed_precondition(folder.string() + ": cannot be synced: " + std::generic_category().message(errno));
}

LEAT_FUNCTION void put_in_place(const std::filesystem::path& made, const std::filesystem::path& place, bool& made_must_stay) {
  const auto fail = [&] { throw failed_precondition(place.string() + ": cannot be replaced: " + std::generic_category().message(errno)); };
  const auto sync_or = [&](auto undo) {
    try {
      sync_folder(place.parent_path());
    } catch (const failed_precondition& e) {
      if (undo() == 0) throw;
      made_must_stay = true;
      throw failed_precondition(std::string(e.what()) +
                                ", and the new model cannot be taken back; the old one is beside it (.part or .old)");
    }
  };
  const auto old = beside(place, ".old");
  if (!is_there(place)) {
    if (std::rename(made.c_str(), place.c_str()) != 0) fail();
    sync_or([&] { return std::rename(place.c_str(), made.c_str()); });
    remove_model(old);
    return;
  }
#ifdef RENAME_EXCHANGE
  const auto exchange = [&] { return ::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, place.c_str(), RENAME_EXCHANGE); };
  if (exchange() == 0) {
    sync_or(exchange);
    remove_model(made);
    remove_model(old);
    return;
  }
#endif
  remove_model(old);
  if (std::rename(place.c_str(), old.c_str()) != 0) fail();
  const auto put_back = [&] { return std::rename(old.c_str(), place.c_str()); };
  if (std::rename(made.c_str(), place.c_str()) != 0) {
    const int reason = errno;
    put_back();
    errno = reason;
    fail();
  }
  sync_or([&] { return std::rename(place.c_str(), made.c_str()) != 0 ? -1 : put_back(); });
  remove_model(old);
}

LEAT_FUNCTION bool folder_identity::holds() const {
  struct stat mine, now;
  const bool is_there_now = ::stat(path_.c_str(), &now) == 0;
  if (number_ < 0) return !is_there_now;
  return is_there_now && ::fstat(number_, &mine) == 0 && mine.st_dev == now.st_dev && mine.st_ino == now.st_ino;
}

}  // namespace leat::io::detail

namespace leat::io {

LEAT_FUNCTION void write_model_files(const std::filesystem::path& folder, const meta_graph_def& meta, const named_arrays& variables,
                                     const named_texts& metadata) {
  const std::filesystem::path place = detail::model_place(folder);
  const std::string graph_text = detail::naming(folder / model_graph_file, [&] { return write_json(meta); });
  named_texts texts = metadata;
  for (const auto& [key, text] : metadata)
    if (key.starts_with("leat."))
      throw invalid_argument("metadata " + detail::in_quotes(key) + ": names that begin with leat. are the format's own");
  for (const auto& [name, array] : variables) texts[std::string(detail::model_array_key) + name] = checksum_text(crc32c(array.bytes));
  texts[std::string(detail::model_format_key)] = detail::model_format;
  texts[std::string(detail::model_graph_key)] = checksum_text(crc32c(graph_text));
  texts[std::string(detail::model_header_key)] = checksum_text(detail::header_checksum(variables, texts));
  const std::string variables_text = detail::naming(folder / model_variables_file, [&] { return write_safetensors(variables, texts); });

  if (detail::is_there(place)) detail::check_replaceable(place);
  detail::replace_folder(place, [&](const std::filesystem::path& made) {
    write_synced(made / model_graph_file, {graph_text});
    write_synced(made / model_variables_file, {variables_text});
  });
}

}  // namespace leat::io

namespace leat::io::detail {

LEAT_FUNCTION void replace_folder(const std::filesystem::path& place, const std::function<void(const std::filesystem::path&)>& write) {
  const auto made = beside(place, ".part");
  remove_model(made);
  std::error_code problem;
  std::filesystem::create_directories(made, problem);
  if (problem) throw failed_precondition(made.string() + ": cannot be made: " + problem.message());
  bool must_stay = false;
  const struct clean_up {
    const std::filesystem::path& made;
    const bool& must_stay;
    ~clean_up() {
      std::error_code ignored;
      if (!must_stay) std::filesystem::remove_all(made, ignored);
    }
  } after{made, must_stay};
  write(made);
  put_in_place(made, place, must_stay);
}

LEAT_FUNCTION model_files read_model_once(const std::filesystem::path& folder, const read_model_options& options) {
  std::filesystem::path place = folder;
  if (const auto old = detail::beside(detail::model_place(folder), ".old"); !detail::is_there(folder) && is_model_folder(old)) place = old;
  if (!is_model_folder(place)) {
    if (is_there(place / "saved_model.pb") || is_there(place / "saved_model.pbtxt"))
      throw unimplemented(folder.string() + ": a SavedModel of TensorFlow's, which load_model and read_saved_model_folder read");
  }
  const auto graph_path = place / model_graph_file, variables_path = place / model_variables_file;
  const std::string graph_text = read_file(graph_path);
  safetensors variables = read_safetensors(variables_path);
  if (options.checksums) {
    detail::naming(variables_path, [&] { detail::verify_variables(variables); });
    const std::string& wanted = variables.metadata[std::string(detail::model_graph_key)];
    if (const std::string is = checksum_text(crc32c(graph_text)); is != wanted)
      throw data_loss(graph_path.string() + ": has the checksum " + is + ", not " + wanted + ", which " + model_variables_file +
                      " has: altered, cut off, or of another model");
  }
  named_texts metadata;
  for (const auto& [key, text] : variables.metadata)
    if (!key.starts_with("leat.")) metadata.emplace(key, text);
  auto meta = detail::naming(graph_path, [&] { return read_json<meta_graph_def>(std::string_view(graph_text)); });
  return {.meta = std::move(meta), .variables = std::move(variables), .metadata = std::move(metadata)};
}

}  // namespace leat::io::detail

namespace leat::io {

LEAT_FUNCTION model_files read_model_files(const std::filesystem::path& folder, const read_model_options& options) {
  // Retried if the model is replaced meanwhile, because its two files may then belong to different models.
  constexpr int most_attempts = 100;
  for (int attempt = 1;; ++attempt) {
    const detail::folder_identity identity(folder);
    try {
      model_files read = detail::read_model_once(folder, options);
      if (options.checksums || identity.holds() || attempt == most_attempts) return read;  // checksums prove that both belong together
    } catch (const error&) {
      if (identity.holds() || attempt == most_attempts) throw;
    }
  }
}

LEAT_FUNCTION safetensors read_variables(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto file = std::filesystem::is_directory(path, ignored) ? path / model_variables_file : path;
  safetensors variables = read_safetensors(file);
  if (variables.metadata.contains(detail::model_format_key)) detail::naming(file, [&] { detail::verify_variables(variables); });
  return variables;
}

LEAT_FUNCTION tensor_proto to_proto(const array_bytes& array) {
  tensor_proto t;
  t.dtype = to_data_type(array.type);
  for (int i = 0; i < array.extent.rank; ++i) t.shape.dims.push_back({array.extent[i], {}});
  if (array.bytes.empty()) return t;
  const std::string_view bytes(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  const bool single = array.extent.elements() == 1;  // in the form of make_tensor_proto
  t.field = single ? field_of(t.dtype) : tensor_field::tensor_content;
  t.bytes = bytes;
  if (single && t.dtype == data_type::uint8) t.bytes.resize(4, '\0');
  return t;
}

}  // namespace leat::io
