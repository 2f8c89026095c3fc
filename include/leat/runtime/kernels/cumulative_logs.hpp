#pragma once
// Kernel of the logarithms of running sums of exponentials along an axis, which none of these sums overflows. Source: TensorFlow
// `CumulativeLogsumexp`.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace leat::runtime {

inline void run_cumulative_logs(kernel_context& c) {
  const tensor_value x = c.input(0);
  const shape& s = x.extent();
  if (c.input(1).elements() != 1 || c.extent(1).rank != 0)
    throw invalid_argument("ScanOp: axis must be a scalar, not " + brackets(c.extent(1)));
  const int axis = axis_of(c.number(1), s.rank, "ScanOp: axis");
  const bool exclusive = c.node.flag("exclusive"), reverse = c.node.flag("reverse");
  const std::int64_t outer = product(s, 0, axis), length = s[axis], inner = product(s, axis + 1, s.rank);
  with_fraction(x.type(), [&]<class T>(T) {
    tensor_value made(x.type(), s);
    const T* const from = x.values<T>().data();
    T* const to = made.values<T>().data();
    constexpr T none = -std::numeric_limits<T>::infinity();
    const auto joined = [](T a, T b) {
      if (std::isnan(a) || std::isnan(b)) return a + b;
      const T most = std::max(a, b);
      return std::isinf(most) ? most : most + std::log1p(std::exp(std::min(a, b) - most));
    };
    for (std::int64_t o = 0; o < outer && made.elements() > 0; ++o)
      for (std::int64_t k = 0; k < length; ++k) {
        c.step.check();
        const std::int64_t row = (o * length + (reverse ? length - 1 - k : k)) * inner;
        const std::int64_t before = row + (reverse ? inner : -inner);
        for (std::int64_t i = 0; i < inner; ++i) {
          if (k == 0) to[row + i] = exclusive ? none : from[row + i];
          else to[row + i] = joined(to[before + i], from[(exclusive ? before : row) + i]);
        }
      }
    c.set(0, std::move(made));
  });
}

LEAT_FILL(fill_cumulative_log_kernels) { register_kernel("CumulativeLogsumexp", run_cumulative_logs); }

}  // namespace leat::runtime
