#pragma once
// One direction of a connection through shared memory. The sender makes a segment: a file without a name (memfd), sealed in its size, which
// both processes map. It has a ring of descriptors, each a frame within the rest of the segment, the arena; and a ring on which the
// receiver returns what it has let go of. The receiver reads frames in place, as long as that leaves room for others. There is no
// lock in it: a process may be killed at any moment, and what it had not published was never sent. The reader believes nothing: every
// offset and count is checked before use.

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
/// Wakes the other side of a connection by its socket.
void ring(int socket);
}  // namespace detail

/// Bytes of an arena at whose end a packet has room, of so many frames with so many bytes.
std::size_t segment_arena_bytes(std::size_t frames, std::size_t bytes);

/// A mapping that both halves share with the frames in it.
class segment_mapping {
 public:
  /// A new segment. Errors: resource_exhausted.
  static std::shared_ptr<segment_mapping> make(std::size_t arena_bytes);
  /// The segment of a peer. Errors: data_loss if it is none, or its size could change.
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

/// The sender's half. Used under a lock, but for the end of frames that it allocated, which may come in any thread.
class segment_writer {
 public:
  explicit segment_writer(std::shared_ptr<segment_mapping> mapping);

  /// Memory within the arena, but for its end, which only packets use that are published; nothing if there is none.
  std::optional<writable_frame> allocate(std::size_t bytes);
  /// The same for memory that is kept over many messages: at most half of the arena.
  std::optional<writable_frame> lend(std::size_t bytes);
  /// Publishes a packet; false if there is no room now: then the reader rings when it has let go of something. A packet that
  /// `segment_arena_bytes` was asked for finds room at the latest when the reader has read all others, whatever is held and by whom.
  /// `is_urgent`: takes of the room that others leave for what keeps the connection alive.
  bool write(const packet& p, bool is_urgent);
  /// Whether the reader sleeps and is to be rung; asked after `write`.
  bool must_ring();
  /// How many times it asked the reader to ring.
  std::uint32_t asked() const { return asked_; }

 private:
  class arena_space;
  // What memory is for: kept over many messages; part of a message that may be queued; part of a packet that is published with it.
  enum class use { lent, queued, published };
  void collect();
  std::optional<writable_frame> take(std::size_t bytes, use what);
  bool place(const packet& p, bool is_urgent);

  std::shared_ptr<segment_mapping> mapping_;
  std::shared_ptr<arena_space> space_;
  std::vector<frame> held_;    // by token, until the reader lets go
  std::vector<frame> placed_;  // the packet's frames within the arena, while it is written
  std::vector<std::uint32_t> free_tokens_;
  std::uint64_t head_ = 0, returned_ = 0;
  std::uint32_t asked_ = 0;
};

/// The receiver's half.
class segment_reader {
 public:
  /// `bell`: rung when the writer waits for room; it is kept as long as frames live.
  segment_reader(std::shared_ptr<segment_mapping> mapping, std::shared_ptr<descriptor> bell);
  /// The next packet, whose frames stay where they are, unless what is held here already would keep others from being sent. Errors:
  /// data_loss for descriptors that make no sense.
  std::optional<packet> read();
  /// Says that this side sleeps from now on. False if something has come meanwhile.
  bool sleep();
  /// How many times it asked the writer to ring.
  std::uint32_t asked() const { return asked_; }

 private:
  struct returns;
  std::shared_ptr<returns> returns_;
  std::uint64_t tail_ = 0;
  std::uint32_t asked_ = 0;
};

}  // namespace leat::transport

#if LEAT_WITH_BODIES
#include <leat/cluster/transport/shared_segment_bodies.hpp>
#endif
