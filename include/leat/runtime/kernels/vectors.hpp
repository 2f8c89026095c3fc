#pragma once
// Kernels of short vectors: cross products, and sizes and axes of images in another layout; and of sorted rows: where values would stand,
// and how many are in bins of equal width. Source: TensorFlow `Cross`, `DataFormatDimMap`, `DataFormatVecPermute`, `LowerBound`,
// `UpperBound`, `HistogramFixedWidth`.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/shape.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <algorithm>
#include <cmath>

namespace leat::runtime {

inline void run_cross(kernel_context& c) {
  const tensor_value a = c.input(0), b = c.input(1);
  const shape& s = a.extent();
  if (!(s == b.extent()))
    throw invalid_argument("Both inputs must be of same shape: " + brackets(s) + " vs. " + brackets(b.extent()));
  if (s.rank < 1) throw invalid_argument("Input must be at least 1D" + brackets(s));
  if (s[s.rank - 1] != 3) throw failed_precondition("Cross-products are only defined for 3-element vectors.");
  tensor_value made(a.type(), s);
  with_number(a.type(), [&]<class T>(T) {
    const T *x = a.values<T>().data(), *y = b.values<T>().data();
    T* to = made.values<T>().data();
    const auto part = [&](int i, int j) {
      return arithmetic<T>::subtract(arithmetic<T>::multiply(x[i], y[j]), arithmetic<T>::multiply(x[j], y[i]));
    };
    for (std::int64_t k = 0; k < made.elements(); k += 3, x += 3, y += 3, to += 3)
      to[0] = part(1, 2), to[1] = part(2, 0), to[2] = part(0, 1);
  });
  c.set(0, std::move(made));
}

/// Where each axis of the destination's layout is in the source's. Errors: invalid_argument unless one is an order of the other.
struct layout_change {
  std::string from, to;
  explicit layout_change(const kernel_context& c)
      : from(c.node.attribute<std::string>("src_format", "NHWC")), to(c.node.attribute<std::string>("dst_format", "NCHW")) {
    const auto check = [](const std::string& layout, const char* which, const char* name) {
      if (layout.size() != 4 && layout.size() != 5)
        throw invalid_argument(std::string(which) + " format must be of length 4 or 5, received " + name + " = " + layout);
    };
    check(from, "Source", "src_format");
    check(to, "Destination", "dst_format");
    std::string a = from, b = to;
    std::ranges::sort(a);
    std::ranges::sort(b);
    if (a != b || std::ranges::adjacent_find(a) != a.end())
      throw invalid_argument("Destination and source format must determine a permutation, got " + from + " and " + to);
  }
};
inline void run_layout_axes(kernel_context& c) {
  const layout_change change(c);
  const tensor_value x = c.input(0);
  const auto rank = static_cast<std::int64_t>(change.from.size());
  tensor_value made(x.type(), x.extent());
  with_index(x.type(), [&]<class I>(I) {
    for (std::size_t k = 0; k < x.values<I>().size(); ++k) {
      // As in TensorFlow, axes beyond the layout are taken modulo its rank.
      const std::int64_t axis = (x.values<I>()[k] % rank + rank) % rank;
      made.values<I>()[k] = static_cast<I>(change.to.find(change.from[static_cast<std::size_t>(axis)]));
    }
  });
  c.set(0, std::move(made));
}
inline void run_layout_sizes(kernel_context& c) {
  layout_change change(c);
  const tensor_value x = c.input(0);
  const shape& s = x.extent();
  const auto rank = static_cast<std::int64_t>(change.from.size());
  if (s.rank != 1 && s.rank != 2) throw invalid_argument("input must be a vector or 2D tensor, but got shape " + brackets(s));
  if (s[0] != rank && s[0] != rank - 2)
    throw invalid_argument(std::to_string(s.rank) + "D input must be of size " + std::to_string(rank - 2) + " or " + std::to_string(rank) +
                           ", but got shape " + brackets(s));
  if (s.rank == 2 && s[1] != 2) throw invalid_argument("Second dimension of 2D input must be of size 2, but got shape " + brackets(s));
  if (s[0] == rank - 2)  // the axes of space alone
    for (std::string* layout : {&change.from, &change.to}) std::erase_if(*layout, [](char axis) { return axis == 'N' || axis == 'C'; });
  if (static_cast<std::int64_t>(change.from.size()) != s[0])
    throw invalid_argument("the layouts " + change.from + " and " + change.to + " have no " + std::to_string(s[0]) + " axes of space");
  tensor_value made(x.type(), s);
  const std::int64_t width = s.rank == 2 ? 2 : 1;
  with_index(x.type(), [&]<class I>(I) {
    for (std::size_t k = 0; k < change.to.size(); ++k)
      std::copy_n(x.values<I>().data() + static_cast<std::int64_t>(change.from.find(change.to[k])) * width, width,
                  made.values<I>().data() + static_cast<std::int64_t>(k) * width);
  });
  c.set(0, std::move(made));
}

/// Where each value would stand in its sorted row, before those that are equal, or with `IsUpper` behind them.
template <bool IsUpper>
void run_bound(kernel_context& c) {
  const tensor_value rows = c.input(0), values = c.input(1);
  if (rows.extent().rank != 2 || values.extent().rank != 2)
    throw invalid_argument("Shape must be rank 2 but is rank " +
                           std::to_string(rows.extent().rank != 2 ? rows.extent().rank : values.extent().rank) + " for `" +
                           (rows.extent().rank != 2 ? "sorted_inputs" : "values") + "` argument");
  if (rows.extent()[0] != values.extent()[0]) throw invalid_argument("Leading dim_size of both tensors must match.");
  const std::int64_t width = rows.extent()[1], count = values.extent()[1];
  tensor_value made(c.node.type_of("out_type", dtype::int32), values.extent());
  with_number(rows.type(), [&]<class T>(T) {
    with_index(made.type(), [&]<class I>(I) {
      for (std::int64_t k = 0; k < made.elements(); ++k) {
        const T* const row = rows.values<T>().data() + k / count * width;
        const T value = values.values<T>()[static_cast<std::size_t>(k)];
        const T* const at = IsUpper ? std::upper_bound(row, row + width, value) : std::lower_bound(row, row + width, value);
        made.values<I>()[static_cast<std::size_t>(k)] = static_cast<I>(at - row);
      }
    });
  });
  c.set(0, std::move(made));
}

/// How many values are in each of some bins of equal width; those outside count in the first and the last.
inline void run_histogram(kernel_context& c) {
  if (c.extent(1).rank != 1 || c.extent(1)[0] != 2) throw invalid_argument("value_range should be a vector of 2 elements.");
  if (c.extent(2).rank != 0) throw invalid_argument("nbins should be a scalar.");
  const std::int64_t bins = c.number(2);
  if (bins <= 0) throw invalid_argument("nbins should be a positive number, but got '" + std::to_string(bins) + "'");
  const tensor_value values = c.input(0), range = c.input(1);
  tensor_value made = filled_number(c.node.type_of("dtype", dtype::int32), shapes::vector_of(bins), 0);
  with_number(values.type(), [&]<class T>(T) {
    const T low = range.values<T>()[0], high = range.values<T>()[1];
    if (!(low < high))
      throw invalid_argument("value_range should satisfy value_range[0] < value_range[1], but got '" + summary_text(range) + "'");
    // As in TensorFlow, the difference has the values' dtype, where a range that is too wide for it wraps around.
    const double step = static_cast<double>(arithmetic<T>::subtract(high, low)) / static_cast<double>(bins);
    if (!(step > 0))
      throw invalid_argument("value_range '" + summary_text(range) + "' has no " + std::to_string(bins) + " bins of one width that " +
                             dtype_name(values.type()) + " can hold");
    with_index(made.type(), [&]<class I>(I) {
      for (const T value : values.values<T>()) {
        if constexpr (std::is_floating_point_v<T>)
          if (std::isnan(value)) throw invalid_argument("Histogram values must not contain NaN");
        const double at = static_cast<double>(std::max(value, low)) - static_cast<double>(low);
        const double place = std::min(at / step, static_cast<double>(bins - 1));
        if (std::isnan(place)) throw invalid_argument("value_range '" + summary_text(range) + "' is infinite, and so is a value");
        const auto bin = static_cast<std::size_t>(place);
        ++made.values<I>()[bin];
      }
    });
  });
  c.set(0, std::move(made));
}

LEAT_FILL(fill_vector_kernels) {
  register_kernel("Cross", run_cross);
  register_kernel("DataFormatDimMap", run_layout_axes);
  register_kernel("DataFormatVecPermute", run_layout_sizes);
  register_kernel("LowerBound", run_bound<false>);
  register_kernel("UpperBound", run_bound<true>);
  register_kernel("HistogramFixedWidth", run_histogram);
}

}  // namespace leat::runtime
