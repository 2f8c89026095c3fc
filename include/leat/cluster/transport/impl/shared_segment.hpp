#pragma once
// Implementation of shared_segment.hpp.

#include <leat/cluster/transport/reactor.hpp>
#include <leat/cluster/transport/shared_segment.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <new>
#include <string>
#include <system_error>
#include <utility>

namespace leat::transport {

namespace detail {
inline constexpr std::uint64_t segment_magic = 0x31474553'5441454cU;  // "LEATSEG1"
inline constexpr std::uint32_t segment_slots = 2048;                  // descriptors, a power of two
inline constexpr std::size_t urgent_slots = 32;
inline constexpr std::size_t segment_alignment = 64;
inline constexpr std::uint32_t last_of_packet = 1;
inline constexpr std::size_t segment_small_block = 4608;  // holds a head with the parts packed behind it
inline constexpr std::size_t segment_small_blocks = 64;   // kept for the next ones
/// An arena has two regions. Memory that is held for long ends before this offset, whichever side holds it. Behind it are only published
/// packets, which the reader copies and returns at once without waiting; so when the reader has read everything, that region is free in one
/// piece.
constexpr std::size_t held_end(std::size_t arena_bytes) { return arena_bytes / 8 * 5; }

struct segment_slot {
  std::uint64_t offset;
  std::uint64_t size;
  std::uint32_t token;
  std::uint32_t flags;
};

LEAT_FUNCTION void ring(int socket) {
  const char bell = 1;
  static_cast<void>(!::send(socket, &bell, 1, MSG_DONTWAIT | MSG_NOSIGNAL));
}
}  // namespace detail

struct segment_control {
  std::uint64_t magic;
  std::uint64_t arena_bytes;
  alignas(64) std::atomic<std::uint64_t> head;  // descriptors written; stored by the writer
  std::atomic<std::uint32_t> writer_waits;      // the writer waits for room
  alignas(64) std::atomic<std::uint32_t> reader_sleeps;
  alignas(64) std::atomic<std::uint64_t> tail;      // descriptors read; stored by the reader
  alignas(64) std::atomic<std::uint64_t> returned;  // tokens released; stored by the reader
  alignas(64) detail::segment_slot slots[detail::segment_slots];
  std::atomic<std::uint32_t> tokens[detail::segment_slots];
};

namespace detail {
inline constexpr std::size_t segment_header_bytes = (sizeof(segment_control) + 4095) / 4096 * 4096;
}

LEAT_FUNCTION std::size_t segment_arena_bytes(std::size_t frames, std::size_t bytes) {
  // Rounds as `take` does. The region at the end is three eighths of the arena.
  const std::size_t wanted = bytes + frames * detail::segment_small_block;
  return (wanted + 2) / 3 * 8;
}

LEAT_FUNCTION std::shared_ptr<segment_mapping> segment_mapping::make(std::size_t arena_bytes) {
  const auto fail = [] { throw resource_exhausted("no shared memory for a connection: " + std::generic_category().message(errno)); };
  std::shared_ptr<segment_mapping> m(new segment_mapping);
  m->arena_bytes_ = (arena_bytes + 4095) / 4096 * 4096;
  m->bytes_ = detail::segment_header_bytes + m->arena_bytes_;
  m->file_ = descriptor(::memfd_create("leat", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!m->file_ || ::ftruncate(m->file_.get(), static_cast<off_t>(m->bytes_)) != 0 ||
      ::fcntl(m->file_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    fail();
  void* const base = ::mmap(nullptr, m->bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, m->file_.get(), 0);
  if (base == MAP_FAILED) fail();
  m->base_ = base;
  m->control_ = new (base) segment_control{};
  m->control_->magic = detail::segment_magic;
  m->control_->arena_bytes = m->arena_bytes_;
  m->arena_ = static_cast<std::byte*>(base) + detail::segment_header_bytes;
  return m;
}

LEAT_FUNCTION std::shared_ptr<segment_mapping> segment_mapping::of(descriptor file) {
  struct stat status{};
  const int seals = ::fcntl(file.get(), F_GET_SEALS);
  if (seals < 0 || (seals & (F_SEAL_SHRINK | F_SEAL_GROW)) != (F_SEAL_SHRINK | F_SEAL_GROW) || ::fstat(file.get(), &status) != 0 ||
      static_cast<std::size_t>(status.st_size) <= detail::segment_header_bytes || status.st_size > (off_t{1} << 40))
    throw data_loss("what the peer passed is no shared memory of a fixed size");
  std::shared_ptr<segment_mapping> m(new segment_mapping);
  m->bytes_ = static_cast<std::size_t>(status.st_size);
  m->arena_bytes_ = m->bytes_ - detail::segment_header_bytes;
  void* const base = ::mmap(nullptr, m->bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file.get(), 0);
  if (base == MAP_FAILED) throw resource_exhausted("the peer's shared memory cannot be mapped: " + std::generic_category().message(errno));
  m->base_ = base;
  m->control_ = std::launder(static_cast<segment_control*>(base));
  m->arena_ = static_cast<std::byte*>(base) + detail::segment_header_bytes;
  if (m->control_->magic != detail::segment_magic || m->control_->arena_bytes != m->arena_bytes_)
    throw data_loss("the peer's shared memory is of another version of the library");
  return m;
}

LEAT_FUNCTION segment_mapping::~segment_mapping() {
  if (base_ != nullptr) ::munmap(base_, bytes_);
}

// Free ranges of the arena. The lowest range that fits is taken, so that the same pages are reused.
class segment_writer::arena_space {
 public:
  explicit arena_space(std::size_t bytes) : bytes_(bytes) { free_[0] = bytes; }
  // Only packets that are published at once may be stored behind held_end: a block there that waits with its message, or for the next
  // message, would block the packet in front of it, and the reader would have nothing to return.
  std::optional<std::size_t> take(std::size_t bytes, use what) {
    const std::lock_guard lock(mutex_);
    if (what == use::lent && (bytes > bytes_ / 2 || lent_ > bytes_ / 2 - bytes)) return std::nullopt;
    if (what != use::lent && bytes == detail::segment_small_block && !small_.empty()) {
      const std::size_t offset = small_.back();
      small_.pop_back();
      return offset;
    }
    for (auto i = free_.begin(); i != free_.end(); ++i) {
      if (i->second < bytes) continue;
      const auto [offset, size] = *i;
      if (what != use::published && offset + bytes > detail::held_end(bytes_)) return std::nullopt;
      free_.erase(i);
      if (size > bytes) free_[offset + bytes] = size - bytes;
      if (what == use::lent) lent_ += bytes;
      return offset;
    }
    return std::nullopt;
  }
  void give(std::size_t offset, std::size_t bytes, use what) {
    const std::lock_guard lock(mutex_);
    if (what == use::lent) lent_ -= bytes;
    else if (bytes == detail::segment_small_block && offset + bytes <= detail::held_end(bytes_) &&
             small_.size() < detail::segment_small_blocks) {
      small_.push_back(offset);
      return;
    }
    auto next = free_.lower_bound(offset);
    if (next != free_.end() && next->first == offset + bytes) {
      bytes += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin())
      if (const auto before = std::prev(next); before->first + before->second == offset) {
        before->second += bytes;
        return;
      }
    free_[offset] = bytes;
  }

 private:
  std::mutex mutex_;
  std::map<std::size_t, std::size_t> free_;
  const std::size_t bytes_;
  std::size_t lent_ = 0;
  std::vector<std::size_t> small_;  // blocks for the heads of messages, the most frequent allocations
};

LEAT_FUNCTION segment_writer::segment_writer(std::shared_ptr<segment_mapping> mapping)
    : mapping_(std::move(mapping)), space_(std::make_shared<arena_space>(mapping_->arena_bytes())), held_(detail::segment_slots) {
  for (std::uint32_t token = detail::segment_slots; token > 0; --token) free_tokens_.push_back(token - 1);
}

LEAT_FUNCTION std::optional<writable_frame> segment_writer::allocate(std::size_t bytes) { return take(bytes, use::queued); }
LEAT_FUNCTION std::optional<writable_frame> segment_writer::lend(std::size_t bytes) {
  if (bytes > mapping_->arena_bytes()) return std::nullopt;
  auto room = take(bytes + detail::segment_alignment, use::lent);  // vectorized code that computes in it may read past the end
  if (!room) return std::nullopt;
  return writable_frame(room->owner(), room->data(), bytes);
}

LEAT_FUNCTION std::optional<writable_frame> segment_writer::take(std::size_t bytes, use what) {
  const std::size_t aligned = (bytes + detail::segment_alignment - 1) / detail::segment_alignment * detail::segment_alignment;
  const std::size_t rounded = aligned != 0 && aligned <= detail::segment_small_block ? detail::segment_small_block : aligned;
  if (rounded == 0 || rounded < bytes) return std::nullopt;
  const auto offset = space_->take(rounded, what);
  if (!offset) return std::nullopt;
  struct block {
    std::shared_ptr<segment_mapping> mapping;
    std::shared_ptr<arena_space> space;
    std::size_t offset, bytes;
    use what;
    block(std::shared_ptr<segment_mapping> m, std::shared_ptr<arena_space> s, std::size_t at, std::size_t size, use u)
        : mapping(std::move(m)), space(std::move(s)), offset(at), bytes(size), what(u) {}
    block(const block&) = delete;
    block& operator=(const block&) = delete;
    ~block() { space->give(offset, bytes, what); }
  };
  return writable_frame(std::make_shared<block>(mapping_, space_, *offset, rounded, what), mapping_->arena() + *offset, bytes);
}

// Releases the frames that the reader has released.
LEAT_FUNCTION void segment_writer::collect() {
  segment_control& c = mapping_->control();
  const std::uint64_t returned = c.returned.load();
  if (returned - returned_ > detail::segment_slots) return;  // an invalid count: the memory is never reused
  for (; returned_ != returned; ++returned_) {
    const std::uint32_t token = c.tokens[returned_ % detail::segment_slots].load(std::memory_order_relaxed);
    if (token >= detail::segment_slots || held_[token].data() == nullptr) continue;
    held_[token] = {};
    free_tokens_.push_back(token);
  }
}

// Places the frames of a packet in the arena. Returns whether there was room.
LEAT_FUNCTION bool segment_writer::place(const packet& p, bool is_urgent) {
  collect();
  const std::uint64_t used = head_ - mapping_->control().tail.load();
  const std::size_t wanted = p.frames.size() + (is_urgent ? 0 : detail::urgent_slots);
  if (used + wanted > detail::segment_slots || free_tokens_.size() < wanted) return false;
  for (std::size_t i = placed_.size(); i < p.frames.size(); ++i) {
    const frame& f = p.frames[i];
    if (f.data() >= mapping_->arena() && f.data() + f.size() <= mapping_->arena() + mapping_->arena_bytes()) {
      placed_.push_back(f);
      continue;
    }
    auto room = take(std::max<std::size_t>(f.size(), 1), use::published);
    if (!room) return false;
    if (!f.empty()) std::memcpy(room->data(), f.data(), f.size());
    placed_.push_back(frame(*room).piece(0, f.size()));
  }
  return true;
}

LEAT_FUNCTION bool segment_writer::write(const packet& p, bool is_urgent) {
  segment_control& c = mapping_->control();
  placed_.clear();
  if (!place(p, is_urgent)) {
    // Announces first and then checks again, with sequentially consistent operations: memory returned before the announcement is seen here,
    // and a reader that returns memory after it rings.
    ++asked_;
    c.writer_waits.store(1);
    if (!place(p, is_urgent)) {
      placed_.clear();
      return false;
    }
    c.writer_waits.store(0);
  }
  for (std::size_t i = 0; i < placed_.size(); ++i) {
    const std::uint32_t token = free_tokens_.back();
    free_tokens_.pop_back();
    c.slots[head_ % detail::segment_slots] = {static_cast<std::uint64_t>(placed_[i].data() - mapping_->arena()), placed_[i].size(), token,
                                              i + 1 == placed_.size() ? detail::last_of_packet : 0};
    held_[token] = std::move(placed_[i]);
    ++head_;
  }
  placed_.clear();
  c.head.store(head_);
  return true;
}

LEAT_FUNCTION bool segment_writer::must_ring() {
  segment_control& c = mapping_->control();
  return c.reader_sleeps.load() != 0 && c.reader_sleeps.exchange(0) != 0;
}

// Returns tokens to the writer, from any thread.
struct segment_reader::returns {
  const std::uint64_t generation = fork_generation();
  std::shared_ptr<segment_mapping> mapping;
  std::shared_ptr<descriptor> bell;
  std::mutex mutex;
  std::uint64_t count = 0;
  std::atomic<std::uint32_t> held{0};  // frames that are held in place

  // Half of the descriptors are never held for long, either.
  bool may_hold(std::size_t end) const {
    return end <= detail::held_end(mapping->arena_bytes()) && held.load(std::memory_order_relaxed) < detail::segment_slots / 2;
  }
  void give(std::uint32_t token) {
    // The child of a fork shares the segment, and the parent may still read the frame that is released here.
    if (generation != fork_generation()) return;
    segment_control& c = mapping->control();
    {
      const std::lock_guard lock(mutex);
      c.tokens[count % detail::segment_slots].store(token, std::memory_order_relaxed);
      c.returned.store(++count);
    }
    if (c.writer_waits.load() != 0 && c.writer_waits.exchange(0) != 0) detail::ring(bell->get());
  }
};

LEAT_FUNCTION segment_reader::segment_reader(std::shared_ptr<segment_mapping> mapping, std::shared_ptr<descriptor> bell)
    : returns_(std::make_shared<returns>()) {
  returns_->mapping = std::move(mapping);
  returns_->bell = std::move(bell);
}

LEAT_FUNCTION std::optional<packet> segment_reader::read() {
  segment_mapping& m = *returns_->mapping;
  segment_control& c = m.control();
  const std::uint64_t head = c.head.load(std::memory_order_acquire);
  if (head == tail_) return std::nullopt;
  if (head - tail_ > detail::segment_slots) throw data_loss("the peer's shared memory says nonsense");
  packet p;
  for (;;) {
    if (tail_ == head) throw data_loss("a message in shared memory has no end");
    // The descriptor is copied once, and the copy is checked and used, because the peer may change the original meanwhile.
    const volatile detail::segment_slot& there = c.slots[tail_ % detail::segment_slots];
    const detail::segment_slot slot{there.offset, there.size, there.token, there.flags};
    if (slot.size > m.arena_bytes() || slot.offset > m.arena_bytes() - slot.size) throw data_loss("a message outside of its shared memory");
    const std::byte* const data = m.arena() + slot.offset;
    struct in_place {
      std::shared_ptr<returns> to;
      std::uint32_t token;
      in_place(std::shared_ptr<returns> r, std::uint32_t t) : to(std::move(r)), token(t) {
        to->held.fetch_add(1, std::memory_order_relaxed);
      }
      in_place(const in_place&) = delete;
      in_place& operator=(const in_place&) = delete;
      ~in_place() {
        to->held.fetch_sub(1, std::memory_order_relaxed);
        to->give(token);
      }
    };
    const auto size = static_cast<std::size_t>(slot.size);
    if (returns_->may_hold(static_cast<std::size_t>(slot.offset) + size)) {
      p.frames.emplace_back(std::make_shared<in_place>(returns_, slot.token), data, size);
    } else {
      p.frames.push_back(frame::copy_of({data, size}));
      returns_->give(slot.token);
    }
    ++tail_;
    if (slot.flags & detail::last_of_packet) break;
  }
  c.tail.store(tail_);
  if (c.writer_waits.load() != 0 && c.writer_waits.exchange(0) != 0) detail::ring(returns_->bell->get());
  return p;
}

LEAT_FUNCTION bool segment_reader::sleep() {
  segment_control& c = returns_->mapping->control();
  ++asked_;
  c.reader_sleeps.store(1);
  if (c.head.load() == tail_) return true;
  c.reader_sleeps.store(0);
  return false;
}

}  // namespace leat::transport
