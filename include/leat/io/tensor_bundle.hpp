#pragma once
// TensorFlow's checkpoints, V2: PREFIX.index, a sorted table with a BundleHeaderProto under the empty key and a BundleEntryProto for each
// tensor, and PREFIX.data-SSSSS-of-NNNNN with the tensors' bytes, little endian. Checksums are masked CRC-32C. A tensor of strings is
// stored as their lengths as varints, a checksum of the lengths, and their bytes. A partitioned variable has an entry that lists its
// slices, and one for each slice, under a key that begins with a zero byte. Files are untrusted.
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

/// A part of a tensor: its start and length along each axis; a length of -1 means the whole axis. Source: TensorFlow `TensorSliceProto`.
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
  std::uint32_t crc32c = 0;            // of the bytes, not masked
  /// The parts of a partitioned variable, which are stored separately: the entry then has no bytes of its own, and each part has an entry.
  std::vector<bundle_slice> slices{};
  bool is_sliced() const { return !slices.empty(); }
  bool operator==(const bundle_entry&) const = default;
};

/// The contents of an index.
struct bundle_index {
  std::int32_t shards = 1;
  std::map<std::string, bundle_entry, std::less<>> entries{};
  std::map<std::string, bundle_entry, std::less<>> parts{};  // of sliced tensors, by `bundle_part_name`
  bool operator==(const bundle_index&) const = default;
};

/// An index from its bytes, and back. Errors: data_loss or invalid_argument, naming the tensor and field; unimplemented for big-endian
/// data.
bundle_index read_bundle_index(std::string_view file);
std::string write_bundle_index(const bundle_index& index);

/// The key of a part of a tensor in the table: a zero byte, the name, and the slice, in an order-preserving code.
/// Source: TensorFlow `EncodeTensorNameSlice`, `OrderedCode`.
std::string bundle_part_name(std::string_view tensor, const bundle_slice& slice);

/// A part of a sliced tensor: its block of the whole tensor, and its entry.
struct bundle_part {
  leat::detail::tensor_block block{};
  const bundle_entry* entry = nullptr;
};
/// The parts of a sliced tensor with at most `max_rank` dimensions. Errors: data_loss if a part is missing or has another dtype or shape
/// than its slice, or if the parts do not cover the whole tensor, each element once.
std::vector<bundle_part> bundle_parts(const bundle_index& index, std::string_view tensor, const bundle_entry& whole);

/// The name of a shard's file: "PREFIX.data-00000-of-00001".
std::string bundle_data_name(const std::string& prefix, std::int32_t shard, std::int32_t shards);

/// The bytes of a tensor of strings, and its checksum, which is that of the lengths as 4-byte numbers (8 bytes for long strings), of the
/// checksum of the lengths, and of the strings.
std::string pack_bundle_strings(const std::vector<std::string>& texts, std::uint32_t& crc32c);
/// The strings from these bytes. Errors: data_loss if they are not `count` strings with this checksum.
std::vector<std::string> unpack_bundle_strings(std::string_view bytes, std::size_t count, std::uint32_t crc32c);

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/tensor_bundle.hpp>
#endif
