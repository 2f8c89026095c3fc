#pragma once
// Whole files and streams as strings.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/io/options.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <istream>
#include <string>
#include <string_view>
#include <system_error>

namespace leat::io {

/// The error message for the file of a SavedModel of TensorFlow if a graph's file is expected.
inline constexpr std::string_view tensorflow_saved_model =
    "a SavedModel of TensorFlow's, which holds graphs by their tags: name its folder, which io::load_model, io::read_saved_model_folder "
    "and the command leat read";

/// The rest of a stream, read in pieces, so that memory grows with the data that arrives.
/// Errors: data_loss if it cannot be read; invalid_argument if it is longer than `limit`, by default 2 GB, protobuf's limit.
std::string read_all(std::istream& in, std::size_t limit = max_file_bytes);

/// A whole file. Errors: not_found if it cannot be opened; failed_precondition for a pipe or socket, which might block forever (read those
/// as streams); those of `read_all`. Each message names the file.
std::string read_file(const std::filesystem::path& path, std::size_t limit = max_file_bytes);

/// Writes a whole file: first to a temporary name that is unique to the call, then renames it, so that readers never see half of it, even
/// if other writers write the same file. Errors, naming the file: resource_exhausted for a full disk; failed_precondition if it cannot be
/// written for another reason.
void write_file(const std::filesystem::path& path, const std::string& text);

/// Writes a whole file from parts. After a crash at any moment the file is complete or absent: it is written to a temporary name, synced to
/// disk, renamed, and the folder is synced. Errors: as `write_file`, with the system's message.
void write_synced(const std::filesystem::path& path, std::initializer_list<std::string_view> parts);

namespace detail {
/// Calls `read`, and prefixes the messages of its errors with the file's name.
template <class F>
auto naming(const std::filesystem::path& path, F read) {
  try {
    return read();
  } catch (const error& e) {
    leat::detail::rethrow_saying(e, path.string() + ": " + e.what());
  }
}
}  // namespace detail

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/file.hpp>
#endif
