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

template <class Schema>
void read_opaque_text(text_scanner& in, std::string& message, const place& at, int depth, char closing) {
  Schema content;
  read_text_fields(in, content, at, depth, closing);
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
