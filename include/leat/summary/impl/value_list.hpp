#pragma once
// Implementation of value_list.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/encoding.hpp>
#include <leat/io/place.hpp>
#include <leat/summary/field_writer.hpp>
#include <leat/summary/histogram_counts.hpp>
#include <leat/summary/media.hpp>
#include <leat/summary/value_list.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace leat::summary::detail {

inline void check_tag(std::string_view tag) {
  if (!io::is_utf8(tag)) throw invalid_argument("the tag " + io::detail::in_quotes(tag) + " is not UTF-8");
}

// An image of numbers as bytes. Source: TensorFlow 1.x `NormalizeFloatImage`.
template <class T>
std::vector<std::uint8_t> as_bytes(std::span<const T> picture, std::size_t channels, const std::array<std::uint8_t, 4>& bad_color) {
  const auto is_finite = [&](std::size_t pixel) {
    return std::all_of(picture.begin() + static_cast<std::ptrdiff_t>(pixel),
                       picture.begin() + static_cast<std::ptrdiff_t>(pixel + channels), [](T v) { return std::isfinite(v); });
  };
  float least = std::numeric_limits<float>::infinity(), most = -least;
  for (std::size_t pixel = 0; pixel < picture.size(); pixel += channels)
    if (is_finite(pixel))
      for (std::size_t c = 0; c < channels; ++c) {
        least = std::min(least, static_cast<float>(picture[pixel + c]));
        most = std::max(most, static_cast<float>(picture[pixel + c]));
      }
  constexpr float zero = 1e-6f;
  const float greatest = least < 0 ? std::max(std::abs(least), std::abs(most)) : most;
  const T scale = static_cast<T>(greatest < zero ? 0.0f : (least < 0 ? 127.0f : 255.0f) / greatest);
  const T offset = static_cast<T>(least < 0 ? 128.0f : 0.0f);
  std::vector<std::uint8_t> bytes(picture.size());
  for (std::size_t pixel = 0; pixel < picture.size(); pixel += channels) {
    const bool finite = is_finite(pixel);
    for (std::size_t c = 0; c < channels; ++c)
      bytes[pixel + c] = finite ? static_cast<std::uint8_t>(std::clamp<T>(picture[pixel + c] * scale + offset, 0, 255)) : bad_color[c];
  }
  return bytes;
}

// The tag of image or clip i, "tag/image/2", or "tag/image" if at most one is requested.
inline std::string numbered(std::string_view tag, std::string_view kind, std::int64_t most, std::int64_t i) {
  std::string text(tag);
  text += kind;
  if (most > 1) text += "/" + std::to_string(i);
  return text;
}

}  // namespace leat::summary::detail

namespace leat::summary {

LEAT_FUNCTION void value_list::put(const summary_value& v) { bytes_ += to_bytes(summary_def{{v}}); }

LEAT_FUNCTION void value_list::scalar(std::string_view tag, float value) {
  detail::check_tag(tag);
  const std::size_t length = 1 + detail::varint_bytes(tag.size()) + tag.size() + 1 + sizeof value;
  detail::field_writer to(bytes_, 2 * detail::field_writer::most + tag.size() + sizeof value + 1);
  to.begin_message(1, length);
  to.bytes(1, tag);
  to.fixed(2, value);
}

LEAT_FUNCTION void value_list::histogram(std::string_view tag, const tensor_value& values) {
  put({.tag = std::string(tag), .content = histogram_of(values)});
}

LEAT_FUNCTION void value_list::image(std::string_view tag, const tensor_value& images, const image_options& options) {
  const shape& s = images.extent();
  const std::int64_t channels = s.rank == 4 ? s[3] : 0;
  if (!images || (channels != 1 && channels != 3 && channels != 4))
    throw invalid_argument("Tensor must be 4-D with last dim 1, 3, or 4, not " + brackets(s));
  if (options.max_outputs < 1)
    throw invalid_argument("max_outputs of pictures is " + std::to_string(options.max_outputs) + ", less than 1");
  if (images.type() != dtype::uint8 && images.type() != dtype::float32 && images.type() != dtype::float64)
    throw invalid_argument("pictures are of uint8, float32 or float64, not of " + dtype_name(images.type()));
  const auto size = static_cast<std::size_t>(s[1] * s[2] * channels);
  value_list made;
  for (std::int64_t i = 0; i < std::min(options.max_outputs, s[0]); ++i) {
    const auto part = [&](auto all) { return all.subspan(static_cast<std::size_t>(i) * size, size); };
    std::vector<std::uint8_t> bytes;
    if (images.type() == dtype::float32) {
      bytes = detail::as_bytes(part(images.values<float>()), static_cast<std::size_t>(channels), options.bad_color);
    } else if (images.type() == dtype::float64) {
      bytes = detail::as_bytes(part(images.values<double>()), static_cast<std::size_t>(channels), options.bad_color);
    } else {
      const auto pixels = part(images.values<std::uint8_t>());
      bytes.assign(pixels.begin(), pixels.end());
    }
    image_value picture{.height = static_cast<std::int32_t>(s[1]), .width = static_cast<std::int32_t>(s[2])};
    picture.colorspace = static_cast<std::int32_t>(channels);
    picture.encoded_image = write_png(bytes, s[1], s[2], static_cast<int>(channels));
    made.put({.tag = detail::numbered(tag, "/image", options.max_outputs, i), .content = std::move(picture)});
  }
  bytes_ += made.bytes_;
}

LEAT_FUNCTION void value_list::audio(std::string_view tag, const tensor_value& sounds, const audio_options& options) {
  const shape& s = sounds.extent();
  if (!sounds || s.rank < 2 || s.rank > 3) throw invalid_argument("Tensor must be 3-D or 2-D, got: " + brackets(s));
  if (!(options.sample_rate >= 1) || options.sample_rate > 4e9f) throw invalid_argument("sample_rate must be > 0");
  if (options.max_outputs < 1) throw invalid_argument("max_outputs of sounds is " + std::to_string(options.max_outputs) + ", less than 1");
  const std::int64_t channels = s.rank == 3 ? s[2] : 1;
  const auto all = sounds.values<float>();
  const auto size = static_cast<std::size_t>(s[1] * channels);
  value_list made;
  for (std::int64_t i = 0; i < std::min(options.max_outputs, s[0]); ++i) {
    audio_value sound{.sample_rate = options.sample_rate, .num_channels = channels, .length_frames = s[1]};
    sound.encoded_audio =
        write_wav(all.subspan(static_cast<std::size_t>(i) * size, size), channels, static_cast<std::int64_t>(options.sample_rate));
    sound.content_type = "audio/wav";
    made.put({.tag = detail::numbered(tag, "/audio", options.max_outputs, i), .content = std::move(sound)});
  }
  bytes_ += made.bytes_;
}

LEAT_FUNCTION void value_list::text(std::string_view tag, const tensor_value& texts) {
  if (!texts || texts.type() != text_dtype)
    throw invalid_argument("a summary of text takes strings, not " + (texts ? dtype_name(texts.type()) : "no value"));
  tensor(tag, texts, {.plugin = {.plugin_name = "text"}});
}

LEAT_FUNCTION void value_list::tensor(std::string_view tag, const tensor_value& value, const summary_metadata& metadata) {
  if (!value) throw invalid_argument("a summary of no value");
  put({.tag = std::string(tag), .metadata = metadata, .content = value.proto()});
  has_metadata_ = true;
}

LEAT_FUNCTION void value_list::append(std::string_view summary_bytes) {
  for (const summary_value& v : read_summary(summary_bytes).values) has_metadata_ = has_metadata_ || v.metadata != summary_metadata{};
  bytes_ += summary_bytes;
}

}  // namespace leat::summary
