#pragma once
// Graphs in protobuf's text format (.pbtxt), as TensorFlow writes graph.pbtxt next to its checkpoints, in memory, streams and files. Files
// are untrusted: errors in a file are reported as exceptions that name line, column, node and field. Source: protobuf's TextFormat. Needs
// protozero (Debian: libprotozero-dev) for function libraries, which graphs carry in binary form.

#include <leat/core/function_bodies.hpp>
#include <leat/io/file.hpp>
#include <leat/io/messages.hpp>
#include <leat/io/options.hpp>
#include <leat/proto/graph_def.hpp>
#include <leat/proto/validate.hpp>

#include <filesystem>
#include <istream>
#include <string>
#include <string_view>

namespace leat::io {

namespace detail {
void read_graph_text(std::string_view text, graph_def& graph);
void read_graph_text(std::string_view text, meta_graph_def& meta);
}  // namespace detail

/// Whether bytes look like a graph, MetaGraphDef or SavedModel in text format: they begin with the name of a field of one of these.
bool looks_like_text(std::string_view bytes);

/// Whether bytes look like a SavedModel in text format.
bool holds_saved_model_text(std::string_view bytes);

/// A GraphDef, or with `read_text<meta_graph_def>` a MetaGraphDef, from its text format.
/// Errors, naming line and column: data_loss for text that is not in this format, and for strings that are not UTF-8; invalid_argument if a
/// name or a kind of value does not belong to the message, a number is out of range, a field or an attribute is repeated, or levels are
/// nested too deeply; unimplemented for tensors of resources and variants, collections of any type that are written in the form of their
/// type, and a SavedModel of TensorFlow. Also invalid_argument if the graph is invalid (`validate`, unless turned off).
template <file_message M = graph_def>
M read_text(std::string_view text, const read_options& options = {}) {
  M m;
  detail::read_graph_text(text, m);
  if (options.validate) proto::validate(m);
  return m;
}
template <file_message M = graph_def>
M read_text(std::istream& in, const read_options& options = {}) {
  return read_text<M>(std::string_view(read_all(in)), options);
}
/// Reads a message in protobuf's text format from a file; every error message names the file. Errors: those of `read_text`, and not_found.
template <file_message M = graph_def>
M read_text_file(const std::filesystem::path& path, const read_options& options = {}) {
  const std::string text = read_file(path);
  return detail::naming(path, [&] { return read_text<M>(std::string_view(text), options); });
}

/// A node or a graph as text, ending with a newline. Attributes and other maps are sorted by name; a number has the fewest digits that
/// identify it; bytes beyond printable ASCII are octal (`\001`). The text equals that of Python's MessageToString.
/// Errors: invalid_argument, naming node and field, if a string is not UTF-8, if messages are nested too deeply, for half a value at the
/// end of a tensor, or if the result is larger than 2 GB; data_loss for a function library that is not in binary form.
std::string write_text(const node_def& node);
std::string write_text(const graph_def& graph);
std::string write_text(const meta_graph_def& meta);
/// Writes a graph as text to a file. Errors: those of `write_text`; failed_precondition if the file cannot be written.
template <file_message M>
void write_text_file(const M& m, const std::filesystem::path& path) {
  write_file(path, detail::naming(path, [&] { return write_text(m); }));
}

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/text.hpp>
#endif

// In programs with graphs, whichever header is included first, an import puts functions in place of their calls.
#define LEAT_FUNCTIONS_OF_GRAPHS <leat/io/functions.hpp>
#if defined(LEAT_HAS_GRAPHS)
#include LEAT_FUNCTIONS_OF_GRAPHS
#endif
