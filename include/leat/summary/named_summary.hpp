#pragma once
// Summaries as operators of a graph: `summary::scalar("loss", loss)` makes a node with a string as its result, a serialized Summary for an
// event file (file_writer.hpp). Nodes, tags and names are those of TensorFlow 1.x: the tag is the node's name, unique in the graph.
// Source: TensorFlow `tf.summary`, `summary_op_util.summary_scope`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/operand.hpp>
#include <leat/named/graph/lookup.hpp>

#include <source_location>
#include <string>
#include <string_view>
#include <vector>

namespace leat::summary {

/// Settings of all summaries. `collections`: those that the node is added to, by default the one that `merge_all` merges. `family`: the
/// first part of the tag, by which TensorBoard groups summaries.
struct summary_options {
  std::vector<std::string> collections{std::string(collection::summaries)};
  std::string family{};
};

// For all functions: characters of the name other than letters, digits and "-/._" become "_", and the name is made unique in the graph.
// Errors: invalid_argument for a name that is empty or not valid for a node; for operands without a graph, or of another dtype or rank.

/// A summary of a number: a scalar of a numeric dtype. Source: `ScalarSummary`.
output scalar(std::string_view name, const output& value, const summary_options& options = {},
              const std::source_location& where = std::source_location::current());
/// A summary of the distribution of an array's elements. A run fails with invalid_argument for NaN and infinities. Source:
/// `HistogramSummary`.
output histogram(std::string_view name, const output& values, const summary_options& options = {},
                 const std::source_location& where = std::source_location::current());
/// A summary of up to `max_outputs` images of an array [batch, height, width, channels] with 1, 3 or 4 channels, of uint8 or a
/// floating-point dtype (see `value_list::image` for the conversion of numbers to colors). Source: `ImageSummary`.
output image(std::string_view name, const output& images, std::int64_t max_outputs = 3, const summary_options& options = {},
             const std::source_location& where = std::source_location::current());
/// A summary of up to `max_outputs` audio clips of a float32 array [batch, frames, channels] or [batch, frames] of numbers between -1 and
/// 1. `sample_rate` is in samples per second. Source: `AudioSummaryV2`.
output audio(std::string_view name, const output& sounds, const operand_value& sample_rate, std::int64_t max_outputs = 3,
             const summary_options& options = {}, const std::source_location& where = std::source_location::current());
/// A summary of strings, which TensorBoard shows as Markdown. Source: `TensorSummaryV2` with the metadata of the plugin "text".
output text(std::string_view name, const output& texts, const summary_options& options = {},
            const std::source_location& where = std::source_location::current());

/// Settings of `merge`.
struct merge_options {
  std::vector<std::string> collections{};
  std::string_view name{};
};

/// One summary with the values of several. A run fails with invalid_argument if two of them have a common tag.
/// Errors: invalid_argument for an empty list. Source: `MergeSummary`.
output merge(const std::vector<output>& inputs, const merge_options& options = {},
             const std::source_location& where = std::source_location::current());
/// Merges all summaries of a collection of the default graph; with `scope`, only those with names that begin with it. Returns an empty
/// tensor if there are none (`if (merged)` tests that).
output merge_all(std::string_view key = collection::summaries, std::string_view scope = {}, std::string_view name = {},
                 const std::source_location& where = std::source_location::current());

}  // namespace leat::summary

#if LEAT_WITH_BODIES
#include <leat/summary/impl/file_writer_graphs.hpp>
#include <leat/summary/impl/named_summary.hpp>
#endif
