#pragma once
// Strings that kernels copy count toward the session's limit before they are copied, and as long as the copies exist. A kernel that moves
// elements of any dtype knows how often it copies which of them, and nothing else does. So where there is a limit it runs twice: first with
// the lengths of the strings in their place, so that its results are the lengths of the copies, and then with the strings.

#include <leat/core/memory.hpp>
#include <leat/runtime/kernels/kernel.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

namespace leat::runtime {

/// The bytes that a string of this length takes outside of its object.
inline std::size_t outer_bytes(std::size_t length) {
  static const std::size_t inside = std::string().capacity();
  return length > inside ? length + 1 : 0;
}
/// The same of all elements of a value; 0 if it is none of strings.
inline std::size_t outer_bytes(const tensor_value& v) {
  std::size_t sum = 0;
  if (v && v.type() == text_dtype)
    for (const std::string& text : v.texts()) sum += outer_bytes(text.size());
  return sum;
}

/// Room for the strings of a result while they are made.
class text_room {
 public:
  /// Errors: resource_exhausted if the bytes exceed the session's limit.
  void take(std::size_t bytes) { taken_.take(bytes); }
  /// For so many strings of this length.
  void take(std::int64_t count, std::size_t length) {
    std::int64_t bytes = 0;
    if (memory_meter::current() == nullptr) return;
    if (!multiplies(count, static_cast<std::int64_t>(outer_bytes(length)), bytes))
      throw resource_exhausted(std::to_string(count) + " strings of " + std::to_string(length) + " bytes, which no memory holds");
    taken_.take(static_cast<std::size_t>(bytes));
  }
  /// Leaves the room to the result that the strings are in now. A result that shares an input's elements has none of its own.
  void give(tensor_value& result) {
    taken_.give_back();
    if (memory_meter::current() != nullptr && result.is_alone()) result.count_texts(outer_bytes(result));
  }

 private:
  metered_bytes taken_;
};

/// The bytes of the strings that a kernel will copy into its results.
template <class F>
std::size_t bytes_of_copies(kernel_context& c, const F& f) {
  constexpr dtype of_lengths = dtype::float64;  // which no kernel that takes strings gives as another result
  bool are_short = true;
  for (int k = 0; k < c.input_count(); ++k) are_short = are_short && outer_bytes(c.input(k)) == 0;
  if (are_short) return 0;
  std::vector<token> lengths(static_cast<std::size_t>(c.input_count())), results(static_cast<std::size_t>(c.result_count()));
  for (int k = 0; k < c.input_count(); ++k) {
    const tensor_value& v = c.input(k);
    tensor_value& its = lengths[static_cast<std::size_t>(k)].value;
    its = v;
    if (!v || v.type() != text_dtype) continue;
    its = tensor_value(of_lengths, v.extent());
    std::ranges::transform(v.texts(), its.values<double>().begin(),
                           [](const std::string& text) { return static_cast<double>(outer_bytes(text.size())); });
  }
  kernel_context first_run(c.node, c.step, lengths, results);
  static_cast<void>(f(first_run));
  double sum = 0;
  for (const token& t : results)
    if (t.value && t.value.type() == of_lengths)
      for (const double length : t.value.template values<double>()) sum += length;
  return static_cast<std::size_t>(std::min(sum, 0x1p62));
}

/// The function of a kernel that moves elements, and neither changes its inputs nor anything else, so that the strings it copies count.
template <class F>
auto counting_texts(F f) {
  return [f](kernel_context& c) {
    if (memory_meter::current() == nullptr) return f(c);
    text_room room;
    room.take(bytes_of_copies(c, f));
    const auto leave = [&] {
      for (int k = 0; k < c.result_count(); ++k) room.give(c.result(k));
    };
    if constexpr (std::is_void_v<decltype(f(c))>) {
      f(c);
      leave();
    } else {
      const auto done = f(c);
      leave();
      return done;
    }
  };
}

}  // namespace leat::runtime
