#pragma once
// Reads decimal numbers with few digits, as most tables have them, without a general parser: the digits as a whole number and the power of
// ten for the digits after the point are both exact in the floating-point type, so a single division rounds correctly, and the value equals
// that of std::from_chars. Source: W. D. Clinger, "How to read floating point numbers accurately", PLDI 1990.

#include <array>
#include <cfloat>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace leat::io {

namespace detail {
/// The powers of ten that are exact in T: 5^k has at most as many bits as T.
template <class T>
constexpr std::size_t exact_powers_of_ten() {
  std::size_t count = 1;
  for (std::uint64_t five = 5; five <= std::uint64_t{1} << std::numeric_limits<T>::digits && count < 20; five *= 5) ++count;
  return count;
}
template <class T>
inline constexpr auto powers_of_ten = [] {
  std::array<T, exact_powers_of_ten<T>()> powers{};
  T power = 1;
  for (T& entry : powers) {
    entry = power;
    power *= 10;
  }
  return powers;
}();
}  // namespace detail

/// Reads "-12.5", "7", ".25" in place; the text must end with a character that is not a digit. Returns the position after the number, or
/// null if it is not a number, has an exponent, or has more digits than are exact in T; std::from_chars handles these.
template <class T>
  requires std::is_floating_point_v<T>
inline const char* read_short_decimal(const char* at, T& value) {
  static_assert(std::numeric_limits<T>::is_iec559 && std::numeric_limits<T>::digits <= 53);
  if constexpr (FLT_EVAL_METHOD != 0) return nullptr;  // a division in a wider type would round twice
  const auto digit_at = [](const char* c) { return static_cast<unsigned>(static_cast<unsigned char>(*c)) - '0'; };
  const bool is_negative = *at == '-';
  at += is_negative;
  std::uint64_t digits = 0;  // wraps around if there are too many digits
  const char* const first = at;
  for (; digit_at(at) < 10; ++at) digits = 10 * digits + digit_at(at);
  std::ptrdiff_t count = at - first, behind_point = 0;
  if (*at == '.') {
    const char* const point = at++;
    for (; digit_at(at) < 10; ++at) digits = 10 * digits + digit_at(at);
    behind_point = at - point - 1;
    count += behind_point;
  }
  constexpr std::ptrdiff_t most_digits = 18;  // for a number below 2^64
  if (count == 0 || count > most_digits || digits > std::uint64_t{1} << std::numeric_limits<T>::digits || *at == 'e' || *at == 'E' ||
      static_cast<std::size_t>(behind_point) >= detail::powers_of_ten<T>.size())
    return nullptr;
  const T magnitude = static_cast<T>(digits) / detail::powers_of_ten<T>[static_cast<std::size_t>(behind_point)];
  value = is_negative ? -magnitude : magnitude;
  return at;
}

}  // namespace leat::io
