#pragma once
// Named arrays in one file, in the safetensors format: eight bytes with the length of a header, the header as JSON (dtype, shape and
// offsets of each array, and strings under "__metadata__"), then the arrays' bytes, little endian, without gaps. Files are untrusted: all
// offsets are checked before use. Source: the format's description, version 0.3.

#include <leat/core/function_bodies.hpp>
#include <leat/core/shape.hpp>
#include <leat/io/element_format.hpp>
#include <leat/io/encoding.hpp>
#include <leat/io/file.hpp>
#include <leat/io/place.hpp>
#include <leat/proto/data_type.hpp>

#include <nlohmann/json.hpp>

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace leat::io {

/// An array to be written, of a dtype of the library or a narrow one (`is_narrow`), or in a file that was read. Its bytes are row-major and
/// borrowed.
struct array_bytes {
  dtype type = dtype::invalid;
  shape extent;
  std::span<const std::byte> bytes;
};

/// The position of an array's bytes in a file, counted from the end of its header.
struct array_place {
  dtype type = dtype::invalid;  // `invalid` if the bytes are not those of a dtype of the library
  shape extent;
  std::size_t begin = 0;
  std::size_t size = 0;
  std::optional<element_format> format{};  // the format from which they are converted
  dtype narrow = dtype::invalid;           // of converted elements: the narrow dtype whose arrays have the bytes as they are
  std::string problem{};                   // why the array cannot be read, while others can
};

/// The contents of a file's header.
struct safetensors_layout {
  std::map<std::string, std::string, std::less<>> metadata{};
  std::map<std::string, array_place, std::less<>> places{};
};

/// Parses a header; `available` is the number of bytes that follow it. Fields that the format does not have are skipped. Errors: data_loss
/// or invalid_argument, naming array and field, for text that is not such a header, bytes that are not in the file, overlaps, gaps, and
/// byte counts that do not match the shape.
safetensors_layout parse_safetensors_header(std::string_view header, std::size_t available);

/// The largest header that the format allows.
inline constexpr std::size_t longest_safetensors_header = 100'000'000;

/// The contents of a file; arrays point into it. Arrays of dtypes that the library lacks are converted when they are first requested
/// (`element_format.hpp`; BF16 and F16 become float32), and the result is kept.
class safetensors {
 public:
  std::map<std::string, std::string, std::less<>> metadata;

  /// Parses a file's contents. Errors: data_loss or invalid_argument, naming array and field, for truncated data, overlaps, gaps, and
  /// byte counts that do not match the shape.
  explicit safetensors(std::string text) : text_(std::move(text)) { parse(); }
  safetensors(const safetensors&) = delete;
  safetensors& operator=(const safetensors&) = delete;
  safetensors(safetensors&& other) noexcept
      : metadata(std::move(other.metadata)),
        text_(std::move(other.text_)),
        data_(other.data_),
        places_(std::move(other.places_)),
        converted_(std::move(other.converted_)) {}
  safetensors& operator=(safetensors&&) = delete;

  /// The names of all arrays, sorted, including those that cannot be read.
  std::vector<std::string> names() const {
    std::vector<std::string> list;
    for (const auto& [name, where] : places_) list.push_back(name);
    return list;
  }
  /// Whether there is an array with this name.
  bool contains(std::string_view name) const { return places_.find(name) != places_.end(); }
  /// The array with a name. Its bytes are borrowed from this object, which must outlive them. Errors, naming it: not_found if there is no
  /// such array; unimplemented for a dtype that no dtype of the library represents, and for more than 8 dimensions; out_of_range for a
  /// uint64 beyond int64.
  array_bytes operator[](std::string_view name) const&;
  array_bytes operator[](std::string_view name) const&& = delete;  // the file would be destroyed at the end of the statement

 private:
  void parse();

  std::string text_;
  std::size_t data_ = 0;  // offset of the arrays' bytes
  std::map<std::string, array_place, std::less<>> places_;
  struct conversions {
    std::mutex guard;
    std::map<std::string, std::string, std::less<>> arrays;
  };
  std::unique_ptr<conversions> converted_ = std::make_unique<conversions>();
};

namespace detail {

inline constexpr std::pair<std::string_view, dtype> safetensors_types[]{{"F32", dtype::float32}, {"F64", dtype::float64},
                                                                        {"I32", dtype::int32},   {"I64", dtype::int64},
                                                                        {"U8", dtype::uint8},    {"BOOL", dtype::boolean},
                                                                        {"C64", complex64_dtype}, {"C128", complex128_dtype}};

// Duplicate names are an error, because the format does not define which one counts.
nlohmann::json parse_header(std::string_view text);

std::size_t whole_number(const nlohmann::json& value, const std::string& name, std::string_view field);

}  // namespace detail

/// Reads a file. Errors: not_found if it cannot be opened, and those of `safetensors`, with the file's name.
inline safetensors read_safetensors(const std::filesystem::path& path) {
  return detail::naming(path, [&] { return safetensors(read_file(path, std::size_t{1} << 46)); });
}

/// The bytes before the arrays of a file that has the arrays in this order; their number is a multiple of eight.
/// Errors: as `write_safetensors`.
std::string safetensors_header(std::span<const std::pair<std::string, array_bytes>> arrays,
                               const std::map<std::string, std::string, std::less<>>& metadata = {});

/// The file's contents, with the arrays in order of their names.
/// Errors: invalid_argument for an array whose bytes do not match its shape, a dtype that the format lacks, a name that is not UTF-8.
std::string write_safetensors(const std::map<std::string, array_bytes, std::less<>>& arrays,
                              const std::map<std::string, std::string, std::less<>>& metadata = {});

/// Writes a file that is complete or absent after a crash, see `write_synced`. Errors: those of both functions.
inline void write_safetensors(const std::filesystem::path& path, const std::map<std::string, array_bytes, std::less<>>& arrays,
                              const std::map<std::string, std::string, std::less<>>& metadata = {}) {
  write_synced(path, {write_safetensors(arrays, metadata)});
}

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/safetensors.hpp>
#endif
