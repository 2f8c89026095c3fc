#include <leat/io/npz.hpp>

#include "support/hex.hpp"
#include "support/messages.hpp"

#include <doctest/doctest.h>

using namespace leat;

namespace {

// What Python's zipfile makes of a stored array x and a deflated one dir/y, as numpy.savez does, with a comment.
const std::string archive = leat_test::from_hex(
    "504b03042d0000000000000021002d8e1ce8ffffffffffffffff05001400782e6e70790100100098000000000000009800000000000000934e554d50"
    "59010076007b276465736372273a20273c6634272c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065273a2028322c2033"
    "292c207d2020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "20200a0000803f0000004000004040000080400000a0400000d040504b03042d000000080000002100e365d7d3ffffffffffffffff09001400646972"
    "2f792e6e70790100100098000000000000004e000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9369a1aea3a09e965f545294"
    "98179f5f94920a12774bcc294e058a17672416a402f91ac63a9a3a0ab50a14002e760608e080d2dfff430000504b01022d032d000000000000002100"
    "2d8e1ce89800000098000000050000000000000000000000800100000000782e6e7079504b01022d032d000000080000002100e365d7d34e00000098"
    "0000000900000000000000000000008001cf0000006469722f792e6e7079504b050600000000020002006a000000580100000f006d61646520627920"
    "7a697066696c65");


}  // namespace

TEST_CASE("arrays of an archive") {
  const io::npz file(archive);
  CHECK(file.names() == std::vector<std::string>{"dir/y", "x"});
  CHECK(file["x"] == make_tensor_proto(std::vector<float>{1, 2, 3, 4, 5, 6.5f}, {2, 3}));
#if defined(LEAT_USE_ZLIB)
  CHECK(file["dir/y"] == make_tensor_proto(std::vector<std::int64_t>{7, 8, -9}, {3}));
#else
  CHECK(leat_test::message_of<unimplemented>([&] { file["dir/y"]; }).find("LEAT_USE_ZLIB") != std::string::npos);
#endif
  CHECK(file.contains("x"));
  CHECK(!file.contains("x.npy"));
  CHECK(leat_test::message_of<not_found>([&] { file["z"]; }) == "NPZ: has no array \"z\"; there are \"dir/y\", \"x\"");
}

TEST_CASE("what is written is read again") {
  const std::map<std::string, tensor_proto> arrays{{"weights/1", make_tensor_proto(std::vector<float>{1, -2}, {2})},
                                                   {"empty", make_tensor_proto(std::vector<double>{}, {0, 3})},
                                                   {"step", make_tensor_proto(std::int64_t{5})}};
  const io::npz file(io::write_npz(arrays));
  CHECK(file.names().size() == 3);
  for (const auto& [name, array] : arrays) CHECK(file[name] == array);
  CHECK(io::npz(io::write_npz({})).names().empty());
  CHECK_THROWS_AS(io::write_npz({{"../x", arrays.at("step")}}), invalid_argument);
  CHECK_THROWS_AS(io::write_npz({{"x", make_tensor_proto("text")}}), invalid_argument);
}

TEST_CASE("cut off or changed anywhere: an error, or the same arrays") {
  const auto look = [](const std::string& bytes) {
    try {
      const io::npz file(bytes);
      for (const auto& name : file.names()) {
        try {
          const auto array = file[name];
          CHECK((array == make_tensor_proto(std::vector<float>{1, 2, 3, 4, 5, 6.5f}, {2, 3}) ||
                 array == make_tensor_proto(std::vector<std::int64_t>{7, 8, -9}, {3})));
        } catch (const error& e) {
          CHECK(std::string(e.what()).find("NPZ: array ") == 0);
        }
      }
    } catch (const error& e) {
      CHECK(std::string(e.what()).find("NPZ: ") == 0);
    }
  };
  for (std::size_t size = 0; size < archive.size(); ++size) look(archive.substr(0, size));
  for (std::size_t at = 0; at < archive.size(); ++at)
    for (const unsigned bit : {0u, 3u, 7u}) {
      std::string changed = archive;
      changed[at] = static_cast<char>(static_cast<unsigned char>(changed[at]) ^ (1u << bit));
      look(changed);
    }
  CHECK(leat_test::message_of<data_loss>([] { io::npz("\x93NUMPY"); }) == "NPZ: no ZIP archive, or cut off: its directory is missing");
  CHECK_THROWS_AS(io::read_npz_file("missing.npz"), not_found);
}
