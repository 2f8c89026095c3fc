#pragma once
// Graphs with their savers, from TensorFlow's files PREFIX.meta.
//
//   imported_meta_graph model = import_meta_graph(g, "log/model-300.meta");
//   graph_session s(g);
//   model.restorer.restore(s, "log/model-300");     // and go on training
//
// Include this header next to <leat/graphs.hpp>. Source: TensorFlow 1.x `train.import_meta_graph`.

#include <leat/checkpoint/saver.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/default_graph.hpp>
#include <leat/proto/graph_def.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace leat {

/// What `import_meta_graph` gives.
struct imported_meta_graph {
  /// Saves and restores the graph's variables under the names that the graph's own saver uses, in TensorFlow's format, and keeps as many
  /// checkpoints as that.
  saver restorer;
  /// The nodes of the graph's own saver, for runs of them (`session_options::file_root`); empty names if the graph has none.
  saver_def nodes{};
  std::map<std::string, signature_def> signatures{};
  /// Why collections, or parts of them, were left out.
  std::vector<std::string> left_out{};
};

/// Imports the graph of a file under the names that it has there, with its collections: variables, what is trained, summaries. The file may
/// be in binary form, in text format, or JSON. Errors: those of reading the file and of `import_graph`.
imported_meta_graph import_meta_graph(graph& g, const std::filesystem::path& file);
inline imported_meta_graph import_meta_graph(const std::filesystem::path& file) { return import_meta_graph(default_graph(), file); }

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/checkpoint/impl/meta_graph.hpp>
#endif
