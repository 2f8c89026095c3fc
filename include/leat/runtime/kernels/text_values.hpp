#pragma once
// Kernels between strings and values: numbers in text, buckets of hashes, base64, bytes of arrays, records of comma-separated values.
// Source: TensorFlow `AsString`, `StringToNumber`, `StringToHashBucket`, `StringToHashBucketFast`, `EncodeBase64`, `DecodeBase64`,
// `DecodeRaw`, `DecodeCSV`.

#include <leat/core/base64.hpp>
#include <leat/core/decimal.hpp>
#include <leat/core/fill.hpp>
#include <leat/core/fingerprint.hpp>
#include <leat/runtime/kernels/counted_memory.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/moved_texts.hpp>
#include <leat/runtime/kernels/text_parts.hpp>

#include <bit>
#include <clocale>
#include <cstdio>
#include <cstring>
#include <type_traits>

namespace leat::runtime {

// ---- numbers ----------------------------------------------------------------------------------------------------------

/// How `AsString` writes a value: the part of printf's format between the percent sign and the conversion.
struct text_format {
  static constexpr std::int64_t most = 1024;  // characters; a graph from a file may ask for any number
  std::string flags;
  char conversion = 'f';
  std::int64_t width = -1;

  explicit text_format(const kernel_context& c, dtype type) {
    const std::int64_t precision = c.node.integer("precision", -1);
    const bool scientific = c.node.flag("scientific"), shortest = c.node.flag("shortest");
    const std::string fill = c.node.text("fill");
    width = c.node.integer("width", -1);
    if (scientific && shortest) throw invalid_argument("Cannot select both scientific and shortest notation");
    const bool is_text = type == text_dtype;
    if (!is_text && !is_floating(type)) {
      if (scientific || shortest) throw invalid_argument("scientific and shortest format not supported for datatype " + dtype_name(type));
      if (precision >= 0) throw invalid_argument("precision not supported for datatype " + dtype_name(type));
    }
    if (fill.size() > 1) throw invalid_argument("Fill string must be one or fewer characters");
    if (fill.size() == 1 && std::string_view(" +-0#").find(fill[0]) == std::string_view::npos)
      throw invalid_argument("Fill argument not supported: \"" + fill + "\"");
    if (width > most || precision > most)
      throw invalid_argument("a width or precision of more than " + std::to_string(most) + " characters");
    if (fill != "#" || is_floating(type)) flags = fill;  // "#" means nothing to printf for an integer
    if (width >= 0) flags += std::to_string(width);
    if (precision >= 0) flags += "." + std::to_string(precision);
    conversion = scientific ? 'e' : shortest ? 'g' : 'f';
  }
  template <class T>
  std::string number(T value) const {
    std::string format = "%" + flags;
    if constexpr (std::is_floating_point_v<T>) return printed((format + conversion).c_str(), static_cast<double>(value));
    else return printed((format + "lld").c_str(), static_cast<long long>(value));
  }
  std::string text(std::string_view value) const {
    const std::string blanks(width > static_cast<std::int64_t>(value.size()) ? static_cast<std::size_t>(width) - value.size() : 0, ' ');
    return flags.starts_with('-') ? std::string(value) + blanks : blanks + std::string(value);
  }

 private:
  template <class T>
  static std::string printed(const char* format, T value) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    const int size = std::snprintf(nullptr, 0, format, value);
    std::string made(static_cast<std::size_t>(std::max(size, 0)) + 1, '\0');
    std::snprintf(made.data(), made.size(), format, value);
#pragma GCC diagnostic pop
    made.pop_back();
    if (const char point = std::localeconv()->decimal_point[0]; point != '.') std::replace(made.begin(), made.end(), point, '.');
    return made;
  }
};
inline void run_as_string(kernel_context& c) {
  const tensor_value given = c.input(0);
  const text_format format(c, given.type());
  tensor_value made(text_dtype, given.extent());
  auto& to = made.texts();
  counted_memory counted;
  const auto write = [&](std::size_t i, std::string text) {
    if (i % 1024 == 0) c.step.check();
    counted.add(outer_bytes(text.size()));
    to[i] = std::move(text);
  };
  if (given.type() == text_dtype) {
    for (std::size_t i = 0; i < to.size(); ++i) write(i, format.text(given.texts()[i]));
  } else {
    with_dtype(given.type(), [&]<class T>(T) {
      const auto from = given.values<T>();
      for (std::size_t i = 0; i < to.size(); ++i)
        if constexpr (std::is_same_v<T, bool>) write(i, from[i] ? "true" : "false");
        else write(i, format.number(from[i]));
    });
  }
  counted.give_back();
  made.count_texts(outer_bytes(made));
  c.set(0, std::move(made));
}

inline void run_to_number(kernel_context& c) {
  const tensor_value given = c.input(0);
  const dtype type = c.node.type_of("out_type", dtype::float32);
  tensor_value made(type, given.extent());
  with_number(type, [&]<class T>(T) {
    const auto to = made.values<T>();
    for (std::size_t i = 0; i < to.size(); ++i)
      if (!leat::detail::read_number(given.texts()[i], to[i]))
        throw invalid_argument("StringToNumberOp could not correctly convert string: " + given.texts()[i]);
  });
  c.set(0, std::move(made));
}

/// SipHash-2-4, a hash whose values nobody can tell without its key. Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF"
/// (2012).
inline std::uint64_t sip_hash(std::uint64_t key0, std::uint64_t key1, std::string_view text) {
  std::uint64_t a = key0 ^ 0x736f6d6570736575, b = key1 ^ 0x646f72616e646f6d, c = key0 ^ 0x6c7967656e657261, d = key1 ^ 0x7465646279746573;
  const auto rounds = [&](int count) {
    while (count-- > 0) {
      a += b;
      b = std::rotl(b, 13) ^ a;
      a = std::rotl(a, 32);
      c += d;
      d = std::rotl(d, 16) ^ c;
      a += d;
      d = std::rotl(d, 21) ^ a;
      c += b;
      b = std::rotl(b, 17) ^ c;
      c = std::rotl(c, 32);
    }
  };
  const auto word = [&](std::size_t at, std::size_t bytes) {
    std::uint64_t made = 0;
    for (std::size_t k = 0; k < bytes; ++k) made |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[at + k])) << (8 * k);
    return made;
  };
  const auto mix_in = [&](std::uint64_t v) {
    d ^= v;
    rounds(2);
    a ^= v;
  };
  const std::size_t whole = text.size() / 8 * 8;
  for (std::size_t at = 0; at < whole; at += 8) mix_in(word(at, 8));
  mix_in(static_cast<std::uint64_t>(text.size()) << 56 | word(whole, text.size() - whole));
  c ^= 0xff;
  rounds(4);
  return a ^ b ^ c ^ d;
}
/// The bucket of each string, by a hash.
template <class Hash>
void run_hash_buckets(kernel_context& c, Hash hash) {
  const tensor_value given = c.input(0);
  const std::int64_t buckets = c.node.integer("num_buckets");
  if (buckets < 1) throw invalid_argument("Value for attr 'num_buckets' of " + std::to_string(buckets) + " must be at least minimum 1");
  tensor_value made(dtype::int64, given.extent());
  for (std::size_t i = 0; i < given.texts().size(); ++i)
    made.values<std::int64_t>()[i] = static_cast<std::int64_t>(hash(given.texts()[i]) % static_cast<std::uint64_t>(buckets));
  c.set(0, std::move(made));
}

template <std::uint64_t (*Hash)(std::string_view)>
void run_hash_bucket(kernel_context& c) {
  run_hash_buckets(c, Hash);
}
inline void run_strong_hash_bucket(kernel_context& c) {
  const auto key = c.node.list<std::int64_t>("key");
  if (key.size() != 2) throw invalid_argument("Key must have 2 elements, not " + std::to_string(key.size()));
  run_hash_buckets(c, [&](std::string_view text) {
    return sip_hash(static_cast<std::uint64_t>(key[0]), static_cast<std::uint64_t>(key[1]), text);
  });
}

// ---- bytes ------------------------------------------------------------------------------------------------------------

inline void run_encode_base64(kernel_context& c) {
  const bool pads = c.node.flag("pad");
  each_text(c, [&](const std::string& bytes) {
    std::string text;
    leat::detail::append_base64(text, bytes);
    if (!pads)
      while (text.ends_with('=')) text.pop_back();
    std::replace(text.begin(), text.end(), '+', '-');
    std::replace(text.begin(), text.end(), '/', '_');
    return text;
  });
}
inline void run_decode_base64(kernel_context& c) {
  each_text(c, [](const std::string& text) {
    std::string bytes;
    const auto letters = static_cast<std::size_t>(std::find(text.begin(), text.end(), '=') - text.begin());
    if (letters % 4 == 1) throw invalid_argument("Base64 string length cannot be 1 modulo 4.");
    if (text.find_first_of("+/") != text.npos || !leat::detail::from_base64(text, bytes, true))
      throw invalid_argument("Invalid character found in base64.");
    return bytes;
  });
}

/// Strings of one size as the bytes of numbers, along a new last axis.
inline void run_decode_raw(kernel_context& c) {
  const tensor_value given = c.input(0);
  const dtype type = c.node.type_of("out_type");
  const bool turns = c.node.flag("little_endian", true) != (std::endian::native == std::endian::little);
  const auto& texts = given.texts();
  const auto width = static_cast<std::size_t>(element_bytes(type));
  if (width == 0) throw unimplemented("no kernel for dtype " + dtype_name(type));
  const std::size_t size = texts.empty() ? 0 : texts[0].size();
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (texts[i].size() != size)
      throw invalid_argument("DecodeRaw requires input strings to all be the same size, but element " + std::to_string(i) + " has size " +
                             std::to_string(size) + " != " + std::to_string(texts[i].size()));
  if (size % width != 0)
    throw invalid_argument("Input to DecodeRaw has length " + std::to_string(size) + " that is not a multiple of " +
                           std::to_string(width) + ", the size of " + dtype_name(type));
  shape extent = given.extent();
  extent.push(static_cast<std::int64_t>(size / width));
  tensor_value made(type, extent);
  std::byte* to = made.data();
  if (made.elements() > 0)
    for (const std::string& text : texts)
      for (std::size_t at = 0; at < size; at += width, to += width) {
        std::memcpy(to, text.data() + at, width);
        if (turns) std::reverse(to, to + width);
        if (type == dtype::boolean) *to = std::byte{*to != std::byte{0}};  // another value is no bool
      }
  c.set(0, std::move(made));
}

// ---- records ----------------------------------------------------------------------------------------------------------

/// The fields of a record, in RFC 4180's format. Errors: invalid_argument, in TensorFlow's words.
inline std::vector<std::string> fields_of(std::string_view record, char delimiter, bool quotes) {
  std::vector<std::string> fields;
  std::size_t at = 0;
  const auto is_end = [&](std::size_t i) { return i >= record.size() || record[i] == delimiter; };
  while (at < record.size()) {
    std::string field;
    if (quotes && record[at] == '"') {
      for (++at;; ++at) {
        if (at >= record.size()) throw invalid_argument("Quoted field has to end with quote followed by delim or end");
        if (record[at] == '"') {
          if (is_end(at + 1)) break;
          if (record[++at] != '"') throw invalid_argument("Quote inside a string has to be escaped by another quote");
        }
        field += record[at];
      }
      ++at;
    } else {
      for (; !is_end(at); ++at) {
        if (quotes && (record[at] == '"' || record[at] == '\n' || record[at] == '\r'))
          throw invalid_argument("Unquoted fields cannot have quotes/CRLFs inside");
        field += record[at];
      }
    }
    fields.push_back(std::move(field));
    if (at < record.size() && ++at == record.size()) fields.emplace_back();  // a delimiter at the end begins an empty field
  }
  return fields;
}

inline void run_decode_csv(kernel_context& c) {
  const int count = c.input_count() - 1;
  const std::string delimiter = c.node.text("field_delim"), missing = c.node.text("na_value");
  const bool quotes = c.node.flag("use_quote_delim", true);
  const auto selected = c.node.list<std::int64_t>("select_cols");
  if (delimiter.size() > 1) throw invalid_argument("field_delim should be only 1 char");
  const char between = delimiter.empty() ? ',' : delimiter[0];
  if (!selected.empty() && static_cast<int>(selected.size()) != count) throw invalid_argument("select_cols should match output size");
  for (std::size_t k = 0; k < selected.size(); ++k)
    if (selected[k] < 0 || (k > 0 && selected[k] <= selected[k - 1]))
      throw invalid_argument(selected[k] < 0 ? "select_cols should be non-negative indices"
                                             : "select_cols should be strictly increasing indices");
  const tensor_value records = c.input(0);
  std::vector<tensor_value> made;
  for (int k = 0; k < count; ++k) {
    const shape& s = c.extent(1 + k);
    if (s.rank > 1) throw invalid_argument("Each record default should be at most rank 1");
    if (s.elements() > 1)
      throw invalid_argument("There should only be 1 default per field but field " + std::to_string(k) + " has " +
                             std::to_string(s.elements()));
    made.emplace_back(c.type(1 + k), records.extent());
  }
  counted_memory counted;
  for (std::size_t i = 0; i < records.texts().size(); ++i) {
    if (i % 1024 == 0) c.step.check();
    const std::string in_record = " in record " + std::to_string(i);
    std::vector<std::string> fields = fields_of(records.texts()[i], between, quotes);
    if (!selected.empty()) {
      std::vector<std::string> some;
      for (const std::int64_t at : selected)
        if (at < static_cast<std::int64_t>(fields.size())) some.push_back(std::move(fields[static_cast<std::size_t>(at)]));
      fields = std::move(some);
    }
    if (static_cast<int>(fields.size()) != count)
      throw invalid_argument("Expect " + std::to_string(count) + " fields but have " + std::to_string(fields.size()) + in_record);
    for (int k = 0; k < count; ++k) {
      const std::string& field = fields[static_cast<std::size_t>(k)];
      const bool is_missing = field.empty() || (!missing.empty() && field == missing);
      if (is_missing && c.extent(1 + k).elements() == 0)
        throw invalid_argument("Field " + std::to_string(k) + " is required but missing" + in_record + "!");
      tensor_value& to = made[static_cast<std::size_t>(k)];
      if (to.type() == text_dtype) {
        const std::string& text = is_missing ? c.input(1 + k).texts()[0] : field;
        counted.add(outer_bytes(text.size()));
        to.texts()[i] = text;
        continue;
      }
      with_number(to.type(), [&]<class T>(T) {
        if (is_missing) to.values<T>()[i] = std::as_const(c.input(1 + k)).template values<T>()[0];
        else if (!leat::detail::read_number(field, to.values<T>()[i]))
          throw invalid_argument("Field " + std::to_string(k) + in_record + " is not a valid " +
                                 (std::is_same_v<T, float>    ? std::string("float")
                                  : std::is_same_v<T, double> ? std::string("double")
                                                              : dtype_name(to.type())) +
                                 ": " + field);
      });
    }
  }
  counted.give_back();
  for (tensor_value& v : made) v.count_texts(outer_bytes(v));
  for (int k = 0; k < count; ++k) c.set(k, std::move(made[static_cast<std::size_t>(k)]));
}

LEAT_FILL(fill_text_value_kernels) {
  register_kernel("AsString", run_as_string);
  register_kernel("StringToNumber", run_to_number);
  register_kernel("StringToHashBucket", run_hash_bucket<leat::detail::murmur_hash>);
  register_kernel("StringToHashBucketFast", run_hash_bucket<leat::detail::farm_fingerprint::of>);
  register_kernel("StringToHashBucketStrong", run_strong_hash_bucket);
  register_kernel("EncodeBase64", run_encode_base64);
  register_kernel("DecodeBase64", run_decode_base64);
  register_kernel("DecodeRaw", run_decode_raw);
  register_kernel("DecodeCSV", run_decode_csv);
}

}  // namespace leat::runtime
