#pragma once
// The elements of a strided slice along one axis, and the length of a range. Begin, end and stride may come from a file, so every
// int64 is allowed and nothing overflows.

#include <leat/core/shape.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace leat {

/// The length of the range from `start` up to, but without, `limit` in steps of `delta`, which is not 0. It is 0 if `delta` leads away from
/// `limit`, and nullopt if the range has more values than a tensor may have elements.
constexpr std::optional<std::int64_t> range_count(std::int64_t start, std::int64_t limit, std::int64_t delta) {
  if (delta > 0 ? limit <= start : limit >= start) return 0;
  const auto unsigned_of = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
  const std::uint64_t distance = delta > 0 ? unsigned_of(limit) - unsigned_of(start) : unsigned_of(start) - unsigned_of(limit);
  const std::uint64_t step = delta > 0 ? unsigned_of(delta) : std::uint64_t{0} - unsigned_of(delta);
  const std::uint64_t count = (distance - 1) / step + 1;
  if (count > unsigned_of(max_elements)) return std::nullopt;
  return static_cast<std::int64_t>(count);
}

namespace detail {

/// The first index, step and number of elements along one axis; the number is unknown if the size of the axis is unknown.
struct slice_walk {
  std::int64_t begin = 0, stride = 1, count = unknown_dimension;
};
/// The walk of `[begin:end:stride]` along an axis of `size`, by NumPy's rules; `from_start` and `to_end` stand for omitted bounds.
/// `stride` is not 0. A walk of at most one element gets stride 1.
constexpr slice_walk walk_of(std::int64_t begin, std::int64_t end, std::int64_t stride, std::int64_t size, bool from_start, bool to_end) {
  slice_walk w{.stride = stride};
  if (size < 0) return w;
  const auto place = [&](std::int64_t i, std::int64_t low, std::int64_t high) { return std::clamp(i < 0 ? i + size : i, low, high); };
  const bool forward = stride > 0;
  w.begin = from_start ? (forward ? 0 : size - 1) : place(begin, forward ? 0 : -1, forward ? size : size - 1);
  const std::int64_t last = to_end ? (forward ? size : -1) : place(end, forward ? 0 : -1, forward ? size : size - 1);
  const std::int64_t distance = forward ? last - w.begin : w.begin - last;
  // Negated as unsigned, because -INT64_MIN overflows.
  const std::uint64_t step = forward ? static_cast<std::uint64_t>(stride) : std::uint64_t{0} - static_cast<std::uint64_t>(stride);
  w.count = distance <= 0 ? 0 : static_cast<std::int64_t>((static_cast<std::uint64_t>(distance) - 1) / step) + 1;
  if (w.count <= 1) w.stride = 1;
  return w;
}

}  // namespace detail

}  // namespace leat
