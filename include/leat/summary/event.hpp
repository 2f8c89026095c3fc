#pragma once
// Summaries and events as plain data that mirrors TensorFlow's messages (summary.proto, event.proto), with the names of their fields, and
// the conversion to and from their binary form. An event file is a file of records (io/record.hpp), each of which is an event; TensorBoard
// reads only such files. Bytes are untrusted when read.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/proto/attribute_value.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace leat::summary {

/// Counts of numbers in buckets: `bucket[i]` numbers are in [bucket_limit[i - 1], bucket_limit[i]). Without numbers, `min` is the largest
/// double and `max` its negative. Source: HistogramProto.
struct histogram_value {
  double min = 0;
  double max = 0;
  double num = 0;
  double sum = 0;
  double sum_squares = 0;
  std::vector<double> bucket_limit{};
  std::vector<double> bucket{};
  bool operator==(const histogram_value&) const;
};

/// An image as a PNG file. `colorspace` is the number of channels: 1 gray, 3 RGB, 4 RGBA. Source: Summary.Image.
struct image_value {
  std::int32_t height = 0;
  std::int32_t width = 0;
  std::int32_t colorspace = 0;
  std::string encoded_image{};
  bool operator==(const image_value&) const;
};

/// Audio as a WAV file; the rate is in samples per second. Source: Summary.Audio.
struct audio_value {
  float sample_rate = 0;
  std::int64_t num_channels = 0;
  std::int64_t length_frames = 0;
  std::string encoded_audio{};
  std::string content_type{};
  bool operator==(const audio_value&) const;
};

/// Determines which of TensorBoard's plugins shows a tensor. Source: SummaryMetadata.
struct summary_metadata {
  struct plugin_data {
    std::string plugin_name{};
    std::string content{};
    bool operator==(const plugin_data&) const;
  };
  plugin_data plugin{};
  std::string display_name{};
  std::string description{};
  bool operator==(const summary_metadata&) const;
};

/// One tagged value: a number, histogram, image, audio, or a tensor for a plugin. Source: Summary.Value.
struct summary_value {
  std::string tag{};
  std::string node_name{};
  summary_metadata metadata{};
  std::variant<std::monostate, float, histogram_value, image_value, audio_value, tensor_proto> content{};
  bool operator==(const summary_value&) const;
};

/// The values of one step. Source: Summary.
struct summary_def {
  std::vector<summary_value> values{};
  bool operator==(const summary_def&) const;
};

/// The state of a session that an event reports. After `start` of a step, TensorBoard drops earlier events of the run for that step and
/// later ones. Source: SessionLog.
enum class session_status : std::int32_t { unspecified = 0, start = 1, stop = 2, checkpoint = 3 };
struct session_log {
  session_status status = session_status::unspecified;
  std::string checkpoint_path{};
  std::string message{};
  bool operator==(const session_log&) const;
};

/// A message with its log level. Source: LogMessage.
struct log_message {
  std::int32_t level = 0;
  std::string message{};
  bool operator==(const log_message&) const;
};

/// A RunMetadata in binary form under a name. Source: TaggedRunMetadata.
struct tagged_run_metadata {
  std::string tag{};
  std::string run_metadata{};
  bool operator==(const tagged_run_metadata&) const;
};

/// One event: its time (seconds since 1970), the training step, and one of the other fields. Graphs are in binary form. Source: Event.
struct event {
  double wall_time = 0;
  std::int64_t step = 0;
  std::string file_version{};
  std::string graph_def{};
  std::optional<summary_def> summary{};
  std::optional<log_message> log{};
  std::optional<session_log> session{};
  std::optional<tagged_run_metadata> metadata{};
  std::string meta_graph_def{};

  event();
  event(const event&);
  event(event&&) noexcept;
  event& operator=(const event&);
  event& operator=(event&&) noexcept;
  ~event();
  bool operator==(const event&) const;
};

/// The version in the first event of a file.
inline constexpr std::string_view event_file_version = "brain.Event:2";

/// The binary form. Errors: invalid_argument, naming the field, for a tag or other string that is not UTF-8.
std::string to_bytes(const summary_def& s);
std::string to_bytes(const summary_metadata& m);
std::string to_bytes(const event& e);

/// Parses the binary form. Errors: data_loss if the bytes are not such a message: truncated, wrong wire types, strings that are not UTF-8;
/// invalid_argument for a malformed tensor.
summary_def read_summary(std::string_view bytes);
summary_metadata read_summary_metadata(std::string_view bytes);
event read_event(std::string_view bytes);

/// The tags of a summary in binary form, in order. Errors: as `read_summary`.
std::vector<std::string> tags_of(std::string_view summary_bytes);

}  // namespace leat::summary

#if LEAT_WITH_BODIES
#include <leat/summary/impl/event.hpp>
#endif
