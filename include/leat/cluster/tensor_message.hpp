#pragma once
// Tensors in messages. One tensor is the message's own: dtype and sizes in its header, elements in its first part. A list of tensors has a
// table in the first part, and a part for the elements of each. Numbers are not copied, neither when they are sent nor when they arrive:
// values and frames share memory. Strings are written as their lengths and their bytes.

#include <leat/cluster/transport/wire.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/runtime/state/tensor_value.hpp>

#include <functional>
#include <span>
#include <vector>

namespace leat::cluster {

/// A flag of a message with a tensor: there is none, because its node did not run.
inline constexpr std::uint16_t dead_flag = 1;
/// It is one of strings, in a list of one.
inline constexpr std::uint16_t text_flag = 2;
/// Its step is traced: who receives it notes when.
inline constexpr std::uint16_t traced_flag = 4;

/// A part of a message. Errors: data_loss if it has fewer.
const transport::frame& part_at(const transport::message& m, std::size_t k);

/// In the place of a shape's sizes: its rank is unknown.
inline constexpr std::uint64_t unknown_rank = std::uint64_t{1} << 63;

/// Appends a part of whole numbers.
inline void put_words(transport::message& m, std::vector<std::uint64_t> words) {
  m.parts.push_back(transport::frame::of(std::move(words)));
}
/// The whole numbers of a part. Errors: data_loss if there are others than `count`.
std::vector<std::uint64_t> words_of(const transport::message& m, std::size_t part, std::size_t count);

/// Puts one tensor, or none, into a message whose parts are empty.
void put_tensor(transport::message& m, const tensor_value& value);
/// The tensor of a message, empty if it says that there is none. Errors: data_loss if it contradicts itself; unimplemented for a dtype that
/// has no elements.
tensor_value tensor_of(const transport::message& m);

/// Appends a list of tensors to a message's parts; empty values stay empty.
void put_tensors(transport::message& m, std::span<const tensor_value> values);
/// The list that begins at a part. Errors: as tensor_of.
std::vector<tensor_value> tensors_of(const transport::message& m, std::size_t first_part);

/// Values from so many bytes on are worth memory that they are sent from without a copy.
inline constexpr std::size_t placed_bytes = transport::wire_whole_bytes;
/// An uninitialized value in memory of a message, `memory(bytes)`; empty if there is none, and for small values.
tensor_value placed_value(dtype type, const shape& extent, const std::function<transport::writable_frame(std::size_t)>& memory);

}  // namespace leat::cluster

#if LEAT_WITH_BODIES
#include <leat/cluster/tensor_message_bodies.hpp>
#endif
