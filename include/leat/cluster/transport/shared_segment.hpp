#pragma once
// One direction of a connection through shared memory. The sender makes a segment: a memfd of sealed size, which both processes map. It
// contains a ring of descriptors, each of which refers to a frame in the arena (the rest of the segment), and a ring on which the receiver
// returns the frames it has released. The receiver reads frames in place as long as that leaves room for others. The segment has no locks:
// a process may be killed at any moment, and what it had not published was never sent. The reader trusts nothing: every offset and count is
// checked before use.

#include <leat/cluster/transport/frame.hpp>
#include <leat/core/descriptor.hpp>
#include <leat/core/function_bodies.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace leat::transport {

struct segment_control;

namespace detail {
/// Wakes the other side of a connection through its socket.
void ring(int socket);
}  // namespace detail

/// The arena size at which a packet with this many frames and bytes fits into the region for published packets at its end.
std::size_t segment_arena_bytes(std::size_t frames, std::size_t bytes);

/// A mapping, owned jointly by both halves and the frames in it.
class segment_mapping {
 public:
  /// Makes a new segment. Errors: resource_exhausted.
  static std::shared_ptr<segment_mapping> make(std::size_t arena_bytes);
  /// Maps the segment of a peer. Errors: data_loss if it is not a segment, or its size could change.
  static std::shared_ptr<segment_mapping> of(descriptor file);
  segment_mapping(const segment_mapping&) = delete;
  segment_mapping& operator=(const segment_mapping&) = delete;
  ~segment_mapping();

  int file() const { return file_.get(); }
  segment_control& control() const { return *control_; }
  std::byte* arena() const { return arena_; }
  std::size_t arena_bytes() const { return arena_bytes_; }

 private:
  segment_mapping() = default;
  descriptor file_;
  void* base_ = nullptr;
  std::size_t bytes_ = 0;
  segment_control* control_ = nullptr;
  std::byte* arena_ = nullptr;
  std::size_t arena_bytes_ = 0;
};

/// The sender's half. Used under a lock, except that frames it allocated may be released in any thread.
class segment_writer {
 public:
  explicit segment_writer(std::shared_ptr<segment_mapping> mapping);

  /// Allocates memory within the arena, except for the region at its end that is reserved for published packets; empty if there is no room.
  std::optional<writable_frame> allocate(std::size_t bytes);
  /// Allocates memory that is kept over many messages: at most half of the arena in total.
  std::optional<writable_frame> lend(std::size_t bytes);
  /// Publishes a packet; returns false if there is no room now, and the reader rings when it has released something. A packet of the size
  /// that was passed to `segment_arena_bytes` finds room at the latest when the reader has read all others, whatever memory either side
  /// holds. `is_urgent`: may use the room that is reserved for messages that keep the connection alive.
  bool write(const packet& p, bool is_urgent);
  /// Whether the reader sleeps and must be rung; to be called after `write`.
  bool must_ring();
  /// How many times the writer requested a ring from the reader.
  std::uint32_t asked() const { return asked_; }

 private:
  class arena_space;
  // Purpose of memory: kept over many messages; part of a message that may be queued; part of a packet that is published at once.
  enum class use { lent, queued, published };
  void collect();
  std::optional<writable_frame> take(std::size_t bytes, use what);
  bool place(const packet& p, bool is_urgent);

  std::shared_ptr<segment_mapping> mapping_;
  std::shared_ptr<arena_space> space_;
  std::vector<frame> held_;    // by token, until the reader releases them
  std::vector<frame> placed_;  // the packet's frames within the arena, while it is written
  std::vector<std::uint32_t> free_tokens_;
  std::uint64_t head_ = 0, returned_ = 0;
  std::uint32_t asked_ = 0;
};

/// The receiver's half.
class segment_reader {
 public:
  /// `bell`: the descriptor to ring when the writer waits for room; kept open as long as frames exist.
  segment_reader(std::shared_ptr<segment_mapping> mapping, std::shared_ptr<descriptor> bell);
  /// The next packet. Its frames stay in the segment, unless the frames that are held here already would block further sending; then they
  /// are copied. Errors: data_loss for invalid descriptors.
  std::optional<packet> read();
  /// Declares that this side sleeps from now on. Returns false if something has arrived in the meantime.
  bool sleep();
  /// How many times the reader requested a ring from the writer.
  std::uint32_t asked() const { return asked_; }

 private:
  struct returns;
  std::shared_ptr<returns> returns_;
  std::uint64_t tail_ = 0;
  std::uint32_t asked_ = 0;
};

}  // namespace leat::transport

#if LEAT_WITH_BODIES
#include <leat/cluster/transport/impl/shared_segment.hpp>
#endif
