// make_corpus FOLDER: what the fuzzing programs begin with, into FOLDER/json, FOLDER/binary and FOLDER/text: graphs with everything, each
// of their nodes and attributes alone, and some small texts that are nearly right; into FOLDER/arrays files of arrays, into
// FOLDER/rows tables, records and states of pipelines, into FOLDER/checkpoints those of checkpoints, into FOLDER/events events and files of
// them; into FOLDER/graphs small graphs that are wrong, and into FOLDER/programs some that are right, the recorded ones among them.

#include <leat/checkpoint/checkpoint_state.hpp>
#include <leat/data.hpp>
#include <leat/io/binary.hpp>
#include <leat/io/json.hpp>
#include <leat/io/npy.hpp>
#include <leat/io/record.hpp>
#include <leat/io/safetensors.hpp>
#include <leat/io/saved_model_folder.hpp>
#include <leat/io/sorted_table.hpp>
#include <leat/io/tensor_bundle.hpp>
#include <leat/io/text.hpp>
#include <leat/summary/event.hpp>

#include "support/graph_files.hpp"
#include "support/hostile_graphs.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>

using namespace leat;

int main(int count, char** arguments) try {
  if (count != 2) {
    std::fprintf(stderr, "make_corpus FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = arguments[1];
  std::filesystem::create_directories(folder / "json");
  std::filesystem::create_directories(folder / "binary");
  std::filesystem::create_directories(folder / "text");
  int files = 0;
  const auto put = [&](const auto& message) {
    const std::string name = std::to_string(files++);
    io::write_json_file(message, folder / "json" / name);
    io::write_text_file(message, folder / "text" / name);
    io::write_binary_file(message, folder / "binary" / name);
  };
  const auto whole = leat_test::every_kind_of_meta_graph();
  put(whole);
  put(whole.graph);
  for (const auto& node : whole.graph.nodes) {
    graph_def g;
    for (const auto& attribute : node.attributes) {
      g.nodes.assign(1, leat_test::node("n", "O", {"^n"}, {{attribute.name, attribute.value}}));
      put(g);
    }
  }
  for (const auto& [name, collection] : whole.collections) {
    meta_graph_def m;
    m.collections[name] = collection;
    put(m);
  }
  const char* texts[] = {"{}", "[]", R"({"node": [{"input": ["a:1"], "attr": {"a": {"func": {"attr": {"b": {"i": 1e3}}}}}}]})",
                         R"({"node": null, "versions": {"minConsumer": "5"}})",
                         R"({"node": [{"attr": {"t": {"tensor": {"float_val": ["NaN", 1, -0.5e-3], "int_val": []}}}}]})"};
  for (const char* text : texts) io::write_file(folder / "json" / std::to_string(files++), text);

  for (
      const char* text :
      {"node: < name: 'a', op: \"A\\x41\\101\\u00e4\" input: ['^b', \"c\" '1']; attr { value { list { i: [-1, 0x10, 017] } } key: 'k' } > # end",
       "node { attr { key: 't' value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: [inf, -nan, 1.5f] } } } }",
       "meta_info_def { any_info { [type.googleapis.com/a.b] { c: [{}, <>] } } } collection_def { key: 'a' value { any_list { value { type_url: "
       "'u' value: '\\0' } } } } saver_def { version: V2 }",
       "library { function { signature { name: 'f' attr { name: 'T' default_value { i: 1 } } } ret { key: 'a' value: 'b' } arg_attr { key: 1 } } }",
       "saved_model_schema_version: 1 meta_graphs { signature_def { key: 's' value { inputs { key: 'x' value { name: 'a:0' } } } } }",
       "model_checkpoint_path: \"a\" all_model_checkpoint_timestamps: 1.5e9"})
    io::write_file(folder / "text" / std::to_string(files++), text);

  std::filesystem::create_directories(folder / "arrays");
  std::map<std::string, io::array_bytes, std::less<>> arrays;
  const std::vector<std::byte> all_ones(48, std::byte{1});
  for (const auto type : {dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8, dtype::boolean}) {
    shape extent;
    extent.push(2);
    extent.push(3);
    const auto bytes = static_cast<std::size_t>(extent.elements() * size_of(type));
    arrays.emplace("a" + std::to_string(bytes), io::array_bytes{type, extent, std::span(all_ones).first(bytes)});
    const std::vector<float> values(6, 1.0f);
    io::write_npy_file(make_tensor_proto(values, {2, 3}), folder / "arrays" / ("npy" + std::to_string(bytes)));
    io::write_safetensors(folder / "arrays" / ("safetensors" + std::to_string(bytes)), arrays, {{"step", "12"}});
  }
  std::filesystem::create_directories(folder / "checkpoints");
  const auto put_checkpoint = [&](const std::string& text) { io::write_file(folder / "checkpoints" / std::to_string(files++), text); };
  checkpoint_manifest manifest{.step = 3, .graph = "0", .pipeline_state = "{}", .values = {{"a", "b"}}, .data_file = "d", .data_bytes = 9};
  io::bundle_index index{.shards = 2};
  std::uint32_t checksum = 0;
  put_checkpoint('\3' + io::pack_bundle_strings({"", "a", std::string(200, 'b')}, checksum));
  for (const auto& [name, array] : arrays) {
    manifest.tensors[name] = {array.type, array.extent, 7};
    index.entries[name] = {static_cast<data_type>(array.type), {2, 3}, 1, 8, array.bytes.size(), 5};
  }
  put_checkpoint(write_manifest(manifest));
  put_checkpoint(io::write_bundle_index(index));
  for (const auto& [key, value] : io::read_sorted_table(io::write_bundle_index(index))) put_checkpoint(value);
  put_checkpoint(write_checkpoint_state({"a\"b", {"c", "\n"}, {1.5}, 2}));
  put_checkpoint(io::write_saved_model(whole));
  // A checkpoint V1 of a float32 [2], and its two entries.
  const std::string slices("\x0a\x11\x0a\x0f\x0a\x01" "a\x12\x04\x12\x02\x08\x02\x18\x01\x22\x02\x0a\x00", 19);
  const std::string slice("\x12\x13\x0a\x01" "a\x12\x02\x0a\x00\x1a\x0a\x2a\x08\x00\x00\x80\x3f\x00\x00\x00\x40", 21);
  put_checkpoint(io::write_sorted_table({{"", slices}, {io::bundle_part_name("a", {{0}, {-1}}), slice}}));
  put_checkpoint(slices + "\n" + slice);
  std::filesystem::create_directories(folder / "events");
  std::string all_events;
  const auto put_event = [&](const summary::event& e) {
    io::write_file(folder / "events" / std::to_string(files++), summary::to_bytes(e));
    io::append_record(all_events, summary::to_bytes(e));
    io::write_file(folder / "events" / std::to_string(files++), all_events);
  };
  summary::event first, values, others;
  first.file_version = summary::event_file_version;
  values.step = 7;
  values.summary = summary::summary_def{{{.tag = "number", .content = 0.5f},
                                         {.tag = "counts", .content = summary::histogram_value{-1, 2, 3, 4, 5, {1, 2, 3}, {0, 1, 2}}},
                                         {.tag = "picture", .content = summary::image_value{2, 3, 1, "png"}},
                                         {.tag = "sound", .content = summary::audio_value{8000, 1, 5, "wav", "audio/wav"}},
                                         {.tag = "text",
                                          .metadata = {.plugin = {"text", "content"}, .display_name = "shown", .description = "words"},
                                          .content = make_tensor_proto(std::vector<float>(6, 1.0f), {2, 3})}}};
  others.graph_def = others.meta_graph_def = "graph";
  others.log = summary::log_message{20, "words"};
  others.session = summary::session_log{summary::session_status::checkpoint, "path", "words"};
  others.metadata = summary::tagged_run_metadata{"tag", "bytes"};
  for (const auto& e : {first, values, others}) put_event(e);
  for (const char* type : {"<f2", ">f8", "|i1", ">u2", "<u4", "<u8", ">b1"}) {
    std::string npy = io::write_npy(make_tensor_proto(std::vector<float>(6, 1.0f), {2, 3}));
    npy.replace(npy.find("<f4"), 3, type);
    const int bytes = type[2] - '0';
    npy.replace(npy.find("False"), 5, "True ").resize(npy.size() - 24 + static_cast<std::size_t>(6 * (bytes < 4 ? bytes : 4)));
    if (bytes == 8) npy.append(24, '\1');
    io::write_file(folder / "arrays" / (std::string("npy") + type[1] + type[2]), npy);
  }
  const std::string header =
      R"({"a":{"dtype":"BF16","shape":[1,2],"data_offsets":[0,4]},"b":{"dtype":"U64","shape":[1],"data_offsets":[4,12]},"c":{"dtype":"F8_E5M2","shape":[1],"data_offsets":[12,13],"d":1}})";
  io::write_file(folder / "arrays" / "converted",
                 std::string{static_cast<char>(header.size())} + std::string(7, '\0') + header + std::string(13, '\1'));
  io::write_npz_file({{"x", make_tensor_proto(std::vector<float>{1, 2}, {2})}, {"y", make_tensor_proto(std::int64_t{3})}},
                     folder / "arrays" / "npz");
  io::write_file(folder / "arrays" / "idx", std::string("\0\0\x0b\2\0\0\0\2\0\0\0\1\1\2\3\4", 16));
  io::write_file(folder / "arrays" / "gzip", std::string("\x1f\x8b\x08\0\0\0\0\0\2\x03\x4b\x4c\4\0\x45\xe7\xcb\x07\2\0\0\0", 22));
  std::filesystem::create_directories(folder / "rows");
  io::write_file(folder / "rows" / "table", "a,b\n1,\"x, \"\"y\"\"\n\"\r\n\n-2,z\n");
  io::write_file(folder / "rows" / "plain", "1;2;true\n255;;0\n");
  const io::example example{{{"a", std::vector<float>{1, 2}}, {"b", std::vector<std::int64_t>{-1}}, {"c", std::vector<std::string>{"x"}}}};
  io::write_file(folder / "rows" / "example", io::write_example(example));
  std::string records;
  for (const std::string& record : {std::string(), std::string("record"), io::write_example(example)}) io::append_record(records, record);
  io::write_file(folder / "rows" / "records", records);
#if defined(LEAT_USE_ZLIB)
  for (const auto kind : {io::compression::zlib, io::compression::gzip}) {
    std::string packed;
    io::deflating_stream(kind).add(records, packed, true);
    io::write_file(folder / "rows" / (kind == io::compression::zlib ? "records_zlib" : "records_gzip"), packed);
  }
#endif
  auto pipeline = dataset::range(10).map([](std::int64_t i) { return i; }).shuffle(5, 1).batch(3).repeat(2).iterate();
  pipeline.next();
  io::write_file(folder / "rows" / "state", pipeline.save_state());
  // what runs, and what is refused for one of its numbers; larger ones would be few runs a second
  constexpr std::uintmax_t most_bytes = 12000;
  std::filesystem::create_directories(folder / "graphs");
  std::filesystem::create_directories(folder / "programs");
  for (const auto& g : leat_test::hostile_graphs())
    for (const char* of : {"graphs", "programs"})
      io::write_binary_file(leat_test::graph_text(g.text).parse(), folder / of / std::to_string(files++));
  // Heads of messages are found only by who begins with their first bytes.
  std::filesystem::create_directories(folder / "messages");
  for (const char parts : {'\0', '\1', '\2'}) {
    std::string head = std::string("LEAT\1\0\6\0\1\0\0\0", 12) + parts + std::string(3, '\0');
    head.resize(64, '\0');
    head[48] = static_cast<char>(8 * parts);
    for (char i = 0; i < parts; ++i) head += std::string("\x20\0\0\0\0\0\0\0", 8);
    head += std::string(8 * static_cast<std::size_t>(parts), 'x');
    io::write_file(folder / "messages" / std::to_string(files++), std::string{static_cast<char>(head.size()), '\0'} + head);
  }
  const char* reference = std::getenv("LEAT_REFERENCE");
  const std::filesystem::path recorded = std::filesystem::path(reference != nullptr ? reference : "") / "graphs";
  std::error_code ignored;
  for (const auto& found : std::filesystem::directory_iterator(recorded, ignored))
    if (found.path().extension() == ".pb" && found.file_size() <= most_bytes)
      std::filesystem::copy_file(found.path(), folder / "programs" / found.path().filename(),
                                 std::filesystem::copy_options::overwrite_existing, ignored);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "make_corpus: %s\n", e.what());
  return 1;
}
