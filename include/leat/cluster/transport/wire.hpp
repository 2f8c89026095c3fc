#pragma once
// Messages as bytes. A message is a fixed header, the sizes of a tensor if it carries one, and parts of any length. It is written as one
// packet or several:
//
//   head:   64 bytes of header | rank x int64 sizes | parts x uint64 (size * 4 + place) | parts that are packed, each aligned to 8
//   parts placed in frames of their own follow in the same packet;
//   parts in chunks follow in packets of their own, a header that says part and offset, and one frame.
//
// Small parts are packed behind the header, up to 4 KiB of them, because each frame costs more than a copy of that; large ones go in
// chunks, because a transport takes a message only as a whole for a sign of life. All numbers are little endian. A reader takes nothing
// for granted: memory is taken only for sizes that were compared with its limits.

#include <leat/cluster/transport/frame.hpp>
#include <leat/core/dtype.hpp>
#include <leat/core/function_bodies.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace leat::transport {

inline constexpr std::uint32_t wire_magic = 0x5441454c;  // "LEAT"
/// Changes whenever peers of the old version would misunderstand.
inline constexpr std::uint16_t wire_version = 2;
inline constexpr std::size_t wire_header_bytes = 64;
/// Parts up to this size, and together, are packed behind the header.
inline constexpr std::size_t wire_packed_bytes = 4096;
inline constexpr std::size_t wire_chunk_bytes = std::size_t{256} << 10;
/// Tensors below are sent whole, in a frame of their own.
inline constexpr std::size_t wire_whole_bytes = std::size_t{32} << 10;
/// So many of them, and so many frames of a packet in all behind its head: a transport has room for a bounded number at a time.
inline constexpr std::size_t wire_whole_parts = 256;
inline constexpr std::size_t wire_packet_frames = 512;
/// No frame is longer, whatever a transport cuts into.
inline constexpr std::size_t wire_frame_bytes = std::size_t{1} << 20;

/// What a message is for. `request`, `answer`, `failure`, `cancel` and `note` carry a method, which is for those to define who call.
enum class kind : std::uint16_t {
  hello = 1,
  welcome,
  refusal,
  beat,
  goodbye,
  request,
  answer,
  failure,
  cancel,
  note,
  credit,
  chunk,
};
inline constexpr kind last_kind = kind::chunk;
/// Whether messages of a kind are data, which need credit. What keeps a connection alive goes without.
constexpr bool is_data(kind k) {
  return k == kind::request || k == kind::answer || k == kind::failure || k == kind::cancel || k == kind::note || k == kind::chunk;
}

/// A message. Which fields mean something depends on its kind and method; those that do not are 0.
struct message {
  kind what = kind::note;
  std::uint16_t method = 0;
  std::uint16_t flags = 0;
  std::uint32_t edge = 0;
  std::uint64_t number = 0;         ///< of the request or the step
  std::uint64_t incarnation = 0;    ///< of whom it is for; 0 for anyone
  std::uint64_t mark = 0;           ///< progress, time or acknowledgment, as the kind says
  std::int64_t deadline = 0;        ///< microseconds that are left when it is sent; 0 for no deadline
  dtype element = dtype::invalid;   ///< of parts[0], if that is a tensor
  std::vector<std::int64_t> sizes;  ///< its shape
  std::vector<frame> parts;
  /// Of a message that was received: its bytes count against the sender's credit until the last copy of this is gone. Who has taken the
  /// message resets it, and may keep the parts.
  std::shared_ptr<const void> credit{};

  /// Bytes of all parts.
  std::uint64_t bytes() const;
};

/// What a reader accepts.
struct wire_limits {
  std::uint64_t message_bytes = std::uint64_t{4} << 30;
  std::uint32_t parts = 65535;
  std::uint32_t rank = 254;
};

/// The most bytes that `encode` puts into a packet, with frames of at most `chunk_bytes`.
constexpr std::size_t wire_packet_bytes(std::size_t chunk_bytes) {
  return wire_header_bytes + 8 * (std::size_t{wire_limits().parts} + wire_limits().rank) + wire_packed_bytes + chunk_bytes +
         wire_whole_parts * wire_whole_bytes;
}

/// Appends the packets of a message to `out`; parts are shared, not copied, unless they are packed. `chunk_bytes` is the largest frame,
/// 0 for any.
/// Errors: invalid_argument for more parts or a higher rank than the header can say, or if sizes and dtype do not give parts[0]'s bytes.
/// `memory` allocates the head, if it is given.
void encode(const message& m, std::size_t chunk_bytes, std::vector<packet>& out,
            const std::function<writable_frame(std::size_t)>& memory = nullptr);

/// Puts the messages of one peer together again, from packets in the order they were sent. Whole messages may come between the chunks of
/// another, not chunks of two.
class assembler {
 public:
  explicit assembler(wire_limits limits = {}) : limits_(limits) {}
  /// Takes a packet, returns the message that it completes.
  /// Errors: data_loss for what is no packet of this protocol, cut off, or contradicts itself; failed_precondition for another protocol
  /// version; resource_exhausted beyond the limits. The peer is not to be listened to afterwards.
  std::optional<message> add(packet p);

  void set_limits(wire_limits limits) { limits_ = limits; }
  /// Whether chunks of a message are missing.
  bool waits() const { return waiting_.has_value(); }

 private:
  struct wanted_part {
    std::size_t part;
    std::uint64_t size;
  };
  struct incomplete {
    message m;
    std::vector<wanted_part> wanted;
    std::size_t now = 0;  // index into wanted
    std::uint64_t offset = 0;
    writable_frame memory;
  };
  std::optional<message> add_chunk(const packet& p);

  wire_limits limits_;
  std::optional<incomplete> waiting_;
};

/// The kind of a packet by its head; nothing if that is no head of this protocol.
std::optional<kind> peek_kind(const packet& p);

}  // namespace leat::transport

#if LEAT_WITH_BODIES
#include <leat/cluster/transport/wire_bodies.hpp>
#endif
