#pragma once
// Implementation of sorted_table.hpp.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/io/crc32c.hpp>
#include <leat/io/snappy.hpp>
#include <leat/io/sorted_table.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace leat::io::detail {

inline constexpr std::uint64_t table_magic = 0xdb4775248b80fb57;
inline constexpr std::size_t table_footer_bytes = 48, table_trailer_bytes = 5;
inline constexpr std::size_t table_block_bytes = 256 << 10;  // TensorFlow's
inline constexpr std::size_t table_restart_interval = 16;

LEAT_FUNCTION void append_number(std::string& text, std::uint64_t number, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(number >> 8 * i & 0xff);
}
LEAT_FUNCTION std::uint64_t number_at(std::string_view text, std::size_t at, std::size_t bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes; i-- > 0;) number = number << 8 | static_cast<unsigned char>(text[at + i]);
  return number;
}
LEAT_FUNCTION void append_varint(std::string& text, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) text += static_cast<char>(number | 0x80);
  text += static_cast<char>(number);
}
// Removes a varint from the front of `text`; returns false if it is truncated or has more than 64 bits.
LEAT_FUNCTION bool take_varint(std::string_view& text, std::uint64_t& number) {
  number = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (text.empty()) return false;
    const auto byte = static_cast<unsigned char>(text.front());
    text.remove_prefix(1);
    if (shift == 63 && byte > 1) return false;
    number |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

struct block_handle {
  std::uint64_t offset = 0, size = 0;
};
LEAT_FUNCTION bool take_handle(std::string_view& text, block_handle& handle) {
  return take_varint(text, handle.offset) && take_varint(text, handle.size);
}

[[noreturn]] LEAT_FUNCTION void refuse_table(std::uint64_t at, const char* what) {
  throw data_loss("byte " + std::to_string(at) + ": " + what);
}

// Appends the entries of a block, without its list of restarts, to a list.
LEAT_FUNCTION void read_block(std::string_view file, const block_handle& handle, table_entries& entries) {
  if (handle.offset > file.size() || handle.size > file.size() - handle.offset ||
      table_trailer_bytes > file.size() - handle.offset - handle.size)
    refuse_table(handle.offset, "a block that is not all in the file");
  const std::string_view whole = file.substr(handle.offset, handle.size + 1);
  if (unmasked(static_cast<std::uint32_t>(number_at(file, handle.offset + handle.size + 1, 4))) != crc32c(whole))
    refuse_table(handle.offset, "a block without its checksum: altered");
  constexpr char plain = 0, compressed_by_snappy = 1;
  if (whole.back() != plain && whole.back() != compressed_by_snappy)
    throw unimplemented("byte " + std::to_string(handle.offset) + ": a block that is compressed in way " +
                        std::to_string(static_cast<unsigned char>(whole.back())) + "; 0, not at all, and 1, Snappy, are read");
  const bool is_packed = whole.back() == compressed_by_snappy;
  std::string unpacked;
  if (is_packed) {
    try {
      unpacked = unpack_snappy(whole.substr(0, whole.size() - 1));
    } catch (const data_loss& e) {
      throw data_loss("the block at byte " + std::to_string(handle.offset) + ": " + e.what());
    }
  }
  std::string_view block = is_packed ? std::string_view(unpacked) : whole.substr(0, whole.size() - 1);
  if (block.size() < 4) refuse_table(handle.offset, "a block without its number of restarts");
  const std::uint64_t restarts = number_at(block, block.size() - 4, 4);
  if (restarts > (block.size() - 4) / 4) refuse_table(handle.offset, "a block with more restarts than it has room for");
  block.remove_suffix(4 + 4 * static_cast<std::size_t>(restarts));
  // Each key may share the whole key before it, so a small file could require keys whose total length is quadratic in its own. If a block
  // has a restart every sixteen keys, as writers make it, its keys are at most sixteen times as long as the block.
  constexpr std::size_t most_for_a_byte = 64;
  std::size_t most_left = most_for_a_byte * block.size();
  const std::size_t first = entries.size();
  while (!block.empty()) {
    const std::uint64_t at = is_packed ? handle.offset : static_cast<std::uint64_t>(block.data() - file.data());
    std::uint64_t shared = 0, rest = 0, size = 0;
    if (!take_varint(block, shared) || !take_varint(block, rest) || !take_varint(block, size) || rest > block.size() ||
        size > block.size() - rest)
      refuse_table(at, "an entry that is cut off");
    const std::string_view before = entries.size() > first ? std::string_view(entries.back().first) : std::string_view();
    if (shared > before.size()) refuse_table(at, "a key that shares more than the one before it has");
    if (shared + rest > most_left) refuse_table(at, "keys that share too much with those before them");
    most_left -= static_cast<std::size_t>(shared + rest);
    std::string key(before.substr(0, static_cast<std::size_t>(shared)));
    key += block.substr(0, static_cast<std::size_t>(rest));
    if (!entries.empty() && !(entries.back().first < key)) refuse_table(at, "a key that is not above the one before it");
    entries.emplace_back(std::move(key), block.substr(static_cast<std::size_t>(rest), static_cast<std::size_t>(size)));
    block.remove_prefix(static_cast<std::size_t>(rest + size));
  }
}

class block_writer {
 public:
  bool empty() const { return count_ == 0; }
  std::size_t size() const { return text_.size(); }
  void add(const std::string& key, std::string_view value) {
    std::size_t shared = 0;
    if (count_ % table_restart_interval == 0) restarts_.push_back(static_cast<std::uint32_t>(text_.size()));
    else
      while (shared < key.size() && shared < before_.size() && key[shared] == before_[shared]) ++shared;
    append_varint(text_, shared), append_varint(text_, key.size() - shared), append_varint(text_, value.size());
    text_.append(key, shared).append(value);
    before_ = key;
    ++count_;
  }
  // Appends the block to a file and returns its handle; the next entries belong to another block.
  std::string end(std::string& file) {
    if (restarts_.empty()) restarts_.push_back(0);
    for (const std::uint32_t restart : restarts_) append_number(text_, restart, 4);
    append_number(text_, restarts_.size(), 4);
    std::string handle;
    append_varint(handle, file.size()), append_varint(handle, text_.size());
    text_ += '\0';  // no compression
    append_number(text_, masked(crc32c(text_)), 4);
    file += text_;
    *this = {};
    return handle;
  }

 private:
  std::string text_, before_;
  std::vector<std::uint32_t> restarts_;
  std::size_t count_ = 0;
};

}  // namespace leat::io::detail

namespace leat::io {

LEAT_FUNCTION table_entries read_sorted_table(std::string_view file) {
  using namespace detail;
  if (file.size() < table_footer_bytes) refuse_table(0, "too short for a table: cut off");
  const std::size_t footer = file.size() - table_footer_bytes;
  if (number_at(file, file.size() - 8, 8) != table_magic)
    refuse_table(file.size() - 8, "not the end of a table: cut off, or another format");
  std::string_view handles = file.substr(footer, table_footer_bytes - 8);
  block_handle meta, index;
  if (!take_handle(handles, meta) || !take_handle(handles, index)) refuse_table(footer, "a footer without its two blocks");
  table_entries blocks, entries, ignored;
  read_block(file, index, blocks);
  read_block(file, meta, ignored);
  std::uint64_t end = 0;  // of the block before
  for (const auto& [last, text] : blocks) {
    std::string_view rest = text;
    block_handle block;
    if (!take_handle(rest, block) || !rest.empty()) refuse_table(index.offset, "an index entry that is no block");
    // Blocks follow each other, so no file can have more entries than bytes, and none is read twice.
    if (block.offset < end) refuse_table(block.offset, "a block that begins within the one before it");
    if (block.size > footer || block.offset > footer - block.size) refuse_table(block.offset, "a block that is not before the footer");
    end = block.offset + block.size;
    const std::size_t first = entries.size();
    read_block(file, block, entries);
    if (entries.size() > first && last < entries.back().first) refuse_table(block.offset, "a key above those that the index allows");
  }
  return entries;
}

LEAT_FUNCTION std::string write_sorted_table(const table_entries& entries) {
  std::string file;
  detail::block_writer block, index;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto& [key, value] = entries[i];
    if (i > 0 && !(entries[i - 1].first < key)) throw invalid_argument("the keys of a table are not in ascending order");
    block.add(key, value);
    if (block.size() < detail::table_block_bytes && i + 1 < entries.size()) continue;
    const std::string handle = block.end(file);
    index.add(key, handle);
  }
  const std::string meta_handle = detail::block_writer().end(file), index_handle = index.end(file);
  std::string footer = meta_handle + index_handle;
  footer.resize(detail::table_footer_bytes - 8, '\0');
  detail::append_number(footer, detail::table_magic, 8);
  return file + footer;
}

}  // namespace leat::io
