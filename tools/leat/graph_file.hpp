#pragma once
// Files by their endings: .pb holds a GraphDef, .meta a MetaGraphDef, .json one of them, which its outermost names tell; .dot
// is written only. A folder is a saved model.

#include <leat/core/error.hpp>
#include <leat/io/binary.hpp>
#include <leat/io/dot.hpp>
#include <leat/io/json.hpp>
#include <leat/io/model_files.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

/// Wrong use of the command, exit code 2.
class usage_error : public leat::error {
 public:
  using error::error;
};

/// An array of a saved model.
struct saved_array {
  std::string name;
  leat::dtype type;
  leat::shape extent;
};

/// A graph, and whether its file had more to say.
struct graph_file {
  leat::meta_graph_def meta;
  bool is_meta = false;
  bool is_saved_model = false;
  std::vector<saved_array> arrays{};             // of a saved model
  std::map<std::string, std::string> metadata{};  // of a saved model: texts of the user's
};

/// Either message, told by the fields there are.
struct either_message {
  graph_file file;
};

/// Reads without looking at the graph as a whole. Errors: those of leat::io's readers; usage_error for another ending.
graph_file load(const std::filesystem::path& path);

/// Writes what the ending says. Errors: those of leat::io's writers; usage_error for another ending.
void save(const graph_file& file, const std::filesystem::path& path);
/// Whether `save` knows the ending; to be asked before any work.
void check_ending(const std::filesystem::path& path);

}  // namespace tool

namespace leat::io::detail {
template <>
struct message_fields<tool::either_message> : plain_message {
  static constexpr std::string_view name = "GraphDef or MetaGraphDef";
  template <class V, class M>
  static void fields(V& v, M& m) {
    message_fields<graph_def>::fields(v, m.file.meta.graph);
    message_fields<meta_graph_def>::fields(v, m.file.meta);
  }
};
}  // namespace leat::io::detail
