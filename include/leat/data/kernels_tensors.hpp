#pragma once
// Kernels that write tensors as messages in strings, and read them again. A sparse tensor is three such strings: its indices, values and
// shape. Source: TensorFlow `SerializeTensor`, `ParseTensor`, `SerializeSparse`, `SerializeManySparse`, `DeserializeSparse`,
// `DeserializeManySparse`.

#include <leat/core/fill.hpp>
#include <leat/io/binary/read.hpp>
#include <leat/io/binary/write.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/moved_texts.hpp>
#include <leat/runtime/kernels/sparse.hpp>
#include <leat/runtime/kernels/sparse_values.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace leat::detail {

/// The message of a tensor. Its elements are its bytes, as in TensorFlow; strings are a field of their own, or, if `is_packed`, their
/// lengths and their bytes.
inline std::string tensor_message(const tensor_value& v, bool is_packed) {
  tensor_proto p{.dtype = to_data_type(v.type()), .field = tensor_field::tensor_content, .shape = to_proto(v.extent())};
  if (v.type() == resource_dtype) throw unimplemented("a message of a handle");
  if (v.type() != text_dtype) {
    p.bytes.assign(reinterpret_cast<const char*>(v.data()), v.bytes());
  } else if (is_packed) {
    for (const std::string& text : v.texts()) {
      std::size_t length = text.size();
      for (; length >= 0x80; length >>= 7) p.bytes.push_back(static_cast<char>(0x80 | (length & 0x7f)));
      p.bytes.push_back(static_cast<char>(length));
    }
    for (const std::string& text : v.texts()) p.bytes += text;
  } else {
    p.field = tensor_field::string_val;
    p.strings = v.texts();
  }
  if (v.elements() == 0) p.field = tensor_field::none;
  std::string bytes;
  protozero::pbf_writer out{bytes};
  io::detail::write_message(out, bytes, p, io::detail::place{}, 1);
  return bytes;
}
/// The bytes that such a message takes, about.
inline std::size_t bytes_of_message(const tensor_value& v) {
  std::size_t bytes = v.bytes() + 64;
  if (v.type() == text_dtype)
    for (const std::string& text : v.texts()) bytes += text.size() + 10;
  return bytes;
}
/// The tensor of a message; nothing if the bytes are no such message. Strings that the message repeats count before they are made.
inline std::optional<tensor_value> parsed_tensor(const std::string& bytes, runtime::text_room& room) {
  tensor_proto p;
  try {
    io::detail::read_message(protozero::pbf_reader{bytes.data(), bytes.size()}, p, io::detail::place{}, 1);
    if (!problem_of(p).empty() || p.shape.dims.size() > static_cast<std::size_t>(max_rank)) return std::nullopt;
  } catch (const protozero::exception&) {
    return std::nullopt;
  } catch (const error&) {
    return std::nullopt;
  }
  if (p.dtype == data_type::string) {
    std::size_t longest = bytes.size();
    if (!p.strings.empty()) longest = std::ranges::max(p.strings, {}, &std::string::size).size();
    const std::int64_t repeated = element_count(p.shape).value_or(0) - static_cast<std::int64_t>(p.strings.size());
    room.take(1, bytes.size());
    if (p.field == tensor_field::string_val && repeated > 0) room.take(repeated, longest);
  }
  return tensor_value::from_proto(p);
}

inline void run_serialize_tensor(kernel_context& c) {
  runtime::text_room room;
  room.take(1, bytes_of_message(c.input(0)));
  tensor_value made(tensor_message(c.input(0), false));
  room.give(made);
  c.set(0, std::move(made));
}
inline void run_parse_tensor(kernel_context& c) {
  if (c.extent(0).rank != 0) throw invalid_argument("Expected `serialized` to be a scalar, got shape: " + brackets(c.extent(0)));
  runtime::text_room room;
  std::optional<tensor_value> made = parsed_tensor(c.input(0).texts()[0], room);
  if (!made) throw invalid_argument("Could not parse `serialized` as TensorProto");
  if (const dtype wanted = c.node.type_of("out_type", made->type()); wanted != made->type())
    throw invalid_argument("Type mismatch between parsed tensor (" + dtype_name(made->type()) + ") and dtype (" + dtype_name(wanted) + ")");
  room.give(*made);
  c.set(0, std::move(*made));
}

/// Some values of a sparse tensor, by their places, as three messages.
inline std::array<std::string, 3> sparse_messages(const runtime::sparse_parts& x, std::size_t from, std::size_t count,
                                                  std::size_t first_axis) {
  const auto n = static_cast<std::int64_t>(count), rank = static_cast<std::int64_t>(x.rank - first_axis);
  std::vector<std::int64_t> indices;
  for (std::size_t k = from; k < from + count; ++k) indices.insert(indices.end(), x.index(k) + first_axis, x.index(k) + x.rank);
  tensor_value values(x.values.type(), {n});
  if (values.type() == text_dtype) {
    std::copy_n(x.values.texts().begin() + static_cast<std::ptrdiff_t>(from), count, values.texts().begin());
  } else if (values.bytes() > 0) {
    std::memcpy(values.data(), x.values.data() + from * (values.bytes() / count), values.bytes());
  }
  const std::vector<std::int64_t> sizes(x.sizes.begin() + static_cast<std::ptrdiff_t>(first_axis), x.sizes.end());
  return {tensor_message(tensor_value({n, rank}, indices), true), tensor_message(values, true), tensor_message(tensor_value(sizes), true)};
}
inline void want_strings(const kernel_context& c, const char* attribute) {
  if (c.node.type_of(attribute, text_dtype) != text_dtype)
    throw unimplemented("messages as variants; set " + std::string(attribute) + " to string");
}
inline void run_serialize_sparse(kernel_context& c) {
  want_strings(c, "out_type");
  const runtime::sparse_parts x(c, 0, 1, 2);
  runtime::text_room room;
  room.take(1, x.indices.size() * 8 + x.sizes.size() * 8 + 128 + bytes_of_message(x.values));
  auto messages = sparse_messages(x, 0, x.count, 0);
  tensor_value made(std::vector<std::string>{std::move(messages[0]), std::move(messages[1]), std::move(messages[2])});
  room.give(made);
  c.set(0, std::move(made));
}
/// Each element along the first axis of a sparse tensor, whose indices are sorted, as a sparse tensor of the other axes.
inline void run_serialize_many_sparse(kernel_context& c) {
  want_strings(c, "out_type");
  const runtime::sparse_parts x(c, 0, 1, 2);
  if (x.rank <= 1) throw invalid_argument("Rank of input SparseTensor should be > 1, but saw rank: " + std::to_string(x.rank));
  x.want_indices_within();
  for (std::size_t k = 1; k < x.count; ++k)
    if (const int order = runtime::compare_indices(x.index(k - 1), x.index(k), x.rank); order >= 0)
      throw invalid_argument("indices[" + std::to_string(k) + "] is " +
                             (order == 0 ? "repeated" : "out of order. Many sparse ops require sorted indices."));
  tensor_value made(text_dtype, {x.sizes[0], 3});
  runtime::text_room room;
  room.take(x.sizes[0], 3 * 128 + x.sizes.size() * 8);
  room.take(1, x.indices.size() * 8 + bytes_of_message(x.values));
  for (std::size_t row = 0, k = 0; row < made.texts().size() / 3; ++row) {
    if (row % 1024 == 0) c.step.check();
    std::size_t end = k;
    while (end < x.count && x.index(end)[0] == static_cast<std::int64_t>(row)) ++end;
    auto messages = sparse_messages(x, k, end - k, 1);
    for (std::size_t part = 0; part < 3; ++part) made.texts()[3 * row + part] = std::move(messages[part]);
    k = end;
  }
  room.give(made);
  c.set(0, std::move(made));
}

/// Sparse tensors from their messages, joined along new axes in front, which the axes of the strings are.
class sparse_reader {
 public:
  sparse_reader(kernel_context& c, dtype type) : c_(c), type_(type) {}

  void run() {
    const shape& s = c_.extent(0);
    if (s.rank < 1) throw invalid_argument("Serialized sparse should have non-zero rank " + brackets(s));
    if (s[s.rank - 1] != 3) throw invalid_argument("Serialized sparse should have 3 as the last dimension " + brackets(s));
    const std::int64_t count = s.elements() / 3;
    if (count == 0)
      throw invalid_argument("Serialized sparse should have at least 1 serialized tensor, but has a zero dimension " + brackets(s));
    for (std::int64_t k = 0; k < count; ++k) {
      if (k % 1024 == 0) c_.step.check();
      read(k);
    }
    const int axes = s.rank - 1;
    const auto rank = sizes_.size();
    std::int64_t total = 0;
    for (const tensor_value& v : values_) total += v.elements();
    tensor_value indices(dtype::int64, {total, static_cast<std::int64_t>(rank) + axes}), values(type_, {total});
    std::int64_t* to = indices.values<std::int64_t>().data();
    for (std::size_t k = 0, row = 0; k < values_.size(); ++k) {
      std::vector<std::int64_t> place(static_cast<std::size_t>(axes));
      for (auto [axis, rest] = std::pair{axes - 1, static_cast<std::int64_t>(k)}; axis >= 0; rest /= s[axis--])
        place[static_cast<std::size_t>(axis)] = rest % s[axis];
      const std::int64_t* from = std::as_const(indices_[k]).values<std::int64_t>().data();
      for (std::int64_t i = 0; i < values_[k].elements(); ++i, from += rank) to = std::copy_n(from, rank, std::ranges::copy(place, to).out);
      const auto its = static_cast<std::size_t>(values_[k].elements());
      if (type_ == text_dtype) std::ranges::move(values_[k].texts(), values.texts().begin() + static_cast<std::ptrdiff_t>(row));
      else if (its > 0) std::memcpy(values.data() + row * (values_[k].bytes() / its), std::as_const(values_[k]).data(), values_[k].bytes());
      row += its;
    }
    std::vector<std::int64_t> sizes;
    for (int axis = 0; axis < axes; ++axis) sizes.push_back(s[axis]);
    sizes.insert(sizes.end(), sizes_.begin(), sizes_.end());
    room_.give(values);
    c_.set(0, std::move(indices));
    c_.set(1, std::move(values));
    c_.set(2, tensor_value(sizes));
  }

 private:
  void read(std::int64_t k) {
    const std::string name = "SparseTensor[" + std::to_string(k) + "]";
    std::array<tensor_value, 3> parts;
    for (std::size_t part = 0; part < 3; ++part) {
      auto parsed = parsed_tensor(c_.input(0).texts()[static_cast<std::size_t>(3 * k) + part], room_);
      if (!parsed) throw invalid_argument("Could not parse serialized proto");
      parts[part] = std::move(*parsed);
      const bool is_values = part == 1;
      if (!is_values && parts[part].type() != dtype::int64)
        throw invalid_argument("Type mismatch: actual " + dtype_name(parts[part].type()) + " vs. expect int64");
      if (is_values && parts[part].type() != type_)
        throw invalid_argument("Requested SparseTensor of type " + dtype_name(type_) + " but " + name +
                               ".values.dtype() == " + dtype_name(parts[part].type()));
      if (parts[part].extent().rank != (part == 0 ? 2 : 1))
        throw invalid_argument("Expected serialized_sparse[" + std::to_string(k) + ", " + std::to_string(part) + "] to represent " +
                               (part == 0   ? "an index matrix"
                                : is_values ? "a values vector"
                                            : "a shape vector") +
                               " but received shape " + brackets(parts[part].extent()));
    }
    const shape& at = parts[0].extent();
    if (at[0] != parts[1].elements())
      throw invalid_argument("Expected row counts of " + name + ".indices and " + name +
                             ".values to match but they do not: " + std::to_string(at[0]) + " vs. " + std::to_string(parts[1].elements()));
    if (at[1] != parts[2].elements())
      throw invalid_argument("Expected column counts of " + name + ".indices to match size of " + name +
                             ".shape but they do not: " + std::to_string(at[1]) + " vs. " + std::to_string(parts[2].elements()));
    const std::vector<std::int64_t> sizes = integers(parts[2]);
    for (const std::int64_t size : sizes)
      if (size < 0) throw invalid_argument(name + " has a shape with the size " + std::to_string(size));
    if (k > 0 && sizes.size() != sizes_.size())
      throw invalid_argument("Inconsistent shape across SparseTensors: rank prior to " + name + " was: " + std::to_string(sizes_.size()) +
                             " but rank of " + name + " is: " + std::to_string(sizes.size()));
    if (k == 0) sizes_ = sizes;
    for (std::size_t d = 0; d < sizes.size(); ++d) sizes_[d] = std::max(sizes_[d], sizes[d]);
    indices_.push_back(std::move(parts[0]));
    values_.push_back(std::move(parts[1]));
  }

  kernel_context& c_;
  const dtype type_;
  runtime::text_room room_;
  std::vector<tensor_value> indices_, values_;
  std::vector<std::int64_t> sizes_;
};

LEAT_FILL(fill_tensor_message_kernels) {
  register_kernel("SerializeTensor", run_serialize_tensor);
  register_kernel("ParseTensor", run_parse_tensor);
  register_kernel("SerializeSparse", run_serialize_sparse);
  register_kernel("SerializeManySparse", run_serialize_many_sparse);
  register_kernel("DeserializeSparse", [](kernel_context& c) {
    want_strings(c, "Tserialized");
    sparse_reader(c, c.node.type_of("dtype")).run();
  });
  register_kernel("DeserializeManySparse", [](kernel_context& c) {
    if (c.extent(0).rank != 2) throw invalid_argument("Serialized sparse should be a matrix, got shape " + brackets(c.extent(0)));
    sparse_reader(c, c.node.type_of("dtype")).run();
  });
}

}  // namespace leat::detail
