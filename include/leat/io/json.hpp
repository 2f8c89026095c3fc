#pragma once
// Graphs as JSON: protobuf's canonical mapping of GraphDef and MetaGraphDef, as TensorFlow's Python library reads and writes it, in memory,
// streams and files. Input is untrusted: errors in it are reported as exceptions that name the node and the field. Needs nlohmann::json
// (Debian: nlohmann-json3-dev), a heavy include.

#include <leat/io/file.hpp>
#include <leat/io/json/read.hpp>
#include <leat/io/json/write.hpp>
#include <leat/io/messages.hpp>
#include <leat/io/options.hpp>
#include <leat/proto/graph_def.hpp>
#include <leat/proto/validate.hpp>

#include <filesystem>
#include <istream>
#include <string>
#include <string_view>

namespace leat::io {

/// A GraphDef, or with `read_json<meta_graph_def>` a MetaGraphDef, from JSON.
/// Errors: data_loss if the text is not JSON, or bytes are not base64; invalid_argument if a name or a kind of value does not belong to the
/// message, a number is out of range, a field or an attribute is repeated, levels are nested too deeply, or the graph is invalid
/// (`validate`, unless turned off); unimplemented for function libraries, collections of any type, and tensors of resources and variants.
template <file_message M = graph_def>
M read_json(std::string_view text, const read_options& options = {}) {
  M m;
  detail::read_json_message(text, m);
  if (options.validate) proto::validate(m);
  return m;
}
template <file_message M = graph_def>
M read_json(std::istream& in, const read_options& options = {}) {
  return read_json<M>(std::string_view(read_all(in)), options);
}
/// Reads a message from a file of JSON; every error message names the file. Errors: those of `read_json`, and not_found.
template <file_message M = graph_def>
M read_json_file(const std::filesystem::path& path, const read_options& options = {}) {
  const std::string text = read_file(path);
  return detail::naming(path, [&] { return read_json<M>(std::string_view(text), options); });
}

/// JSON text, a line for each node, ending with a newline. Checks only that the result can be read again.
/// Errors: invalid_argument naming node and field if a string is not UTF-8, if messages are nested too deeply, or if the result is
/// larger than 2 GB; unimplemented for a function library and collections of any type.
template <file_message M>
std::string write_json(const M& m) {
  std::string text;
  detail::append_json_message(text, m, detail::place{}, 1);
  text += '\n';
  return text;
}
/// Writes a message to a file as JSON. Errors: those of `write_json`, and failed_precondition if the file cannot be written.
template <file_message M>
void write_json_file(const M& m, const std::filesystem::path& path) {
  write_file(path, detail::naming(path, [&] { return write_json(m); }));
}

}  // namespace leat::io
