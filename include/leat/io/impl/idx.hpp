#pragma once
// Implementation of idx.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/element_format.hpp>
#include <leat/io/idx.hpp>

#include <algorithm>

namespace leat::io {

LEAT_FUNCTION tensor_proto read_idx(std::string_view bytes) {
  struct kind {
    unsigned char code;
    element_format format;
  };
  static constexpr kind kinds[]{{0x08, {element_kind::unsigned_integer, 1, true}}, {0x09, {element_kind::signed_integer, 1, true}},
                                {0x0b, {element_kind::signed_integer, 2, true}},   {0x0c, {element_kind::signed_integer, 4, true}},
                                {0x0d, {element_kind::floating, 4, true}},         {0x0e, {element_kind::floating, 8, true}}};
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])); };
  if (bytes.size() < 4 || byte(0) != 0 || byte(1) != 0) throw data_loss("not an IDX file: it begins with two zero bytes");
  const auto* found = std::find_if(std::begin(kinds), std::end(kinds), [&](const kind& k) { return k.code == byte(2); });
  if (found == std::end(kinds)) throw data_loss("IDX: the type " + std::to_string(byte(2)) + " is none of 8, 9, 11, 12, 13 and 14");
  const std::size_t rank = byte(3), begin = 4 + 4 * rank;
  if (rank > max_file_rank) throw data_loss("IDX: more than " + std::to_string(max_file_rank) + " dimensions");
  if (bytes.size() < begin) throw data_loss("IDX: cut off within the sizes");

  tensor_proto t;
  t.dtype = to_data_type(dtype_as_read(found->format));
  for (std::size_t k = 0; k < rank; ++k) {
    const std::size_t at = 4 + 4 * k;
    t.shape.dims.push_back({std::int64_t{byte(at) << 24 | byte(at + 1) << 16 | byte(at + 2) << 8 | byte(at + 3)}, {}});
  }
  if (auto problem = problem_of(t.shape); !problem.empty()) throw data_loss("IDX: the shape " + problem);
  const auto count = static_cast<std::uint64_t>(*element_count(t.shape));
  const std::string_view elements = bytes.substr(begin);
  const auto width = static_cast<std::size_t>(found->format.bytes);
  if (elements.size() % width != 0 || elements.size() / width != count)
    throw data_loss("IDX: " + std::to_string(elements.size()) + " bytes of elements, which is not shape " + to_text(t.shape) + " of " +
                    std::to_string(width) + " bytes each");
  if (count == 0) return t;
  std::string turned = native_elements(found->format, elements);
  // The same form as `make_tensor_proto` gives a tensor.
  t.field = count == 1 ? field_of(t.dtype) : tensor_field::tensor_content;
  if (count == 1 && t.dtype == data_type::uint8) turned.append(3, '\0');
  t.bytes = std::move(turned);
  return t;
}

}  // namespace leat::io
