#pragma once
// Sorted tables of strings, the format of LevelDB's table files, in which TensorFlow stores the index of a checkpoint: blocks of entries
// with prefix-compressed keys, a block that lists the blocks by their last keys, and a footer of 48 bytes. Each block is followed by the
// number of its compression and its checksum. Files are untrusted. Source: LevelDB, doc/table_format.md; TensorFlow core/lib/io/table.

#include <leat/core/function_bodies.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leat::io {

/// Keys with their values.
using table_entries = std::vector<std::pair<std::string, std::string>>;

/// The entries of a table, in order; blocks may be compressed by Snappy. Errors: data_loss, naming the byte, for data that is truncated,
/// modified, or not in order; unimplemented for other compression.
table_entries read_sorted_table(std::string_view file);

/// A table as bytes, without compression. Errors: invalid_argument if keys are not in ascending order, compared byte by byte.
std::string write_sorted_table(const table_entries& entries);

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/sorted_table.hpp>
#endif
