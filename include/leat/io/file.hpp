#pragma once
// Whole files and streams as strings.

#include <leat/core/error.hpp>
#include <leat/io/options.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <istream>
#include <string>

namespace leat::io {

/// All that is left of a stream, in parts, so that memory follows what comes.
/// Errors: data_loss if it cannot be read; invalid_argument if it is longer than 2 GB, protobuf's limit.
inline std::string read_all(std::istream& in) {
  constexpr std::size_t part = std::size_t{1} << 20;
  std::string text;
  std::size_t size = 0;
  while (in) {
    text.resize(std::max(size + part, std::min(2 * size, size + 64 * part)));
    in.read(text.data() + size, static_cast<std::streamsize>(text.size() - size));
    size += static_cast<std::size_t>(in.gcount());
    if (size > max_file_bytes) throw invalid_argument("longer than 2 GB, which is protobuf's limit");
  }
  if (in.bad()) throw data_loss("cannot be read to its end");
  text.resize(size);
  return text;
}

/// A whole file. Errors: not_found if it cannot be opened, and those of `read_all`; each names the file.
inline std::string read_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw not_found(path.string() + ": is a folder, not a file");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw not_found(path.string() + ": cannot be opened");
  try {
    return read_all(in);
  } catch (const data_loss& e) {
    throw data_loss(path.string() + ": " + e.what());
  } catch (const invalid_argument& e) {
    throw invalid_argument(path.string() + ": " + e.what());
  }
}

/// Writes a whole file: beside it first, then in its place, so that nobody meets half of it.
/// Errors: failed_precondition if it cannot be written, naming it.
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

namespace detail {
/// Calls `read` and puts the file's name before what it says.
template <class F>
auto naming(const std::filesystem::path& path, F read) {
  try {
    return read();
  } catch (const data_loss& e) {
    throw data_loss(path.string() + ": " + e.what());
  } catch (const invalid_argument& e) {
    throw invalid_argument(path.string() + ": " + e.what());
  } catch (const unimplemented& e) {
    throw unimplemented(path.string() + ": " + e.what());
  }
}
}  // namespace detail

}  // namespace leat::io
