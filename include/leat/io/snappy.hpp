#pragma once
// Decompresses blocks of Snappy, which TensorFlow's tables (sorted_table.hpp) may contain: the length of the whole, then runs of bytes, and
// copies of earlier output. There is no compression. Files are untrusted: a length to which so few bytes cannot expand is refused before
// memory is allocated. Source: google/snappy, format_description.txt.

#include <leat/core/function_bodies.hpp>

#include <string>
#include <string_view>

namespace leat::io {

/// Decompresses a block. Errors: data_loss, naming the byte of the block, if it is damaged or truncated.
std::string unpack_snappy(std::string_view block);

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/snappy.hpp>
#endif
