#pragma once
// Implementation of tensor_bundle.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/binary/read.hpp>
#include <leat/io/binary/write.hpp>
#include <leat/io/crc32c.hpp>
#include <leat/io/sorted_table.hpp>
#include <leat/io/tensor_bundle.hpp>

#include <cstdio>

namespace leat::io::detail {

// An unknown endianness or version is refused; a `min_consumer` above 1 would mean a format that did not exist at the time of writing.
LEAT_FUNCTION std::int32_t read_bundle_header(std::string_view bytes) {
  std::int32_t shards = 0;
  protozero::pbf_reader in{bytes.data(), bytes.size()};
  while (in.next()) {
    if (in.tag() == 1 && in.wire_type() == protozero::pbf_wire_type::varint) {
      const std::uint64_t number = in.get_uint64();
      if (number > 99'999) throw invalid_argument("the header: " + std::to_string(number) + " shards");
      shards = static_cast<std::int32_t>(number);
    } else if (in.tag() == 2 && in.wire_type() == protozero::pbf_wire_type::varint) {
      if (in.get_uint64() != 0) throw unimplemented("a checkpoint of a big-endian machine");
    } else {
      in.skip();
    }
  }
  return shards;
}

// Fields of TensorSliceProto: extent 1, with start 1 and length 2; an extent without a length is the whole axis.
LEAT_FUNCTION bundle_slice read_bundle_slice(protozero::pbf_reader in) {
  bundle_slice made;
  while (in.next()) {
    if (in.tag() != 1 || in.wire_type() != protozero::pbf_wire_type::length_delimited) {
      in.skip();
      continue;
    }
    std::int64_t start = 0, length = -1;
    protozero::pbf_reader extent = in.get_message();
    while (extent.next()) {
      if (extent.wire_type() != protozero::pbf_wire_type::varint || extent.tag() > 2) extent.skip();
      else (extent.tag() == 1 ? start : length) = extent.get_int64();
    }
    made.starts.push_back(start), made.lengths.push_back(length);
  }
  return made;
}

LEAT_FUNCTION bundle_entry read_bundle_entry(const std::string& name, std::string_view bytes, std::int32_t shards) {
  const auto wrong = [&](const std::string& what) { throw invalid_argument("tensor " + in_quotes(name) + ": " + what); };
  bundle_entry made;
  std::uint64_t shard = 0;
  using wire = protozero::pbf_wire_type;
  protozero::pbf_reader in{bytes.data(), bytes.size()};
  while (in.next()) {
    if (in.tag() == 1 && in.wire_type() == wire::varint) {
      made.dtype = static_cast<data_type>(in.get_uint64());
    } else if (in.tag() == 2 && in.wire_type() == wire::length_delimited) {
      tensor_shape_proto shape;
      read_message(in.get_message(), shape, {nullptr, "shape"}, 1);
      if (shape.unknown_rank) wrong("a shape of unknown rank");
      for (const auto& d : shape.dims) made.shape.push_back(d.size);
    } else if (in.tag() == 3 && in.wire_type() == wire::varint) {
      shard = in.get_uint64();
    } else if (in.tag() == 4 && in.wire_type() == wire::varint) {
      made.offset = in.get_uint64();
    } else if (in.tag() == 5 && in.wire_type() == wire::varint) {
      made.size = in.get_uint64();
    } else if (in.tag() == 6 && in.wire_type() == wire::fixed32) {
      made.crc32c = unmasked(in.get_fixed32());
    } else if (in.tag() == 7 && in.wire_type() == wire::length_delimited) {
      made.slices.push_back(read_bundle_slice(in.get_message()));
    } else {
      in.skip();
    }
  }
  std::uint64_t elements = 1;
  for (const std::int64_t size : made.shape) {
    if (size < 0 || size > (std::int64_t{1} << 40)) wrong("a dimension of " + std::to_string(size));
    if (size != 0 && elements > (std::uint64_t{1} << 48) / static_cast<std::uint64_t>(size)) wrong("its shape has too many elements");
    elements *= static_cast<std::uint64_t>(size);
  }
  for (const bundle_slice& slice : made.slices) {
    if (slice.starts.size() != made.shape.size()) wrong("a slice of another rank than its shape");
    for (std::size_t i = 0; i < slice.starts.size(); ++i) {
      const std::int64_t start = slice.starts[i], length = slice.lengths[i], size = made.shape[i];
      const bool whole_axis = length == -1 && start == 0;
      if (!whole_axis && (start < 0 || length < 0 || start > size || length > size - start))
        wrong("a slice from " + std::to_string(start) + " of length " + std::to_string(length) + " along an axis of " +
              std::to_string(size));
    }
  }
  if (made.is_sliced()) return made;
  if (shard >= static_cast<std::uint64_t>(shards)) wrong("is in shard " + std::to_string(shard) + " of " + std::to_string(shards));
  made.shard = static_cast<std::int32_t>(shard);
  if (const auto bytes_each = static_cast<std::uint64_t>(content_size_of(made.dtype)); bytes_each > 0 && elements * bytes_each != made.size)
    wrong("its shape takes " + std::to_string(elements * bytes_each) + " bytes, but it has " + std::to_string(made.size));
  return made;
}

}  // namespace leat::io::detail

namespace leat::io {

LEAT_FUNCTION bundle_index read_bundle_index(std::string_view file) {
  bundle_index index;
  bool has_header = false;
  try {
    for (const auto& [key, value] : read_sorted_table(file)) {
      if (key.empty()) {
        index.shards = detail::read_bundle_header(value);
        if (index.shards < 1) throw invalid_argument("the header: no shards");
        has_header = true;
        continue;
      }
      if (!has_header) break;
      // A key that begins with a zero byte belongs to a part of a partitioned variable, which the entry of the whole variable refers to.
      (key.front() == '\0' ? index.parts : index.entries).emplace(key, detail::read_bundle_entry(key, value, index.shards));
    }
  } catch (const protozero::exception& e) {
    throw data_loss(std::string("an entry that is not in protobuf's binary form: ") + e.what());
  }
  if (!has_header) throw data_loss("a table without a header: not the index of a checkpoint");
  return index;
}

LEAT_FUNCTION std::string write_bundle_index(const bundle_index& index) {
  table_entries entries;
  std::string& header = entries.emplace_back().second;
  protozero::pbf_writer out{header};
  out.add_int32(1, index.shards);
  {
    protozero::pbf_writer version{out, 3};
    version.add_int32(1, 1);  // producer
  }
  const auto add = [&](const std::string& name, const bundle_entry& entry) {
    auto& [key, text] = entries.emplace_back(name, std::string());
    protozero::pbf_writer to{text};
    to.add_int32(1, static_cast<std::int32_t>(entry.dtype));
    // The messages are built as strings, because a writer within a writer leaves out empty messages, and an empty message is also a
    // dimension.
    std::string shape;
    protozero::pbf_writer dimensions{shape};
    for (const std::int64_t size : entry.shape) {
      std::string dimension;
      if (size != 0) protozero::pbf_writer{dimension}.add_int64(1, size);
      dimensions.add_message(2, dimension);
    }
    to.add_message(2, shape);
    if (entry.is_sliced()) {
      for (const bundle_slice& slice : entry.slices) {
        std::string message;
        protozero::pbf_writer extents{message};
        for (std::size_t i = 0; i < slice.starts.size(); ++i) {
          std::string extent;
          protozero::pbf_writer fields{extent};
          if (slice.starts[i] != 0) fields.add_int64(1, slice.starts[i]);
          if (slice.lengths[i] >= 0) fields.add_int64(2, slice.lengths[i]);
          extents.add_message(1, extent);
        }
        to.add_message(7, message);
      }
      return;
    }
    if (entry.shard != 0) to.add_int32(3, entry.shard);
    if (entry.offset != 0) to.add_int64(4, static_cast<std::int64_t>(entry.offset));
    if (entry.size != 0) to.add_int64(5, static_cast<std::int64_t>(entry.size));
    to.add_fixed32(6, masked(entry.crc32c));
  };
  // The keys of parts begin with a zero byte, so they precede all names.
  for (const auto& [name, entry] : index.parts) add(name, entry);
  for (const auto& [name, entry] : index.entries) add(name, entry);
  return write_sorted_table(entries);
}

namespace detail {
// Appends the number of bytes of a number without leading zeros, then these bytes, most significant first.
LEAT_FUNCTION void append_ordered(std::string& to, std::uint64_t number) {
  std::string bytes;
  for (; number > 0; number >>= 8) bytes.insert(bytes.begin(), static_cast<char>(number & 0xff));
  to += static_cast<char>(bytes.size());
  to += bytes;
}
// Appends as many one bits as the code has bytes, a zero bit, and the number in two's complement; for a negative number the leading bits
// are inverted.
LEAT_FUNCTION void append_ordered_signed(std::string& to, std::int64_t number) {
  const std::uint64_t magnitude = static_cast<std::uint64_t>(number < 0 ? ~number : number);
  int bits = 0;
  while (bits < 63 && magnitude >> bits != 0) ++bits;
  const int length = 1 + bits / 7;
  unsigned char bytes[10];  // sign-extended
  for (int i = 0; i < 10; ++i) {
    const int shift = 8 * (9 - i);
    bytes[i] = static_cast<unsigned char>(shift >= 64 ? (number < 0 ? 0xff : 0) : number >> shift);
  }
  unsigned char* const first = bytes + (10 - length);
  for (int i = 0; i < length; ++i) first[i / 8] = static_cast<unsigned char>(first[i / 8] ^ (0x80 >> (i % 8)));
  to.append(reinterpret_cast<const char*>(first), static_cast<std::size_t>(length));
}
}  // namespace detail

LEAT_FUNCTION std::string bundle_part_name(std::string_view tensor, const bundle_slice& slice) {
  std::string key;
  detail::append_ordered(key, 0);
  for (const char c : tensor) {
    key += c;
    if (c == '\0') key += '\xff';
    if (c == '\xff') key += '\0';
  }
  key.append("\0\1", 2);
  detail::append_ordered(key, slice.starts.size());
  for (std::size_t i = 0; i < slice.starts.size(); ++i) {
    detail::append_ordered_signed(key, slice.starts[i]);
    detail::append_ordered_signed(key, slice.lengths[i]);
  }
  return key;
}

LEAT_FUNCTION std::vector<bundle_part> bundle_parts(const bundle_index& index, std::string_view tensor, const bundle_entry& whole) {
  const auto wrong = [&](const std::string& what) {
    throw data_loss("tensor " + detail::in_quotes(tensor) + " is saved in parts: " + what);
  };
  std::vector<bundle_part> parts;
  std::vector<leat::detail::tensor_block> blocks;
  shape extent;
  for (const std::int64_t size : whole.shape) extent.push(size);
  for (const bundle_slice& slice : whole.slices) {
    leat::detail::tensor_block block{slice.starts, {}};
    std::vector<std::int64_t> sizes;
    for (std::size_t i = 0; i < whole.shape.size(); ++i) {
      sizes.push_back(slice.lengths[i] < 0 ? whole.shape[i] : slice.lengths[i]);
      block.extent.push(sizes.back());
    }
    const auto found = index.parts.find(bundle_part_name(tensor, slice));
    if (found == index.parts.end()) wrong("the one at " + brackets(block.extent) + " is not there");
    const bundle_entry& its = found->second;
    if (its.is_sliced() || its.dtype != whole.dtype || its.shape != sizes) wrong("one has another dtype or shape than its slice");
    blocks.push_back(block);
    parts.push_back({std::move(block), &its});
  }
  if (const std::string problem = leat::detail::covering_problem(extent, blocks); !problem.empty()) wrong(problem);
  return parts;
}

LEAT_FUNCTION std::string bundle_data_name(const std::string& prefix, std::int32_t shard, std::int32_t shards) {
  char ending[40];
  std::snprintf(ending, sizeof ending, ".data-%05d-of-%05d", shard, shards);
  return prefix + ending;
}

namespace detail {
// Adds a length to a checksum. TensorFlow computes the checksum from fixed-width numbers, not from the varints in the file.
LEAT_FUNCTION std::uint32_t checksum_of_length(std::uint64_t length, std::uint32_t before) {
  std::string bytes;
  append_number(bytes, length, length <= UINT32_MAX ? 4 : 8);
  return io::crc32c(bytes, before);
}
}  // namespace detail

LEAT_FUNCTION std::string pack_bundle_strings(const std::vector<std::string>& texts, std::uint32_t& crc32c) {
  std::string bytes;
  crc32c = 0;
  for (const std::string& text : texts) {
    detail::append_varint(bytes, text.size());
    crc32c = detail::checksum_of_length(text.size(), crc32c);
  }
  std::string checksum;
  detail::append_number(checksum, masked(crc32c), 4);
  crc32c = io::crc32c(checksum, crc32c);
  bytes += checksum;
  for (const std::string& text : texts) {
    bytes += text;
    crc32c = io::crc32c(text, crc32c);
  }
  return bytes;
}

LEAT_FUNCTION std::vector<std::string> unpack_bundle_strings(std::string_view bytes, std::size_t count, std::uint32_t crc32c) {
  std::vector<std::uint64_t> sizes;
  std::uint32_t is = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t size = 0;
    if (!detail::take_varint(bytes, size)) throw data_loss("fewer lengths than it has strings");
    sizes.push_back(size);
    is = detail::checksum_of_length(size, is);
  }
  if (bytes.size() < 4 || unmasked(static_cast<std::uint32_t>(detail::number_at(bytes, 0, 4))) != is)
    throw data_loss("lengths without their checksum: altered");
  is = io::crc32c(bytes.substr(0, 4), is);
  bytes.remove_prefix(4);
  std::vector<std::string> texts;
  for (const std::uint64_t size : sizes) {
    if (size > bytes.size()) throw data_loss("a string that is cut off");
    texts.emplace_back(bytes.substr(0, static_cast<std::size_t>(size)));
    is = io::crc32c(texts.back(), is);
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  if (!bytes.empty() || is != crc32c) throw data_loss("strings without their checksum: altered");
  return texts;
}

}  // namespace leat::io
