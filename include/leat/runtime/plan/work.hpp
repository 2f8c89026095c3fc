#pragma once
// Cost model: estimates a node's work from its inputs, to decide whether the node is worth another thread. The unit is one element of a
// loop over arrays, somewhat less than a nanosecond. A product counts its multiplications, 32 to a unit; a random number counts 8; an
// operator that fills an array from sizes counts the result's elements; one that gathers or scatters rows counts the rows' elements. Nodes
// that forward values, look at shapes, slice or belong to control flow count 0.

#include <leat/runtime/kernels/kernel.hpp>

#include <algorithm>

namespace leat::runtime {

/// A node with at least this much work, about 50 microseconds of one core, is heavy. Waking a thread takes 5 to 20 microseconds, so lighter
/// nodes run at once on the thread that found them ready.
inline constexpr std::int64_t heavy_work = 1 << 16;

// The product of two element counts; saturates.
inline std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? std::numeric_limits<std::int64_t>::max() : result;
}
// The element count of an array whose shape is the value of `sizes`; 0 if the value is malformed, which the kernel reports.
inline std::int64_t elements_said(const token& sizes) {
  const tensor_value& v = sizes.value;
  if (!v || (v.type() != dtype::int32 && v.type() != dtype::int64) || v.elements() > 16) return 0;
  std::int64_t n = 1;
  for (const std::int64_t size : integers(v)) n = times(n, std::max<std::int64_t>(size, 0));
  return n;
}
inline constexpr shape no_sizes{};
inline const shape& extent_of(const token& t) {
  return t.value ? t.value.extent() : t.variable != nullptr && t.variable->extent().is_static() ? t.variable->extent() : no_sizes;
}

/// The work of a node with these inputs. A variable that has no value yet counts with its shape in the graph.
inline std::int64_t work_of(work_kind kind, const kernel_node& node, std::span<const token> inputs) {
  if (kind == work_kind::none || inputs.empty()) return 0;
  const shape& first = extent_of(inputs[0]);
  switch (kind) {
    case work_kind::filled: return elements_said(inputs[0]);
    case work_kind::random: return times(8, std::max(elements_said(inputs[0]), first.elements()));
    case work_kind::tiled: return inputs.size() < 2 ? first.elements() : times(elements_said(inputs[1]), first.elements());
    case work_kind::broadcast: return inputs.size() < 2 ? first.elements() : elements_said(inputs[1]);
    case work_kind::gathered: {
      if (inputs.size() < 2 || first.rank == 0 || first[0] == 0) return 0;
      return times(extent_of(inputs[1]).elements(), first.elements() / first[0]);
    }
    case work_kind::scattered: {  // touches only the rows of the updates
      std::int64_t most = 0;
      for (const token& t : inputs)
        if (t.variable == nullptr || t.value) most = std::max(most, t.value.elements());
      return most;
    }
    case work_kind::product:
    case work_kind::convolution: {
      if (inputs.size() < 2 || first.rank < 2) return first.elements();
      const std::int64_t all = times(first.elements(), extent_of(inputs[1]).elements()) / 32;
      if (all < heavy_work) return all;
      if (kind == work_kind::convolution) return all / std::max<std::int64_t>(first[first.rank - 1], 1);
      const bool turned = node.flag("transpose_a") || node.flag("adj_x");
      std::int64_t shared = first[first.rank - (turned ? 2 : 1)];
      for (int i = 0; i + 2 < first.rank; ++i) shared = times(shared, first[i]);
      return all / std::max<std::int64_t>(shared, 1);
    }
    case work_kind::elements:
    case work_kind::none: break;
  }
  // Element by element, or along an axis: the elements of the largest operand, or of the broadcast shape of the first two.
  std::int64_t most = first.elements();
  for (std::size_t k = 1; k < inputs.size(); ++k) {
    const shape& s = extent_of(inputs[k]);
    most = std::max(most, s.elements());
    if (k > 1 || s.rank != first.rank) continue;
    std::int64_t both = 1;
    bool fits = true;
    for (int i = 0; i < s.rank; ++i) {
      fits = fits && (s[i] == first[i] || s[i] == 1 || first[i] == 1);
      both = times(both, std::max(s[i], first[i]));
    }
    if (fits) most = std::max(most, both);
  }
  return most;
}

}  // namespace leat::runtime
