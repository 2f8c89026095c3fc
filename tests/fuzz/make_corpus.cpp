// make_corpus FOLDER: what the fuzzing programs begin with, into FOLDER/json and FOLDER/binary: graphs with everything, each
// of their nodes and attributes alone, and some small texts that are nearly right; into FOLDER/arrays files of arrays; into
// FOLDER/graphs small graphs that are wrong, and into FOLDER/programs some that are right, the recorded ones among them.

#include <leat/io/binary.hpp>
#include <leat/io/json.hpp>
#include <leat/io/npy.hpp>
#include <leat/io/safetensors.hpp>

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
  int files = 0;
  const auto put = [&](const auto& message) {
    const std::string name = std::to_string(files++);
    io::write_json_file(message, folder / "json" / name);
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
  const char* texts[] = {
      "{}", "[]", R"({"node": [{"input": ["a:1"], "attr": {"a": {"func": {"attr": {"b": {"i": 1e3}}}}}}]})",
      R"({"node": null, "versions": {"minConsumer": "5"}})",
      R"({"node": [{"attr": {"t": {"tensor": {"float_val": ["NaN", 1, -0.5e-3], "int_val": []}}}}]})"};
  for (const char* text : texts) io::write_file(folder / "json" / std::to_string(files++), text);

  std::filesystem::create_directories(folder / "arrays");
  std::map<std::string, io::array_bytes, std::less<>> arrays;
  const std::vector<std::byte> ones(48, std::byte{1});
  for (const auto type : {dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8, dtype::boolean}) {
    shape extent;
    extent.push(2);
    extent.push(3);
    const auto bytes = static_cast<std::size_t>(extent.elements() * size_of(type));
    arrays.emplace("a" + std::to_string(bytes), io::array_bytes{type, extent, std::span(ones).first(bytes)});
    const std::vector<float> values(6, 1.0f);
    io::write_npy_file(make_tensor_proto(values, {2, 3}), folder / "arrays" / ("npy" + std::to_string(bytes)));
    io::write_safetensors(folder / "arrays" / ("safetensors" + std::to_string(bytes)), arrays, {{"step", "12"}});
  }
  // what runs, and what is refused for one of its numbers; larger ones would be few runs a second
  constexpr std::uintmax_t most_bytes = 12000;
  std::filesystem::create_directories(folder / "graphs");
  std::filesystem::create_directories(folder / "programs");
  for (const auto& g : leat_test::hostile_graphs())
    for (const char* of : {"graphs", "programs"})
      io::write_binary_file(leat_test::graph_text(g.text).parse(), folder / of / std::to_string(files++));
  // Heads of messages are found only by who begins with their first bytes.
  std::filesystem::create_directories(folder / "messages");
  for (const char parts : {0, 1, 2}) {
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
