#pragma once
// Implementation of tensor_contents.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/proto/attribute_value.hpp>
#include <leat/proto/tensor_contents.hpp>

namespace leat {

LEAT_FUNCTION std::string problem_of(const tensor_shape_proto& shape) {
  if (shape.unknown_rank && !shape.dims.empty()) return "has dimensions and an unknown rank";
  if (shape.dims.size() > max_file_rank)
    return "has rank " + std::to_string(shape.dims.size()) + ", more than " + std::to_string(max_file_rank);
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < shape.dims.size(); ++i) {
    const std::int64_t size = shape.dims[i].size;
    if (size < -1) return "dimension " + std::to_string(i) + " has size " + std::to_string(size);
    if (size < 0) continue;
    if (size > 0 && elements > std::numeric_limits<std::int64_t>::max() / size) return "has more than 2^63 elements";
    elements *= size;
  }
  return {};
}

LEAT_FUNCTION std::optional<std::int64_t> element_count(const tensor_shape_proto& shape) {
  if (shape.unknown_rank || !problem_of(shape).empty()) return std::nullopt;
  std::int64_t elements = 1;
  for (const auto& d : shape.dims) {
    if (d.size < 0) return std::nullopt;
    elements *= d.size;
  }
  return elements;
}

LEAT_FUNCTION std::string to_text(const tensor_shape_proto& shape) {
  if (shape.unknown_rank) return "?";
  std::string text = "[";
  for (const auto& d : shape.dims) {
    if (text.size() > 1) text += ", ";
    text += d.size < 0 ? "?" : std::to_string(d.size);
  }
  return text + "]";
}

}  // namespace leat

namespace leat::detail {

LEAT_FUNCTION std::optional<std::vector<std::string_view>> packed_texts(std::string_view bytes, std::int64_t count) {
  if (count > static_cast<std::int64_t>(bytes.size())) return std::nullopt;  // each length takes at least a byte
  std::vector<std::uint64_t> lengths;
  lengths.reserve(static_cast<std::size_t>(count));
  std::uint64_t total = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint64_t length = 0;
    for (int shift = 0;; shift += 7) {
      if (bytes.empty() || shift > 28) return std::nullopt;
      const auto byte = static_cast<unsigned char>(bytes.front());
      bytes.remove_prefix(1);
      length |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    lengths.push_back(length);
    total += length;
  }
  if (total != bytes.size()) return std::nullopt;
  std::vector<std::string_view> texts;
  texts.reserve(lengths.size());
  for (auto length : lengths) {
    texts.push_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  return texts;
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION std::string problem_of(const tensor_proto& t) {
  // Called for graphs of a million tensors, so strings are built for errors only.
  const auto type = [&] { return name_of_data_type(t.dtype); };
  if (t.dtype == data_type::invalid) return "dtype is missing";
  if (!is_known(t.dtype) || is_reference(t.dtype)) return "dtype " + type() + " is not an element type";
  if (auto problem = problem_of(t.shape); !problem.empty()) return "tensor_shape " + problem;
  const auto count = element_count(t.shape);
  if (!count) return "tensor_shape " + to_text(t.shape) + " is not known whole";

  const auto wanted = [&] { return "shape " + to_text(t.shape) + " of " + type(); };
  if (t.field == tensor_field::none) return {};
  if (t.field == tensor_field::tensor_content) {
    if (t.dtype == data_type::string)
      return detail::packed_texts(t.bytes, *count) ? std::string{} : "tensor_content does not hold the texts of " + wanted();
    const auto size = static_cast<std::uint64_t>(content_size_of(t.dtype));
    if (size == 0) return "tensor_content cannot hold " + type();
    if (t.bytes.size() % size != 0 || t.bytes.size() / size != static_cast<std::uint64_t>(*count))
      return "tensor_content has " + std::to_string(t.bytes.size()) + " bytes, which is not " + wanted();
    return {};
  }

  const auto field = [&] { return std::string(name_of_field(t.field)); };
  if (t.field != field_of(t.dtype)) return field() + " cannot hold " + type();
  std::uint64_t values = t.strings.size();
  if (t.field != tensor_field::string_val) {
    const auto size = static_cast<std::uint64_t>(field_size_of(t.field));
    if (t.bytes.size() % size != 0) return field() + " ends in half a value";
    values = t.bytes.size() / size;
  }
  if (values > static_cast<std::uint64_t>(*count)) return field() + " has " + std::to_string(values) + " values, more than " + wanted();
  if (t.field == tensor_field::int_val || t.field == tensor_field::half_val) {
    const auto [low, high] = detail::range_of(t.dtype);
    for (std::size_t i = 0; i < values; ++i) {
      const auto v = detail::value_at<std::int32_t>(t.bytes, i);
      if (v < low || v > high) return field() + " has " + std::to_string(v) + ", which is not a number of " + type();
    }
  }
  return {};
}

LEAT_FUNCTION std::string content_bytes(const tensor_proto& t, std::int64_t limit) {
  if (stand_in_dtype(static_cast<dtype>(t.dtype)) == dtype::invalid)
    throw invalid_argument("a tensor of " + name_of_data_type(t.dtype) + " is of no narrow or complex dtype");
  if (auto problem = problem_of(t); !problem.empty()) throw invalid_argument("tensor: " + problem);
  const std::int64_t count = *element_count(t.shape);
  if (count > limit) throw invalid_argument("tensor: shape " + to_text(t.shape) + " has more than " + std::to_string(limit) + " elements");
  const auto width = static_cast<std::size_t>(content_size_of(t.dtype)), bytes = static_cast<std::size_t>(count) * width;
  if (t.field == tensor_field::tensor_content) return t.bytes;
  // The numbers of a field are little endian, so that those of a narrower element come first.
  std::string elements;
  elements.reserve(bytes);
  const auto step = t.field == tensor_field::none ? width : static_cast<std::size_t>(field_size_of(t.field));
  for (std::size_t at = 0; at < t.bytes.size(); at += step) elements.append(t.bytes, at, width);
  if (elements.empty()) return std::string(bytes, '\0');
  const std::string last = elements.substr(elements.size() - width);
  while (elements.size() < bytes) elements += last;
  return elements;
}

LEAT_FUNCTION tensor_proto tensor_proto_of_bytes(data_type type, std::string_view elements, tensor_shape_proto shape) {
  const auto width = static_cast<std::size_t>(content_size_of(type)), count = elements.size() / width;
  if (element_count(shape) != static_cast<std::int64_t>(count) || elements.size() % width != 0)
    throw invalid_argument("tensor: " + std::to_string(elements.size()) + " bytes for shape " + to_text(shape) + " of " +
                           name_of_data_type(type));
  tensor_proto t;
  t.dtype = type;
  t.shape = std::move(shape);
  if (count == 0) return t;
  t.field = count == 1 ? field_of(type) : tensor_field::tensor_content;
  t.bytes = elements;
  if (count > 1) return t;
  const bool is_negative = (type == data_type::int8 || type == data_type::int16 || type == data_type::qint8 || type == data_type::qint16) &&
                           (elements.back() & 0x80) != 0;
  t.bytes.resize(static_cast<std::size_t>(field_size_of(t.field)), is_negative ? '\xff' : '\0');
  return t;
}

}  // namespace leat
