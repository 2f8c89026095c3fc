#pragma once
// Implementation of file.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/file.hpp>
#include <leat/io/regular_file.hpp>

namespace leat::io {

LEAT_FUNCTION std::string read_all(std::istream& in, std::size_t limit) {
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

LEAT_FUNCTION std::string read_file(const std::filesystem::path& path, std::size_t limit) {
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

LEAT_FUNCTION void write_file(const std::filesystem::path& path, const std::string& text) {
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

LEAT_FUNCTION void write_synced(const std::filesystem::path& path, std::initializer_list<std::string_view> parts) {
  auto beside = path;
  beside += ".part";
  const auto fail = [&](const char* what) {
    const std::string reason = detail::system_reason();
    throw failed_precondition(path.string() + ": " + what + ": " + reason);
  };
  const descriptor out(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!out) fail("cannot be written");
  for (std::string_view part : parts)
    while (!part.empty()) {
      const ssize_t count = ::write(out.get(), part.data(), std::min<std::size_t>(part.size(), std::size_t{1} << 30));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("cannot be written");
      part.remove_prefix(static_cast<std::size_t>(count));
    }
  if (::fsync(out.get()) != 0) fail("cannot be synced");
  if (::rename(beside.c_str(), path.c_str()) != 0) fail("cannot be put in its place");
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const descriptor there(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!there || ::fsync(there.get()) != 0) fail("its folder cannot be synced");
}

}  // namespace leat::io
