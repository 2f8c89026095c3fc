#pragma once
// Kernels that pass arrays on, rotate them, read their bytes otherwise, compare them or count their elements. Source: TensorFlow `Bitcast`,
// `Roll`, `IdentityN`, `EnsureShape`, `AccumulateNV2`, `ApproximateEqual`, `Bucketize`, `Bincount`, `DenseBincount`, `UnravelIndex`.

#include <leat/core/fill.hpp>
#include <leat/named/graph/literal.hpp>
#include <leat/named/graph/part.hpp>
#include <leat/runtime/kernels/element_blocks.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/moved_texts.hpp>
#include <leat/runtime/kernels/shape.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>

namespace leat::runtime {

inline void run_bitcast(kernel_context& c) {
  const tensor_value x = c.input(0);
  const dtype type = c.node.type_of("type");
  const auto refuse = [&](const std::string& why) {
    throw invalid_argument("Cannot bitcast from " + dtype_name(x.type()) + " to " + dtype_name(type) + ": " + why);
  };
  if (x.type() == dtype::boolean || type == dtype::boolean) refuse("bool has no bits of its own");
  const int from = element_bytes(x.type()), to = element_bytes(type);
  if (from == 0 || to == 0) throw unimplemented("no kernel for dtype " + dtype_name(from == 0 ? x.type() : type));
  shape extent = x.extent();
  if (from > to) extent.push(from / to);
  if (from < to) {
    if (extent.rank < 1 || extent[extent.rank - 1] != to / from)
      refuse("the last dimension of shape " + brackets(extent) + " must be " + std::to_string(to / from));
    --extent.rank;
  }
  tensor_value made(type, extent);
  if (made.bytes() > 0) std::memcpy(made.data(), x.data(), made.bytes());
  c.set(0, std::move(made));
}

/// Copies an array from axis `axis` on, with each axis rotated by its shift. Returns the end of the written elements.
template <class S>
S* copy_rolled(S* to, const S* from, const shape& s, const std::vector<std::int64_t>& shifts, int axis, int last) {
  const std::int64_t size = s[axis], inner = product(s, axis + 1, s.rank), shift = shifts[static_cast<std::size_t>(axis)];
  if (axis == last) {
    to = std::copy_n(from + (size - shift) * inner, shift * inner, to);
    return std::copy_n(from, (size - shift) * inner, to);
  }
  for (std::int64_t i = 0; i < size; ++i)
    to = copy_rolled(to, from + (i < shift ? i - shift + size : i - shift) * inner, s, shifts, axis + 1, last);
  return to;
}
inline void run_roll(kernel_context& c) {
  const tensor_value x = c.input(0);
  const shape& s = x.extent();
  if (s.rank < 1) throw invalid_argument("input must be 1-D or higher");
  const auto want_list = [&](int k, const char* name) {
    if (c.extent(k).rank > 1)
      throw invalid_argument(std::string(name) + " must be a scalar or a 1-D vector. Found: " + brackets(c.extent(k)));
  };
  want_list(1, "shift");
  want_list(2, "axis");
  if (!(c.extent(1) == c.extent(2))) throw invalid_argument("shift and axis must have the same size");
  const auto by = c.numbers(1), axes = c.numbers(2);
  std::vector<std::int64_t> shifts(static_cast<std::size_t>(s.rank), 0);
  int last = 0;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const std::int64_t axis = axes[k] < 0 ? arithmetic<std::int64_t>::add(axes[k], s.rank) : axes[k];
    if (axis < 0 || axis >= s.rank) throw invalid_argument("axis " + std::to_string(axis) + " is out of range");
    const std::int64_t size = std::max<std::int64_t>(s[static_cast<int>(axis)], 1);
    std::int64_t& shift = shifts[static_cast<std::size_t>(axis)];
    shift = (shift + by[k] % size + size) % size;
    last = std::max(last, static_cast<int>(axis));
  }
  tensor_value made(x.type(), s);
  if (made.elements() > 0)
    with_storage(x.type(), [&]<class S>(S) { copy_rolled(stored<S>(made), stored<S>(x), s, shifts, 0, last); });
  c.set(0, std::move(made));
}

inline void run_ensure_shape(kernel_context& c) {
  const auto said = c.node.attribute<tensor_shape_proto>("shape", {});
  const shape wanted = to_shape(said);
  if (!may_equal(c.extent(0), wanted)) {
    const output given = c.node.owner->named().input(*c.node.owner, c.node.index, 0);
    const std::string name = given.operation().name() + (given.port() == 0 ? "" : ":" + std::to_string(given.port()));
    throw invalid_argument("Shape of tensor " + name + " " + brackets(c.extent(0)) + " is not compatible with expected shape " +
                           brackets(wanted) + ".");
  }
  c.set(0, c.take(0));
}

inline void run_accumulate(kernel_context& c) {
  for (int k = 1; k < c.input_count(); ++k)
    if (!(c.extent(k) == c.extent(0)) || c.type(k) != c.type(0))
      throw invalid_argument("Inputs to operation AccumulateNV2 must have the same size and shape.  Input 0: " + brackets(c.extent(0)) +
                             " != input " + std::to_string(k) + ": " + brackets(c.extent(k)));
  tensor_value sum = c.take(0);
  if (c.input_count() > 1 && !sum.is_alone()) sum = sum.copy();
  with_number(sum.type(), [&]<class T>(T) {
    for (int k = 1; k < c.input_count(); ++k)
      combine(sum.values<T>().data(), c.input(k).values<T>().data(), sum.elements(), [](T a, T b) { return arithmetic<T>::add(a, b); });
  });
  c.set(0, std::move(sum));
}

inline void run_approximate_equal(kernel_context& c) {
  const tensor_value x = c.input(0), y = c.input(1);
  if (!(x.extent() == y.extent()))
    throw invalid_argument("x and y must be of the same shape. x shape: " + brackets(x.extent()) + ". y shape: " + brackets(y.extent()));
  const float tolerance = c.node.attribute<float>("tolerance", 0.00001f);
  tensor_value made(dtype::boolean, x.extent());
  with_fraction(x.type(), [&]<class T>(T) {
    const auto a = x.values<T>(), b = y.values<T>();
    const auto to = made.values<bool>();
    for (std::size_t k = 0; k < to.size(); ++k) to[k] = std::abs(a[k] - b[k]) <= static_cast<T>(tolerance);
  });
  c.set(0, std::move(made));
}

/// The number of boundaries that are not above each element. A NaN is above all of them.
inline void run_bucketize(kernel_context& c) {
  const tensor_value x = c.input(0);
  const auto boundaries = c.node.list<float>("boundaries");
  if (!std::is_sorted(boundaries.begin(), boundaries.end())) throw invalid_argument("Expected sorted boundaries");
  tensor_value made(dtype::int32, x.extent());
  with_number(x.type(), [&]<class T>(T) {
    using compared = std::conditional_t<std::is_same_v<T, double>, double, float>;
    const auto from = x.values<T>();
    const auto to = made.values<std::int32_t>();
    for (std::size_t k = 0; k < to.size(); ++k) {
      const auto value = static_cast<compared>(from[k]);
      const auto above = std::upper_bound(boundaries.begin(), boundaries.end(), value,
                                          [](compared v, float b) { return v < static_cast<compared>(b); });
      to[k] = static_cast<std::int32_t>(above - boundaries.begin());
    }
  });
  c.set(0, std::move(made));
}

/// How often each number below `size` occurs, or the sum of its weights; in a matrix, row by row.
inline void run_bincount(kernel_context& c, bool by_row) {
  const shape& s = c.extent(0);
  const tensor_value weights = c.input(2);
  if (by_row && s.rank > 2) throw invalid_argument("Shape must be at most rank 2 but is rank " + std::to_string(s.rank));
  if (c.extent(1).rank != 0) throw invalid_argument("Shape must be rank 0 but is rank " + std::to_string(c.extent(1).rank));
  const std::int64_t size = c.number(1);
  if (size < 0) throw invalid_argument("size (" + std::to_string(size) + ") must be non-negative");
  const bool is_matrix = by_row && s.rank == 2, is_weighted = weights.elements() > 0;
  if (is_weighted && by_row && !(weights.extent() == s))
    throw invalid_argument(
        "`weights` must be the same shape as `arr` or a length-0 `Tensor`, in which case it acts as all weights equal to 1. Received " +
        brackets(weights.extent()));
  if (is_weighted && weights.elements() != c.input(0).elements())
    throw invalid_argument("Input indices and weights must have the same size.");
  const auto numbers = c.numbers(0);
  for (const std::int64_t n : numbers)
    if (n < 0)
      throw invalid_argument(is_matrix ? "Input 'in' must be non-negative! Negative input value found: " + std::to_string(n)
                                       : std::string("Input arr must be non-negative!"));
  shape extent;
  if (is_matrix) extent.push(s[0]);
  extent.push(size);
  const std::size_t width = is_matrix ? static_cast<std::size_t>(s[1]) : numbers.size();
  const bool counts_once = by_row && c.node.flag("binary_output");
  tensor_value made = filled_number(weights.type(), extent, 0);
  with_number(weights.type(), [&]<class T>(T) {
    T* const to = made.values<T>().data();
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      if (numbers[k] >= size) continue;
      T& bin = to[static_cast<std::int64_t>(k / width) * size + numbers[k]];
      bin = counts_once ? T(1) : arithmetic<T>::add(bin, is_weighted ? weights.values<T>()[k] : T(1));
    }
  });
  c.set(0, std::move(made));
}

/// The coordinates of elements of an array of these dimensions that are named by their place.
inline void run_unravel_index(kernel_context& c) {
  const tensor_value places = c.input(0);
  const shape& s = places.extent();
  if (s.rank > 1) throw invalid_argument("The indices can only be scalar or vector, got \"" + brackets(s) + "\"");
  if (c.extent(1).rank != 1) throw invalid_argument("The indices can only be 1-D, got \"" + brackets(c.extent(1)) + "\"");
  const auto dims = c.numbers(1);
  std::int64_t all = 1;
  bool fits = true;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    if (dims[k] == 0)
      throw invalid_argument("Input dims cannot contain a dim of zero, but dims contains zero at index " + std::to_string(k));
    if (dims[k] < 0)
      throw invalid_argument("Input dims cannot be negative. Got dim = " + std::to_string(dims[k]) + " at index " + std::to_string(k));
    fits = fits && multiplies(all, dims[k], all);
  }
  if (!fits || (places.type() == dtype::int32 && all > std::numeric_limits<std::int32_t>::max()))
    throw invalid_argument("Input dims product is causing integer overflow");
  if (places.elements() == 0) throw invalid_argument("received empty tensor indices");
  shape extent;
  extent.push(static_cast<std::int64_t>(dims.size()));
  if (s.rank > 0) extent.push(s[0]);
  tensor_value made(places.type(), extent);
  with_index(places.type(), [&]<class I>(I) {
    const auto from = places.values<I>();
    const auto to = made.values<I>();
    for (std::size_t k = 0; k < from.size(); ++k) {
      std::int64_t rest = from[k], step = all;
      if (rest >= all) throw invalid_argument("index is out of bound as with dims");
      for (std::size_t d = 0; d < dims.size(); ++d) {
        step /= dims[d];
        to[d * from.size() + k] = static_cast<I>(rest / step);
        rest %= step;
      }
    }
  });
  c.set(0, std::move(made));
}

LEAT_FILL(fill_element_kernels) {
  register_kernel("Bitcast", run_bitcast);
  register_kernel("Roll", counting_texts(run_roll));
  register_kernel("Timestamp", [](kernel_context& c) {
    c.set(0, tensor_value(std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count()));
  });
  register_kernel("IdentityN", [](kernel_context& c) {
    const auto types = c.node.list<data_type>("T");
    for (int k = 0; k < c.input_count(); ++k) {
      // A variable by handle is passed on as the variable, not as its value.
      const bool is_handle = static_cast<std::size_t>(k) < types.size() && types[static_cast<std::size_t>(k)] == data_type::resource;
      if (is_handle && c.is_variable(k)) c.set_variable(k, c.variable(k));
      else c.set(k, c.take(k));
    }
  });
  register_kernel("EnsureShape", run_ensure_shape);
  register_kernel("AccumulateNV2", run_accumulate);
  register_kernel("ApproximateEqual", run_approximate_equal);
  register_kernel("Bucketize", run_bucketize);
  register_kernel("Bincount", [](kernel_context& c) { run_bincount(c, false); });
  register_kernel("DenseBincount", [](kernel_context& c) { run_bincount(c, true); });
  register_kernel("UnravelIndex", run_unravel_index);
}

}  // namespace leat::runtime
