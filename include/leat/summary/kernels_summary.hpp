#pragma once
// Kernels of summary operators; each returns a serialized Summary. Source: TensorFlow 1.x core/kernels/summary_op.cc, summary_image_op.cc,
// summary_audio_op.cc, summary_tensor_op.cc.

#include <leat/core/fill.hpp>
#include <leat/io/place.hpp>
#include <leat/proto/tensor_contents.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/summary/event.hpp>
#include <leat/summary/value_list.hpp>

#include <set>

namespace leat::summary {

// The tag of a summary that has only one.
inline std::string single_tag(kernel_context& c, std::string_view what) {
  if (c.extent(0).rank != 0) throw invalid_argument(std::string(what) + " must be scalar");
  return c.input(0).as<std::string>();
}
inline void give(kernel_context& c, const value_list& made) { c.set(0, tensor_value(made.bytes())); }

inline void run_scalar_summary(kernel_context& c) {
  const tensor_value& tags = c.input(0);
  const tensor_value& values = c.input(1);
  if (!(tags.extent() == values.extent()))
    throw invalid_argument("tags and values are not the same shape: " + brackets(tags.extent()) + " != " + brackets(values.extent()) +
                           (tags.elements() == 1 ? " (tag '" + tags.texts()[0] + "')" : ""));
  value_list made;
  with_number(values.type(), [&]<class T>(T) {
    for (std::size_t i = 0; i < tags.texts().size(); ++i) made.scalar(tags.texts()[i], static_cast<float>(values.values<T>()[i]));
  });
  give(c, made);
}

inline void run_histogram_summary(kernel_context& c) {
  value_list made;
  const std::string tag = single_tag(c, "tags");
  try {
    made.histogram(tag, c.input(1));
  } catch (const invalid_argument& e) {
    throw invalid_argument(std::string(e.what()) + " for: " + c.node.name());
  }
  give(c, made);
}

inline void run_image_summary(kernel_context& c) {
  image_options options{.max_outputs = c.node.integer("max_images", 3)};
  if (const auto* color = c.node.record->attributes.find("bad_color"); color != nullptr && color->get_if<tensor_proto>() != nullptr) {
    const tensor_value bad = tensor_value::from_proto(*color->get_if<tensor_proto>());
    const auto bytes = bad.values<std::uint8_t>();
    const std::int64_t channels = c.extent(1).rank == 4 ? c.extent(1)[3] : 0;
    if (bad.extent().rank != 1 || bad.elements() < channels)
      throw invalid_argument("expected depth " + std::to_string(channels) + " for bad_color, got " + brackets(bad.extent()));
    std::copy_n(bytes.begin(), std::min<std::size_t>(bytes.size(), 4), options.bad_color.begin());
  }
  value_list made;
  made.image(single_tag(c, "tag"), c.input(1), options);
  give(c, made);
}

inline void run_audio_summary(kernel_context& c) {
  audio_options options{.max_outputs = c.node.integer("max_outputs", 3)};
  if (c.input_count() < 3) options.sample_rate = c.node.attribute<float>("sample_rate", 0);
  else options.sample_rate = c.input(2).as<float>();
  value_list made;
  made.audio(single_tag(c, "tag"), c.input(1), options);
  give(c, made);
}

inline void run_tensor_summary(kernel_context& c) {
  value_list made;
  made.tensor(single_tag(c, "tag"), c.input(1), read_summary_metadata(c.input(2).as<std::string>()));
  give(c, made);
}

inline void run_merge_summary(kernel_context& c) {
  std::string merged;
  std::set<std::string> known;
  for (int k = 0; k < c.input_count(); ++k)
    for (const std::string& bytes : c.input(k).texts()) {
      std::vector<std::string> tags;
      try {
        tags = tags_of(bytes);
      } catch (const error& e) {
        throw invalid_argument("Could not parse one of the summary inputs: input " + std::to_string(k) + ": " + e.what());
      }
      for (std::string& tag : tags)
        if (!tag.empty() && !known.insert(tag).second)
          throw invalid_argument("Duplicate tag " + io::detail::in_quotes(tag) + " found in summary inputs");
      merged += bytes;  // concatenation merges messages of repeated fields
    }
  c.set(0, tensor_value(std::move(merged)));
}

}  // namespace leat::summary

namespace leat::detail {

LEAT_FILL(fill_summary_kernels) {
  using namespace summary;
  register_kernel("ScalarSummary", run_scalar_summary);
  register_kernel("HistogramSummary", run_histogram_summary);
  register_kernel("ImageSummary", run_image_summary);
  register_kernels({"AudioSummary", "AudioSummaryV2"}, run_audio_summary);
  register_kernel("TensorSummaryV2", run_tensor_summary);
  register_kernel("MergeSummary", run_merge_summary);
}

}  // namespace leat::detail
