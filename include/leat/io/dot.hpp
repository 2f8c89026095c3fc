#pragma once
// Draws a graph for Graphviz (`dot -Tsvg`): a box for each node with its name, operator and shape, nested frames for name scopes,
// arrows for tensors, dotted arrows for control inputs. Any graph_def can be drawn, even an invalid one: inputs without a node get a
// dashed box.

#include <leat/core/function_bodies.hpp>
#include <leat/io/encoding.hpp>
#include <leat/io/file.hpp>
#include <leat/proto/graph_def.hpp>
#include <leat/proto/tensor_contents.hpp>

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace leat::io {

namespace detail {

/// A quoted string for DOT. Backslashes, which begin escapes (\N is the node's name), are doubled; bytes that are not UTF-8
/// become question marks.
std::string dot_text(std::string_view text);

/// The shape of a node's first output, if its attributes contain it.
std::string drawn_shape(const node_def& node);

class dot_writer {
 public:
  explicit dot_writer(const graph_def& graph) : graph_(graph) {}

  std::string run();

 private:
  static constexpr int deepest = 16;  // names come from files, and frames are written recursively

  struct member {
    std::size_t node;
    std::size_t name_begin;  // without its scopes
  };
  struct scope {
    std::map<std::string, std::unique_ptr<scope>> inner;
    std::vector<member> nodes;
  };

  void write_scope(const scope& s, int depth);

  void write_edge(std::string_view input, std::size_t to);

  const graph_def& graph_;
  scope root_;
  std::unordered_map<std::string_view, std::size_t> ids_;
  std::size_t missing_ = 0;
  std::size_t clusters_ = 0;
  std::string out_;
};

}  // namespace detail

/// The graph in Graphviz's language.
inline std::string write_dot(const graph_def& graph) { return detail::dot_writer(graph).run(); }
/// The same to a file. Errors: failed_precondition if it cannot be written.
inline void write_dot_file(const graph_def& graph, const std::filesystem::path& path) {
  write_file(path, write_dot(graph));
}

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/dot_bodies.hpp>
#endif
