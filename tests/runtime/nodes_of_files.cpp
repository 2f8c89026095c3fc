// Nodes as files have them: an attribute that is absent has TensorFlow's default, and a node of a dtype that only TensorFlow computes its
// operator with does no harm to the rest of the graph.

#include <leat/data/kernels.hpp>
#include <leat/graphs.hpp>
#include <leat/proto/tensor_contents.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace nodes_of_files_tests {

using namespace leat;

namespace {

template <class T>
node_def constant_node(const char* name, const std::vector<T>& values, std::vector<std::int64_t> sizes) {
  tensor_shape_proto extent;
  for (const std::int64_t size : sizes) extent.dims.push_back({size, {}});
  const tensor_proto value = make_tensor_proto(values, extent);
  return {.name = name, .op = "Const", .attributes = {{"dtype", value.dtype}, {"value", value}}};
}

struct imported {
  explicit imported(const std::vector<node_def>& nodes) {
    g.named();
    graph_def file;
    file.nodes = nodes;
    import_graph(g, file, {.name = ""});
  }
  graph g;
};

}  // namespace

TEST_CASE("nodes of files: the layouts of a node without them are NHWC and NCHW") {
  const std::vector<std::int32_t> sizes{1, 2, 3, 4}, axes{0, 1, 2, 3, -1};
  imported from({constant_node("sizes", sizes, {4}), constant_node("axes", axes, {5}),
                 {.name = "moved", .op = "DataFormatVecPermute", .inputs = {"sizes"}, .attributes = {{"T", data_type::int32}}},
                 {.name = "places", .op = "DataFormatDimMap", .inputs = {"axes"}, .attributes = {{"T", data_type::int32}}}});
  graph_session session(from.g);
  using list = std::vector<std::int32_t>;
  CHECK(session.run(get_tensor_by_name(from.g, "moved:0")).as<list>() == list{1, 4, 2, 3});
  CHECK(session.run(get_tensor_by_name(from.g, "places:0")).as<list>() == list{0, 2, 3, 1, 1});
}

TEST_CASE("nodes of files: the columns of a table's file are separated by tabs, and a printed text ends its line") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "leat nodes of files";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "words.txt") << "a\t1\nb\t2\n";
  imported from(
      {constant_node("name", std::vector<std::string>{"words.txt"}, {}), constant_node("words", std::vector<std::string>{"b", "c"}, {2}),
       constant_node("other", std::vector<std::int64_t>{-1}, {}),
       {.name = "table", .op = "HashTableV2", .attributes = {{"key_dtype", data_type::string}, {"value_dtype", data_type::int64}}},
       {.name = "fill",
        .op = "InitializeTableFromTextFileV2",
        .inputs = {"table", "name"},
        .attributes = {{"key_index", std::int64_t{0}}, {"value_index", std::int64_t{1}}}},
       {.name = "numbers",
        .op = "LookupTableFindV2",
        .inputs = {"table", "words", "other"},
        .attributes = {{"Tin", data_type::string}, {"Tout", data_type::int64}}},
       {.name = "told", .op = "PrintV2", .inputs = {"name"}}});
  std::ostringstream log;
  graph_session session(from.g, {.log = &log, .file_root = folder.string()});
  session.run({fetch_item(get_operation_by_name(from.g, "fill"))});
  CHECK(session.run(get_tensor_by_name(from.g, "numbers:0")).as<std::vector<std::int64_t>>() == std::vector<std::int64_t>{2, -1});
  session.run({fetch_item(get_operation_by_name(from.g, "told"))});
  CHECK(log.str() == "words.txt\n");
  std::filesystem::remove_all(folder);
}

TEST_CASE("nodes of files: a dtype that only TensorFlow computes an operator with is refused by the run that needs it") {
  const std::vector<std::int32_t> whole{2, 3};
  const std::vector<float> real{5, -7};
  imported from({constant_node("n", whole, {2}), constant_node("x", real, {2}),
                 {.name = "power", .op = "Pow", .inputs = {"n", "n"}, .attributes = {{"T", data_type::int32}}},
                 {.name = "rounded", .op = "Round", .inputs = {"n"}, .attributes = {{"T", data_type::int32}}},
                 {.name = "parts", .op = "TruncateDiv", .inputs = {"x", "x"}, .attributes = {{"T", data_type::float32}}},
                 {.name = "after", .op = "Neg", .inputs = {"power"}, .attributes = {{"T", data_type::int32}}},
                 {.name = "y", .op = "Neg", .inputs = {"x"}, .attributes = {{"T", data_type::float32}}}});
  graph_session session(from.g);
  CHECK(session.run(get_tensor_by_name(from.g, "y:0")).as<std::vector<float>>() == std::vector<float>{-5, 7});
  for (const char* name : {"power", "rounded", "parts", "after"}) {
    INFO(name);
    const graph_operation node = get_operation_by_name(from.g, name);
    const std::string told = leat_test::message_of<unimplemented>([&] { session.run({fetch_item(node)}); });
    CHECK(leat_test::says(told, "takes"));
  }
  // TensorFlow takes no such node either.
  const std::vector<node_def> wrong{constant_node("n", whole, {2}),
                                    {.name = "root", .op = "Sqrt", .inputs = {"n"}, .attributes = {{"T", data_type::int32}}}};
  CHECK_THROWS_AS(imported{wrong}, invalid_argument);
}

TEST_CASE("nodes of files: axes whose values are known, and whose number is not, as in the gradient of a gather along axis 1") {
  using list = std::vector<std::int32_t>;
  const auto range = [](const char* name, const char* from, const char* to) {
    return node_def{.name = name, .op = "Range", .inputs = {from, to, "one"}, .attributes = {{"Tidx", data_type::int32}}};
  };
  imported from({constant_node("x", list{1, 2, 3, 4, 5, 6}, {2, 3}), constant_node("zero", list{0}, {}), constant_node("one", list{1}, {}),
                 {.name = "two", .op = "AddV2", .inputs = {"one", "one"}, .attributes = {{"T", data_type::int32}}},
                 range("last", "one", "two"), range("first", "zero", "one"),
                 {.name = "axes",
                  .op = "ConcatV2",
                  .inputs = {"last", "first", "zero"},
                  .attributes = {{"T", data_type::int32}, {"N", std::int64_t{2}}, {"Tidx", data_type::int32}}},
                 {.name = "y", .op = "Transpose", .inputs = {"x", "axes"}, .attributes = {{"T", data_type::int32}, {"Tperm", data_type::int32}}}});
  graph_session session(from.g);
  const output y = get_tensor_by_name(from.g, "y:0");
  CHECK(session.run(y).as<list>() == list{1, 4, 2, 5, 3, 6});
}

}  // namespace nodes_of_files_tests
