#pragma once
// Implementation of literal.hpp.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/literal.hpp>
#include <leat/proto/attribute_value.hpp>

namespace leat {

LEAT_FUNCTION tensor_literal::tensor_literal(data_type type, const shape& extent) : type_(type), extent_(extent) {}
LEAT_FUNCTION tensor_literal::tensor_literal(const char* text) : tensor_literal(std::string(text)) {}
LEAT_FUNCTION tensor_literal::tensor_literal(std::string text) : type_(data_type::string) { texts_.push_back(std::move(text)); }
LEAT_FUNCTION tensor_literal::tensor_literal(const tensor_literal&) = default;
LEAT_FUNCTION tensor_literal::tensor_literal(tensor_literal&&) noexcept = default;
LEAT_FUNCTION tensor_literal& tensor_literal::operator=(const tensor_literal&) = default;
LEAT_FUNCTION tensor_literal& tensor_literal::operator=(tensor_literal&&) noexcept = default;
LEAT_FUNCTION tensor_literal::~tensor_literal() = default;
LEAT_FUNCTION tensor_literal::tensor_literal(dtype type, const shape& extent, double value) : type_(to_data_type(type)), extent_(extent) {
  put_number(value);
  fill();
}
LEAT_FUNCTION tensor_literal::tensor_literal(dtype type, const shape& extent, std::span<const std::byte> elements)
    : type_(to_data_type(type)), extent_(extent), bytes_(reinterpret_cast<const char*>(elements.data()), elements.size()) {}
LEAT_FUNCTION tensor_literal::tensor_literal(data_type type, const shape& extent, std::vector<std::string> texts)
    : type_(type), extent_(extent), texts_(std::move(texts)) {}

LEAT_FUNCTION tensor_shape_proto to_proto(const shape& s) {
  tensor_shape_proto p;
  p.unknown_rank = !s.has_rank();
  for (int i = 0; i < s.rank; ++i) p.dims.push_back({s[i] < 0 ? -1 : s[i], {}});
  return p;
}

LEAT_FUNCTION shape to_shape(const tensor_shape_proto& p) {
  if (p.unknown_rank || p.dims.size() > static_cast<std::size_t>(max_rank)) return shape::unknown();
  shape s;
  for (const auto& d : p.dims) s.push(d.size < 0 ? unknown_dimension : d.size);
  return s;
}

LEAT_FUNCTION tensor_literal tensor_literal::as(dtype type) const {
  if (type_ == to_data_type(type)) return *this;
  tensor_literal result(type, {});
  result.extent_ = extent_;
  result.bytes_.clear();
  for (std::int64_t i = 0; i < stored(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (type_ == data_type::complex64 && is_complex(type)) {
      result.put_complex(static_cast<double>(detail::get_bytes<float>(bytes_, 2 * at)),
                         static_cast<double>(detail::get_bytes<float>(bytes_, 2 * at + 1)));
      continue;
    }
    if (type_ == data_type::complex128 && is_complex(type)) {
      result.put_complex(detail::get_bytes<double>(bytes_, 2 * at), detail::get_bytes<double>(bytes_, 2 * at + 1));
      continue;
    }
    const double v = number(i);
    if (!is_floating(type) && !is_complex(type) && (is_floating(to_dtype(type_)) || type == dtype::boolean))
      throw invalid_argument("Expected " + std::string(name_of_dtype(type)) + ", but got a number of type '" +
                             std::string(name_of_dtype(to_dtype(type_))) + "'");
    result.put_number(v);
  }
  return result;
}

LEAT_FUNCTION double tensor_literal::number(std::int64_t i) const {
  const auto at = static_cast<std::size_t>(i);
  switch (to_dtype(type_)) {
    case dtype::float32: return static_cast<double>(detail::get_bytes<float>(bytes_, at));
    case dtype::float64: return detail::get_bytes<double>(bytes_, at);
    case dtype::int32: return detail::get_bytes<std::int32_t>(bytes_, at);
    case dtype::int64: return static_cast<double>(detail::get_bytes<std::int64_t>(bytes_, at));
    case dtype::uint8: return static_cast<unsigned char>(bytes_[at]);
    case dtype::boolean: return bytes_[at] != 0 ? 1 : 0;
    case dtype::invalid: break;
  }
  if (is_complex(array_dtype(type_))) throw invalid_argument("a complex number where a real one is wanted");
  throw invalid_argument("text where a number is wanted");
}

LEAT_FUNCTION tensor_proto tensor_literal::proto() const {
  tensor_proto p;
  p.dtype = type_;
  p.shape = to_proto(extent_);
  if (type_ == data_type::string) {
    p.field = tensor_field::string_val;
    p.strings = texts_;
  } else if (stored() > 1) {
    p.field = tensor_field::tensor_content;
    p.bytes = bytes_;
  } else if (stored() == 1 && extent_.elements() != 0) {  // an empty array has no value, though one is stored
    p.field = detail::field_of(type_);
    if (type_ == data_type::uint8) detail::put_bytes(p.bytes, static_cast<std::int32_t>(number(0)));
    else p.bytes = bytes_;
  }
  return p;
}

LEAT_FUNCTION void tensor_literal::fill() {
  if (!extent_.is_static()) throw invalid_argument("an array literal needs a shape whose rank and sizes are all known");
  const std::int64_t wanted = extent_.elements();
  const std::int64_t have = stored();
  if (have > wanted && !(have == 1 && wanted == 0))
    throw invalid_argument("Too many elements provided. Takes at most " + std::to_string(wanted) + ", but got " + std::to_string(have) +
                           ".");
  if (type_ == data_type::string || have == 1 || have == 0) return;
  const auto width = static_cast<std::size_t>(content_size_of(type_));
  const std::string last = bytes_.substr(bytes_.size() - width);
  for (std::int64_t i = have; i < wanted; ++i) bytes_ += last;
}

LEAT_FUNCTION std::optional<std::vector<std::int64_t>> integers_of(const tensor_proto& p, std::int64_t limit) {
  std::int64_t count = 1;
  for (const auto& d : p.shape.dims) {
    if (d.size < 0 || d.size > limit) return std::nullopt;
    count *= d.size;
    if (count > limit) return std::nullopt;
  }
  if (p.shape.unknown_rank || (p.dtype != data_type::int32 && p.dtype != data_type::int64)) return std::nullopt;
  const bool wide = p.dtype == data_type::int64;
  const std::size_t stored = p.bytes.size() / (wide ? 8 : 4);
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t at = static_cast<std::size_t>(i) < stored ? static_cast<std::size_t>(i) : stored - 1;
    if (stored == 0) values.push_back(0);
    else values.push_back(wide ? detail::get_bytes<std::int64_t>(p.bytes, at) : detail::get_bytes<std::int32_t>(p.bytes, at));
  }
  return values;
}

LEAT_FUNCTION tensor_literal::tensor_literal(dtype type, const shape& extent, kept_number value)
    : type_(to_data_type(type)), extent_(extent) {
  if (is_floating(type)) put_number(std::bit_cast<double>(value.bits));
  else put_number(value.bits);
  fill();
}

LEAT_FUNCTION void tensor_literal::put_complex(double real, double imaginary) {
  if (type_ == data_type::complex128) {
    detail::put_bytes(bytes_, real);
    detail::put_bytes(bytes_, imaginary);
  } else {
    detail::put_bytes(bytes_, static_cast<float>(real));
    detail::put_bytes(bytes_, static_cast<float>(imaginary));
  }
}

LEAT_FUNCTION tensor_literal tensor_literal::shaped(const shape& extent) const {
  tensor_literal result(*this);
  result.extent_ = extent;
  result.fill();
  return result;
}

LEAT_FUNCTION std::int64_t tensor_literal::stored() const {
  return type_ == data_type::string ? static_cast<std::int64_t>(texts_.size())
                                    : static_cast<std::int64_t>(bytes_.size()) / content_size_of(type_);
}

}  // namespace leat
