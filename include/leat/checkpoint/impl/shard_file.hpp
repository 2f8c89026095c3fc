#pragma once
// Implementation of shard_file.hpp.

#include <leat/checkpoint/packed_texts.hpp>
#include <leat/checkpoint/shard_file.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/io/crc32c.hpp>
#include <leat/io/input_file.hpp>
#include <leat/io/safetensors.hpp>
#include <leat/io/staged_file.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string>

namespace leat::detail {

// Writes bytes and computes their checksum, in blocks that are still in the processor's cache.
LEAT_FUNCTION std::uint32_t write_checked(io::staged_file& file, std::span<const std::byte> bytes, std::uint32_t checksum = 0) {
  constexpr std::size_t block = std::size_t{1} << 20;
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(block, bytes.size()));
    checksum = io::crc32c(part, checksum);
    file.write(part);
    bytes = bytes.subspan(part.size());
  }
  return checksum;
}

// Metadata of a data file. The file's name in it shows, even without a manifest, whether a save has left the file at its place.
LEAT_FUNCTION std::map<std::string, std::string, std::less<>> data_metadata(const std::string& name) {
  std::map<std::string, std::string, std::less<>> metadata{{"format", "leat"}};
  if (io::is_utf8(name)) metadata.emplace("file", name);  // if not, the manifest cannot name the file either
  return metadata;
}

LEAT_FUNCTION written_shard write_shard(const std::filesystem::path& part,
                                        const std::vector<std::pair<std::string, tensor_value>>& tensors) {
  std::set<std::string> names;
  for (const auto& [name, value] : tensors)
    if (!names.insert(name).second) throw invalid_argument("two variables are to be saved as " + io::detail::in_quotes(name));
  // The order of elements is that of a file of one writer, so that each array is aligned.
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const int bytes_a = element_bytes(tensors[a].second.type()), bytes_b = element_bytes(tensors[b].second.type());
    return bytes_a != bytes_b ? bytes_a > bytes_b : a < b;
  });
  std::vector<std::string> packed(tensors.size());
  std::vector<std::pair<std::string, io::array_bytes>> arrays;
  for (const std::size_t k : order) {
    const auto& [name, value] = tensors[k];
    if (value.type() == text_dtype) {
      packed[k] = pack_texts(value.texts());
      shape flat;
      flat.push(static_cast<std::int64_t>(packed[k].size()));
      arrays.emplace_back(name, io::array_bytes{dtype::uint8, flat, std::as_bytes(std::span(packed[k]))});
    } else {
      arrays.emplace_back(name, io::array_bytes{value.type(), value.extent(), {value.data(), value.bytes()}});
    }
  }
  io::staged_file file(io::staged_file::made_elsewhere{}, part);
  const std::string head = io::safetensors_header(arrays, data_metadata(std::string(io::staged_name(part.filename().string()))));
  file.write(head);
  written_shard told;
  told.head_bytes = head.size();
  told.head_crc32c = io::crc32c(head);
  told.tensors.resize(tensors.size());
  for (std::size_t at = 0; at < order.size(); ++at) {
    const auto& [name, value] = tensors[order[at]];
    told.tensors[order[at]] = {name, value.type(), value.extent(), write_checked(file, arrays[at].second.bytes)};
  }
  file.sync();
  told.bytes = file.size();
  return told;
}

LEAT_FUNCTION void check_shard(const std::filesystem::path& part, const written_shard& told, const std::string& writer) {
  const auto wrong = [&](const std::string& what) {
    throw data_loss(part.string() + ": " + what + ", though " + writer +
                    " says that it has written it: is its folder that of this process?");
  };
  const io::input_file file(part);
  if (file.size() != told.bytes || told.head_bytes > file.size())
    wrong("has " + std::to_string(file.size()) + " bytes, not " + std::to_string(told.bytes));
  std::string head(static_cast<std::size_t>(told.head_bytes), '\0');
  file.read(0, std::as_writable_bytes(std::span(head)));
  if (io::crc32c(head) != told.head_crc32c) wrong("begins with other bytes");
}

}  // namespace leat::detail
