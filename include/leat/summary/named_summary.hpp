#pragma once
// Summaries as operators of a graph: `summary::scalar("loss", loss)` makes a node whose result, a string, is a serialized Summary for an
// event file (file_writer.hpp). Nodes, tags and names are TensorFlow 1.x's: the tag is the node's name, unique in the graph.
// Source: TensorFlow `tf.summary`, `summary_op_util.summary_scope`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/named_operand.hpp>
#include <leat/named/graph/lookup.hpp>

#include <source_location>
#include <string>
#include <string_view>
#include <vector>

namespace leat::summary {

/// Settings of all summaries. `collections` take the node, by default the one that `merge_all` merges. A `family` is the first part of
/// the tag, by which TensorBoard groups.
struct summary_options {
  std::vector<std::string> collections{std::string(collection::summaries)};
  std::string family{};
};

// Of all functions: characters of the name other than letters, digits and "-/._" become "_", and it is made unique in the graph.
// Errors: invalid_argument for a name that is empty or no node's; for operands without a graph, or of another dtype or rank.

/// A number: of no dimensions, of a numeric dtype. Source: `ScalarSummary`.
output scalar(std::string_view name, const output& value, const summary_options& options = {},
              const std::source_location& where = std::source_location::current());
/// The distribution of an array's elements. A run fails with invalid_argument for NaN and infinities. Source: `HistogramSummary`.
output histogram(std::string_view name, const output& values, const summary_options& options = {},
                 const std::source_location& where = std::source_location::current());
/// Up to `max_outputs` pictures of an array [batch, height, width, channels] with 1, 3 or 4 channels, of uint8 or a floating-point dtype
/// (`value_list::image` says how numbers become colors). Source: `ImageSummary`.
output image(std::string_view name, const output& images, std::int64_t max_outputs = 3, const summary_options& options = {},
             const std::source_location& where = std::source_location::current());
/// Up to `max_outputs` sounds of a float32 array [batch, frames, channels] or [batch, frames] of numbers between -1 and 1; the rate in
/// samples per second. Source: `AudioSummaryV2`.
output audio(std::string_view name, const output& sounds, const operand_value& sample_rate, std::int64_t max_outputs = 3,
             const summary_options& options = {}, const std::source_location& where = std::source_location::current());
/// Strings, which TensorBoard shows as Markdown. Source: `TensorSummaryV2` with the metadata of the plugin "text".
output text(std::string_view name, const output& texts, const summary_options& options = {},
            const std::source_location& where = std::source_location::current());

/// Settings of `merge`.
struct merge_options {
  std::vector<std::string> collections{};
  std::string_view name{};
};

/// One summary with the values of several. A run fails with invalid_argument where two have a tag in common.
/// Errors: invalid_argument for an empty list. Source: `MergeSummary`.
output merge(const std::vector<output>& inputs, const merge_options& options = {},
             const std::source_location& where = std::source_location::current());
/// All summaries of a collection of the default graph merged, or an empty tensor (`if (merged)` tells) if there are none; with `scope`,
/// only those whose name begins with it.
output merge_all(std::string_view key = collection::summaries, std::string_view scope = {}, std::string_view name = {},
                 const std::source_location& where = std::source_location::current());

}  // namespace leat::summary

#if LEAT_WITH_BODIES
#include <leat/summary/file_writer_graphs_bodies.hpp>
#include <leat/summary/named_summary_bodies.hpp>
#endif
