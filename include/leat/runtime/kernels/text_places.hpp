#pragma once
// Strings in operators whose code is compiled for numbers alone. An operator that only moves elements moves the places of the strings,
// which are numbers, and the strings are then copied from there. Comparison, which looks at strings, stands here as well.

#include <leat/runtime/kernels/moved_texts.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace leat::runtime {

/// The places of the elements of an array, in row-major order, repeated as the array is broadcast to another shape.
inline std::vector<std::int64_t> broadcast_places(const shape& from, const shape& to) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(from.elements())), made(static_cast<std::size_t>(to.elements()));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  auto strides = strides_of(from);
  for (std::size_t d = 0; d < strides.size(); ++d)
    if (from[static_cast<int>(d)] == 1) strides[d] = 0;
  strides.insert(strides.begin(), static_cast<std::size_t>(to.rank - from.rank), 0);
  if (!made.empty()) gather_walk(made.data(), all.data(), to.dim, strides.data(), static_cast<std::size_t>(to.rank));
  return made;
}

/// Whether the strings of two inputs, which broadcast, are equal (`equal`) or not. Errors: invalid_argument for shapes that do not fit.
inline void compare_texts(kernel_context& c, bool equal) {
  const tensor_value a = c.input(0), b = c.input(1);
  const auto both = broadcast(a.extent(), b.extent());
  if (!both.ok) throw invalid_argument("Incompatible shapes: " + brackets(a.extent()) + " vs. " + brackets(b.extent()));
  tensor_value made(dtype::boolean, both.extent);
  const auto of_a = broadcast_places(a.extent(), both.extent), of_b = broadcast_places(b.extent(), both.extent);
  const auto to = made.values<bool>();
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (i % 1024 == 0) c.step.check();
    to[i] = (a.texts()[static_cast<std::size_t>(of_a[i])] == b.texts()[static_cast<std::size_t>(of_b[i])]) == equal;
  }
  c.set(0, std::move(made));
}
/// Runs a node that only moves elements: `run` sees a context in which places are in place of strings, and its results of int64 are the
/// places of the results' strings. An element that comes from no input, such as padding, is an empty string. No other result is int64.
template <class F>
void run_on_places(kernel_context& c, const F& run) {
  std::vector<token> inputs(static_cast<std::size_t>(c.input_count())), results(static_cast<std::size_t>(c.result_count()));
  std::vector<const std::string*> at{nullptr};  // 0, which kernels fill in, is no string's place
  std::vector<tensor_value> held;               // keeps the strings
  for (int k = 0; k < c.input_count(); ++k) {
    const tensor_value& v = c.input(k);
    tensor_value& its = inputs[static_cast<std::size_t>(k)].value;
    its = v;
    if (v.type() != text_dtype) continue;
    held.push_back(v);
    its = tensor_value(dtype::int64, v.extent());
    const auto places = its.values<std::int64_t>();
    std::iota(places.begin(), places.end(), static_cast<std::int64_t>(at.size()));
    for (const std::string& text : std::as_const(held.back()).texts()) at.push_back(&text);
  }
  kernel_context on_places(c.node, c.step, inputs, results);
  run(on_places);
  for (int k = 0; k < c.result_count(); ++k) {
    const tensor_value& places = std::as_const(results[static_cast<std::size_t>(k)].value);
    if (places.type() != dtype::int64) {
      c.set(k, std::move(results[static_cast<std::size_t>(k)].value));
      continue;
    }
    const std::span<const std::int64_t> from = places.values<std::int64_t>();
    text_room room;
    for (const std::int64_t place : from)
      if (const std::string* const text = at.at(static_cast<std::size_t>(place)); text != nullptr) room.take(1, text->size());
    tensor_value made(text_dtype, places.extent());
    auto& to = made.texts();
    for (std::size_t i = 0; i < from.size(); ++i)
      if (const std::string* const text = at[static_cast<std::size_t>(from[i])]; text != nullptr) to[i] = *text;
    room.give(made);
    c.set(k, std::move(made));
  }
}

}  // namespace leat::runtime
