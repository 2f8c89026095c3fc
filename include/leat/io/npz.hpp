#pragma once
// Named arrays of NumPy (.npz): a ZIP archive with a .npy file for each array, stored (`numpy.savez`) or deflated (`savez_compressed`;
// reading it needs zlib). Files are untrusted: the archive's directory is checked, and each array is verified by its checksum.
// Source: PKWARE, "ZIP File Format Specification", 4.3; numpy.savez.

#include <leat/core/function_bodies.hpp>
#include <leat/io/file.hpp>
#include <leat/io/npy.hpp>
#include <leat/io/place.hpp>
#include <leat/proto/tensor_contents.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace leat::io {

/// The arrays of an archive; each is read when it is requested.
class npz {
 public:
  /// An archive from its bytes. Errors: data_loss if they are not a ZIP archive, or its directory is damaged; unimplemented for multi-part
  /// archives and archives beyond 4 GB.
  explicit npz(std::string bytes);

  /// The arrays' names, sorted: the names of the files without ".npy".
  std::vector<std::string> names() const;
  bool contains(std::string_view name) const { return entries_.find(name) != entries_.end(); }
  /// The array with a name. Errors, naming it: not_found, listing the existing names; data_loss if it is damaged; those of `read_npy`;
  /// unimplemented for encryption, and for compression other than deflate.
  tensor_proto operator[](std::string_view name) const;

 private:
  struct entry {
    std::size_t at = 0, packed = 0, size = 0;
    std::uint32_t checksum = 0;
    unsigned method = 0, flags = 0;
  };
  std::string bytes_;
  std::map<std::string, entry, std::less<>> entries_;
};

/// An archive on disk. Errors: not_found if it cannot be opened, and those of the class; each message names the file.
inline npz read_npz_file(const std::filesystem::path& path) {
  std::string bytes = read_file(path);
  return detail::naming(path, [&] { return npz(std::move(bytes)); });
}

/// An archive of arrays, stored without compression. Errors: those of `write_npy`; invalid_argument for a name with a line end, a zero byte
/// or "..", and for an archive beyond 2 GB.
std::string write_npz(const std::map<std::string, tensor_proto>& arrays);
/// Writes an archive of arrays to a file. Errors: those of `write_npz`, and failed_precondition if the file cannot be written.
inline void write_npz_file(const std::map<std::string, tensor_proto>& arrays, const std::filesystem::path& path) {
  write_file(path, write_npz(arrays));
}

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/npz.hpp>
#endif
