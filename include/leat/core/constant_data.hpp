#pragma once
// Integers that constant evaluation computes, as an array of the program.

#include <array>
#include <cstddef>
#include <cstdint>

namespace leat::detail {

// Constant evaluation cannot return memory that it allocated. So the integers are copied into an array of ample size, which is cut to size
// afterwards; only larger data is computed a second time.
template <class Make>
struct constant_data {
  static constexpr std::size_t ample = 262144;  // zero elements cost the compiler nothing
  struct table {
    std::array<std::int64_t, ample> data{};
    std::size_t size = 0;
  };
  // Copies with pointers, so that the compiler evaluates no function calls for the elements.
  static constexpr void copy(const std::int64_t* from, std::size_t size, std::int64_t* to) {
    for (const std::int64_t* const end = from + size; from != end;) *to++ = *from++;
  }
  static constexpr table whole = [] {
    table t;
    const auto made = Make::make();
    t.size = made.size();
    if (t.size <= ample) copy(made.data(), t.size, t.data.data());
    return t;
  }();
  static constexpr auto value = [] {
    std::array<std::int64_t, whole.size> exact{};
    if constexpr (whole.size <= ample) {
      copy(whole.data.data(), exact.size(), exact.data());
    } else {
      const auto made = Make::make();
      copy(made.data(), exact.size(), exact.data());
    }
    return exact;
  }();
};

}  // namespace leat::detail
