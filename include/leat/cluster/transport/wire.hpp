#pragma once
// The byte format of messages. A message is a fixed header, the shape of a tensor if it carries one, and parts of any length. It is written
// as one or more packets:
//
//   head:   64 bytes of header | rank x int64 sizes | parts x uint64 (size * 4 + place) | parts that are packed, each aligned to 8
//   parts placed in frames of their own follow in the same packet;
//   parts in chunks follow in packets of their own, a header that says part and offset, and one frame.
//
// Small parts are packed behind the header, up to 4 KiB in total, because each frame costs more than copying that much. Large parts are
// sent in chunks, because only a complete frame counts as a sign of life. All numbers are little endian. A reader trusts nothing: it
// allocates memory only for sizes that were checked against its limits.

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
/// Changes whenever peers of the old version would misinterpret messages.
inline constexpr std::uint16_t wire_version = 2;
inline constexpr std::size_t wire_header_bytes = 64;
/// Parts up to this size, separately and in total, are packed behind the header.
inline constexpr std::size_t wire_packed_bytes = 4096;
inline constexpr std::size_t wire_chunk_bytes = std::size_t{256} << 10;
/// Tensors below this size are sent whole, in a frame of their own.
inline constexpr std::size_t wire_whole_bytes = std::size_t{32} << 10;
/// Limits of such tensors in a packet, and of all frames of a packet after its head, because a transport has room for a bounded number at a
/// time.
inline constexpr std::size_t wire_whole_parts = 256;
inline constexpr std::size_t wire_packet_frames = 512;
/// Upper limit of the size of a frame, whatever chunk size a transport prefers.
inline constexpr std::size_t wire_frame_bytes = std::size_t{1} << 20;

/// The purpose of a message. `request`, `answer`, `failure`, `cancel` and `note` carry a method, which the users of the transport define.
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
/// Whether messages of a kind are data, which need credit. Messages that keep a connection alive need none.
constexpr bool is_data(kind k) {
  return k == kind::request || k == kind::answer || k == kind::failure || k == kind::cancel || k == kind::note || k == kind::chunk;
}

/// A message. Its kind and method determine which fields have a meaning; the others are 0.
struct message {
  kind what = kind::note;
  std::uint16_t method = 0;
  std::uint16_t flags = 0;
  std::uint32_t edge = 0;
  std::uint64_t number = 0;         ///< of the request or the step
  std::uint64_t incarnation = 0;    ///< of the process it is addressed to; 0 for any
  std::uint64_t mark = 0;           ///< progress, time or acknowledgment, depending on the kind
  std::int64_t deadline = 0;        ///< remaining microseconds when it is sent; 0 for no deadline
  dtype element = dtype::invalid;   ///< dtype of parts[0], if that is a tensor
  std::vector<std::int64_t> sizes;  ///< shape of parts[0]
  std::vector<frame> parts;
  /// For a received message: its bytes count against the sender's credit until the last copy of this pointer is gone. The receiver resets
  /// it when it has taken the message, and may keep the parts.
  std::shared_ptr<const void> credit{};

  /// The total size of all parts in bytes.
  std::uint64_t bytes() const;
};

/// The limits of what a reader accepts.
struct wire_limits {
  std::uint64_t message_bytes = std::uint64_t{4} << 30;
  std::uint32_t parts = 65535;
  std::uint32_t rank = 254;
};

/// The maximal size in bytes of a packet that `encode` makes with frames of at most `chunk_bytes`.
constexpr std::size_t wire_packet_bytes(std::size_t chunk_bytes) {
  return wire_header_bytes + 8 * (std::size_t{wire_limits().parts} + wire_limits().rank) + wire_packed_bytes + chunk_bytes +
         wire_whole_parts * wire_whole_bytes;
}

/// Appends the packets of a message to `out`. Parts are shared, not copied, unless they are packed. `chunk_bytes` is the largest frame, 0
/// for no limit. `memory` allocates the head, if it is given.
/// Errors: invalid_argument for more parts or a higher rank than the header can hold, or if sizes and dtype do not match the size of
/// parts[0].
void encode(const message& m, std::size_t chunk_bytes, std::vector<packet>& out,
            const std::function<writable_frame(std::size_t)>& memory = nullptr);

/// Reassembles the messages of one peer from packets in the order in which they were sent. Whole messages may come between the chunks of
/// another message, but chunks of two messages may not be interleaved.
class assembler {
 public:
  explicit assembler(wire_limits limits = {}) : limits_(limits) {}
  /// Takes a packet, and returns the message that it completes, if any.
  /// Errors: data_loss for a packet that is not of this protocol, is cut off, or contradicts itself; failed_precondition for another
  /// protocol version; resource_exhausted beyond the limits. After an error the peer's data must not be read any further.
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

/// The kind of a packet, read from its head; empty if the head is not of this protocol.
std::optional<kind> peek_kind(const packet& p);

}  // namespace leat::transport

#if LEAT_WITH_BODIES
#include <leat/cluster/transport/impl/wire.hpp>
#endif
