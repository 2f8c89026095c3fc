#pragma once
// Graphs in protobuf's binary form (.pb, .meta), in memory, streams and files. Files are untrusted: errors in a file are reported as
// exceptions that name the node and the field. Needs protozero (Debian: libprotozero-dev).

#include <leat/io/binary/read.hpp>
#include <leat/io/binary/write.hpp>
#include <leat/io/file.hpp>
#include <leat/io/messages.hpp>
#include <leat/io/options.hpp>
#include <leat/proto/graph_def.hpp>
#include <leat/proto/validate.hpp>

#include <cstddef>
#include <filesystem>
#include <istream>
#include <span>
#include <string>

namespace leat::io {

/// A GraphDef, or with `read_binary<meta_graph_def>` a MetaGraphDef, from its binary form.
/// Errors: data_loss if the bytes are not such a message (truncated, wrong wire types, strings that are not UTF-8); invalid_argument if the
/// message is invalid (nested too deeply, an attribute twice, two kinds of values in one list or tensor), or if the graph is (`validate`,
/// unless turned off); unimplemented for tensors of resources and variants, composite tensors in signatures, and a SavedModel of
/// TensorFlow.
template <file_message M = graph_def>
M read_binary(std::span<const std::byte> bytes, const read_options& options = {}) {
  if (bytes.size() > max_file_bytes) throw invalid_argument("longer than 2 GB, which is protobuf's limit");
  // The first field of a SavedModel is a number; that of a graph is a message.
  if (!bytes.empty() && bytes[0] == std::byte{0x08}) throw unimplemented(std::string(tensorflow_saved_model));
  M m;
  detail::read_message(protozero::pbf_reader{reinterpret_cast<const char*>(bytes.data()), bytes.size()}, m,
                       detail::place{}, 1);
  if (options.validate) proto::validate(m);
  return m;
}
template <file_message M = graph_def>
M read_binary(std::string_view bytes, const read_options& options = {}) {
  return read_binary<M>(std::as_bytes(std::span(bytes)), options);
}
template <file_message M = graph_def>
M read_binary(std::istream& in, const read_options& options = {}) {
  return read_binary<M>(std::string_view(read_all(in)), options);
}
/// Reads a message in binary form from a file; every error message names the file. Errors: those of `read_binary`, and not_found.
template <file_message M = graph_def>
M read_binary_file(const std::filesystem::path& path, const read_options& options = {}) {
  const std::string bytes = read_file(path);
  return detail::naming(path, [&] { return read_binary<M>(std::string_view(bytes), options); });
}

/// The binary form of a message; equal messages have equal bytes. Checks only that the result can be read again.
/// Errors: invalid_argument naming node and field if a string is not UTF-8, if messages are nested too deeply, or if the result is
/// larger than 2 GB.
template <file_message M>
std::string write_binary(const M& m) {
  std::string bytes;
  protozero::pbf_writer out{bytes};
  detail::write_message(out, bytes, m, detail::place{}, 1);
  return bytes;
}
/// Writes a message in binary form to a file. Errors: those of `write_binary`, and failed_precondition if the file cannot be written.
template <file_message M>
void write_binary_file(const M& m, const std::filesystem::path& path) {
  write_file(path, detail::naming(path, [&] { return write_binary(m); }));
}

}  // namespace leat::io

// In programs with graphs, whichever header is included first, an import puts functions in place of their calls.
#define LEAT_FUNCTIONS_OF_GRAPHS <leat/io/functions.hpp>
#if defined(LEAT_HAS_GRAPHS)
#include LEAT_FUNCTIONS_OF_GRAPHS
#endif
