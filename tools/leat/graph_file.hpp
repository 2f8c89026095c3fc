#pragma once
// Files by their endings: .pb holds a GraphDef, .meta a MetaGraphDef, .json and .pbtxt (protobuf's text format) one of them, which the
// outermost names tell; .dot is written only. A text is known by its content whatever its ending, as TensorFlow writes them. A folder is a
// saved model, leat's or TensorFlow's, or has checkpoints, the newest of which counts; a checkpoint is named by its prefix.

#include <leat/checkpoint/checkpoint_state.hpp>
#include <leat/core/error.hpp>
#include <leat/io/binary.hpp>
#include <leat/io/dot.hpp>
#include <leat/io/json.hpp>
#include <leat/io/saved_model_folder.hpp>
#include <leat/io/text.hpp>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

/// Wrong use of the command, exit code 2.
class usage_error : public leat::error {
 public:
  using error::error;
};

/// An array of a saved model or checkpoint.
struct saved_array {
  std::string name;
  leat::dtype type;
  leat::shape extent;
};

/// A graph, and whether its file had more to say.
struct graph_file {
  leat::meta_graph_def meta;
  bool is_meta = false;
  std::vector<saved_array> arrays{};              // of a saved model or checkpoint
  std::map<std::string, std::string> metadata{};  // of a saved model or checkpoint: texts of the user's
  std::string kind{};                             // "saved model", "checkpoint of step 10"; empty for a graph's file
  bool is_saved_model = false;                    // of a folder, leat's or TensorFlow's
  /// A checkpoint, open; its graph is that of PREFIX.meta, or empty.
  std::shared_ptr<const leat::checkpoint_reader> checkpoint{};
};

/// Either message, told by the fields there are.
struct either_message {
  graph_file file;
};

/// Reads without looking at the graph as a whole. Errors: those of leat::io's readers; usage_error for another ending.
graph_file load(const std::filesystem::path& path, const std::vector<std::string>& tags = {});
/// Checks tags that were asked for against those that a model has. Errors: usage_error.
void check_tags(const std::filesystem::path& path, const std::vector<std::string>& has, const std::vector<std::string>& wanted);
/// The checkpoint that a path names: its prefix, one of its files, or the folder whose newest it is; null if it names none.
std::shared_ptr<const leat::checkpoint_reader> checkpoint_at(const std::filesystem::path& path);

/// Where the graph of a checkpoint is, if there is one.
std::filesystem::path graph_of_checkpoint(const leat::checkpoint_reader& reader);

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
