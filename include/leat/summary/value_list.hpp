#pragma once
// The values of one step, made without a graph: `value_list v; v.scalar("loss", 0.5f); log.add_summary(v, step);`. The kernels of summary
// operators and typed summaries use the same functions.

#include <leat/core/function_bodies.hpp>
#include <leat/runtime/state/tensor_value.hpp>
#include <leat/summary/event.hpp>

#include <array>
#include <string>
#include <string_view>

namespace leat::summary {

/// Settings of images. `bad_color` is the color of pixels that are not finite numbers.
struct image_options {
  std::int64_t max_outputs = 3;  // how many images of a batch are written
  std::array<std::uint8_t, 4> bad_color{255, 0, 0, 255};
};
/// Settings of audio; the rate is in samples per second.
struct audio_options {
  float sample_rate = 44100;     // samples a second
  std::int64_t max_outputs = 3;  // how many sounds of a batch are written
};

/// Values in binary form, in the order in which they were added. Tags are UTF-8. A call that throws adds nothing.
class value_list {
 public:
  /// Adds a number. Errors of all functions that add values: invalid_argument for a tag that is not UTF-8.
  void scalar(std::string_view tag, float value);
  /// Adds the distribution of an array's elements. Errors: also invalid_argument for NaN and infinities.
  void histogram(std::string_view tag, const tensor_value& values);
  /// Adds the first images of an array [batch, height, width, channels] with 1, 3 or 4 channels, of uint8 (0 to 255) or a floating-point
  /// dtype, under the tags "tag/image/0", ... ("tag/image" for at most one). Floating-point values become bytes as in TensorFlow: the
  /// greatest value of an image becomes 255; if there are negative values, 0 becomes 128 and the value of greatest magnitude 1 or 255.
  /// Errors: also invalid_argument for another shape or dtype.
  void image(std::string_view tag, const tensor_value& images, const image_options& options = {});
  /// Adds the first audio clips of an array [batch, frames, channels] or [batch, frames] of float32 between -1 and 1, under the tags
  /// "tag/audio/0", ... ("tag/audio" for at most one).
  /// Errors: also invalid_argument for another shape, dtype or rate.
  void audio(std::string_view tag, const tensor_value& sounds, const audio_options& options = {});
  /// Adds an array of strings, which TensorBoard shows as Markdown. Errors: also invalid_argument for another dtype.
  void text(std::string_view tag, const tensor_value& texts);
  /// Adds a tensor of any dtype, for the plugin that the metadata name. Errors: also invalid_argument for an empty value.
  void tensor(std::string_view tag, const tensor_value& value, const summary_metadata& metadata);
  /// Appends the values of a summary in binary form. Errors: data_loss if it is not a summary.
  void append(std::string_view summary_bytes);

  /// The summary in binary form.
  const std::string& bytes() const { return bytes_; }
  bool empty() const { return bytes_.empty(); }
  /// Whether there is a value for a plugin of TensorBoard.
  bool has_metadata() const { return has_metadata_; }
  void clear() {
    bytes_.clear();
    has_metadata_ = false;
  }

 private:
  void put(const summary_value& v);
  std::string bytes_;
  bool has_metadata_ = false;
};

}  // namespace leat::summary

#if LEAT_WITH_BODIES
#include <leat/summary/impl/value_list.hpp>
#endif
