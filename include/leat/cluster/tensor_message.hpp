#pragma once
// Tensors in messages. A single tensor has its dtype and sizes in the message's header and its elements in the first part. A list of
// tensors has a table in the first part, and one more part per tensor for its elements. Numeric elements are not copied, neither when they
// are sent nor when they arrive: values and frames share memory. Strings are written as their lengths and their bytes.

#include <leat/cluster/transport/wire.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/runtime/state/tensor_value.hpp>

#include <functional>
#include <span>
#include <vector>

namespace leat::cluster {

/// Flag of a message with a tensor: it is a dead value, because its node did not run.
inline constexpr std::uint16_t dead_flag = 1;
/// Flag: the tensor has strings and is sent as a list of one tensor.
inline constexpr std::uint16_t text_flag = 2;
/// Flag: its step is traced, so the receiver records the arrival time.
inline constexpr std::uint16_t traced_flag = 4;

/// A part of a message. Errors: data_loss if the message has fewer parts.
const transport::frame& part_at(const transport::message& m, std::size_t k);

/// Replaces the sizes of a shape of unknown rank.
inline constexpr std::uint64_t unknown_rank = std::uint64_t{1} << 63;

/// Appends a part of integers.
inline void put_words(transport::message& m, std::vector<std::uint64_t> words) {
  m.parts.push_back(transport::frame::of(std::move(words)));
}
/// The integers of a part. Errors: data_loss if their number is not `count`.
std::vector<std::uint64_t> words_of(const transport::message& m, std::size_t part, std::size_t count);

/// Puts one tensor, or an empty value, into a message that has no parts.
void put_tensor(transport::message& m, const tensor_value& value);
/// The tensor of a message; empty if the message says that there is none. Errors: data_loss for inconsistent contents; unimplemented for a
/// dtype without elements.
tensor_value tensor_of(const transport::message& m);

/// Appends a list of tensors to a message's parts; empty values stay empty.
void put_tensors(transport::message& m, std::span<const tensor_value> values);
/// Reads the list that begins at a part. Errors: as tensor_of.
std::vector<tensor_value> tensors_of(const transport::message& m, std::size_t first_part);

/// Values of at least this many bytes are worth memory from which they are sent without a copy.
inline constexpr std::size_t placed_bytes = transport::wire_whole_bytes;
/// An uninitialized value in memory of a message, which `memory(bytes)` allocates; empty if there is no such memory, and for small values.
tensor_value placed_value(dtype type, const shape& extent, const std::function<transport::writable_frame(std::size_t)>& memory);

}  // namespace leat::cluster

#if LEAT_WITH_BODIES
#include <leat/cluster/impl/tensor_message.hpp>
#endif
