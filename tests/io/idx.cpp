#include <leat/io/idx.hpp>

#include "support/hex.hpp"

#include <doctest/doctest.h>

using namespace leat;
using leat_test::from_hex;

TEST_CASE("arrays of all types") {
  CHECK(io::read_idx(from_hex("00000801"
                              "00000003"
                              "0180ff")) == make_tensor_proto(std::vector<std::uint8_t>{1, 128, 255}, {3}));
  CHECK(io::read_idx(from_hex("00000902"
                              "00000001"
                              "00000002"
                              "01ff")) == make_tensor_proto(std::vector<std::int32_t>{1, -1}, {1, 2}));
  CHECK(io::read_idx(from_hex("00000b01"
                              "00000002"
                              "0102ffff")) == make_tensor_proto(std::vector<std::int32_t>{258, -1}, {2}));
  CHECK(io::read_idx(from_hex("00000c01"
                              "00000001"
                              "fffffffe")) == make_tensor_proto(std::vector<std::int32_t>{-2}, {1}));
  CHECK(io::read_idx(from_hex("00000d01"
                              "00000002"
                              "3fc00000c0000000")) == make_tensor_proto(std::vector<float>{1.5f, -2}, {2}));
  CHECK(io::read_idx(from_hex("00000e01"
                              "00000001"
                              "3ff8000000000000")) == make_tensor_proto(std::vector<double>{1.5}, {1}));
  CHECK(io::read_idx(from_hex("00000802"
                              "00000000"
                              "00000005")) == make_tensor_proto(std::vector<std::uint8_t>{}, {0, 5}));
  CHECK(io::read_idx(from_hex("00000800"
                              "07")) == make_tensor_proto(std::uint8_t{7}));
}

TEST_CASE("cut off, longer, foreign") {
  const std::string whole = from_hex(
      "00000d02"
      "00000001"
      "00000002"
      "3fc00000c0000000");
  for (std::size_t size = 0; size < whole.size(); ++size) CHECK_THROWS_AS(io::read_idx(whole.substr(0, size)), data_loss);
  CHECK_THROWS_AS(io::read_idx(whole + "x"), data_loss);
  CHECK_THROWS_AS(io::read_idx(from_hex("01000801"
                                        "00000001"
                                        "00")),
                  data_loss);
  CHECK_THROWS_AS(io::read_idx(from_hex("00000a01"
                                        "00000001"
                                        "00")),
                  data_loss);
  CHECK_THROWS_AS(io::read_idx(from_hex("000008ff")), data_loss);
  CHECK_THROWS_AS(io::read_idx(from_hex("00000804"
                                        "ffffffff"
                                        "ffffffff"
                                        "ffffffff"
                                        "ffffffff")),
                  data_loss);
  CHECK_THROWS_AS(io::read_idx(from_hex("00000801"
                                        "ffffffff"
                                        "00")),
                  data_loss);
  CHECK_THROWS_AS(io::read_idx_file("missing"), not_found);
}
