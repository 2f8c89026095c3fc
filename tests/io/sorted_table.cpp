#include <leat/io/crc32c.hpp>
#include <leat/io/encoding.hpp>
#include <leat/io/snappy.hpp>
#include <leat/io/sorted_table.hpp>
#include <leat/io/tensor_bundle.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

using namespace leat;
using leat_test::message_of;
using leat_test::says;

TEST_CASE("tables of any size come back") {
  std::mt19937 random(7);
  for (const std::size_t count : std::initializer_list<std::size_t>{0, 1, 15, 16, 17, 1'000, 40'000}) {
    io::table_entries entries;
    for (std::size_t i = 0; i < count; ++i) {
      std::string key = "layer_" + std::to_string(1'000'000 + i);
      if (i % 3 == 0) key += "/Adam";
      entries.emplace_back(key, std::string(random() % 40, static_cast<char>(random())));
    }
    const std::string file = io::write_sorted_table(entries);
    CHECK(io::read_sorted_table(file) == entries);
    if (count == 40'000) CHECK(file.size() > 2 * (256u << 10));  // several blocks
  }
  CHECK(says(message_of<invalid_argument>([] { io::write_sorted_table({{"b", ""}, {"a", ""}}); }), "ascending"));
}

TEST_CASE("what is changed or cut off is found") {
  io::table_entries entries;
  for (int i = 0; i < 40; ++i) entries.emplace_back("key" + std::to_string(100 + i), "value" + std::to_string(i));
  const std::string file = io::write_sorted_table(entries);
  for (std::size_t size = 0; size < file.size(); ++size)
    CHECK_THROWS_AS(static_cast<void>(io::read_sorted_table(file.substr(0, size))), data_loss);
  for (std::size_t at = 0; at < file.size(); ++at)
    for (const int bit : {0, 3, 7}) {
      std::string bad = file;
      bad[at] = static_cast<char>(bad[at] ^ 1 << bit);
      bool is_same = false;
      try {
        is_same = io::read_sorted_table(bad) == entries;
      } catch (const data_loss&) {
        continue;
      } catch (const unimplemented&) {  // compressed in another way
        continue;
      }
      CHECK(is_same);
      CHECK(at + 48 > file.size());  // the bytes that fill the footer
    }
}

namespace {

std::string varint(std::uint64_t number) {
  std::string text;
  for (; number >= 0x80; number >>= 7) text += static_cast<char>(number | 0x80);
  return text + static_cast<char>(number);
}
std::string little_endian(std::uint64_t number, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(number >> 8 * i & 0xff);
  return text;
}
const std::string one_restart = little_endian(0, 4) + little_endian(1, 4);

// Entries that share nothing, as a block.
std::string block_of(const io::table_entries& entries) {
  std::string text;
  for (const auto& [key, value] : entries) text += varint(0) + varint(key.size()) + varint(value.size()) + key + value;
  return text + one_restart;
}
// A table of one block, whose contents `pack` has made of a block in the way that `kind` says. Its index names the block once for each key.
template <class Pack>
std::string table_of(const std::string& block, const std::vector<std::string>& last_keys, char kind, Pack pack) {
  std::string file;
  const auto put = [&](const std::string& contents) {
    std::string packed = pack(contents);
    const std::string handle = varint(file.size()) + varint(packed.size());
    packed += kind;
    file += packed + little_endian(io::masked(io::crc32c(packed)), 4);
    return handle;
  };
  const std::string handle = put(block);
  io::table_entries index_entries;
  for (const std::string& key : last_keys) index_entries.emplace_back(key, handle);
  const std::string index = block_of(index_entries);
  std::string footer = put(block_of({}));
  footer += put(index);
  footer.resize(40, '\0');
  return file + footer + little_endian(0xdb4775248b80fb57, 8);
}
std::string as_it_is(const std::string& contents) { return contents; }

// By runs of bytes, and copies of four bytes and more.
std::string compressed(const std::string& text) {
  std::string block = varint(text.size());
  for (std::size_t at = 0; at < text.size();) {
    std::size_t distance = 1, length = 0;
    for (std::size_t back = 1; back <= at; ++back) {
      std::size_t same = 0;
      while (at + same < text.size() && same < 64 && text[at + same] == text[at + same - back]) ++same;
      if (same > length) length = same, distance = back;
    }
    if (length >= 4 && length <= 11 && distance < 2048) {
      block += static_cast<char>(1 | (length - 4) << 2 | distance >> 8 << 5);
      block += static_cast<char>(distance & 0xff);
    } else if (length >= 4) {
      const std::size_t bytes = at % 2 == 0 ? 2 : 4;
      block += static_cast<char>((bytes == 2 ? 2 : 3) | (length - 1) << 2);
      block += little_endian(distance, bytes);
    } else {
      length = std::min<std::size_t>(text.size() - at, at == 0 ? 70 : 1);
      if (length <= 60) block += static_cast<char>((length - 1) << 2);
      else block += static_cast<char>(60 << 2), block += static_cast<char>(length - 1);
      block += text.substr(at, length);
    }
    at += length;
  }
  return block;
}

}  // namespace

TEST_CASE("keys that each repeat the one before take no more memory than a file should") {
  std::string block;
  for (std::size_t i = 0; i < 3000; ++i) block += varint(i) + varint(1) + varint(0) + 'k';
  CHECK(says(message_of<data_loss>([&] { io::read_sorted_table(table_of(block + one_restart, {"l"}, 0, as_it_is)); }), "share too much"));
}

TEST_CASE("no block is read twice, not even one without entries") {
  const std::vector<std::string> twice{std::string("a"), std::string("b")};
  CHECK(says(message_of<data_loss>([&] { io::read_sorted_table(table_of(block_of({}), twice, 0, as_it_is)); }), "begins within the one before it"));
}

TEST_CASE("blocks that Snappy has compressed") {
  io::table_entries entries;
  for (int i = 0; i < 300; ++i)
    entries.emplace_back("layer_" + std::to_string(1000 + i) + "/kernel", std::string(20, static_cast<char>(i)));
  const std::string block_text = block_of(entries), last = entries.back().first;
  CHECK(io::read_sorted_table(table_of(block_text, {last}, 0, as_it_is)) == entries);
  const std::string file = table_of(block_text, {last}, 1, compressed);
  CHECK(file.size() < block_text.size() / 3);
  CHECK(io::read_sorted_table(file) == entries);
  CHECK(says(message_of<data_loss>([&] { io::read_sorted_table(table_of(block_text, {last}, 1, as_it_is)); }), "the block at byte"));
  CHECK(says(message_of<unimplemented>([&] { io::read_sorted_table(table_of(block_text, {last}, 2, compressed)); }),
             "a block that is compressed in way 2"));

  const std::string text(std::string(100, 'a') + "bcdefghij" + std::string(300, 'k') + "bcdefghij");
  const std::string block = compressed(text);
  CHECK(io::unpack_snappy(block) == text);
  for (std::size_t size = 0; size < block.size(); ++size) CHECK_THROWS_AS(io::unpack_snappy(block.substr(0, size)), data_loss);
  CHECK(io::unpack_snappy(std::string_view("\0", 1)).empty());
  CHECK(io::unpack_snappy(compressed(std::string(1, 'x'))) == "x");
  for (const auto& [bytes, what] :
       std::vector<std::pair<std::string, const char*>>{{"", "byte 0 of a compressed block: cut off"},
                                                        {"\xff\xff\xff\xff\x7f", "more than 32 bits"},
                                                        {"\xff\xff\xff\xff\x0f", "beyond what so few bytes can hold"},
                                                        {std::string("\x05\x00x\x01\x00", 5), "a copy of what is not there"},
                                                        {std::string("\x05\x00x\x01\x02", 5), "a copy of what is not there"},
                                                        {std::string("\x05\x0cxyz", 5), "a run that is cut off"},
                                                        {std::string("\x02\x08xyz", 5), "more bytes than the block's length"},
                                                        {std::string("\x03\x00x\x01\x01", 5), "more bytes than the block's length"},
                                                        {std::string("\x09\x00x\x01\x01", 5), "fewer bytes than the block's length"}})
    CHECK_MESSAGE(says(message_of<data_loss>([&] { io::unpack_snappy(bytes); }), what),
                  message_of<data_loss>([&] { io::unpack_snappy(bytes); }));
}

TEST_CASE("a block that Snappy itself has compressed") {
  std::string block, expected;
  REQUIRE(io::from_base64(
      "mgNMbGF5ZXJfMC9rZXJuZWwvQWRhbTsJFAAxShQAADRKFAAAOUoUAAQxNkoVAAQyNUoVAAAzTioAADROVAAANk59AAA4TqYABDEwUtAAADI2LAAIeHl6/gMAWgMA8EUAAQIDBAUG"
      "BwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyAhIiMkJSYnKCkqKywtLi8wMTIzNDU2Nzg5Ojs8PT4/QEFCQ0RF",
      block));
  for (int i = 0; i < 12; ++i) expected += "layer_" + std::to_string(i * i) + "/kernel/Adam;";
  for (int i = 0; i < 30; ++i) expected += "xyz";
  for (char c = 0; c < 70; ++c) expected += c;
  CHECK(io::unpack_snappy(block) == expected);
}

TEST_CASE("an index of TensorFlow's, as it wrote it") {
  // Saver's, of a = [1, 2] and b = 7 (int64).
  std::string file;
  REQUIRE(io::from_base64(
      "AAAGCAEaAggBAAEPYQgBEgQSAggCKAg1WTzlNQABDWIICRIAIAgoCDW7158RAAAAAAEAAAAAOCtOqAAAAAABAAAAAMDyobAAAQJjADUAAAAAAQAAAAB+LH0E"
      "OghHDgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAFf7gIskdUfb",
      file));
  const io::bundle_index index{
      .shards = 1, .entries = {{"a", {data_type::float32, {2}, 0, 0, 8, 0x28c0c9b1}}, {"b", {data_type::int64, {}, 0, 8, 8, 0x7671b78e}}}};
  CHECK(io::read_bundle_index(file) == index);
  CHECK(io::read_bundle_index(io::write_bundle_index(index)) == index);
  io::bundle_index empty = index;
  empty.entries["none"] = {data_type::float32, {0, 3}};
  CHECK(io::read_bundle_index(io::write_bundle_index(empty)) == empty);
  const std::vector<float> a{1, 2};
  CHECK(io::crc32c(std::as_bytes(std::span(a))) == index.entries.at("a").crc32c);
  CHECK(io::bundle_data_name("m/ckpt", 3, 12) == "m/ckpt.data-00003-of-00012");
  const auto with = [&](io::bundle_entry entry) {
    io::bundle_index wrong = index;
    wrong.entries["c"] = entry;
    return io::write_bundle_index(wrong);
  };
  CHECK(says(message_of<invalid_argument>([&] { io::read_bundle_index(with({data_type::float32, {3}, 0, 0, 8, 0})); }),
             "tensor \"c\": its shape takes 12 bytes, but it has 8"));
  CHECK(says(message_of<invalid_argument>([&] { io::read_bundle_index(with({data_type::float32, {2}, 1, 0, 8, 0})); }), "shard 1 of 1"));
  CHECK(says(message_of<invalid_argument>([&] { io::read_bundle_index(with({data_type::float32, {-2}, 0, 0, 8, 0})); }), "dimension"));
  CHECK(says(message_of<data_loss>([&] { io::read_bundle_index(io::write_sorted_table({{"a", ""}})); }), "without a header"));
  CHECK(says(message_of<data_loss>([&] { io::read_bundle_index("PK"); }), "too short"));
}

TEST_CASE("strings are packed with the checksums of their lengths") {
  const std::vector<std::string> texts{"", "a", std::string(300, 'b'), std::string("\0c", 2)};
  std::uint32_t checksum = 0;
  const std::string bytes = io::pack_bundle_strings(texts, checksum);
  CHECK(io::unpack_bundle_strings(bytes, texts.size(), checksum) == texts);
  CHECK_THROWS_AS(io::unpack_bundle_strings(bytes, texts.size(), checksum + 1), data_loss);
  CHECK_THROWS_AS(io::unpack_bundle_strings(bytes, texts.size() + 1, checksum), data_loss);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_THROWS_AS(io::unpack_bundle_strings(bytes.substr(0, size), texts.size(), checksum), data_loss);
}
