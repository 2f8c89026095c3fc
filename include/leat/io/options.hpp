#pragma once
// What readers of files may be told, and the limits they keep. Files are untrusted: nothing is done in proportion to a
// number that stands in a file, only in proportion to its length; and no message is nested deeper than a program's stack
// bears.

#include <cstddef>
#include <cstdint>

namespace leat::io {

/// How a file is read.
struct read_options {
  /// Refuse graphs that are wrong as a whole (`validate.hpp`): names twice, inputs that nothing has, cycles. Off for parts of
  /// graphs, whose other inputs come from elsewhere.
  bool validate = true;
};

/// The largest file or text: protobuf's own limit.
inline constexpr std::size_t max_file_bytes = 0x7fffffff;
/// How deep messages may be nested in binary files, and objects and arrays in JSON, where a message takes up to two levels.
inline constexpr int max_message_depth = 64;
inline constexpr int max_json_depth = 2 * max_message_depth + 8;

}  // namespace leat::io
