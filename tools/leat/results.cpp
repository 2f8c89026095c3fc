#include "results.hpp"

#include <leat/io/encoding.hpp>

#include "graph_file.hpp"
#include "show.hpp"

#include <charconv>
#include <cmath>

namespace tool {

using namespace leat;

namespace {

std::string in_json(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}
/// A text; bytes that are none, which JSON cannot hold, as TensorFlow Serving writes them: {"b64": "..."}.
std::string bytes_in_json(const std::string& bytes) {
  if (io::is_utf8(bytes)) return in_json(bytes);
  std::string coded;
  leat::detail::append_base64(coded, bytes);
  return "{\"b64\": \"" + coded + "\"}";
}

std::string element_of(const tensor_value& value, std::int64_t at, bool json) {
  if (value.type() == text_dtype) {
    const std::string& text = value.texts()[static_cast<std::size_t>(at)];
    return json ? bytes_in_json(text) : in_json(printable(text));
  }
  if (is_complex(value.type())) {  // a pair of numbers
    shape parts;
    parts.push(2 * value.elements());
    const tensor_value pairs = value.reinterpreted(part_dtype(value.type())).reshaped(parts);
    const std::string real = element_of(pairs, 2 * at, json), imaginary = element_of(pairs, 2 * at + 1, json);
    return json ? "[" + real + ", " + imaginary + "]" : "(" + real + "," + imaginary + ")";
  }
  return with_dtype(value.type(), [&]<class T>(T) -> std::string {
    const T element = value.values<T>()[static_cast<std::size_t>(at)];
    if constexpr (std::is_same_v<T, bool>) {
      return element ? "true" : "false";
    } else {
      if constexpr (std::is_floating_point_v<T>)
        if (!std::isfinite(element)) {
          if (json) return std::isnan(element) ? "\"NaN\"" : element > 0 ? "\"Infinity\"" : "\"-Infinity\"";
          return std::isnan(element) ? "nan" : element > 0 ? "inf" : "-inf";
        }
      char text[32];
      const auto end = std::to_chars(text, text + sizeof text, element).ptr;
      return {text, end};
    }
  });
}

class list_writer {
 public:
  list_writer(const tensor_value& value, bool json)
      : value_(value.widened()), is_uint64_(to_data_type(value.type()) == data_type::uint64), json_(json), shortened_(!json && value.elements() > 1000) {}
  std::string write() {
    list(0, 0);
    return std::move(text_);
  }

 private:
  void list(int axis, std::int64_t first) {
    const shape& s = value_.extent();
    if (axis == s.rank) {
      text_ += is_uint64_ ? std::to_string(static_cast<std::uint64_t>(value_.values<std::int64_t>()[static_cast<std::size_t>(first)]))
                          : element_of(value_, first, json_);
      return;
    }
    std::int64_t step = 1;
    for (int a = axis + 1; a < s.rank; ++a) step *= s[a];
    text_ += '[';
    for (std::int64_t i = 0; i < s[axis]; ++i) {
      if (i > 0)
        text_ += json_ || axis + 1 == s.rank ? "," : ",\n" + std::string(static_cast<std::size_t>(axis) + 3, ' ');
      if (i > 0 && (json_ || axis + 1 == s.rank)) text_ += ' ';
      if (shortened_ && s[axis] > 6 && i == 3) {
        text_ += "...";
        i = s[axis] - 4;
        continue;
      }
      list(axis + 1, first + i * step);
    }
    text_ += ']';
  }

  const tensor_value value_;
  bool is_uint64_;
  bool json_;
  bool shortened_;
  std::string text_;
};

}  // namespace

std::string text_of(const tensor_value& value) {
  return dtype_name(value.type()) + " " + to_text(to_proto(value.extent())) + "\n  " +
         list_writer(value, false).write() + "\n";
}

std::string json_of(const tensor_value& value) {
  return "{\"dtype\": \"" + dtype_name(value.type()) + "\", \"shape\": " + to_text(to_proto(value.extent())) +
         ", \"data\": " + list_writer(value, true).write() + "}";
}

}  // namespace tool
