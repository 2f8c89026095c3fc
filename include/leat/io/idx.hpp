#pragma once
// Arrays in IDX files, the format of MNIST: two zero bytes, the type, the number of axes, their sizes, and the elements, big endian. Files
// compressed by gzip are read without unpacking them first. Source: Y. LeCun, C. Cortes, C. Burges, "The MNIST database", its last section.

#include <leat/core/function_bodies.hpp>
#include <leat/io/file.hpp>
#include <leat/io/inflate.hpp>
#include <leat/io/place.hpp>
#include <leat/proto/tensor_contents.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace leat::io {

/// The array of an IDX file. Bytes are uint8; signed bytes and 16-bit integers become int32, which represents them.
/// Errors: data_loss if it is truncated, has trailing bytes or is not an IDX file.
tensor_proto read_idx(std::string_view bytes);

/// The array of an IDX file on disk, which may be compressed by gzip. Errors: not_found if it cannot be opened, those of `read_idx` and
/// `gunzip`; each message names the file.
inline tensor_proto read_idx_file(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  return detail::naming(path, [&] { return is_gzip(bytes) ? read_idx(gunzip(bytes)) : read_idx(bytes); });
}

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/idx.hpp>
#endif
