#pragma once
// Implementation of text.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/json/slot.hpp>
#include <leat/io/text.hpp>
#include <leat/io/text/opaque.hpp>

namespace leat::io::detail {

/// The name of the first field; empty if the text does not begin with a name and a character that may follow a field's name.
LEAT_FUNCTION std::string_view first_field(std::string_view text) {
  text_scanner in(text);
  const std::string_view name = in.identifier();
  return in.is_at(':') || in.is_at('{') || in.is_at('<') || in.is_at('[') ? name : std::string_view{};
}
template <class M>
bool has_field(std::string_view name) {
  M m;
  slot found;
  slot_finder finder(name, found);
  message_fields<M>::fields(finder, m);
  return finder.found() >= 0;
}

template <class M>
void read_graph(std::string_view text, M& m) {
  if (holds_saved_model_text(text)) throw unimplemented(std::string(tensorflow_saved_model));
  read_text_message(text, m);
}
LEAT_FUNCTION void read_graph_text(std::string_view text, graph_def& graph) { read_graph(text, graph); }
LEAT_FUNCTION void read_graph_text(std::string_view text, meta_graph_def& meta) { read_graph(text, meta); }

}  // namespace leat::io::detail

namespace leat::io {

LEAT_FUNCTION bool looks_like_text(std::string_view bytes) {
  const std::string_view name = detail::first_field(bytes);
  return detail::has_field<graph_def>(name) || detail::has_field<meta_graph_def>(name) || detail::has_field<detail::saved_model_def>(name);
}
LEAT_FUNCTION bool holds_saved_model_text(std::string_view bytes) {
  return detail::has_field<detail::saved_model_def>(detail::first_field(bytes));
}

LEAT_FUNCTION std::string write_text(const node_def& node) { return detail::text_of_message(node); }
LEAT_FUNCTION std::string write_text(const graph_def& graph) { return detail::text_of_message(graph); }
LEAT_FUNCTION std::string write_text(const meta_graph_def& meta) { return detail::text_of_message(meta); }

}  // namespace leat::io
