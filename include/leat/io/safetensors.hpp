#pragma once
// Named arrays in one file, in the format safetensors: eight bytes with the length of a header, the header as JSON (dtype, shape and
// offsets of each array, and strings under "__metadata__"), then the arrays' bytes, little endian, without gaps. Files are untrusted:
// all offsets are checked before use. Source: the format's description, version 0.3.

#include <leat/core/function_bodies.hpp>
#include <leat/core/shape.hpp>
#include <leat/io/encoding.hpp>
#include <leat/io/file.hpp>
#include <leat/io/place.hpp>
#include <leat/proto/data_type.hpp>

#include <nlohmann/json.hpp>

#include <cstring>
#include <map>
#include <set>
#include <span>
#include <vector>

namespace leat::io {

/// An array to be written, or in a file that was read. Its bytes are row-major.
struct array_bytes {
  dtype type = dtype::invalid;
  shape extent;
  std::span<const std::byte> bytes;
};

/// The contents of a file; arrays point into it.
class safetensors {
 public:
  std::map<std::string, std::string, std::less<>> metadata;

  /// Parses a file's contents. Errors: data_loss or invalid_argument, naming array and field, for truncated data, overlaps, gaps, and
  /// byte counts that do not match the shape.
  explicit safetensors(std::string text) : text_(std::move(text)) { parse(); }
  safetensors(const safetensors&) = delete;
  safetensors& operator=(const safetensors&) = delete;
  safetensors(safetensors&& other) noexcept
      : metadata(std::move(other.metadata)), text_(std::move(other.text_)), data_(other.data_), places_(std::move(other.places_)) {}
  safetensors& operator=(safetensors&&) = delete;

  /// The names of all arrays, sorted.
  std::vector<std::string> names() const {
    std::vector<std::string> list;
    for (const auto& [name, where] : places_) list.push_back(name);
    return list;
  }
  /// Whether there is an array of this name.
  bool contains(std::string_view name) const { return places_.find(name) != places_.end(); }
  /// An array; its bytes are the file's, which must outlive them. Errors: not_found if there is no such array.
  array_bytes operator[](std::string_view name) const&;
  array_bytes operator[](std::string_view name) const&& = delete;  // the file would end with this statement

 private:
  struct place {
    dtype type;
    shape extent;
    std::size_t begin;
    std::size_t size;
  };
  static constexpr std::size_t longest_header = 100'000'000;

  void parse();
  static place parse_place(const std::string& name, const nlohmann::json& entry, std::size_t available);

  std::string text_;
  std::size_t data_ = 0;  // offset of the arrays' bytes
  std::map<std::string, place, std::less<>> places_;
};

namespace detail {

inline constexpr std::pair<std::string_view, dtype> safetensors_types[]{{"F32", dtype::float32}, {"F64", dtype::float64},
                                                                        {"I32", dtype::int32},   {"I64", dtype::int64},
                                                                        {"U8", dtype::uint8},    {"BOOL", dtype::boolean}};

// Duplicate names are an error: the format does not define which one counts.
nlohmann::json parse_header(std::string_view text);

std::size_t whole_number(const nlohmann::json& value, const std::string& name, std::string_view field);

}  // namespace detail

inline safetensors::place safetensors::parse_place(const std::string& name, const nlohmann::json& entry, std::size_t available) {
  const auto wrong = [&](const std::string& what) { throw invalid_argument("array " + detail::in_quotes(name) + ": " + what); };
  if (!entry.is_object()) wrong("its entry is no object");
  place found{};
  for (const auto& [key, value] : entry.items()) {
    if (key == "dtype") {
      if (!value.is_string()) wrong("dtype is no text");
      for (const auto& [text, type] : detail::safetensors_types)
        if (text == value.get_ref<const std::string&>()) found.type = type;
      if (found.type == dtype::invalid)
        wrong("dtype " + detail::in_quotes(value.get_ref<const std::string&>()) + " is not one that the library computes with");
    } else if (key == "shape") {
      if (!value.is_array()) wrong("shape is no list");
      if (value.size() > static_cast<std::size_t>(max_rank)) wrong("more than 8 dimensions");
      for (const auto& d : value) {
        const std::size_t size = detail::whole_number(d, name, "shape");
        if (size > available + 1 && size > (std::size_t{1} << 40)) wrong("a dimension of " + std::to_string(size));
        found.extent.push(static_cast<std::int64_t>(size));
      }
    } else if (key == "data_offsets") {
      if (!value.is_array() || value.size() != 2) wrong("data_offsets are no two numbers");
      found.begin = detail::whole_number(value[0], name, "data_offsets");
      const std::size_t end = detail::whole_number(value[1], name, "data_offsets");
      if (end < found.begin || end > available)
        throw data_loss("array " + detail::in_quotes(name) + ": its bytes " + std::to_string(found.begin) + " to " + std::to_string(end) +
                        " are not all in the file, which has " + std::to_string(available));
      found.size = end - found.begin;
    } else {
      wrong("the field " + detail::in_quotes(key) + " is not known");
    }
  }
  for (const char* field : {"dtype", "shape", "data_offsets"})
    if (!entry.contains(field)) wrong(std::string("lacks ") + field);
  std::size_t bytes = static_cast<std::size_t>(size_of(found.type));
  for (int i = 0; i < found.extent.rank; ++i) {
    const auto size = static_cast<std::size_t>(found.extent[i]);
    if (size != 0 && bytes > SIZE_MAX / size) wrong("its shape has too many elements");
    bytes *= size;
  }
  if (bytes != found.size)
    wrong("its shape takes " + std::to_string(bytes) + " bytes, but it has " + std::to_string(found.size));
  return found;
}

inline void safetensors::parse() {
  if (text_.size() < 8) throw data_loss("cut off before its header");
  std::uint64_t length = 0;
  std::memcpy(&length, text_.data(), 8);
  if (length > longest_header) throw invalid_argument("a header of " + std::to_string(length) + " bytes, more than the format allows");
  if (length > text_.size() - 8) throw data_loss("cut off within its header");
  data_ = 8 + static_cast<std::size_t>(length);
  const std::size_t available = text_.size() - data_;
  const nlohmann::json header = detail::parse_header(std::string_view(text_).substr(8, static_cast<std::size_t>(length)));
  std::vector<std::pair<std::size_t, std::size_t>> taken;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      if (!entry.is_object()) throw invalid_argument("__metadata__ is no object");
      for (const auto& [key, value] : entry.items()) {
        if (!value.is_string()) throw invalid_argument("__metadata__: " + detail::in_quotes(key) + " is no text");
        metadata[key] = value.get<std::string>();
      }
      continue;
    }
    const place found = parse_place(name, entry, available);
    if (found.type == dtype::boolean)
      for (const char c : std::string_view(text_).substr(data_ + found.begin, found.size))
        if (c != 0 && c != 1) throw data_loss("array " + detail::in_quotes(name) + ": a truth value that is neither 0 nor 1");
    taken.emplace_back(found.begin, found.size);
    places_.emplace(name, found);
  }
  std::sort(taken.begin(), taken.end());
  std::size_t at = 0;
  for (const auto& [begin, size] : taken) {
    if (begin != at)
      throw invalid_argument(begin < at ? "two arrays share bytes"
                                        : "bytes " + std::to_string(at) + " to " + std::to_string(begin) + " belong to no array");
    at += size;
  }
  if (at != available) throw invalid_argument(std::to_string(available - at) + " bytes at the end belong to no array");
}

/// Reads a file. Errors: not_found if it cannot be opened, and those of `safetensors`, with the file's name.
inline safetensors read_safetensors(const std::filesystem::path& path) {
  return detail::naming(path, [&] { return safetensors(read_file(path, std::size_t{1} << 46)); });
}

/// The file's contents: the arrays in order of their names.
/// Errors: invalid_argument for an array whose bytes do not match its shape, a dtype that the format lacks, a name that is not UTF-8.
std::string write_safetensors(const std::map<std::string, array_bytes, std::less<>>& arrays,
                              const std::map<std::string, std::string, std::less<>>& metadata = {});

/// Writes a file that is complete or absent after a crash, see `write_synced`. Errors: those of both.
inline void write_safetensors(const std::filesystem::path& path, const std::map<std::string, array_bytes, std::less<>>& arrays,
                              const std::map<std::string, std::string, std::less<>>& metadata = {}) {
  write_synced(path, {write_safetensors(arrays, metadata)});
}

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/safetensors_bodies.hpp>
#endif
