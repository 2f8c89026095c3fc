#pragma once
// Implementation of event.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/binary/read.hpp>
#include <leat/io/binary/write.hpp>
#include <leat/summary/event.hpp>

namespace leat::io::detail {

// The fields of the messages, for reading and writing: see io/messages.hpp.
template <>
struct message_fields<summary::histogram_value> : plain_message {
  static constexpr std::string_view name = "HistogramProto";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.value(1, "min", m.min);
    v.value(2, "max", m.max);
    v.value(3, "num", m.num);
    v.value(4, "sum", m.sum);
    v.value(5, "sum_squares", m.sum_squares);
    v.values(6, "bucket_limit", m.bucket_limit);
    v.values(7, "bucket", m.bucket);
  }
};

template <>
struct message_fields<summary::image_value> : plain_message {
  static constexpr std::string_view name = "Summary.Image";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.value(1, "height", m.height);
    v.value(2, "width", m.width);
    v.value(3, "colorspace", m.colorspace);
    v.bytes(4, "encoded_image_string", m.encoded_image);
  }
};

template <>
struct message_fields<summary::audio_value> : plain_message {
  static constexpr std::string_view name = "Summary.Audio";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.value(1, "sample_rate", m.sample_rate);
    v.value(2, "num_channels", m.num_channels);
    v.value(3, "length_frames", m.length_frames);
    v.bytes(4, "encoded_audio_string", m.encoded_audio);
    v.text(5, "content_type", m.content_type);
  }
};

template <>
struct message_fields<summary::summary_metadata::plugin_data> : plain_message {
  static constexpr std::string_view name = "SummaryMetadata.PluginData";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.text(1, "plugin_name", m.plugin_name);
    v.bytes(2, "content", m.content);
  }
};
template <>
struct message_fields<summary::summary_metadata> : plain_message {
  static constexpr std::string_view name = "SummaryMetadata";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.submessage(1, "plugin_data", m.plugin);
    v.text(2, "display_name", m.display_name);
    v.text(3, "summary_description", m.description);
  }
};

template <>
struct message_fields<summary::summary_value> : plain_message {
  static constexpr std::string_view name = "Summary.Value";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.text(7, "node_name", m.node_name);
    v.text(1, "tag", m.tag);
    v.submessage(9, "metadata", m.metadata);
    v.template choice<float>(2, "simple_value", m.content);
    v.template choice<summary::image_value>(4, "image", m.content);
    v.template choice<summary::histogram_value>(5, "histo", m.content);
    v.template choice<summary::audio_value>(6, "audio", m.content);
    v.template choice<tensor_proto>(8, "tensor", m.content);
  }
};

template <>
struct message_fields<summary::summary_def> : plain_message {
  static constexpr std::string_view name = "Summary";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.submessages(1, "value", m.values);
  }
};

template <>
struct message_fields<summary::session_log> : plain_message {
  static constexpr std::string_view name = "SessionLog";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.value(1, "status", m.status);
    v.text(2, "checkpoint_path", m.checkpoint_path);
    v.text(3, "msg", m.message);
  }
};

template <>
struct message_fields<summary::log_message> : plain_message {
  static constexpr std::string_view name = "LogMessage";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.value(1, "level", m.level);
    v.text(2, "message", m.message);
  }
};

template <>
struct message_fields<summary::tagged_run_metadata> : plain_message {
  static constexpr std::string_view name = "TaggedRunMetadata";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.text(1, "tag", m.tag);
    v.bytes(2, "run_metadata", m.run_metadata);
  }
};

template <>
struct message_fields<summary::event> : plain_message {
  static constexpr std::string_view name = "Event";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.value(1, "wall_time", m.wall_time);
    v.value(2, "step", m.step);
    v.text(3, "file_version", m.file_version);
    v.bytes(4, "graph_def", m.graph_def);
    v.optional_message(5, "summary", m.summary);
    v.optional_message(6, "log_message", m.log);
    v.optional_message(7, "session_log", m.session);
    v.optional_message(8, "tagged_run_metadata", m.metadata);
    v.bytes(9, "meta_graph_def", m.meta_graph_def);
  }
};

template <any_message M>
std::string message_bytes(const M& m) {
  std::string bytes;
  protozero::pbf_writer out{bytes};
  write_message(out, bytes, m, place{}, 1);
  return bytes;
}
template <any_message M>
M message_of(std::string_view bytes) {
  M m;
  read_message(protozero::pbf_reader{bytes.data(), bytes.size()}, m, place{}, 1);
  return m;
}

}  // namespace leat::io::detail

namespace leat::summary {

LEAT_FUNCTION bool histogram_value::operator==(const histogram_value&) const = default;
LEAT_FUNCTION bool image_value::operator==(const image_value&) const = default;
LEAT_FUNCTION bool audio_value::operator==(const audio_value&) const = default;
LEAT_FUNCTION bool summary_metadata::plugin_data::operator==(const plugin_data&) const = default;
LEAT_FUNCTION bool summary_metadata::operator==(const summary_metadata&) const = default;
LEAT_FUNCTION bool summary_value::operator==(const summary_value&) const = default;
LEAT_FUNCTION bool summary_def::operator==(const summary_def&) const = default;
LEAT_FUNCTION bool session_log::operator==(const session_log&) const = default;
LEAT_FUNCTION bool log_message::operator==(const log_message&) const = default;
LEAT_FUNCTION bool tagged_run_metadata::operator==(const tagged_run_metadata&) const = default;
LEAT_FUNCTION event::event() = default;
LEAT_FUNCTION event::event(const event&) = default;
LEAT_FUNCTION event::event(event&&) noexcept = default;
LEAT_FUNCTION event& event::operator=(const event&) = default;
LEAT_FUNCTION event& event::operator=(event&&) noexcept = default;
LEAT_FUNCTION event::~event() = default;
LEAT_FUNCTION bool event::operator==(const event&) const = default;

LEAT_FUNCTION std::string to_bytes(const summary_def& s) { return io::detail::message_bytes(s); }
LEAT_FUNCTION std::string to_bytes(const summary_metadata& m) { return io::detail::message_bytes(m); }
LEAT_FUNCTION std::string to_bytes(const event& e) { return io::detail::message_bytes(e); }
LEAT_FUNCTION summary_def read_summary(std::string_view bytes) { return io::detail::message_of<summary_def>(bytes); }
LEAT_FUNCTION summary_metadata read_summary_metadata(std::string_view bytes) { return io::detail::message_of<summary_metadata>(bytes); }
LEAT_FUNCTION event read_event(std::string_view bytes) { return io::detail::message_of<event>(bytes); }

LEAT_FUNCTION std::vector<std::string> tags_of(std::string_view summary_bytes) {
  std::vector<std::string> tags;
  for (summary_value& v : read_summary(summary_bytes).values) tags.push_back(std::move(v.tag));
  return tags;
}

}  // namespace leat::summary
