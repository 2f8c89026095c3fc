// Checkpoints V1. The files were written by TensorFlow 2.21: `tf.compat.v1.train.Saver(write_version=tf.compat.v1.train.SaverDef.V1)`.

#include <leat/checkpoint/saver.hpp>
#include <leat/graphs.hpp>
#include <leat/io/encoding.hpp>
#include <leat/io/file.hpp>
#include <leat/io/sliced_checkpoint.hpp>
#include <leat/io/sorted_table.hpp>

#include "support/graph_text.hpp"
#include "support/messages.hpp"
#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>

using namespace leat;
using leat_test::message_of;
using leat_test::says;
using leat_test::scratch_folder;

namespace {

// a float32 [1, 2]; b int64 7
constexpr const char* two_tensors =
    "AAAiCiAKDwoBYRIEEgIIAhgBIgIKAAoJCgFiEgAYCSIAEgIIAQAIFQBhAAEBAYB/EhMKAWESAgoAGgoqCAAAgD8AAABAAQQMYgABABIKCgFiEgAaA1IBBwAAAAABAAAAAA"
    "9XAJ4AAAAAAQAAAADA8qGwAAECAQBgAAAAAAEAAAAAYoM57WUIcg4AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABX+4CLJHVH2w==";
// a float32 [1, 2]; d float64 2.5; h half [1.5]; i int32 -7; part float32 [[0, 1], ... [8, 9]] in three slices; scope/b int64 [[1, 2, 3],
// [4, 5, 6]]; st string ["hi", "you"]; t bool [true, false]; u uint8 [200, 3]; zero float32 [0, 3]
constexpr const char* all_kinds =
    "AADeAQrbAQoPCgFhEgQSAggCGAEiAgoACgkKAWQSABgCIgAKDwoBaBIEEgIIARgTIgIKAAoJCgFpEgAYAyIACjQKBHBhcnQSCBICCAUSAggCGAEiCAoCEAIKAhACIgoKBA"
    "gCEAIKAhACIgoKBAgEEAEKAhACChsKB3Njb3BlL2ISCBICCAISAggDGAkiBAoACgAKEAoCc3QSBBICCAIYByICCgAKDwoBdBIEEgIIAhgKIgIKAAoPCgF1EgQSAggCGAQi"
    "AgoAChYKBHplcm8SBhIAEgIIAxgBIgQKAAoAEgIIAQAIFQBhAAEBAYB/EhMKAWESAgoAGgoqCAAAgD8AAABAAQQTZAABABIRCgFkEgAaCjIIAAAAAAAABEABBw9oAAEBAY"
    "B/Eg0KAWgSAgoAGgRqAoB8AQQVaQABABITCgFpEgAaDDoK+f//////////AQEMJnBhcnQAAQECgIKAghIkCgRwYXJ0EggKAhACCgIQAhoSKhAAAAAAAACAPwAAAEAAAEBA"
    "CQQogoKAghImCgRwYXJ0EgoKBAgCEAIKAhACGhIqEAAAgEAAAKBAAADAQAAA4EAJBCCEgYCCEh4KBHBhcnQSCgoECAQQAQoCEAIaCioIAAAAQQAAEEEBDxtzY29wZS9iAA"
    "EBAoB/gH8SGQoHc2NvcGUvYhIECgAKABoIUgYBAgMEBQYCBxV0AAEBAYB/EhMKAnN0EgIKABoJQgJoaUIDeW91AQcPdAABAQGAfxINCgF0EgIKABoEWgIBAAEHEHUAAQEB"
    "gH8SDgoBdRICCgAaBToDyAEDAQwQemVybwABAQKAf4B/Eg4KBHplcm8SBAoACgAaAAAAAAABAAAAAGGL6eAAAAAAAQAAAADA8qGwAAEDAQCCBQAAAAABAAAAAJLVql6HBQ"
    "iUBQ8AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAV/uAiyR1R9s=";

std::string decoded(std::string_view text) {
  std::string bytes;
  REQUIRE(io::from_base64(text, bytes));
  return bytes;
}
}  // namespace

TEST_CASE("tensors of every kind, and one in slices") {
  const scratch_folder scratch("sliced_checkpoint");
  const std::string prefix = (scratch.path / "m-3").string();
  io::write_file(prefix, decoded(all_kinds));
  CHECK(io::is_sliced_checkpoint(prefix));
  CHECK(checkpoint_exists(prefix));
  const checkpoint_reader reader(prefix);
  CHECK(reader.format() == checkpoint_format::tensorflow_v1);
  CHECK(reader.manifest().step == 3);
  CHECK(reader.names() == std::vector<std::string>{"a", "d", "h", "i", "part", "scope/b", "st", "t", "u", "zero"});
  CHECK(reader.value("a").as<std::vector<float>>() == std::vector<float>{1, 2});
  CHECK(reader.value("d").as<double>() == 2.5);
  CHECK(reader.value("i").as<std::int32_t>() == -7);
  CHECK(reader.value("st").texts() == std::vector<std::string>{"hi", "you"});
  CHECK(reader.value("u").as<std::vector<std::uint8_t>>() == std::vector<std::uint8_t>{200, 3});
  CHECK(reader.value("t").values<bool>()[0]);
  CHECK_FALSE(reader.value("t").values<bool>()[1]);
  CHECK(brackets(reader.value("zero").extent()) == "[0,3]");
  const tensor_value part = reader.value("part"), b = reader.value("scope/b");
  CHECK(brackets(part.extent()) == "[5,2]");
  for (int k = 0; k < 10; ++k) CHECK(part.values<float>()[static_cast<std::size_t>(k)] == static_cast<float>(k));
  CHECK(brackets(b.extent()) == "[2,3]");
  for (int k = 0; k < 6; ++k) CHECK(b.values<std::int64_t>()[static_cast<std::size_t>(k)] == k + 1);
  CHECK(reader.block("part", {{2, 0}, shape_value{1, 2}}).values<float>()[1] == 5);
  CHECK(reader.mapped("part").values<float>()[9] == 9);
  CHECK(to_data_type(reader.value("h").type()) == data_type::half);
}

TEST_CASE("they are restored, found by the state, and may be several files") {
  const scratch_folder scratch("sliced_checkpoint");
  const std::string pattern = (scratch.path / "m-3-?\?\?\?\?-of-00002").string();
  const std::string bytes = decoded(two_tensors);
  io::write_file(scratch.path / "m-3-00000-of-00002", bytes);
  io::write_file(scratch.path / "m-3-00001-of-00002", bytes);
  CHECK(io::sliced_checkpoint_meta(pattern) == (scratch.path / "m-3.meta").string());
  CHECK(says(message_of([&] { checkpoint_reader reader(pattern); }), "m-3-00001-of-00002: tensor \"a\" is there twice"));
  io::table_entries empty{{"", std::string("\x0a\x00", 2)}};
  io::write_file(scratch.path / "m-3-00001-of-00002", io::write_sorted_table(empty));
  io::write_file(scratch.path / "checkpoint", "model_checkpoint_path: \"m-3-?\?\?\?\?-of-00002\"\n");
  const checkpoint_path latest = latest_checkpoint(scratch.path.string());
  CHECK(latest.str() == pattern);

  graph g;
  import_graph(g, leat_test::graph_text("a = VariableV2 dtype=float32 shape=[2]\nb = VariableV2 dtype=int64 shape=[]\n").parse(),
               {.name = ""});
  const output a = get_tensor_by_name(g, "a:0"), b = get_tensor_by_name(g, "b:0");
  graph_session s(g);
  saver(g).restore(s, latest);
  CHECK(s.value(a).as<std::vector<float>>() == std::vector<float>{1, 2});
  CHECK(s.value(b).as<std::int64_t>() == 7);
  CHECK(says(message_of([&] { saver save(g, {.format = checkpoint_format::tensorflow_v1}); }), "are read, not written"));
}

TEST_CASE("what is cut off, altered or made up is refused") {
  const std::string good = decoded(two_tensors);
  const auto said = [](const std::string& bytes) {
    return message_of([&] {
      io::sliced_tensors tensors;
      io::read_sliced_checkpoint(bytes, tensors);
    });
  };
  CHECK(said(good) == "nothing was thrown");
  for (std::size_t n = 0; n < good.size(); ++n) CHECK(said(good.substr(0, n)) != "nothing was thrown");
  for (std::size_t n = 0; n < 0x60; ++n) {
    std::string wrong = good;
    wrong[n] = static_cast<char>(wrong[n] ^ 1);
    CHECK(says(said(wrong), "altered"));
  }
  const auto changed = [&](auto change) {
    io::table_entries entries = io::read_sorted_table(good);
    change(entries);
    return said(io::write_sorted_table(entries));
  };
  CHECK(says(changed([](auto& e) { e.erase(e.begin()); }), "no checkpoint V1"));
  CHECK(says(changed([](auto& e) { e.pop_back(); }), "tensor \"b\": a slice that is not there"));
  CHECK(says(changed([](auto& e) { e[1].second.resize(7); }), "not in protobuf's binary form"));
  // a [2] that is said to have 3 elements
  CHECK(says(changed([](auto& e) { e[0].second[12] = 3; }), "a slice of 2 elements, which is not shape [3]"));
  // one slice named twice
  CHECK(says(changed([](auto& e) {
               e[0].second = std::string(
                   "\x0a\x15\x0a\x13\x0a\x01"
                   "a\x12\x04\x12\x02\x08\x02\x18\x01\x22\x02\x0a\x00\x22\x02\x0a\x00",
                   23);
             }),
             "tensor \"a\": "));
}
