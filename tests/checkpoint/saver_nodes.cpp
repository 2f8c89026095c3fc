// The nodes by which graphs save and restore their own variables.

#include <leat/checkpoint.hpp>
#include <leat/checkpoint/meta_graph.hpp>
#include <leat/graphs.hpp>
#include <leat/io/binary.hpp>
#include <leat/io/collections.hpp>
#include <leat/io/saved_model.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"
#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>

#include <fstream>

using namespace leat;
using leat_test::message_of;
using leat_test::says;
using leat_test::scratch_folder;
namespace files = std::filesystem;

namespace {

using float_values = std::vector<float>;

tensor_literal texts(const std::vector<std::string>& list) {
  shape s;
  s.push(static_cast<std::int64_t>(list.size()));
  return {data_type::string, s, list};
}

/// A graph with a saver of its own, as TensorFlow builds it: two variables, one in two slices.
struct graph_with_saver {
  graph g;
  output w, first, second, prefix, restored;
  graph_operation save, restore, merge;
  output merged, to;
  graph_with_saver() {
    const auto here = g.as_default();
    w = variable(float_values{1, 2}, "w");
    first = variable(tensor_literal(shape_of_sizes({1, 2}), float_values{3, 4}), "rows/part_0");
    second = variable(tensor_literal(shape_of_sizes({1, 2}), float_values{5, 6}), "rows/part_1");
    prefix = placeholder(dtype_of_text(), {}, "prefix");
    const tensor_literal names = texts({"w", "rows", "rows"});
    const tensor_literal slices = texts({"", "2 2 0,1:-", "2 2 1,1:0,2"});
    save = call_operator(g, "SaveV2", {prefix, names, slices, w, first, second}, {}, "save");
    restore = call_operator(g, "RestoreV2", {prefix, names, slices},
                            {{"dtypes", std::vector<data_type>(3, data_type::float32)}}, "restore");
    to = placeholder(dtype_of_text(), {}, "to");
    merged = placeholder(dtype_of_text(), {-1}, "merged");
    merge = call_operator(g, "MergeV2Checkpoints", {merged, to}, {}, "merge");
  }
  static dtype dtype_of_text() { return text_dtype; }
  static shape shape_of_sizes(std::initializer_list<std::int64_t> sizes) {
    shape s;
    for (const std::int64_t size : sizes) s.push(size);
    return s;
  }
};

}  // namespace

TEST_CASE("a graph saves and restores its variables by nodes, within the session's folder") {
  const scratch_folder scratch("saver_nodes");
  graph_with_saver m;
  const auto here = m.g.as_default();
  graph_session s(m.g, {.file_root = scratch.path.string()});
  s.run(global_variables_initializer());
  s.run(m.save, {{m.prefix, "sub/model"}});
  CHECK(files::exists(scratch.path / "sub/model.index"));
  const checkpoint_reader reader((scratch.path / "sub/model").string());
  CHECK(reader.format() == checkpoint_format::tensorflow);
  CHECK(reader.value("rows").extent() == graph_with_saver::shape_of_sizes({2, 2}));
  CHECK(reader.value("rows").as<float_values>() == float_values{3, 4, 5, 6});
  const auto results = s.run(m.restore.outputs(), {{m.prefix, (scratch.path / "sub/model").string()}});
  CHECK(results[0].as<float_values>() == float_values{1, 2});
  CHECK(results[1].as<float_values>() == float_values{3, 4});
  CHECK(results[2].as<float_values>() == float_values{5, 6});

  CHECK(says(message_of([&] { s.run(m.save, {{m.prefix, "../model"}}); }), "is not within"));
  CHECK(says(message_of([&] { s.run(m.save, {{m.prefix, "/tmp/model"}}); }), "is not within"));
  CHECK(says(message_of([&] { s.run(m.save, {{m.prefix, "sub/../../x/model"}}); }), "is not within"));
  CHECK(says(message_of([&] { s.run(m.save, {{m.prefix, ""}}); }), "is empty"));
  CHECK(says(message_of([&] { s.run(m.restore.outputs(), {{m.prefix, "none"}}); }), "there is no checkpoint of this name"));
  // A link that leads out of the folder.
  const scratch_folder outside("saver_nodes_outside");
  files::create_directory_symlink(outside.path, scratch.path / "out");
  CHECK(says(message_of([&] { s.run(m.save, {{m.prefix, "out/model"}}); }), "is not within"));
  CHECK(files::is_empty(outside.path));
  // Files of a checkpoint that are such links.
  graph_session elsewhere(m.g, {.file_root = outside.path.string()});
  elsewhere.run(global_variables_initializer());
  elsewhere.run(m.save, {{m.prefix, "secret"}});
  for (const char* ending : {".index", ".data-00000-of-00001"})
    files::create_symlink(outside.path / ("secret" + std::string(ending)), scratch.path / ("link" + std::string(ending)));
  CHECK(says(message_of([&] { s.run(m.restore.outputs(), {{m.prefix, "link"}}); }), "link.index' is not within"));
  CHECK(says(message_of([&] { s.run(m.merge, {{m.merged, std::vector<std::string>{"link"}}, {m.to, "whole"}}); }), "is not within"));
  CHECK(s.run(m.restore.outputs(), {{m.prefix, "sub/model"}})[0].as<float_values>() == float_values{1, 2});

  graph_session without(m.g);
  without.run(global_variables_initializer());
  CHECK(says(message_of([&] { without.run(m.save, {{m.prefix, "model"}}); }), "session_options::file_root"));
}

TEST_CASE("malformed names and slices end in errors, and leave files as they were") {
  const scratch_folder scratch("saver_nodes_errors");
  graph g;
  const auto here = g.as_default();
  const output v = constant(float_values{1, 2, 3}, "v");
  graph_session s(g, {.file_root = scratch.path.string()});
  const auto saves = [&](const char* name, const std::vector<std::string>& names, const std::vector<std::string>& slices) {
    const graph_operation node = call_operator(g, "SaveV2", {tensor_literal(data_type::string, shape{}, {"m"}), texts(names), texts(slices), v}, {}, name);
    return message_of([&] { s.run(node); });
  };
  static_cast<void>(saves("good", {"v"}, {""}));
  CHECK(checkpoint_reader((scratch.path / "m").string()).value("v").as<float_values>() == float_values{1, 2, 3});
  const auto written = files::last_write_time(scratch.path / "m.index");
  CHECK(says(saves("two_names", {"v", "w"}, {""}), "tensor_names must be a vector of 1 strings, not [2]"));
  for (const char* slice : {"3", "3 -:-", "3 0,4", "3 4,0", "-3 -", "3 0", "3 0,-1", "a b", "3 0,99999999999999999999", ":"})
    CHECK(says(saves("bad_slice", {"v"}, {slice}), "is not the shape of a tensor and a slice of it"));
  CHECK(says(saves("other_shape", {"v"}, {"4 0,2"}), "is not of the shape of the tensor"));
  CHECK(says(saves("no_name", {""}, {""}), "which the format keeps for itself"));
  CHECK(files::last_write_time(scratch.path / "m.index") == written);
  const graph_operation other = call_operator(g, "RestoreV2", {tensor_literal(data_type::string, shape{}, {"m"}), texts({"v"}), texts({""})},
                                              {{"dtypes", std::vector<data_type>{data_type::int32}}}, "other");
  CHECK(says(message_of([&] { s.run(other.result()); }), "'v' is float32 in the checkpoint, and int32 is asked for"));
}

TEST_CASE("checkpoints of several tasks are merged, slices and all") {
  const scratch_folder scratch("saver_nodes_merge");
  graph_with_saver m;
  const auto here = m.g.as_default();
  const tensor_literal first = texts({"w", "rows"}), second = texts({"rows"});
  const graph_operation one = call_operator(
      m.g, "SaveV2", {m.prefix, first, texts({"", "2 2 0,1:-"}), m.w, m.first}, {}, "one");
  const graph_operation two =
      call_operator(m.g, "SaveV2", {m.prefix, second, texts({"2 2 1,1:-"}), m.second}, {}, "two");
  graph_session s(m.g, {.file_root = scratch.path.string()});
  s.run(global_variables_initializer());
  for (int time = 0; time < 2; ++time) {  // the second time over the first
    s.run(one, {{m.prefix, "parts/a"}});
    s.run(two, {{m.prefix, "parts/b"}});
    s.run(m.merge, {{m.merged, tensor_value(std::vector<std::string>{"parts/a", "parts/b"})}, {m.to, "whole"}});
    CHECK_FALSE(files::exists(scratch.path / "parts"));
    const checkpoint_reader reader((scratch.path / "whole").string());
    CHECK(reader.names() == std::vector<std::string>{"rows", "w"});
    CHECK(reader.value("rows").as<float_values>() == float_values{3, 4, 5, 6});
    CHECK(reader.value("w").as<float_values>() == float_values{1, 2});
  }
  s.run(one, {{m.prefix, "parts/a"}});
  s.run(one, {{m.prefix, "parts/b"}});
  CHECK(says(message_of([&] { s.run(m.merge, {{m.merged, tensor_value(std::vector<std::string>{"parts/a", "parts/b"})}, {m.to, "whole"}}); }),
             "is in two of the checkpoints"));
  CHECK(files::exists(scratch.path / "parts/a.index"));  // as they were
  CHECK(files::exists(scratch.path / "parts/b.index"));
  CHECK(checkpoint_reader((scratch.path / "whole").string()).contains("w"));
}

TEST_CASE("import_meta_graph gives a saver under the names of the graph's own") {
  const scratch_folder scratch("meta_graph");
  const std::string prefix = (scratch.path / "model").string();
  {
    graph g;
    const auto here = g.as_default();
    const output w = variable(float_values{1, 2}, "w");
    const output name = placeholder(text_dtype, {}, "save/Const");
    const tensor_literal names = texts({"old/w"}), slices = texts({""});
    const graph_operation restored =
        call_operator(g, "RestoreV2", {name, names, slices}, {{"dtypes", std::vector<data_type>{data_type::float32}}}, "save/RestoreV2");
    const output assigned = assign(w, restored.result());
    meta_graph_def meta;
    meta.graph = export_graph(g);
    meta.collections = io::export_collections(g);
    meta.saver = saver_def{.filename_tensor_name = "save/Const:0", .restore_op_name = assigned.operation().name(), .max_to_keep = 2, .version = 2};
    io::write_binary_file(meta, prefix + ".meta");
    graph_session s(g);
    s.run(global_variables_initializer());
    saver({.var_list = {{"old/w", w}}, .format = checkpoint_format::tensorflow}).save(s, prefix, {}, {.write_meta_graph = false});
  }
  graph g;
  imported_meta_graph model = import_meta_graph(g, prefix + ".meta");
  CHECK(model.left_out.empty());
  CHECK(model.restorer.options().max_to_keep == 2);
  CHECK(model.nodes.filename_tensor_name == "save/Const:0");
  graph_session s(g);
  model.restorer.restore(s, prefix);
  CHECK(s.run("w:0").as<float_values>() == float_values{1, 2});
  for (int step = 1; step <= 3; ++step) model.restorer.save(s, prefix, step);
  CHECK(model.restorer.last_checkpoints().size() == 2);
  CHECK(checkpoint_reader(prefix + "-3").contains("old/w"));
  CHECK_THROWS_AS(import_meta_graph(g, prefix + ".none"), not_found);
}

TEST_CASE("a saved model whose own saver restores slices gives each its part of the whole") {
  const scratch_folder scratch("sliced_model");
  const files::path folder = scratch.path / "model";
  {
    graph g;
    const auto here = g.as_default();
    const tensor_literal first(graph_with_saver::shape_of_sizes({2, 2}), float_values{3, 4, 5, 6});
    const auto rows = get_variable("rows", {.initializer = operand_value(first), .partitioner = fixed_size_partitioner(2)});
    const output name = placeholder(text_dtype, {}, "save/Const");
    const graph_operation read = call_operator(g, "RestoreV2", {name, texts({"rows", "rows"}), texts({"2 2 0,1:-", "2 2 1,1:-"})},
                                               {{"dtypes", std::vector<data_type>(2, data_type::float32)}}, "save/RestoreV2");
    const graph_operation all = group({assign(rows.parts()[0], read.result(0)), assign(rows.parts()[1], read.result(1))}, "save/restore_all");
    const output y = identity(output(rows), "y");
    graph_session s(g);
    s.run(global_variables_initializer());
    io::save_model(folder.string(), s, {.signatures = {{"serving_default", {.outputs = {{"y", y}}}}}, .format = io::model_format::tensorflow});
    // As TensorFlow writes it.
    std::ifstream file(folder / "saved_model.pb", std::ios::binary);
    meta_graph_def meta = io::read_saved_model(std::string(std::istreambuf_iterator<char>(file), {})).at(0);
    meta.saver = saver_def{.filename_tensor_name = "save/Const:0", .restore_op_name = all.name(), .version = 2};
    std::ofstream(folder / "saved_model.pb", std::ios::binary) << io::write_saved_model(meta);
  }
  io::saved_model model = io::load_model(folder.string());
  CHECK(model.run("serving_default", {})["y"].as<float_values>() == float_values{3, 4, 5, 6});
}
