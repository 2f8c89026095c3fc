// make_corpus FOLDER: what the fuzzing programs begin with, into FOLDER/json, FOLDER/binary and FOLDER/text: graphs with everything, each
// of their nodes and attributes alone, and some small texts that are nearly right; into FOLDER/arrays files of arrays, into
// FOLDER/rows tables, records and states of pipelines, into FOLDER/checkpoints those of checkpoints, into FOLDER/events events and files of
// them; into FOLDER/graphs small graphs that are wrong, and into FOLDER/programs some that are right, the recorded ones among them; into
// FOLDER/images images, into FOLDER/examples what operators read, and into FOLDER/file_nodes calls of operators on files.

#include <leat/checkpoint/checkpoint_state.hpp>
#include <leat/data.hpp>
#include <leat/io/binary.hpp>
#include <leat/io/inflate.hpp>
#include <leat/io/jpeg.hpp>
#include <leat/io/json.hpp>
#include <leat/io/npy.hpp>
#include <leat/io/png.hpp>
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
  // The first two bytes say how an image is read; after the second of a PNG file's, 3, its pixels are compressed and its checksums made.
  std::filesystem::create_directories(folder / "images");
  const auto put_image = [&](char how, char more, const std::string& file) {
    io::write_file(folder / "images" / std::to_string(files++), std::string{how, more} + file);
  };
  std::vector<std::uint8_t> pixels(20 * 20 * 3);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * i % 251);
  for (const int channels : {1, 2, 3, 4})
    put_image(0, 0, io::write_png(std::span(pixels).first(static_cast<std::size_t>(12 * channels)), 3, 4, channels));
  const std::string signature("\x89PNG\r\n\x1a\n", 8);
  const std::map<char, std::string> depths_of{
      {0, "\1\2\4\x8\x10"}, {2, "\x8\x10"}, {3, "\1\2\4\x8"}, {4, "\x8\x10"}, {6, "\x8\x10"}};
  for (const auto& [color, depths] : depths_of)
    for (const char depth : depths)
      for (const char interlaced : {'\0', '\1'}) {
        std::string file = signature;
        io::detail::put_chunk(file, "IHDR", std::string("\0\0\0\x9\0\0\0\5", 8) + std::string{depth, color, 0, 0, interlaced});
        if (color == 3) io::detail::put_chunk(file, "PLTE", "abcdefghi");
        if (color < 4) io::detail::put_chunk(file, "tRNS", std::string("\0\1\0\1\0\1", color == 2 ? 6 : 2));
        io::detail::put_chunk(file, "IDAT", std::string("\0\1\2\3\4\1\0\2\2\3\4\0\0\1\2\1\1\1", 18));
        io::detail::put_chunk(file, "IEND", {});
        put_image(static_cast<char>(depth & 3), 3, file);
      }
#if defined(LEAT_USE_JPEG)
  for (const bool progressive : {false, true})
    for (const int channels : {1, 3})
      for (const char how : {'\0', '\4', '\10', '\14', '\20', '\40', '\60', '\100'})
        put_image(how, 0,
                  io::write_jpeg(std::span(pixels).first(static_cast<std::size_t>(400 * channels)), 20, 20, channels,
                                 {.quality = 40, .progressive = progressive, .chroma_downsampling = how != '\20'}));
#endif
  for (const char bytes : {'\1', '\3', '\4'})
    for (const char* height : {"\2\0\0\0", "\xfe\xff\xff\xff"})
      put_image(0, 0,
                "BM" + std::string(8, '\0') + std::string("\x36\0\0\0\x28\0\0\0\2\0\0\0", 12) + std::string(height, 4) +
                    std::string{1, 0, static_cast<char>(8 * bytes), 0} + std::string(24, '\0') + std::string(bytes == 1 ? 8 : 16, 'p'));
  const std::string colors("\0\0\0\1\2\3\4\5\6\x7\x8\x9", 12), codes("\2\3\x44\x34\5\0", 6);
  const std::string gif = "GIF89a" + std::string("\3\0\2\0\x81\0\0", 7) + colors;
  put_image(0, 0, gif + std::string("\x2c\0\0\0\0\2\0\2\0\0", 10) + codes + ";");
  put_image(0, 0,
            gif + std::string("\x2c\0\0\0\0\2\0\2\0\0", 10) + codes + std::string("!\xf9\4\1\0\0\1\0", 8) +
                std::string("\x2c\1\0\0\0\2\0\2\0\xc1", 10) + colors + codes + std::string("!\xfe\1a\0;", 6));
  std::filesystem::create_directories(folder / "examples");
  const auto put_bytes = [&](const std::string& of, char how, const std::string& bytes) {
    io::write_file(folder / of / std::to_string(files++), how + bytes);
  };
  const io::example other{
      {{"a", std::vector<float>{1, 2}}, {"b", std::vector<std::int64_t>{3, -4, 5, 6}}, {"c", std::vector<std::string>{"x", ""}}}};
  for (const char how : {'\0', '\1', '\5'})
    for (const io::example& e : {example, other}) put_bytes("examples", how, io::write_example(e));
  for (const char* record : {"a,b", "\"a\"\"\n\",", "1;2.5;NA", "x\t-7\t\ty\tz"}) put_bytes("examples", '\2', record);
  for (const char* text : {"12345678", " -1.5e3", "9223372036854775808", "YWJj_-8", "inf"})
    for (const char how : {'\3', '\7', '\x0b'}) put_bytes("examples", how, text);
  // Calls: an operator, names by their numbers, and texts behind their lengths.
  std::filesystem::create_directories(folder / "file_nodes");
  const std::string save("\2\3\1t\1u\0\0\1\2\7\10\0\11", 14), restore("\3\3\1t\0", 5);
  const std::string save_slices("\2\4\1t\1t\x9" "2 2 0,1:-\x9" "2 2 1,1:-\2\1\2\1\2\2\1\2\3\4", 36);
  const std::string calls[]{std::string("\0\0\3abc\1\0", 8),
                            save + restore + std::string("\5\3\1t\0\6\24", 7),
                            save_slices + std::string("\4\4\4\5\3\5\1t\0", 9),
                            save + save_slices + std::string("\4\3\4\6\4\3\4\5", 8),
                            std::string("\1\10\1\12\3\6\1t\0\5\7\1t\0\6\27\6\26", 18),
                            std::string("\0\0\4a\nb\n\7\0\0\7\1\0\7\2\10", 17)};
  for (const std::string& list : calls) io::write_file(folder / "file_nodes" / std::to_string(files++), list);
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
