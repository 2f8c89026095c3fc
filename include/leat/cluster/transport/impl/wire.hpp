#pragma once
// Implementation of wire.hpp.

#include <leat/cluster/transport/wire.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>

#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

namespace leat::transport {

namespace detail {

// Where a part is stored: behind the header, in a frame of its own, or in chunks that follow.
enum class place : std::uint64_t { packed = 0, framed = 1, chunked = 2 };

template <class T>
void put(std::byte* to, T value) {
  static_assert(std::endian::native == std::endian::little, "numbers are written as they are in memory");
  std::memcpy(to, &value, sizeof(T));
}
template <class T>
T get(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

constexpr std::size_t up_to_8(std::size_t n) { return (n + 7) & ~std::size_t{7}; }

struct wire_header {
  std::uint16_t what = 0, method = 0, flags = 0, parts = 0;
  std::uint8_t element = 0, rank = 0;
  std::uint64_t number = 0, incarnation = 0, mark = 0;
  std::uint32_t edge = 0, part = 0;
  std::int64_t deadline = 0;
  std::uint64_t offset = 0;  // of a chunk; in other packets the bytes of all parts
};

LEAT_FUNCTION void write_header(std::byte* to, const wire_header& h) {
  put(to, wire_magic), put(to + 4, wire_version), put(to + 6, h.what), put(to + 8, h.method), put(to + 10, h.flags);
  put(to + 12, h.parts), put(to + 14, h.element), put(to + 15, h.rank), put(to + 16, h.number), put(to + 24, h.incarnation);
  put(to + 32, h.edge), put(to + 36, h.part), put(to + 40, h.deadline), put(to + 48, h.offset), put(to + 56, h.mark);
}

LEAT_FUNCTION wire_header read_header(std::span<const std::byte> head) {
  if (head.size() < wire_header_bytes)
    throw data_loss("a message of " + std::to_string(head.size()) + " bytes: a header has " + std::to_string(wire_header_bytes));
  const std::byte* const from = head.data();
  if (get<std::uint32_t>(from) != wire_magic) throw data_loss("not a message of this protocol: it does not begin with LEAT");
  const auto version = get<std::uint16_t>(from + 4);
  if (version != wire_version)
    throw failed_precondition("the peer speaks version " + std::to_string(version) + " of the protocol, this process version " +
                              std::to_string(wire_version) + ": use one version of the library on both sides");
  wire_header h;
  h.what = get<std::uint16_t>(from + 6), h.method = get<std::uint16_t>(from + 8), h.flags = get<std::uint16_t>(from + 10);
  h.parts = get<std::uint16_t>(from + 12), h.element = get<std::uint8_t>(from + 14), h.rank = get<std::uint8_t>(from + 15);
  h.number = get<std::uint64_t>(from + 16), h.incarnation = get<std::uint64_t>(from + 24), h.edge = get<std::uint32_t>(from + 32);
  h.part = get<std::uint32_t>(from + 36), h.deadline = get<std::int64_t>(from + 40), h.offset = get<std::uint64_t>(from + 48);
  h.mark = get<std::uint64_t>(from + 56);
  if (h.what == 0 || h.what > static_cast<std::uint16_t>(last_kind))
    throw data_loss("a message of kind " + std::to_string(h.what) + ", which does not exist");
  if (h.deadline < 0) throw data_loss("a message with a negative deadline");
  return h;
}

// The size of a tensor in bytes; empty if its sizes or their product are invalid. Dtypes that are not numeric have a byte format of their
// own.
LEAT_FUNCTION std::optional<std::uint64_t> tensor_bytes(dtype element, std::span<const std::int64_t> sizes) {
  std::uint64_t bytes = static_cast<std::uint64_t>(size_of(element));
  for (const std::int64_t size : sizes)
    if (size < 0) return std::nullopt;
  for (const std::int64_t size : sizes)
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes)) return std::nullopt;
  return bytes;
}

}  // namespace detail

LEAT_FUNCTION std::uint64_t message::bytes() const {
  std::uint64_t sum = 0;
  for (const frame& part : parts) sum += part.size();
  return sum;
}

LEAT_FUNCTION void encode(const message& m, std::size_t chunk_bytes, std::vector<packet>& out,
                          const std::function<writable_frame(std::size_t)>& memory) {
  if (m.parts.size() > wire_limits().parts)
    throw invalid_argument("a message of " + std::to_string(m.parts.size()) + " parts; at most " + std::to_string(wire_limits().parts) +
                           " are possible");
  if (m.sizes.size() > wire_limits().rank)
    throw invalid_argument("a tensor of rank " + std::to_string(m.sizes.size()) + " in a message; at most " +
                           std::to_string(wire_limits().rank));
  if (m.element != dtype::invalid && size_of(m.element) > 0) {
    const auto bytes = detail::tensor_bytes(m.element, m.sizes);
    if (m.parts.empty() || !bytes || *bytes != m.parts[0].size())
      throw invalid_argument("a message with a tensor of " + std::to_string(m.parts.empty() ? 0 : m.parts[0].size()) +
                             " bytes, which its shape and dtype do not give");
  }
  const std::size_t largest = chunk_bytes == 0 ? SIZE_MAX : chunk_bytes;
  const std::size_t tables = wire_header_bytes + 8 * (m.sizes.size() + m.parts.size());
  std::size_t packed = 0;
  std::size_t frames = 0;
  std::size_t framed = 0;
  std::size_t whole = 0;
  std::array<detail::place, 64> few_places;
  std::vector<detail::place> many_places;
  if (m.parts.size() > few_places.size()) many_places.resize(m.parts.size());
  detail::place* const places = many_places.empty() ? few_places.data() : many_places.data();
  for (std::size_t i = 0; i < m.parts.size(); ++i) {
    const std::size_t size = m.parts[i].size();
    if (packed + size <= wire_packed_bytes) {
      places[i] = detail::place::packed;
      packed += detail::up_to_8(size);
    } else if (chunk_bytes == 0 || (size <= largest && frames < wire_packet_frames &&
                                    (size < wire_whole_bytes ? whole < wire_whole_parts : framed + size <= largest))) {
      whole += size < wire_whole_bytes;
      ++frames;
      places[i] = detail::place::framed;
      framed += size;
    } else {
      places[i] = detail::place::chunked;
    }
  }

  detail::wire_header h;
  h.what = static_cast<std::uint16_t>(m.what), h.method = m.method, h.flags = m.flags;
  h.parts = static_cast<std::uint16_t>(m.parts.size()), h.element = static_cast<std::uint8_t>(m.element);
  h.rank = static_cast<std::uint8_t>(m.sizes.size()), h.number = m.number, h.incarnation = m.incarnation, h.edge = m.edge;
  h.deadline = m.deadline, h.offset = m.bytes(), h.mark = m.mark;
  writable_frame head = memory ? memory(tables + packed) : writable_frame::make(tables + packed);
  detail::write_header(head.data(), h);
  std::byte* at = head.data() + wire_header_bytes;
  for (const std::int64_t size : m.sizes) detail::put(at, size), at += 8;
  for (std::size_t i = 0; i < m.parts.size(); ++i)
    detail::put(at, std::uint64_t{m.parts[i].size()} * 4 + static_cast<std::uint64_t>(places[i])), at += 8;
  packet first;
  first.frames.reserve(2);
  for (std::size_t i = 0; i < m.parts.size(); ++i) {
    const std::size_t size = m.parts[i].size();
    if (places[i] != detail::place::packed || size == 0) continue;
    std::memcpy(at, m.parts[i].data(), size);
    std::memset(at + size, 0, detail::up_to_8(size) - size);
    at += detail::up_to_8(size);
  }
  first.frames.push_back(head);
  for (std::size_t i = 0; i < m.parts.size(); ++i)
    if (places[i] == detail::place::framed) first.frames.push_back(m.parts[i]);
  out.push_back(std::move(first));

  h.what = static_cast<std::uint16_t>(kind::chunk), h.parts = 1, h.rank = 0, h.element = 0;
  for (std::size_t i = 0; i < m.parts.size(); ++i) {
    if (places[i] != detail::place::chunked) continue;
    for (std::size_t offset = 0; offset < m.parts[i].size(); offset += largest) {
      h.part = static_cast<std::uint32_t>(i), h.offset = offset;
      writable_frame again = writable_frame::make(wire_header_bytes);
      detail::write_header(again.data(), h);
      out.push_back({{again, m.parts[i].piece(offset, std::min(largest, m.parts[i].size() - offset))}});
    }
  }
}

LEAT_FUNCTION std::optional<kind> peek_kind(const packet& p) {
  if (p.frames.empty() || p.frames[0].size() < wire_header_bytes) return std::nullopt;
  if (detail::get<std::uint32_t>(p.frames[0].data()) != wire_magic) return std::nullopt;
  const auto what = detail::get<std::uint16_t>(p.frames[0].data() + 6);
  if (what == 0 || what > static_cast<std::uint16_t>(last_kind)) return std::nullopt;
  return static_cast<kind>(what);
}

LEAT_FUNCTION std::optional<message> assembler::add(packet p) {
  if (p.frames.empty()) throw data_loss("a message without a header");
  frame head = p.frames[0];
  const detail::wire_header h = detail::read_header(head.bytes());
  if (static_cast<kind>(h.what) == kind::chunk) return add_chunk(p);

  const std::size_t tables = wire_header_bytes + 8 * (std::size_t{h.rank} + h.parts);
  if (head.size() < tables)
    throw data_loss("a message cut off: " + std::to_string(head.size()) + " bytes of head, its tables need " + std::to_string(tables));
  if (h.rank > limits_.rank || h.parts > limits_.parts)
    throw resource_exhausted("a message of " + std::to_string(h.parts) + " parts, rank " + std::to_string(h.rank) +
                             ", more than this side accepts");
  if (h.offset > limits_.message_bytes)
    throw resource_exhausted("a message of " + std::to_string(h.offset) + " bytes, this side accepts " +
                             std::to_string(limits_.message_bytes));
  // Numbers are read in place; a head that the transport stored at an unaligned address is copied first.
  if (head.size() > tables && reinterpret_cast<std::uintptr_t>(head.data()) % 8 != 0) head = frame::copy_of(head.bytes());

  incomplete made;
  message& m = made.m;
  m.what = static_cast<kind>(h.what), m.method = h.method, m.flags = h.flags, m.edge = h.edge, m.number = h.number;
  m.incarnation = h.incarnation, m.mark = h.mark, m.deadline = h.deadline, m.element = static_cast<dtype>(h.element);
  // A head in shared memory might change while it is read, so a copy is checked.
  std::array<std::byte, 512> small_tables;
  std::vector<std::byte> large_tables;
  const std::size_t table_bytes = tables - wire_header_bytes;
  if (table_bytes > small_tables.size()) large_tables.resize(table_bytes);
  std::byte* const copied = large_tables.empty() ? small_tables.data() : large_tables.data();
  std::memcpy(copied, head.data() + wire_header_bytes, table_bytes);
  const std::byte* at = copied;
  m.sizes.reserve(h.rank);
  for (unsigned i = 0; i < h.rank; ++i, at += 8) m.sizes.push_back(detail::get<std::int64_t>(at));

  m.parts.resize(h.parts);
  std::uint64_t sum = 0;
  std::size_t packed = tables;
  std::size_t framed = 1;
  std::uint64_t first_size = 0;
  for (unsigned i = 0; i < h.parts; ++i, at += 8) {
    const auto entry = detail::get<std::uint64_t>(at);
    const std::uint64_t size = entry / 4;
    if (i == 0) first_size = size;
    if (size > h.offset - sum) throw data_loss("the parts of a message are longer than it says in all");
    sum += size;
    switch (static_cast<detail::place>(entry % 4)) {
      case detail::place::packed:
        if (size > head.size() || detail::up_to_8(static_cast<std::size_t>(size)) > head.size() - packed)
          throw data_loss("a message cut off: a packed part of " + std::to_string(size) + " bytes does not fit its head");
        m.parts[i] = head.piece(packed, static_cast<std::size_t>(size));
        packed += detail::up_to_8(static_cast<std::size_t>(size));
        break;
      case detail::place::framed:
        if (framed == p.frames.size() || p.frames[framed].size() != size)
          throw data_loss("a message without the frame of " + std::to_string(size) + " bytes that its head announces");
        m.parts[i] = std::move(p.frames[framed++]);
        break;
      case detail::place::chunked:
        if (size == 0) throw data_loss("a part of no bytes in chunks");
        made.wanted.push_back({i, size});
        break;
      default: throw data_loss("a part of a message at an unknown place");
    }
  }
  if (sum != h.offset) throw data_loss("the parts of a message are shorter than it says in all");
  if (framed != p.frames.size() || packed != head.size()) throw data_loss("a message with bytes that belong to no part");
  if (m.element != dtype::invalid) {
    const auto bytes = detail::tensor_bytes(m.element, m.sizes);
    if (!bytes || h.parts == 0) throw data_loss("a message with a tensor of impossible sizes");
    if (size_of(m.element) > 0 && *bytes != first_size) throw data_loss("a message with a tensor whose sizes do not give its bytes");
  }
  if (made.wanted.empty()) return std::move(m);
  if (waiting_) throw data_loss("a message in chunks begins before the last one has ended");
  waiting_ = std::move(made);
  return std::nullopt;
}

LEAT_FUNCTION std::optional<message> assembler::add_chunk(const packet& p) {
  const detail::wire_header h = detail::read_header(p.frames[0].bytes());
  if (!waiting_) throw data_loss("a chunk of no message");
  incomplete& w = *waiting_;
  const wanted_part wanted = w.wanted[w.now];
  if (p.frames.size() != 2 || p.frames[0].size() != wire_header_bytes) throw data_loss("a chunk has a header and one frame");
  if (h.number != w.m.number || h.part != wanted.part || h.offset != w.offset) throw data_loss("a chunk out of its order");
  const std::size_t size = p.frames[1].size();
  if (size == 0 || size > wanted.size - w.offset) throw data_loss("a chunk that is empty or longer than what is missing");
  if (w.offset == 0) {
    if (size == wanted.size) {
      w.m.parts[wanted.part] = p.frames[1];
    } else {
      w.memory = writable_frame::make(static_cast<std::size_t>(wanted.size));
    }
  }
  if (size != wanted.size) std::memcpy(w.memory.data() + w.offset, p.frames[1].data(), size);
  w.offset += size;
  if (w.offset < wanted.size) return std::nullopt;
  if (size != wanted.size) w.m.parts[wanted.part] = std::exchange(w.memory, {});
  w.offset = 0;
  if (++w.now < w.wanted.size()) return std::nullopt;
  message m = std::move(w.m);
  waiting_.reset();
  return m;
}

}  // namespace leat::transport
