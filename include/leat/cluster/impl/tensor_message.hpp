#pragma once
// Implementation of tensor_message.hpp.

#include <leat/cluster/tensor_message.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>

#include <cstring>

namespace leat::cluster {

/// Keeps received memory, or memory to be sent, alive as long as a value refers to it.
class message_memory final : public resource {
 public:
  explicit message_memory(transport::frame f) : frame_(std::move(f)) {}

 private:
  transport::frame frame_;
};

inline transport::frame elements_frame(const tensor_value& value) {
  if (value.type() == text_dtype) {
    std::string bytes;
    const auto put = [&](std::uint64_t n) { bytes.append(reinterpret_cast<const char*>(&n), sizeof n); };
    for (const std::string& text : value.texts()) put(text.size());
    for (const std::string& text : value.texts()) bytes += text;
    return transport::frame::of(std::move(bytes));
  }
  if (element_bytes(value.type()) == 0)
    throw unimplemented("a tensor of dtype " + dtype_name(value.type()) + " cannot be sent to another task");
  // Small values are copied into the message's head anyway. Placed values are meant to be sent as they are.
  auto owner = std::make_shared<const tensor_value>(value.is_placed() ? value : value.kept());
  const std::byte* const data = owner->data();
  const std::size_t bytes = owner->bytes();
  return transport::frame(std::move(owner), data, bytes);
}

inline tensor_value value_in(const transport::frame& f, dtype type, const std::vector<std::int64_t>& sizes) {
  const auto refuse = [](const std::string& why) -> void { throw data_loss("a message with a tensor: " + why); };
  if (sizes.size() > static_cast<std::size_t>(max_rank)) refuse("more than 8 dimensions");
  shape extent;
  for (const std::int64_t n : sizes) {
    if (n < 0) refuse("the size " + std::to_string(n));
    extent.push(n);
  }
  if (!extent.is_countable()) refuse("more elements than there can be");
  const auto count = static_cast<std::uint64_t>(extent.elements());
  if (type == text_dtype) {
    if (count > f.size() / 8) refuse("texts without their lengths");
    tensor_value value(type, extent);
    const std::byte* length = f.data();
    std::uint64_t at = 8 * count;
    for (std::string& text : value.texts()) {
      std::uint64_t n = 0;
      std::memcpy(&n, length, sizeof n);
      length += sizeof n;
      if (n > f.size() - at) refuse("a text beyond its end");
      text.assign(reinterpret_cast<const char*>(f.data()) + at, static_cast<std::size_t>(n));
      at += n;
    }
    if (at != f.size()) refuse("bytes after its texts");
    return value;
  }
  const auto size = static_cast<std::uint64_t>(element_bytes(type));
  if (size == 0 || to_data_type(type) == data_type::invalid) refuse("the dtype " + std::to_string(static_cast<int>(type)));
  if (f.size() % size != 0 || f.size() / size != count)
    refuse(std::to_string(f.size()) + " bytes for " + dtype_name(type) + " " + brackets(extent));
  if (type == dtype::boolean)
    for (const std::byte b : f.bytes())
      if (b > std::byte{1}) refuse("a bool that is neither 0 nor 1");
  if (f.size() < 4096 || reinterpret_cast<std::uintptr_t>(f.data()) % size != 0) {
    tensor_value value(type, extent);
    if (f.size() > 0) std::memcpy(value.data(), f.data(), f.size());
    return value;
  }
  return tensor_value::borrow(type, extent, const_cast<std::byte*>(f.data()), std::make_shared<message_memory>(f));
}

}  // namespace leat::cluster

namespace leat::cluster {

LEAT_FUNCTION const transport::frame& part_at(const transport::message& m, std::size_t k) {
  if (k >= m.parts.size()) throw data_loss("a message of " + std::to_string(m.parts.size()) + " parts, fewer than its method has");
  return m.parts[k];
}

LEAT_FUNCTION std::vector<std::uint64_t> words_of(const transport::message& m, std::size_t part, std::size_t count) {
  if (part >= m.parts.size() || m.parts[part].size() != 8 * count)
    throw data_loss("a message without its " + std::to_string(count) + " numbers");
  std::vector<std::uint64_t> words(count);
  if (count > 0) std::memcpy(words.data(), m.parts[part].data(), 8 * count);
  return words;
}

LEAT_FUNCTION void put_tensor(transport::message& m, const tensor_value& value) {
  if (!value) {
    m.flags |= dead_flag;
    return;
  }
  if (value.type() == text_dtype) {
    m.flags |= text_flag;
    return put_tensors(m, {&value, 1});
  }
  for (int i = 0; i < value.extent().rank; ++i) m.sizes.push_back(value.extent()[i]);
  m.element = value.type();
  m.parts.push_back(elements_frame(value));
}

LEAT_FUNCTION tensor_value tensor_of(const transport::message& m) {
  if ((m.flags & dead_flag) != 0) return {};
  if ((m.flags & text_flag) != 0) {
    auto values = tensors_of(m, 0);
    if (values.size() != 1) throw data_loss("a message with a tensor: " + std::to_string(values.size()) + " of them");
    return std::move(values[0]);
  }
  if (m.parts.size() != 1) throw data_loss("a message with a tensor: " + std::to_string(m.parts.size()) + " parts");
  return value_in(m.parts[0], m.element, m.sizes);
}

// The table, all int64: the number of tensors, then for each tensor its dtype (-1 for none), its rank and its sizes.
LEAT_FUNCTION void put_tensors(transport::message& m, std::span<const tensor_value> values) {
  std::vector<std::int64_t> table{static_cast<std::int64_t>(values.size())};
  std::vector<transport::frame> elements;
  for (const tensor_value& v : values) {
    table.push_back(v ? static_cast<std::int64_t>(v.type()) : -1);
    if (!v) continue;
    table.push_back(v.extent().rank);
    for (int i = 0; i < v.extent().rank; ++i) table.push_back(v.extent()[i]);
    elements.push_back(elements_frame(v));
  }
  m.parts.push_back(transport::frame::of(std::move(table)));
  for (auto& e : elements) m.parts.push_back(std::move(e));
}

LEAT_FUNCTION std::vector<tensor_value> tensors_of(const transport::message& m, std::size_t first_part) {
  const auto refuse = [](const char* why) -> void { throw data_loss(std::string("a message with tensors: ") + why); };
  if (m.parts.size() <= first_part) refuse("no table of them");
  const transport::frame& table = m.parts[first_part];
  std::size_t at = 0;
  const auto next = [&] {
    std::int64_t n = 0;
    if (table.size() - at < sizeof n) refuse("its table is cut off");
    std::memcpy(&n, table.data() + at, sizeof n);
    at += sizeof n;
    return n;
  };
  const std::int64_t count = next();
  if (count < 0 || static_cast<std::uint64_t>(count) > table.size() / 8) refuse("more tensors than its table holds");
  std::vector<tensor_value> values;
  std::size_t part = first_part + 1;
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t type = next();
    if (type < 0) {
      values.emplace_back();
      continue;
    }
    if (type > 255) refuse("a dtype that is none");
    const std::int64_t rank = next();
    if (rank < 0 || rank > max_rank) refuse("a rank that is none");
    std::vector<std::int64_t> sizes;
    for (std::int64_t i = 0; i < rank; ++i) sizes.push_back(next());
    if (part >= m.parts.size()) refuse("a tensor without elements");
    values.push_back(value_in(m.parts[part++], static_cast<dtype>(type), sizes));
  }
  if (at != table.size() || part != m.parts.size()) refuse("more than its table tells");
  return values;
}

LEAT_FUNCTION tensor_value placed_value(dtype type, const shape& extent,
                                        const std::function<transport::writable_frame(std::size_t)>& memory) {
  if (!memory || element_bytes(type) == 0 || !extent.is_countable()) return {};
  const std::size_t bytes = static_cast<std::size_t>(extent.elements()) * static_cast<std::size_t>(element_bytes(type));
  if (bytes < placed_bytes) return {};
  transport::writable_frame room = memory(bytes);
  if (room.size() == 0) return {};
  return tensor_value::place(type, extent, room.data(), std::make_shared<message_memory>(room));
}

}  // namespace leat::cluster
