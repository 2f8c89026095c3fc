#pragma once
// Whole files and streams as strings.

#include <leat/core/error.hpp>
#include <leat/io/options.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <istream>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>

namespace leat::io {

/// The error message for TensorFlow 2's exports.
inline constexpr std::string_view tensorflow_saved_model =
    "a SavedModel of TensorFlow's, which holds MetaGraphDefs and checkpoints: not read; tf.io.write_graph writes the graph of one as a "
    ".pb, tf.compat.v1.train.export_meta_graph as a .meta";

/// The rest of a stream, read in parts, so that memory grows with what arrives.
/// Errors: data_loss if it cannot be read; invalid_argument if it is longer than `limit`, by default 2 GB, protobuf's.
inline std::string read_all(std::istream& in, std::size_t limit = max_file_bytes) {
  constexpr std::size_t part = std::size_t{1} << 20;
  std::string text;
  std::size_t size = 0;
  while (in) {
    text.resize(std::max(size + part, std::min(2 * size, size + 64 * part)));
    in.read(text.data() + size, static_cast<std::streamsize>(text.size() - size));
    size += static_cast<std::size_t>(in.gcount());
    if (size > limit)
      throw invalid_argument(limit == max_file_bytes ? "longer than 2 GB, which is protobuf's limit"
                                                     : "longer than " + std::to_string(limit) + " bytes");
  }
  if (in.bad()) throw data_loss("cannot be read to its end");
  text.resize(size);
  return text;
}

/// A whole file. Errors: not_found if it cannot be opened; failed_precondition for a pipe or socket, which might block forever (read
/// those as streams); those of `read_all`. Each names the file.
inline std::string read_file(const std::filesystem::path& path, std::size_t limit = max_file_bytes) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) throw not_found(path.string() + ": is a folder, not a file");
  if (std::filesystem::is_fifo(status) || std::filesystem::is_socket(status))
    throw failed_precondition(path.string() + ": is a pipe or socket, not a file");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw not_found(path.string() + ": cannot be opened");
  try {
    return read_all(in, limit);
  } catch (const data_loss& e) {
    throw data_loss(path.string() + ": " + e.what());
  } catch (const invalid_argument& e) {
    throw invalid_argument(path.string() + ": " + e.what());
  }
}

/// Writes a whole file: to a temporary name first, then renamed, so that readers never see half of it.
/// Errors: failed_precondition, naming the file, if it cannot be written.
inline void write_file(const std::filesystem::path& path, const std::string& text) {
  auto beside = path;
  beside += ".part";
  {
    std::ofstream out(beside, std::ios::binary | std::ios::trunc);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.close();
    if (!out) throw failed_precondition(path.string() + ": cannot be written");
  }
  std::error_code problem;
  std::filesystem::rename(beside, path, problem);
  if (problem) throw failed_precondition(path.string() + ": cannot be written: " + problem.message());
}

/// Writes a whole file from parts; after a crash at any moment it is complete or absent: written to a temporary name, synced to disk,
/// renamed, and the folder synced. Errors: failed_precondition, naming the file and the system's message.
inline void write_synced(const std::filesystem::path& path, std::initializer_list<std::string_view> parts) {
  auto beside = path;
  beside += ".part";
  const auto fail = [&](const char* what) {
    const std::string reason = std::generic_category().message(errno);
    throw failed_precondition(path.string() + ": " + what + ": " + reason);
  };
  const struct descriptor {
    int number;
    ~descriptor() {
      if (number >= 0) ::close(number);
    }
  } out{::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
  if (out.number < 0) fail("cannot be written");
  for (std::string_view part : parts)
    while (!part.empty()) {
      const ssize_t count = ::write(out.number, part.data(), std::min<std::size_t>(part.size(), std::size_t{1} << 30));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("cannot be written");
      part.remove_prefix(static_cast<std::size_t>(count));
    }
  if (::fsync(out.number) != 0) fail("cannot be synced");
  if (::rename(beside.c_str(), path.c_str()) != 0) fail("cannot be put in its place");
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const descriptor there{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (there.number < 0 || ::fsync(there.number) != 0) fail("its folder cannot be synced");
}

namespace detail {
/// Calls `read`; prefixes its errors with the file's name.
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
