#pragma once
// The attributes `padding` and `data_format` of operators on images, as shape rules and kernels read them: their texts are compared here
// alone.

#include <leat/ops/windows.hpp>
#include <leat/proto/attribute_value.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace leat::detail {

/// The text that an attribute holds; null for an absent one, or another kind.
inline const std::string* text_of(const attribute_value* a) { return a != nullptr ? a->get_if<std::string>() : nullptr; }

/// Nothing if the attribute is absent, or its text is none of SAME, VALID and EXPLICIT.
inline std::optional<window_padding> window_padding_of(const attribute_value* padding) {
  const std::string* text = text_of(padding);
  if (text == nullptr) return std::nullopt;
  for (const auto how : {window_padding::same, window_padding::valid, window_padding::listed})
    if (*text == padding_words[static_cast<std::size_t>(how)]) return how;
  return std::nullopt;
}
/// The order for arrays with this many axes between batch and channels, 2 or 3; without the attribute the channels are last. Nothing if the
/// text names no such order.
inline std::optional<channel_order> channel_order_of(const attribute_value* data_format, int axes) {
  const std::string* text = text_of(data_format);
  if (text == nullptr || *text == (axes == 3 ? "NDHWC" : "NHWC")) return channel_order::last;
  if (*text == (axes == 3 ? "NCDHW" : "NCHW")) return channel_order::first;
  return std::nullopt;
}
/// Whether the channels follow the batch, for operators that take arrays of any rank with either text.
inline bool is_channels_first(const attribute_value* data_format) {
  const std::string* text = text_of(data_format);
  return text != nullptr && text->starts_with("NC");
}
/// The axis of the channels in an array of this rank.
inline int channel_axis(const attribute_map& attributes, int rank) {
  return is_channels_first(attributes.find("data_format")) ? 1 : rank - 1;
}

}  // namespace leat::detail
