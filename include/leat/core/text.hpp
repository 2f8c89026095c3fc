#pragma once
// Compile-time strings: string literals as template arguments (`fixed_string`), the same strings as packs of characters for use in types
// (`name`), strings of bounded length for messages (`message`), and the hash that identifies expressions. Types have packs because nvcc
// prints types as source and cannot print an array in one.

#include <leat/core/list.hpp>
#include <leat/core/standard.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace leat {

/// One step of a 64-bit hash: combines `b` into `a`.
constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  a ^= b + 0x9e3779b97f4a7c15ull + (a << 6) + (a >> 2);
  a *= 0xff51afd7ed558ccdull;
  return a ^ (a >> 32);
}

/// Hash of a string.
constexpr std::uint64_t hash_text(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325ull;
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return h ^ (h >> 29);
}

namespace detail {

// Appends a string to a list of integers: first its length, then eight characters per integer. Returns the position where it begins.
constexpr std::int64_t put_text(detail::list<std::int64_t>& data, std::string_view text) {
  const auto here = static_cast<std::int64_t>(data.size());
  data.push_back(static_cast<std::int64_t>(text.size()));
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    word |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[i])) << (8 * (i % 8));
    if (i % 8 == 7 || i + 1 == text.size()) {
      data.push_back(static_cast<std::int64_t>(word));
      word = 0;
    }
  }
  return here;
}
constexpr detail::list<char> text_in(const std::int64_t* at) {
  detail::list<char> text;
  for (std::int64_t i = 0; i < at[0]; ++i)
    text.push_back(static_cast<char>(static_cast<std::uint64_t>(at[1 + i / 8]) >> (8 * (i % 8)) & 0xff));
  return text;
}

}  // namespace detail

/// A string literal as a template argument: `placeholder<"x", float>()`.
template <std::size_t N>
struct fixed_string {
  char text[N]{};
  constexpr fixed_string() = default;
  constexpr fixed_string(const char (&source)[N]) {
    for (std::size_t i = 0; i < N; ++i) text[i] = source[i];
  }
  constexpr std::string_view view() const { return {text, N - 1}; }
};

/// Joins a scope and a name: `scope / "kernel"` is `"scope/kernel"`; an empty scope gives `"/kernel"`.
template <std::size_t A, std::size_t B>
constexpr auto operator/(const fixed_string<A>& scope, const fixed_string<B>& name) {
  fixed_string<A + B> joined;
  for (std::size_t i = 0; i + 1 < A; ++i) joined.text[i] = scope.text[i];
  joined.text[A - 1] = '/';
  for (std::size_t i = 0; i < B; ++i) joined.text[A + i] = name.text[i];
  return joined;
}
template <std::size_t A, std::size_t B>
constexpr auto operator/(const fixed_string<A>& scope, const char (&name)[B]) {
  return scope / fixed_string<B>(name);
}

/// The same string as a type, which may be part of any other type.
template <char... Cs>
struct name {
  static constexpr char text[sizeof...(Cs) + 1]{Cs..., 0};
  static constexpr std::string_view view() { return {text, sizeof...(Cs)}; }
};

namespace detail {
template <fixed_string S, std::size_t... I>
constexpr name<S.text[I]...> expand_name(std::index_sequence<I...>) {
  return {};
}
}  // namespace detail

template <fixed_string S>
using name_of = decltype(detail::expand_name<S>(std::make_index_sequence<sizeof(S.text) - 1>{}));

/// A string of bounded length, built in constant evaluation or at run time; excess is cut off.
struct message {
  static constexpr int capacity = 480;
  char text[capacity]{};
  int size = 0;

  constexpr message& operator<<(std::string_view part) {
    for (char c : part)
      if (size < capacity - 1) text[size++] = c;
    return *this;
  }
  constexpr message& operator<<(long long value) {
    if (value >= 0) return *this << static_cast<unsigned long long>(value);
    return *this << "-" << 0 - static_cast<unsigned long long>(value);  // the negation of the smallest value overflows
  }
  constexpr message& operator<<(unsigned long long rest) {
    char digits[20]{};
    int n = 0;
    do {
      digits[n++] = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest != 0);
    while (n > 0) *this << std::string_view(&digits[--n], 1);
    return *this;
  }
  constexpr message& operator<<(int value) { return *this << static_cast<long long>(value); }
  constexpr message& operator<<(long value) { return *this << static_cast<long long>(value); }
  constexpr std::string_view view() const { return {text, static_cast<std::size_t>(size)}; }
};

}  // namespace leat
