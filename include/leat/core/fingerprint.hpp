#pragma once
// Hashes of strings that TensorFlow's graphs rely on, so that a string falls into the same bucket everywhere. They are no protection
// against strings that were made to collide. Sources: FarmHash (`farmhashna`, G. Pike), MurmurHash64A (A. Appleby).

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

namespace leat::detail {

/// FarmHash's 64-bit fingerprint. The formulas differ for texts of up to 16, 32 and 64 bytes and for longer ones.
class farm_fingerprint {
 public:
  static std::uint64_t of(std::string_view text) {
    const farm_fingerprint f(text);
    if (text.size() <= 16) return f.up_to_16();
    if (text.size() <= 32) return f.up_to_32();
    return text.size() <= 64 ? f.up_to_64() : f.longer();
  }

 private:
  using word = std::uint64_t;
  struct pair {
    word first = 0, second = 0;
  };
  static constexpr word k0 = 0xc3a5c85c97cb3127, k1 = 0xb492b66fbe98f273, k2 = 0x9ae16a3b2f90404f;

  explicit farm_fingerprint(std::string_view text) : text_(text), size_(text.size()) {}
  template <class T>
  T read(word at) const {  // little-endian
    T value;
    std::memcpy(&value, text_.data() + at, sizeof value);
    if constexpr (std::endian::native == std::endian::big) {
      T turned = 0;
      for (std::size_t i = 0; i < sizeof value; ++i) turned = static_cast<T>(turned << 8 | (value >> (8 * i) & 0xff));
      return turned;
    }
    return value;
  }
  word at(word place) const { return read<word>(place); }
  word byte(word place) const { return static_cast<unsigned char>(text_[static_cast<std::size_t>(place)]); }
  static word right(word v, int by) { return std::rotr(v, by); }
  static word folded(word v) { return v ^ (v >> 47); }
  static word joined(word u, word v, word factor) { return folded((v ^ folded((u ^ v) * factor)) * factor) * factor; }
  word factor() const { return k2 + size_ * 2; }

  word up_to_16() const {
    if (size_ >= 8) {
      const word m = factor(), a = at(0) + k2, b = at(size_ - 8);
      return joined(right(b, 37) * m + a, (right(a, 25) + b) * m, m);
    }
    if (size_ >= 4) return joined(size_ + (word{read<std::uint32_t>(0)} << 3), read<std::uint32_t>(size_ - 4), factor());
    if (size_ == 0) return k2;
    const auto y = static_cast<std::uint32_t>(byte(0) + (byte(size_ >> 1) << 8)),
               z = static_cast<std::uint32_t>(size_ + (byte(size_ - 1) << 2));
    return folded(y * k2 ^ z * k0) * k2;
  }
  word up_to_32() const {
    const word m = factor(), a = at(0) * k1, b = at(8), c = at(size_ - 8) * m, d = at(size_ - 16) * k2;
    return joined(right(a + b, 43) + right(c, 30) + d, a + right(b + k2, 18) + c, m);
  }
  word up_to_64() const {
    const word m = factor(), a = at(0) * k2, b = at(8), c = at(size_ - 8) * m, d = at(size_ - 16) * k2;
    const word y = right(a + b, 43) + right(c, 30) + d, z = joined(y, a + right(b + k2, 18) + c, m);
    const word e = at(16) * m, f = at(24), g = (y + at(size_ - 32)) * m, h = (z + at(size_ - 24)) * m;
    return joined(right(e + f, 43) + right(g, 30) + h, e + right(f + a, 18) + g, m);
  }
  pair weak(word place, word a, word b) const {
    const word w = at(place), x = at(place + 8), y = at(place + 16), z = at(place + 24);
    a += w;
    b = right(b + a + z, 21);
    const word c = a;
    a += x + y;
    b += right(a, 44);
    return {a + z, b + c};
  }
  word longer() const {
    word x = 81, y = 81 * k1 + 113, z = folded(y * k2 + 113) * k2;
    pair v, w;
    x = x * k2 + at(0);
    const word blocks = (size_ - 1) / 64, rest = (size_ - 1) & 63;
    const auto step = [&](word s, word m, word more_x, word more_y) {
      x = right(x + y + v.first + at(s + 8), 37) * m;
      y = right(y + v.second + at(s + 48), 42) * m;
      x ^= w.second * more_x;
      y += v.first * more_y + at(s + 40);
      z = right(z + w.first, 33) * m;
      v = weak(s, v.second * m, x + w.first);
      w = weak(s + 32, z + w.second, y + at(s + 16));
      std::swap(z, x);
    };
    for (word k = 0; k < blocks; ++k) step(k * 64, k1, 1, 1);
    const word m = k1 + ((z & 0xff) << 1);
    w.first += rest;
    v.first += w.first;
    w.first += v.first;
    step(blocks * 64 + rest - 63, m, 9, 9);
    return joined(joined(v.first, w.first, m) + folded(y) * k0 + z, joined(v.second, w.second, m) + x, m);
  }

  std::string_view text_;
  word size_;
};

/// TensorFlow's older hash of strings.
inline std::uint64_t murmur_hash(std::string_view text) {
  constexpr std::uint64_t m = 0xc6a4a7935bd1e995, seed = 0xDECAFCAFFE;
  const auto byte = [&](std::size_t at) { return std::uint64_t{static_cast<unsigned char>(text[at])}; };
  std::uint64_t h = seed ^ (text.size() * m);
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t k = 0;
    for (std::size_t i = 8; i-- > 0;) k = k << 8 | byte(at + i);
    k *= m;
    k ^= k >> 47;
    h = (h ^ k * m) * m;
  }
  if (at < text.size()) {
    for (std::size_t i = 0; at + i < text.size(); ++i) h ^= byte(at + i) << (8 * i);
    h *= m;
  }
  h = (h ^ (h >> 47)) * m;
  return h ^ (h >> 47);
}

}  // namespace leat::detail
