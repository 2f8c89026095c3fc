#pragma once
// Kernels between strings and Unicode's code points, without tables: UTF-8, UTF-16, UTF-32, ASCII and ISO-8859-1. Bytes that are malformed
// are errors, or are replaced, the longest beginning of a character by one replacement, or left out. Source: TensorFlow `UnicodeTranscode`,
// `UnicodeDecode`, `UnicodeDecodeWithOffsets`, `UnicodeEncode`; the Unicode Standard, 3.9.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/counted_memory.hpp>
#include <leat/runtime/kernels/text_parts.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace leat::runtime {

enum class text_encoding { utf_8, utf_16, utf_32, ascii, latin_1 };

constexpr bool is_code_point(std::int64_t code) { return code >= 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff); }

/// Takes a string apart into code points.
class code_reader {
 public:
  /// Errors: invalid_argument for an encoding that is not known.
  explicit code_reader(const std::string& name) {
    std::string plain;
    for (const char c : name)
      if (c != '-' && c != '_' && c != ' ') plain += lower_letter(c);
    is_little_ = plain.ends_with("le");
    if (plain == "utf8") encoding_ = text_encoding::utf_8;
    else if (plain == "utf16be" || plain == "utf16le") encoding_ = text_encoding::utf_16;
    else if (plain == "utf32be" || plain == "utf32le") encoding_ = text_encoding::utf_32;
    else if (plain == "ascii" || plain == "usascii") encoding_ = text_encoding::ascii;
    else if (plain == "latin1" || plain == "iso88591") encoding_ = text_encoding::latin_1;
    else
      throw invalid_argument("Could not create converter for input encoding: " + name +
                             "; UTF-8, UTF-16-BE, UTF-16-LE, UTF-32-BE, UTF-32-LE, US-ASCII and ISO-8859-1 are known");
  }
  /// The code point at the beginning of a text that is not empty, which is removed from it; -1 for malformed bytes.
  std::int64_t next(std::string_view& text) const {
    const auto byte = [&](std::size_t k) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[k])); };
    const auto unit = [&](std::size_t at, std::size_t size) {
      std::uint32_t made = 0;
      for (std::size_t k = 0; k < size; ++k) made = made << 8 | byte(at + (is_little_ ? size - 1 - k : k));
      return made;
    };
    const auto taken = [&](std::size_t count, std::int64_t code) {
      text.remove_prefix(std::min(count, text.size()));
      return code;
    };
    switch (encoding_) {
      case text_encoding::latin_1: return taken(1, byte(0));
      case text_encoding::ascii: return taken(1, byte(0) < 0x80 ? std::int64_t{byte(0)} : -1);
      case text_encoding::utf_32: {
        if (text.size() < 4) return taken(4, -1);
        const std::int64_t code = unit(0, 4);
        return taken(4, is_code_point(code) ? code : -1);
      }
      case text_encoding::utf_16: {
        if (text.size() < 2) return taken(2, -1);
        const std::uint32_t first = unit(0, 2);
        if (first < 0xd800 || first > 0xdfff) return taken(2, first);
        if (first > 0xdbff) return taken(2, -1);
        if (text.size() < 4) return taken(4, -1);  // a pair that is cut off
        const std::uint32_t second = unit(2, 2);
        if (second < 0xdc00 || second > 0xdfff) return taken(2, -1);
        return taken(4, 0x10000 + ((first & 0x3ff) << 10 | (second & 0x3ff)));
      }
      case text_encoding::utf_8: break;
    }
    const std::uint32_t first = byte(0);
    if (first < 0x80) return taken(1, first);
    const std::size_t size = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    if (size == 0) return taken(1, -1);
    std::int64_t code = first & (0x7fu >> size);
    for (std::size_t k = 1; k < size; ++k) {
      // The second byte has a smaller range where it would make a longer form, a surrogate, or a number beyond Unicode's.
      const std::uint32_t least = k > 1 ? 0x80 : first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
      const std::uint32_t most = k > 1 ? 0xbf : first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
      if (k >= text.size() || byte(k) < least || byte(k) > most) return taken(k, -1);
      code = code << 6 | (byte(k) & 0x3f);
    }
    return taken(size, code);
  }

 private:
  text_encoding encoding_ = text_encoding::utf_8;
  bool is_little_ = false;
};

/// Appends a code point to a string.
class code_writer {
 public:
  explicit code_writer(const std::string& name) {
    if (name == "UTF-16-BE") encoding_ = text_encoding::utf_16;
    else if (name == "UTF-32-BE") encoding_ = text_encoding::utf_32;
    else if (name != "UTF-8")
      throw invalid_argument("Value for attr 'output_encoding' of \"" + name +
                             "\" is not in the list of allowed values: \"UTF-8\", \"UTF-16-BE\", \"UTF-32-BE\"");
  }
  void operator()(std::string& to, std::int64_t code) const {
    const auto c = static_cast<std::uint32_t>(is_code_point(code) ? code : 0xfffd);
    const auto put = [&](std::uint32_t v, int bytes) {
      while (bytes-- > 0) to += static_cast<char>(v >> (8 * bytes) & 0xff);
    };
    const auto more = [](std::uint32_t v) { return 0x80 | (v & 0x3f); };
    if (encoding_ == text_encoding::utf_32) return put(c, 4);
    if (encoding_ == text_encoding::utf_16) {
      if (c < 0x10000) return put(c, 2);
      put(0xd800 + ((c - 0x10000) >> 10), 2);
      return put(0xdc00 + ((c - 0x10000) & 0x3ff), 2);
    }
    if (c < 0x80) return put(c, 1);
    if (c < 0x800) return put((0xc0 | c >> 6) << 8 | more(c), 2);
    if (c < 0x10000) return put((0xe0 | c >> 12) << 16 | more(c >> 6) << 8 | more(c), 3);
    put((0xf0 | c >> 18) << 24 | more(c >> 12) << 16 | more(c >> 6) << 8 | more(c), 4);
  }

 private:
  text_encoding encoding_ = text_encoding::utf_8;
};

/// What becomes of malformed bytes, and of control characters if they are replaced, too.
struct code_errors {
  bool is_strict, leaves_out, takes_controls;
  std::int64_t replacement;

  explicit code_errors(const kernel_node& n)
      : is_strict(false),
        leaves_out(false),
        takes_controls(n.flag("replace_control_characters")),
        replacement(n.integer("replacement_char", 0xfffd)) {
    const auto name = n.attribute<std::string>("errors", "replace");
    is_strict = name == "strict";
    leaves_out = name == "ignore";
    if (!is_strict && !leaves_out && name != "replace")
      throw invalid_argument("Value for attr 'errors' of \"" + name +
                             "\" is not in the list of allowed values: \"strict\", \"replace\", \"ignore\"");
    if (replacement < 0 || replacement > 0x10ffff) throw invalid_argument("replacement_char out of unicode codepoint range");
  }
  /// Calls use(code point, position) for each code point of a text. Errors: invalid_argument if errors are strict.
  template <class Use>
  void read(const code_reader& reader, std::string_view text, Use use) const {
    const std::size_t size = text.size();
    while (!text.empty()) {
      const std::size_t at = size - text.size();
      std::int64_t code = reader.next(text);
      if (code < 0 || (takes_controls && code <= 0x1f)) {
        if (is_strict) throw invalid_argument("Invalid formatting on input string");
        if (leaves_out) continue;
        code = replacement;
      }
      use(code, at);
    }
  }
};

inline void run_transcode(kernel_context& c) {
  const code_reader reader(c.node.text("input_encoding"));
  const code_writer write(c.node.text("output_encoding"));
  const code_errors errors(c.node);
  each_text(c, [&](const std::string& text) {
    text_room room;
    room.take(1, 4 * text.size());
    std::string made;
    errors.read(reader, text, [&](std::int64_t code, std::size_t) { write(made, code); });
    return made;
  });
}

template <bool HasOffsets>
void run_decode_codes(kernel_context& c) {
  const code_reader reader(c.node.text("input_encoding"));
  const code_errors errors(c.node);
  const tensor_value given = c.input(0);
  // A first pass counts.
  std::vector<std::int64_t> splits{0};
  std::int64_t count = 0;
  for (std::size_t i = 0; i < given.texts().size(); ++i) {
    if (i % 1024 == 0) c.step.check();
    errors.read(reader, given.texts()[i], [&](std::int64_t, std::size_t) { ++count; });
    splits.push_back(count);
  }
  tensor_value codes(dtype::int32, {count}), places(dtype::int64, {HasOffsets ? count : 0});
  std::size_t at = 0;
  for (const std::string& text : given.texts())
    errors.read(reader, text, [&](std::int64_t code, std::size_t place) {
      codes.values<std::int32_t>()[at] = static_cast<std::int32_t>(code);
      if constexpr (HasOffsets) places.values<std::int64_t>()[at] = static_cast<std::int64_t>(place);
      ++at;
    });
  c.set(0, integer_tensor(c.node.type_of("Tsplits", dtype::int64), splits));
  c.set(1, std::move(codes));
  if constexpr (HasOffsets) c.set(2, std::move(places));
}

/// A string of each part of a vector of code points. Errors: invalid_argument, in TensorFlow's words, for splits that do not fit.
inline void run_encode_codes(kernel_context& c) {
  const code_writer write(c.node.text("output_encoding"));
  const code_errors errors(c.node);
  const tensor_value codes = c.input(0);
  if (codes.extent().rank != 1 || c.extent(1).rank != 1)
    throw invalid_argument("Both the input_tensor and input_splits should be of rank 1. ");
  const auto splits = c.numbers(1);
  const auto count = codes.elements();
  if (splits.empty())
    throw invalid_argument("Input_splits should contain elements, but given input_values has " + std::to_string(splits.size()) +
                           " elements");
  if (splits.front() != 0) throw invalid_argument("First value in input_splits must be zero.");
  if (splits.back() != count) throw invalid_argument("Last value in input_splits must be equal to length of input_tensor.");
  if (!std::ranges::is_sorted(splits)) throw invalid_argument("Values in input_splits must be equal or in ascending order.");
  tensor_value made(text_dtype, {static_cast<std::int64_t>(splits.size()) - 1});
  counted_memory counted;
  for (std::size_t i = 0; i + 1 < splits.size(); ++i) {
    if (i % 1024 == 0) c.step.check();
    std::string& to = made.texts()[i];
    for (std::int64_t k = splits[i]; k < splits[i + 1]; ++k) {
      std::int64_t code = codes.values<std::int32_t>()[static_cast<std::size_t>(k)];
      if (!is_code_point(code)) {
        if (errors.is_strict) throw invalid_argument("Code point is out of range for Unicode, or is a surrogate.");
        if (errors.leaves_out) continue;
        code = errors.replacement;
      }
      write(to, code);
    }
    counted.add(to.size());
  }
  counted.give_back();
  made.count_texts(outer_bytes(made));
  c.set(0, std::move(made));
}

LEAT_FILL(fill_unicode_kernels) {
  register_kernel("UnicodeTranscode", run_transcode);
  register_kernel("UnicodeDecode", run_decode_codes<false>);
  register_kernel("UnicodeDecodeWithOffsets", run_decode_codes<true>);
  register_kernel("UnicodeEncode", run_encode_codes);
}

}  // namespace leat::runtime
