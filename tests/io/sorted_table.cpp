#include <leat/io/crc32c.hpp>
#include <leat/io/encoding.hpp>
#include <leat/io/sorted_table.hpp>
#include <leat/io/tensor_bundle.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace leat;
using leat_test::message_of;
using leat_test::says;

TEST_CASE("tables of any size come back") {
  std::mt19937 random(7);
  for (const std::size_t count : {0, 1, 15, 16, 17, 1'000, 40'000}) {
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
      } catch (const unimplemented&) {  // "compressed"
        continue;
      }
      CHECK(is_same);
      CHECK(at + 48 > file.size());  // the bytes that fill the footer
    }
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
