#pragma once
// Implementation of named_summary.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/call.hpp>
#include <leat/summary/event.hpp>
#include <leat/summary/kernels_summary.hpp>
#include <leat/summary/named_summary.hpp>

namespace leat::summary::detail {

// The name with invalid characters replaced. Source: TensorFlow 1.x `summary_op_util.clean_tag`.
inline std::string clean_tag(std::string_view name) {
  std::string clean;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0) == 0x80) continue;  // a non-ASCII character becomes one "_"
    clean += leat::detail::is_letter_or_digit(c) || c == '-' || c == '/' || c == '.' || c == '_' ? c : '_';
  }
  clean.erase(0, clean.find_first_not_of('/'));
  return clean;
}

// Checks the dtype of a summary's values. Errors: invalid_argument, with TensorFlow's message, for a dtype that is not numeric; for images,
// for a dtype that images cannot have.
inline void check_numbers(const output& values, std::string_view parameter, bool is_picture = false) {
  if (!static_cast<bool>(values)) return;
  const data_type type = base_of(to_data_type(values.type()));
  bool fits = type == data_type::float32 || type == data_type::float64 || type == data_type::half || type == data_type::uint8;
  if (!is_picture)
    for (const data_type t : {data_type::int32, data_type::int64, data_type::int16, data_type::int8, data_type::uint16, data_type::bfloat16,
                              data_type::uint32, data_type::uint64})
      fits = fits || type == t;
  if (!fits)
    throw invalid_argument("Value passed to parameter '" + std::string(parameter) + "' has DataType " + dtype_text(values) +
                           " not in list of allowed values: " + (is_picture ? "uint8, float16, float32, float64" : "real numbers"));
}

// Makes the node of a summary. `make` gets the graph, the tag, and the node's name, which no other node has.
template <class Make>
output in_scope(std::string_view name, const output& operand, const summary_options& options, const std::source_location& where,
                Make make) {
  leat::detail::compile_fill(leat::detail::fill_summary_kernels);  // needed if another source file runs the graph
  if (!static_cast<bool>(operand)) throw invalid_argument("summary '" + std::string(name) + "': an operand that is no node of a graph");
  const std::string its_name = clean_tag(name), family = clean_tag(options.family);
  if (its_name.empty()) throw invalid_argument("a summary needs a name: " + describe(operand) + " has none");
  graph& g = operand.owner();
  const source_scope line(g, where);
  std::string tag, node;
  {
    const name_scope scope(g, family.empty() ? its_name : family + "/" + its_name);
    node = scope.text();
    tag = family.empty() ? std::string(without_slash(node)) : family + "/" + std::string(without_slash(node));
  }
  const output made = make(g, tensor_literal(tag), node);
  for (const std::string& key : options.collections) add_to_collection(g, key, made);
  return made;
}

}  // namespace leat::summary::detail

namespace leat::summary {

LEAT_FUNCTION output scalar(std::string_view name, const output& value, const summary_options& options, const std::source_location& where) {
  detail::check_numbers(value, "values");
  return detail::in_scope(name, value, options, where, [&](graph& g, const tensor_literal& tag, const std::string& node) {
    return call_operator(g, "ScalarSummary", {tag, value}, {}, node).result();
  });
}

LEAT_FUNCTION output histogram(std::string_view name, const output& values, const summary_options& options,
                               const std::source_location& where) {
  detail::check_numbers(values, "values");
  return detail::in_scope(name, values, options, where, [&](graph& g, const tensor_literal& tag, const std::string& node) {
    return call_operator(g, "HistogramSummary", {tag, values}, {}, node).result();
  });
}

LEAT_FUNCTION output image(std::string_view name, const output& images, std::int64_t max_outputs, const summary_options& options,
                           const std::source_location& where) {
  detail::check_numbers(images, "tensor", true);
  return detail::in_scope(name, images, options, where, [&](graph& g, const tensor_literal& tag, const std::string& node) {
    const tensor_literal red(std::vector<std::uint8_t>{255, 0, 0, 255});
    return call_operator(g, "ImageSummary", {tag, images}, {{"max_images", max_outputs}, {"bad_color", red.proto()}}, node).result();
  });
}

LEAT_FUNCTION output audio(std::string_view name, const output& sounds, const operand_value& sample_rate, std::int64_t max_outputs,
                           const summary_options& options, const std::source_location& where) {
  return detail::in_scope(name, sounds, options, where, [&](graph& g, const tensor_literal& tag, const std::string& node) {
    const number_argument rate = sample_rate.tensor() != nullptr ? number_argument(*sample_rate.tensor()) : *sample_rate.literal();
    return call_operator(g, "AudioSummaryV2", {tag, sounds, rate}, {{"max_outputs", max_outputs}}, node).result();
  });
}

LEAT_FUNCTION output text(std::string_view name, const output& texts, const summary_options& options, const std::source_location& where) {
  if (static_cast<bool>(texts) && to_data_type(texts.type()) != data_type::string)
    throw invalid_argument("Expected tensor " + texts.name() + " to have dtype string, got " + dtype_text(texts));
  return detail::in_scope(name, texts, options, where, [&](graph& g, const tensor_literal& tag, const std::string& node) {
    const tensor_literal metadata(to_bytes(summary_metadata{.plugin = {.plugin_name = "text"}}));
    return call_operator(g, "TensorSummaryV2", {tag, texts, metadata}, {}, node).result();
  });
}

LEAT_FUNCTION output merge(const std::vector<output>& inputs, const merge_options& options, const std::source_location& where) {
  if (inputs.empty()) throw invalid_argument("summary::merge: an empty list of summaries");
  for (const output& o : inputs)
    if (!static_cast<bool>(o)) throw invalid_argument("summary::merge: an operand that is no node of a graph");
  graph& g = inputs[0].owner();
  const source_scope line(g, where);
  const std::string its_name = detail::clean_tag(options.name);
  const name_scope scope(g, its_name.empty() ? "Merge" : its_name);
  const std::vector<number_argument> arguments(inputs.begin(), inputs.end());
  leat::detail::compile_fill(leat::detail::fill_summary_kernels);
  const output made = call_operator(g, "MergeSummary", arguments, {}, its_name).result();
  for (const std::string& key : options.collections) add_to_collection(g, key, made);
  return made;
}

LEAT_FUNCTION output merge_all(std::string_view key, std::string_view scope, std::string_view name, const std::source_location& where) {
  const std::vector<output> all = get_tensors(default_graph(), key, scope);
  if (all.empty()) return {};
  return merge(all, {.name = name}, where);
}

}  // namespace leat::summary
