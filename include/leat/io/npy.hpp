#pragma once
// Arrays in NumPy's files (.npy): a magic string, a version, the length of a header, the header, which is a Python literal {'descr': '<f4',
// 'fortran_order': False, 'shape': (2, 3), }, and the elements. Elements of dtypes that the library lacks are converted
// (`element_format.hpp`), and so are big-endian elements and arrays in Fortran's (column-major) order. Source: numpy.lib.format, versions
// 1.0 to 3.0.

#include <leat/core/function_bodies.hpp>
#include <leat/io/element_format.hpp>
#include <leat/io/file.hpp>
#include <leat/io/place.hpp>
#include <leat/proto/tensor_contents.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace leat::io {

/// The array of a .npy file.
/// Errors: data_loss if it is truncated, has trailing bytes or is not such a file; unimplemented for dtypes that no dtype of the library
/// represents (strings, objects, long double), and for versions beyond 3; out_of_range, naming the value, for a uint64 beyond
/// int64.
tensor_proto read_npy(std::string_view bytes);

/// The array of a .npy file on disk. Errors: not_found if it cannot be opened, and those of `read_npy`; each message names the file.
inline tensor_proto read_npy_file(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  return detail::naming(path, [&] { return read_npy(bytes); });
}

/// A tensor as a .npy file, version 1.0. Errors: invalid_argument for an invalid tensor, for a dtype that NumPy lacks or the library only
/// carries, and for more elements than `limit`.
std::string write_npy(const tensor_proto& t, std::int64_t limit = max_contents);
/// Writes an array to a file. Errors: those of `write_npy`; failed_precondition if the file cannot be written.
inline void write_npy_file(const tensor_proto& t, const std::filesystem::path& path) { write_file(path, write_npy(t)); }

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/npy.hpp>
#endif
