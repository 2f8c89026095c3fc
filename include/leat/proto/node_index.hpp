#pragma once
// Maps node names to indices: a hash table with open addressing, eight bytes per entry. Names come from files, so the hash has a new seed
// in each process; otherwise a crafted file could make all names collide, which takes quadratic time.

#include <leat/proto/node_def.hpp>

#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace leat::proto::detail {

class node_index {
 public:
  static constexpr std::size_t none = ~std::size_t{0};

  /// A table for the nodes of a graph, at most 2^32 - 2, which must not change while the table is used.
  explicit node_index(const std::vector<node_def>& nodes)
      : nodes_(nodes), slots_(std::bit_ceil(nodes.size() + nodes.size() / 2 + 2)), mask_(slots_.size() - 1) {}

  /// The index of an inserted name, or `none`.
  std::size_t find(std::string_view name) const {
    const slot& s = slots_[place(name, hash(name))];
    return std::size_t{s.number} - 1;
  }
  /// Inserts a node's name; returns the node that already has this name, or `none`.
  std::size_t insert(std::size_t node) {
    const std::string_view name = nodes_[node].name;
    const auto h = hash(name);
    slot& s = slots_[place(name, h)];
    if (s.number != 0) return std::size_t{s.number} - 1;
    s = {static_cast<std::uint32_t>(h >> 32), static_cast<std::uint32_t>(node + 1)};
    return none;
  }

 private:
  struct slot {
    std::uint32_t hash = 0;
    std::uint32_t number = 0;  // node index + 1
  };

  /// The slot of the name, or the free slot for it.
  std::size_t place(std::string_view name, std::uint64_t h) const {
    for (auto i = h & mask_;; i = (i + 1) & mask_) {
      const slot& s = slots_[i];
      if (s.number == 0 || (s.hash == h >> 32 && nodes_[s.number - 1].name == name)) return i;
    }
  }

  static std::uint64_t seed() {
    static const int here = 0;  // the address differs from run to run, too
    static const std::uint64_t value =
        static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) * 0x9e3779b97f4a7c15u ^
        reinterpret_cast<std::uintptr_t>(&here);
    return value;
  }
  /// Hashes eight bytes at a time: each is multiplied to 128 bits, whose halves are folded.
  static std::uint64_t hash(std::string_view text) {
    const auto fold = [](std::uint64_t a, std::uint64_t b) {
      const std::uint64_t al = a & 0xffffffffu, ah = a >> 32, bl = b & 0xffffffffu, bh = b >> 32;
      const std::uint64_t middle = ah * bl + (al * bl >> 32);
      const std::uint64_t carry = (middle & 0xffffffffu) + al * bh;
      return (a * b) ^ (ah * bh + (middle >> 32) + (carry >> 32));
    };
    static const std::uint64_t start = seed();
    std::uint64_t h = start ^ text.size() * 0xe7037ed1a0b428dbu;
    const char* p = text.data();
    std::size_t left = text.size();
    for (; left > 0;) {
      std::uint64_t word = 0;
      const std::size_t take = left < 8 ? left : 8;
      std::memcpy(&word, p, take);
      h = fold(h ^ word, 0xa0761d6478bd642fu ^ (start >> 7));
      p += take;
      left -= take;
    }
    return fold(h ^ 0x8ebc6af09c88c6e3u, start | 1);
  }

  const std::vector<node_def>& nodes_;
  std::vector<slot> slots_;
  std::size_t mask_;
};

}  // namespace leat::proto::detail
