#pragma once
// Implementation of the functions of file_writer.hpp that write graphs.

#include <leat/core/function_bodies.hpp>
#include <leat/io/binary.hpp>
#include <leat/io/collections.hpp>
#include <leat/named/exchange/export.hpp>
#include <leat/named/graph/lookup.hpp>
#include <leat/summary/file_writer.hpp>

namespace leat::summary {

LEAT_FUNCTION file_writer::file_writer(std::filesystem::path logdir, graph& g, file_writer_options options)
    : file_writer(std::move(logdir), std::move(options)) {
  meta_graph_def meta;
  meta.graph = graph_with_shapes(g);
  meta.collections = io::export_collections(g);
  add_graph(meta.graph);
  add_meta_graph(meta);
}

LEAT_FUNCTION void file_writer::add_graph(graph& g, std::int64_t step) { add_graph(graph_with_shapes(g), step); }
LEAT_FUNCTION void file_writer::add_graph(const graph_def& g, std::int64_t step) {
  event e;
  e.step = step;
  e.graph_def = io::write_binary(g);
  add_event(e);
}
LEAT_FUNCTION void file_writer::add_meta_graph(const meta_graph_def& g, std::int64_t step) {
  event e;
  e.step = step;
  e.meta_graph_def = io::write_binary(g);
  add_event(e);
}

LEAT_FUNCTION graph_def graph_with_shapes(graph& g) {
  graph_def def = export_graph(g);
  for (node_def& node : def.nodes) {
    std::vector<tensor_shape_proto> shapes;
    for (const output& o : get_operation_by_name(g, node.name).outputs()) shapes.push_back(to_proto(o.extent()));
    if (!shapes.empty()) node.attributes["_output_shapes"] = shapes;
  }
  return def;
}

}  // namespace leat::summary
