#pragma once
// Options for readers of files, and the limits that they enforce. Files are untrusted: time and memory grow with a file's length, never
// with a number that it contains, and messages may not be nested deeper than the stack allows.

#include <cstddef>
#include <cstdint>

namespace leat::io {

/// Options of readers.
struct read_options {
  /// Whether to refuse graphs that are invalid as a whole (`validate.hpp`): duplicate names, inputs without a node, cycles. Turn it off for
  /// parts of graphs, which have inputs from elsewhere.
  bool validate = true;
};

/// The largest file or text: protobuf's own limit.
inline constexpr std::size_t max_file_bytes = 0x7fffffff;
/// The maximum nesting of messages in binary files.
inline constexpr int max_message_depth = 64;
/// The maximum nesting of objects and arrays in JSON, where a message takes up to two levels.
inline constexpr int max_json_depth = 2 * max_message_depth + 8;

}  // namespace leat::io
