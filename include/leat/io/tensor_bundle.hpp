#pragma once
// TensorFlow's checkpoints, V2: PREFIX.index, a sorted table with a BundleHeaderProto under the empty key and a BundleEntryProto for
// each tensor, and PREFIX.data-SSSSS-of-NNNNN with the tensors' bytes, little endian. Checksums are masked CRC-32C. Strings are their
// lengths as varints, a checksum of these, and their bytes. A partitioned variable has an entry with its slices, and one for each slice,
// whose keys begin with a zero byte. Files are untrusted.
// Source: TensorFlow tensor_bundle.proto, core/util/tensor_bundle.

#include <leat/core/function_bodies.hpp>
#include <leat/core/shape.hpp>
#include <leat/io/tensor_parts.hpp>
#include <leat/proto/data_type.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace leat::io {

/// A part of a tensor: along each axis where it begins, and how long it is; -1 for the whole axis. Source: TensorFlow `TensorSliceProto`.
struct bundle_slice {
  std::vector<std::int64_t> starts{}, lengths{};
  bool operator==(const bundle_slice&) const = default;
};

/// A tensor's entry in the index.
struct bundle_entry {
  data_type dtype = data_type::invalid;
  std::vector<std::int64_t> shape{};
  std::int32_t shard = 0;
  std::uint64_t offset = 0, size = 0;  // in the shard's file
  std::uint32_t crc32c = 0;            // of its bytes, not masked
  /// The parts that it is saved in, as a partitioned variable is: then it has no bytes of its own, but an entry for each of them.
  std::vector<bundle_slice> slices{};
  bool is_sliced() const { return !slices.empty(); }
  bool operator==(const bundle_entry&) const = default;
};

/// What an index says.
struct bundle_index {
  std::int32_t shards = 1;
  std::map<std::string, bundle_entry, std::less<>> entries{};
  std::map<std::string, bundle_entry, std::less<>> parts{};  // of sliced tensors, by `bundle_part_name`
  bool operator==(const bundle_index&) const = default;
};

/// Errors: data_loss or invalid_argument, naming the tensor and field; unimplemented for big-endian data.
bundle_index read_bundle_index(std::string_view file);
std::string write_bundle_index(const bundle_index& index);

/// The key of a part of a tensor in the table: a zero byte, the name, and the slice, in an order-preserving code.
/// Source: TensorFlow `EncodeTensorNameSlice`, `OrderedCode`.
std::string bundle_part_name(std::string_view tensor, const bundle_slice& slice);

/// A part of a sliced tensor: where it lies in the whole, and its entry.
struct bundle_part {
  leat::detail::tensor_block block{};
  const bundle_entry* entry = nullptr;
};
/// The parts of a sliced tensor of at most `max_rank` dimensions. Errors: data_loss if one is not there, has another dtype or shape than
/// its slice, or if they are not the whole, each element once.
std::vector<bundle_part> bundle_parts(const bundle_index& index, std::string_view tensor, const bundle_entry& whole);

/// "PREFIX.data-00000-of-00001".
std::string bundle_data_name(const std::string& prefix, std::int32_t shard, std::int32_t shards);

/// The bytes of a tensor of strings, and its checksum, which is that of the lengths as numbers of 4 bytes (8 for long strings), of their
/// checksum, and of the strings.
std::string pack_bundle_strings(const std::vector<std::string>& texts, std::uint32_t& crc32c);
/// Errors: data_loss for bytes that are not `count` strings with this checksum.
std::vector<std::string> unpack_bundle_strings(std::string_view bytes, std::size_t count, std::uint32_t crc32c);

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/tensor_bundle_bodies.hpp>
#endif
