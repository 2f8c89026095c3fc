#pragma once
// Converts plain C++ numbers to the dtype of an expression, a feed or a variable: whether the dtype can represent the number, and the 64
// bits that store it. An integer must be represented exactly, in floating-point dtypes too. A floating-point number is rounded to nearest,
// but a finite one never becomes infinite. `fits<T>(number)` is the only rule; a number that does not fit is refused where it is given.

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <leat/core/dtype.hpp>
#include <leat/core/error.hpp>
#include <leat/core/text.hpp>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace leat::detail {

// Halfway between the largest float32 and 2^128: numbers from here on round to infinity.
inline constexpr double float32_overflows_from = 0x1.ffffffp127;

/// Whether type `T` can represent a number, by the rule above.
template <class T, class N>
constexpr bool fits(N value) {
  if constexpr (std::is_same_v<T, N> || std::is_same_v<N, bool>) {
    return true;
  } else if constexpr (std::is_same_v<T, bool>) {
    return value == N(0) || value == N(1);
  } else if constexpr (std::is_integral_v<N> && std::is_integral_v<T>) {
    return !std::cmp_less(value, std::numeric_limits<T>::min()) && !std::cmp_greater(value, std::numeric_limits<T>::max());
  } else if constexpr (std::is_integral_v<N>) {
    const auto bits = static_cast<std::uint64_t>(value);
    const std::uint64_t magnitude = value < N(0) ? std::uint64_t{0} - bits : bits;
    return magnitude == 0 || static_cast<int>(std::bit_width(magnitude)) - std::countr_zero(magnitude) <= std::numeric_limits<T>::digits;
  } else if constexpr (std::is_integral_v<T>) {
    // Floating-point types represent 2^digits exactly, but not always the largest integer.
    constexpr auto bound = static_cast<N>(std::uint64_t{1} << (std::numeric_limits<T>::digits - 1)) * N(2);
    if (!(value < bound && value >= (std::is_signed_v<T> ? -bound : N(0)))) return false;
    return static_cast<N>(static_cast<T>(value)) == value;
  } else if constexpr (sizeof(T) >= sizeof(N)) {
    return true;
  } else {
    const auto bound = std::is_same_v<T, float> ? static_cast<N>(float32_overflows_from) : static_cast<N>(std::numeric_limits<T>::max());
    constexpr N largest = std::numeric_limits<N>::max();
    return (value < bound && value > -bound) || !(value <= largest && value >= -largest);
  }
}
/// The same for a dtype.
template <class N>
constexpr bool fits(dtype type, N value) {
  switch (type) {
    case dtype::float32: return fits<float>(value);
    case dtype::float64: return fits<double>(value);
    case dtype::int32: return fits<std::int32_t>(value);
    case dtype::int64: return fits<std::int64_t>(value);
    case dtype::uint8: return fits<std::uint8_t>(value);
    case dtype::boolean: return fits<bool>(value);
    case dtype::invalid: break;
  }
  return true;
}

// `place` begins the message: `feed of "rate": `. It is empty for an operand of an expression.
[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_number(std::string_view place, dtype type, std::string_view value,
                                                                 bool is_whole) {
  LEAT_THROW(invalid_argument(joined(
      {place, "the number ", value, " does not fit the dtype ", name_of_dtype(type), place.empty() ? " of the expression beside it" : "",
       is_whole && is_floating(type) ? ", which does not hold each integer of that size; written as a fraction it is rounded" : ""})));
}
template <class N>
[[noreturn, gnu::cold, gnu::noinline]] void refuse_number([[maybe_unused]] std::string_view place, [[maybe_unused]] dtype type,
                                                          [[maybe_unused]] N value) {
#if !defined(__cpp_exceptions)
  __builtin_trap();  // makes no text, which nobody would read
#else
  if constexpr (std::is_integral_v<N>) {
    message text;
    if constexpr (std::is_signed_v<N>) text << static_cast<long long>(value);
    else text << static_cast<unsigned long long>(value);
    refuse_number(place, type, text.view(), true);
  } else {
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
    refuse_number(place, type, text, false);
  }
#endif
}

/// A number as an element of type `T`. Errors: invalid_argument if `T` cannot represent it.
template <class T, class N>
[[gnu::always_inline]] constexpr T checked_number(std::string_view place, N value) {
  if (!fits<T>(value)) [[unlikely]]
    refuse_number(place, dtype_of<T>, value);
  return static_cast<T>(value);
}

/// The 64 bits that store a number: those of a double for floating-point types, otherwise those of an int64.
/// Errors: invalid_argument if the type cannot represent it.
template <class T, class N>
constexpr std::uint64_t number_bits(N value, std::string_view place = {}) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<std::uint64_t>(static_cast<double>(checked_number<T>(place, value)));
  } else {
    static_assert(std::is_integral_v<N>, "a fraction where the expression holds integers: cast<float>(x) first");
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(checked_number<T>(place, value)));
  }
}

}  // namespace leat::detail
