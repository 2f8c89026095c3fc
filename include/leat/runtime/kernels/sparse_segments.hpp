#pragma once
// Kernels that take rows of an array by index and add up those of each segment: what a lookup of several words each needs. Source:
// TensorFlow `SparseSegmentSum`, `SparseSegmentMean`, `SparseSegmentSqrtN`, these `WithNumSegments`, and their gradients.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/shape.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <cmath>
#include <limits>

namespace leat::runtime {

/// What the sum of the rows of a segment is divided by.
enum class segment_share { one, count, root };
template <segment_share Share, class T>
T share_of(std::int64_t count) {
  if constexpr (Share == segment_share::count) return static_cast<T>(count);
  else if constexpr (Share == segment_share::root) return std::sqrt(static_cast<T>(count));
  else return T(1);
}
/// Calls `f` with the dtype's type: sums are of all numbers, the others of floating point.
template <segment_share Share, class F>
void with_segment_number(dtype type, F f) {
  if constexpr (Share == segment_share::one) with_number(type, f);
  else with_fraction(type, f);
}
/// Indices and segments of input 1 and 2. Errors: invalid_argument unless these are vectors of one length.
inline std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> indices_and_segments(kernel_context& c) {
  if (c.extent(1).rank != 1) throw invalid_argument("indices should be a vector.");
  if (c.extent(2).rank != 1) throw invalid_argument("segment_ids should be a vector.");
  if (c.extent(1)[0] != c.extent(2)[0]) throw invalid_argument("segment_ids and indices should have same size.");
  return {c.numbers(1), c.numbers(2)};
}
/// The shape of an array with another number of rows.
inline shape with_rows(const shape& s, std::int64_t rows) {
  shape made = s;
  made.dim[0] = rows;
  return made;
}

template <segment_share Share, bool IsCounted>
void run_sparse_segments(kernel_context& c) {
  if (IsCounted && c.extent(3).rank != 0)
    throw invalid_argument("num_segments should be a scalar, not shape " + brackets(c.extent(3)));
  if (c.extent(0).rank < 1) throw invalid_argument("Shape must be at least rank 1");
  const auto [indices, segments] = indices_and_segments(c);
  const tensor_value data = c.input(0);
  std::int64_t rows = segments.empty() ? 0 : arithmetic<std::int64_t>::add(segments.back(), 1);
  if (IsCounted) {
    if (rows > c.number(3)) throw invalid_argument("segment ids must be < num_segments");
    rows = c.number(3);
  }
  if (rows < 0 || (!segments.empty() && segments.back() < 0)) throw invalid_argument("segment ids must be >= 0");
  for (std::size_t k = 0; k < segments.size(); ++k) {
    if (k + 1 < segments.size() && segments[k + 1] < segments[k]) throw invalid_argument("segment ids are not increasing");
    if (segments[k] < 0 || segments[k] >= rows)
      throw invalid_argument("Segment id " + std::to_string(segments[k]) + " out of range [0, " + std::to_string(rows) +
                             "), possibly because 'segment_ids' input is not sorted.");
    if (indices[k] < 0 || indices[k] >= data.extent()[0])
      throw invalid_argument("Bad: indices[" + std::to_string(k) + "] == " + std::to_string(indices[k]) + " out of range [0, " +
                             std::to_string(data.extent()[0]) + ")");
  }
  tensor_value made = filled_number(data.type(), with_rows(data.extent(), rows), 0);
  const std::int64_t width = product(data.extent(), 1, data.extent().rank);
  with_segment_number<Share>(data.type(), [&]<class T>(T) {
    const T* const from = data.values<T>().data();
    T* const to = made.values<T>().data();
    for (std::size_t begin = 0, end = 0; begin < segments.size(); begin = end) {
      T* const sum = to + segments[begin] * width;
      for (end = begin; end < segments.size() && segments[end] == segments[begin]; ++end) {
        if (end % 4096 == 0) c.step.check();
        const T* const row = from + indices[end] * width;
        for (std::int64_t i = 0; i < width; ++i) sum[i] = arithmetic<T>::add(sum[i], row[i]);
      }
      if constexpr (Share != segment_share::one) {
        const T share = share_of<Share, T>(static_cast<std::int64_t>(end - begin));
        for (std::int64_t i = 0; i < width; ++i) sum[i] /= share;
      }
    }
  });
  c.set(0, std::move(made));
}

/// The gradient of the array: each row gets those of the segments that it is part of.
template <segment_share Share>
void run_sparse_segments_grad(kernel_context& c) {
  if (c.extent(0).rank < 1) throw invalid_argument("Shape must be at least rank 1");
  const auto [indices, segments] = indices_and_segments(c);
  if (c.extent(3).rank != 0) throw invalid_argument("output_dim0 should be a scalar.");
  const tensor_value slopes = c.input(0);
  const std::int64_t rows = c.number(3), count = slopes.extent()[0];
  if (rows < 0) throw invalid_argument("Expected a non-negative size, got " + std::to_string(rows));
  for (std::size_t k = 0; k < segments.size(); ++k) {
    if (segments[k] >= count) throw invalid_argument("Invalid number of segments");
    if (segments[k] < 0)
      throw invalid_argument("Segment id " + std::to_string(segments[k]) + " out of range [0, " + std::to_string(count) + ").");
    if (indices[k] < 0 || indices[k] >= rows)
      throw invalid_argument("Index " + std::to_string(indices[k]) + " out of range [0, " + std::to_string(rows) + ").");
  }
  tensor_value made = filled_number(slopes.type(), with_rows(slopes.extent(), rows), 0);
  if (made.elements() == 0) return c.set(0, std::move(made));  // of any number of rows without elements
  std::vector<std::int64_t> counts(static_cast<std::size_t>(count), 0);
  for (const std::int64_t s : segments) ++counts[static_cast<std::size_t>(s)];
  const std::int64_t width = product(slopes.extent(), 1, slopes.extent().rank);
  with_fraction(slopes.type(), [&]<class T>(T) {
    const T* const from = slopes.values<T>().data();
    T* const to = made.values<T>().data();
    for (std::size_t k = 0; k < segments.size(); ++k) {
      if (k % 4096 == 0) c.step.check();
      const T share = 1 / share_of<Share, T>(counts[static_cast<std::size_t>(segments[k])]);
      for (std::int64_t i = 0; i < width; ++i) to[indices[k] * width + i] += share * from[segments[k] * width + i];
    }
  });
  c.set(0, std::move(made));
}

template <segment_share Share>
void register_sparse_segments(const std::string& type) {
  register_kernel(type, run_sparse_segments<Share, false>);
  register_kernel(type + "WithNumSegments", run_sparse_segments<Share, true>);
  register_kernel(type + "Grad", run_sparse_segments_grad<Share>);
}
LEAT_FILL(fill_sparse_segment_kernels) {
  register_sparse_segments<segment_share::one>("SparseSegmentSum");
  register_sparse_segments<segment_share::count>("SparseSegmentMean");
  register_sparse_segments<segment_share::root>("SparseSegmentSqrtN");
}

}  // namespace leat::runtime
