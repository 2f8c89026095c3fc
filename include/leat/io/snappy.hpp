#pragma once
// Blocks that Snappy has compressed, as tables of TensorFlow's (sorted_table.hpp) may be: the length of the whole, then runs of bytes, and
// copies of what was written before. Only reading. Files are untrusted: a length that so few bytes cannot unpack to is refused before
// memory is asked for. Source: google/snappy, format_description.txt.

#include <leat/core/function_bodies.hpp>

#include <string>
#include <string_view>

namespace leat::io {

/// What a compressed block holds. Errors: data_loss, with the byte of the block, if it is damaged or cut off.
std::string unpack_snappy(std::string_view block);

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/snappy_bodies.hpp>
#endif
