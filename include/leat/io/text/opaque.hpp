#pragma once
// The text form of messages that graphs carry in binary form: a graph's function library, and collections of any type. Source: any.proto.

#include <leat/io/binary/read.hpp>
#include <leat/io/binary/write.hpp>
#include <leat/io/function_messages.hpp>
#include <leat/io/messages.hpp>
#include <leat/io/text/read.hpp>
#include <leat/io/text/write.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace leat::io::detail {

/// A message of any type: the name of its type, and its binary form.
struct any_message_def {
  std::string type_url{}, value{};
};

template <>
struct message_fields<any_message_def> : plain_message {
  static constexpr std::string_view name = "Any";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.text(1, "type_url", m.type_url);
    v.bytes(2, "value", m.value);
  }
};

/// The name of a type in brackets, the form in which protobuf writes a message of any type that it knows.
inline std::string expanded_type(text_scanner& in, const place& at) {
  constexpr std::string_view signs = "./-";
  std::string name;
  in.expect('[', at);
  while (!in.take(']')) {
    if (const std::string_view part = in.identifier(); !part.empty())
      name += part;
    else if (const auto sign = std::ranges::find_if(signs, [&](char c) { return in.take(c); }); sign != signs.end())
      name += *sign;
    else
      in.fail<data_loss>(in.at(), at, "expected the name of a type and ']', got " + in.token());
  }
  return name;
}
/// The contents of such a message. Only those of assets are known, which TensorFlow's SavedModels have.
inline void read_expanded_message(text_scanner& in, any_message_def& content, const place& at, int depth, char closing) {
  const char* const first = in.at();
  content.type_url = expanded_type(in, at);
  const std::string type = content.type_url.substr(content.type_url.rfind('/') + 1);
  if (type != "tensorflow.AssetFileDef")
    in.fail<unimplemented>(first, at, "a message of the type " + type + ", whose fields are not known");
  asset_file_def asset;
  in.take(':');
  const bool is_angled = in.take('<');
  if (!is_angled) in.expect('{', at);
  read_text_fields(in, asset, at, depth + 1, is_angled ? '>' : '}');
  protozero::pbf_writer out{content.value};
  write_message(out, content.value, asset, at, depth + 1);
  if (!in.take(',')) in.take(';');
  in.expect(closing, at);
}

template <class Schema>
void read_opaque_text(text_scanner& in, std::string& message, const place& at, int depth, char closing) {
  Schema content;
  if constexpr (std::is_same_v<Schema, any_message_def>) {
    if (in.is_at('[')) read_expanded_message(in, content, at, depth, closing);
    else read_text_fields(in, content, at, depth, closing);
  } else {
    read_text_fields(in, content, at, depth, closing);
  }
  protozero::pbf_writer out{message};
  write_message(out, message, content, at, depth);
}

template <class Schema>
void append_opaque_text(std::string& out, const std::string& message, const place& at, int depth) {
  Schema content;
  read_message(protozero::pbf_reader{message.data(), message.size()}, content, at, depth);
  append_text_message(out, content, at, depth);
}

}  // namespace leat::io::detail
