#pragma once
// Implementation of npy.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/npy.hpp>

#include <limits>
#include <vector>

namespace leat::io::detail {

// The contents of a header.
struct npy_header {
  std::string descr{};
  bool fortran_order = false;
  std::vector<std::int64_t> sizes{};
};

struct npy_type {
  std::string_view descr;
  data_type type;
};
inline constexpr npy_type npy_types[]{{"<f4", data_type::float32}, {"<f8", data_type::float64}, {"<i4", data_type::int32},
                                      {"<i8", data_type::int64},   {"|u1", data_type::uint8},   {"|b1", data_type::boolean},
                                      {"<f2", data_type::half},    {"|i1", data_type::int8},    {"<i2", data_type::int16},
                                      {"<u2", data_type::uint16},  {"<u4", data_type::uint32},  {"<u8", data_type::uint64}};

class npy_header_reader {
 public:
  explicit npy_header_reader(std::string_view text) : text_(text) {}

  npy_header read() {
    npy_header header;
    bool has_type = false, has_order = false, has_shape = false;
    want('{');
    while (!take('}')) {
      const std::string key = quoted();
      want(':');
      bool* const seen = key == "descr" ? &has_type : key == "fortran_order" ? &has_order : key == "shape" ? &has_shape : nullptr;
      if (seen == nullptr || *seen) fail("has the key " + in_quotes(key) + " where descr, fortran_order and shape are expected once each");
      *seen = true;
      if (key == "descr") {
        skip();
        if (at_ < text_.size() && text_[at_] == '[') throw unimplemented("NPY: elements of several fields");
        header.descr = quoted();
      } else if (key == "fortran_order") {
        header.fortran_order = truth();
      } else {
        header.sizes = sizes();
      }
      if (!take(',') && !ahead('}')) fail("lacks a comma");
    }
    skip();
    if (at_ != text_.size()) fail("goes on behind its end");
    if (!has_type || !has_order || !has_shape) fail("lacks descr, fortran_order or shape");
    return header;
  }

 private:
  [[noreturn]] static void fail(const std::string& what) { throw data_loss("NPY: the header " + what); }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool ahead(char c) {
    skip();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool take(char c) {
    if (!ahead(c)) return false;
    ++at_;
    return true;
  }
  void want(char c) {
    if (!take(c)) fail(std::string("lacks '") + c + "'");
  }
  std::string quoted() {
    skip();
    if (at_ < text_.size() && text_[at_] == 'u') ++at_;  // Python 2's prefix of Unicode strings
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') fail("lacks a text in quotes");
    const auto end = text_.find(quote, at_ + 1);
    if (end == text_.npos) fail("is cut off");
    const std::string text(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return text;
  }
  bool truth() {
    skip();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    }
    fail("has a fortran_order that is neither True nor False");
  }
  std::vector<std::int64_t> sizes() {
    std::vector<std::int64_t> list;
    want('(');
    while (!take(')')) {
      skip();
      std::int64_t size = 0;
      const std::size_t first = at_;
      for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
        const int digit = text_[at_] - '0';
        if (size > (std::numeric_limits<std::int64_t>::max() - digit) / 10) fail("has a size beyond 2^63");
        size = 10 * size + digit;
      }
      if (at_ == first) fail("has a shape that is no list of sizes");
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // suffix of a long in Python 2
      list.push_back(size);
      if (list.size() > max_file_rank) fail("has more than " + std::to_string(max_file_rank) + " dimensions");
      if (!take(',') && !ahead(')')) fail("lacks a comma");
    }
    return list;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// The format from a dtype in NumPy's letters: byte order, kind, and number of bytes.
LEAT_FUNCTION element_format npy_format_of(std::string_view descr) {
  const auto fail = [&](const char* why) { throw unimplemented("NPY: " + in_quotes(descr) + " " + why); };
  constexpr const char* others =
      "is none of float16, float32, float64, int8 to int64, uint8 to uint64 and bool, which are read (as float32, float64, int32, int64, "
      "uint8 and bool)";
  std::string_view rest = descr;
  element_format format;
  if (!rest.empty() && std::string_view("<>|=").find(rest[0]) != rest.npos) {
    format.is_big_endian = rest[0] == '>';
    rest.remove_prefix(1);
  }
  if (rest == "V2") fail("says nothing of its elements: bfloat16, which NumPy lacks, is saved so; save the array as float32");
  if (rest.size() < 2) fail(others);
  switch (rest[0]) {
    case 'f': format.kind = element_kind::floating; break;
    case 'i': format.kind = element_kind::signed_integer; break;
    case 'u': format.kind = element_kind::unsigned_integer; break;
    case 'b': format.kind = element_kind::boolean; break;
    default: fail(others);
  }
  if (rest == "f16" || rest == "f12") fail("is a long double, which no dtype of the library holds");
  const std::string_view widths = "1248";
  if (rest.size() != 2 || widths.find(rest[1]) == rest.npos) fail(others);
  format.bytes = rest[1] - '0';
  if (dtype_as_read(format) == dtype::invalid) fail(others);
  return format;
}

}  // namespace leat::io::detail

namespace leat::io {

LEAT_FUNCTION tensor_proto read_npy(std::string_view bytes) {
  if (!bytes.starts_with("\x93NUMPY")) throw data_loss("not a NPY file");
  if (bytes.size() < 10) throw data_loss("NPY: cut off");
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])); };
  const std::size_t version = byte(6);
  if (version < 1 || version > 3) throw unimplemented("NPY: version " + std::to_string(version));
  const std::size_t begin = version == 1 ? 10 : 12;
  if (bytes.size() < begin) throw data_loss("NPY: cut off");
  std::size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > bytes.size() - begin) throw data_loss("NPY: cut off");
  const detail::npy_header header = detail::npy_header_reader(bytes.substr(begin, length)).read();
  std::string_view elements = bytes.substr(begin + length);

  tensor_proto t;
  const element_format format = detail::npy_format_of(header.descr);
  t.dtype = to_data_type(dtype_as_read(format));
  for (auto size : header.sizes) t.shape.dims.push_back({size, {}});
  if (auto problem = problem_of(t.shape); !problem.empty()) throw data_loss("NPY: the shape " + problem);
  const auto count = static_cast<std::uint64_t>(*element_count(t.shape));
  const auto width = static_cast<std::uint64_t>(format.bytes);
  if (elements.size() % width != 0 || elements.size() / width != count)
    throw data_loss("NPY: " + std::to_string(elements.size()) + " bytes of elements, which is not shape " + to_text(t.shape) + " of " +
                    (is_native(format) ? name_of_data_type(t.dtype) : detail::in_quotes(header.descr)));
  if (t.dtype == data_type::boolean)
    for (char c : elements)
      if (c != '\0' && c != '\1') throw data_loss("NPY: a bool that is neither 0 nor 1");
  if (count == 0) return t;
  std::string changed;
  if (header.fortran_order && header.sizes.size() > 1) elements = changed = row_major_elements(elements, format.bytes, header.sizes);
  if (!is_native(format)) elements = changed = native_elements(format, elements);
  // The same form as `make_tensor_proto` gives a tensor.
  t.field = count == 1 ? field_of(t.dtype) : tensor_field::tensor_content;
  if (count == 1 && t.dtype == data_type::uint8) t.bytes = {elements[0], '\0', '\0', '\0'};
  else if (!changed.empty()) t.bytes = std::move(changed);
  else t.bytes = elements;
  return t;
}

LEAT_FUNCTION std::string write_npy(const tensor_proto& t, std::int64_t limit) {
  std::string elements, descr;
  const auto put = [&]<class T>(T) {
    for (const auto value : contents<T>(t, limit)) {
      const T plain = value;
      elements.append(reinterpret_cast<const char*>(&plain), sizeof(plain));
    }
  };
  for (const auto& row : detail::npy_types)
    if (row.type == t.dtype) descr = row.descr;
  switch (t.dtype) {
    case data_type::float32: put(float{}); break;
    case data_type::float64: put(double{}); break;
    case data_type::int32: put(std::int32_t{}); break;
    case data_type::int64: put(std::int64_t{}); break;
    case data_type::uint8: put(std::uint8_t{}); break;
    case data_type::boolean: put(bool{}); break;
    case data_type::half:
    case data_type::int8:
    case data_type::int16:
    case data_type::uint16:
    case data_type::uint32:
    case data_type::uint64: elements = narrow_contents(t, limit); break;
    default: throw invalid_argument("NPY: " + name_of_data_type(t.dtype) + " is none of half, float32, float64, the integers and bool");
  }
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
  for (const auto& d : t.shape.dims) header += std::to_string(d.size) + ", ";
  if (t.shape.dims.size() > 1) header.resize(header.size() - 2);
  else if (t.shape.dims.size() == 1) header.pop_back();
  header += "), }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header + elements;
}

}  // namespace leat::io
