#pragma once
// Implementation of file.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/file.hpp>
#include <leat/io/regular_file.hpp>
#include <leat/io/staged_file.hpp>

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
  staged_file file(path);
  file.write(text);
  file.put_in_place();
}

LEAT_FUNCTION void write_synced(const std::filesystem::path& path, std::initializer_list<std::string_view> parts) {
  staged_file file(path);
  for (const std::string_view part : parts) file.write(part);
  file.sync();
  file.put_in_place();
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const descriptor there(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!there || ::fsync(there.get()) != 0)
    throw failed_precondition(path.string() + ": its folder cannot be synced: " + detail::system_reason());
}

}  // namespace leat::io
