#pragma once
// Kernels that compute shapes, and that slice, split, concatenate and pad arrays.

#include <leat/core/fill.hpp>
#include <leat/kernels/lookups.hpp>
#include <leat/named/definitions/array.hpp>
#include <leat/ops/array_shape.hpp>
#include <leat/runtime/kernels/class_kernel.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/moved_texts.hpp>
#include <leat/runtime/kernels/value_list.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <cmath>

namespace leat::runtime {

using detail::plan_slice;
using detail::slice_masks;
using detail::slice_plan;

inline tensor_value sizes_tensor(dtype type, const shape& s) {
  return integer_tensor(type, std::vector<std::int64_t>(s.dim, s.dim + s.rank));
}

template <class T>
tensor_value filled(dtype type, const shape& extent, T value) {
  tensor_value made(type, extent);
  auto all = made.values<T>();
  std::fill(all.begin(), all.end(), value);
  return made;
}
inline tensor_value filled_number(dtype type, const shape& extent, int value) {
  if (type == text_dtype) return tensor_value(type, extent);
  if (is_complex(type)) {
    tensor_value made(type, extent);
    with_part(type, [&]<class T>(T) {
      T* const parts = reinterpret_cast<T*>(made.data());
      for (std::int64_t i = 0; i < 2 * made.elements(); ++i) parts[i] = static_cast<T>(i % 2 == 0 ? value : 0);
    });
    return made;
  }
  return with_dtype(type, [&]<class T>(T) { return filled<T>(type, extent, static_cast<T>(value)); });
}

inline void run_fill(kernel_context& c) {
  const shape extent = shape_from(c.numbers(0));
  if (c.extent(1).rank != 0) throw invalid_argument("value must be a scalar, got shape " + brackets(c.extent(1)));
  tensor_value made(c.type(1), extent);
  text_room room;
  if (c.type(1) == text_dtype) room.take(made.elements(), c.input(1).texts()[0].size());
  with_storage(c.type(1), [&]<class S>(S) { std::fill_n(stored<S>(made), extent.elements(), *stored<S>(c.input(1))); });
  room.give(made);
  c.set(0, std::move(made));
}

inline void run_range(kernel_context& c) {
  with_number(c.type(0), [&]<class T>(T) {
    for (int k = 0; k < 3; ++k)
      if (c.input(k).elements() != 1) throw invalid_argument("start, limit and delta must be scalars, not shape " + brackets(c.extent(k)));
    const T start = c.input(0).as<T>(), limit = c.input(1).as<T>(), delta = c.input(2).as<T>();
    if (delta == T(0)) throw invalid_argument("Requires delta != 0: 0");
    if (delta > T(0) && start > limit)
      throw invalid_argument("Requires start <= limit when delta > 0: " + std::to_string(start) + "/" + std::to_string(limit));
    if (delta < T(0) && start < limit)
      throw invalid_argument("Requires start >= limit when delta < 0: " + std::to_string(start) + "/" + std::to_string(limit));
    std::int64_t count = 0;
    if constexpr (std::is_floating_point_v<T>) {
      const double steps = std::ceil(std::abs((static_cast<double>(limit) - static_cast<double>(start)) / static_cast<double>(delta)));
      if (!(steps < 1e12)) throw invalid_argument("Requires ((limit - start) / delta) <= 1e12");
      count = static_cast<std::int64_t>(steps);
    } else {
      const auto n = range_count(static_cast<std::int64_t>(start), static_cast<std::int64_t>(limit), static_cast<std::int64_t>(delta));
      if (!n) throw resource_exhausted("a range of more than 2^44 numbers, which no memory holds");
      count = *n;
    }
    shape extent;
    extent.push(count);
    tensor_value made(c.type(0), extent);
    auto all = made.values<T>();
    T v = start;
    for (T& x : all) {
      x = v;
      v = arithmetic<T>::add(v, delta);  // wraps around: the value after the last may overflow
    }
    c.set(0, std::move(made));
  });
}

inline void run_reshape(kernel_context& c) {
  const auto sizes = c.numbers(1);
  const std::int64_t all = c.input(0).elements();
  if (sizes.size() > static_cast<std::size_t>(max_rank)) throw unimplemented("more than 8 dimensions");
  shape extent;
  int open = -1;
  for (auto n : sizes) {
    if (n == -1) {
      if (open >= 0)
        throw invalid_argument("Only one input size may be -1, not both " + std::to_string(open) + " and " + std::to_string(extent.rank));
      open = extent.rank;
    } else if (n < 0) {
      throw invalid_argument("Size " + std::to_string(extent.rank) + " must be non-negative, not " + std::to_string(n));
    }
    extent.push(n);
  }
  if (open >= 0) {
    shape others = extent;
    others.dim[open] = 1;
    const std::int64_t rest = others.elements();  // throws if the product overflows
    extent.dim[open] = rule::remaining_size(c.extent(0), extent);
    if (extent[open] == -1)
      throw invalid_argument("Input to reshape is a tensor with " + std::to_string(all) +
                             " values, but the requested shape requires a multiple of " + std::to_string(rest));
  }
  if (extent.elements() != all)
    throw invalid_argument("Input to reshape is a tensor with " + std::to_string(all) + " values, but the requested shape has " +
                           std::to_string(extent.elements()));
  c.set(0, c.take(0).reshaped(extent));
}

inline void run_squeeze(kernel_context& c) {
  const shape from = c.extent(0);
  auto axes = c.node.list<std::int64_t>("squeeze_dims");
  if (axes.empty()) axes = c.node.list<std::int64_t>("axis");
  std::vector<bool> gone(static_cast<std::size_t>(from.rank), axes.empty());
  for (auto a : axes) {
    const int at = axis_of(a, from.rank, "squeeze_dims");
    if (from[at] != 1)
      throw invalid_argument("Can not squeeze dim[" + std::to_string(at) + "], expected a dimension of 1, got " + std::to_string(from[at]));
    gone[static_cast<std::size_t>(at)] = true;
  }
  shape extent;
  for (int i = 0; i < from.rank; ++i)
    if (!gone[static_cast<std::size_t>(i)] || from[i] != 1) extent.push(from[i]);
  c.set(0, c.take(0).reshaped(extent));
}

inline void run_expand_dims(kernel_context& c) {
  const shape from = c.extent(0);
  if (from.rank == max_rank) throw unimplemented("more than 8 dimensions");
  const int at = axis_of(c.number(1), from.rank + 1, "Tried to expand dim index");
  shape extent;
  for (int i = 0; i <= from.rank; ++i) {
    if (i == at) extent.push(1);
    if (i < from.rank) extent.push(from[i]);
  }
  c.set(0, c.take(0).reshaped(extent));
}

/// The axes along which the gradient of a broadcast operand is summed. Source: TensorFlow `BroadcastGradientArgs`.
inline void run_broadcast_gradient_args(kernel_context& c) {
  const auto a = c.numbers(0), b = c.numbers(1);
  std::vector<std::int64_t> from_a, from_b;
  const std::size_t rank = std::max(a.size(), b.size());
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t x = i + a.size() < rank ? 1 : a[i + a.size() - rank];
    const std::int64_t y = i + b.size() < rank ? 1 : b[i + b.size() - rank];
    if (x != y && x != 1 && y != 1)
      throw invalid_argument("Incompatible shapes: " + brackets(shape_from(a)) + " vs. " + brackets(shape_from(b)));
    if (a == b) continue;
    if (x == 1) from_a.push_back(static_cast<std::int64_t>(i));
    if (y == 1) from_b.push_back(static_cast<std::int64_t>(i));
  }
  c.set(0, integer_tensor(c.type(0), from_a));
  c.set(1, integer_tensor(c.type(0), from_b));
}

/// The shape of two shapes, broadcast. Source: TensorFlow `BroadcastArgs`.
inline void run_broadcast_args(kernel_context& c) {
  for (int k = 0; k < 2; ++k)
    if (c.extent(k).rank != 1) throw invalid_argument("In[" + std::to_string(k) + "] must be a vector, not " + brackets(c.extent(k)));
  const auto a = c.numbers(0), b = c.numbers(1);
  std::vector<std::int64_t> made(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < made.size(); ++i) {
    const std::int64_t x = i + a.size() < made.size() ? 1 : a[i + a.size() - made.size()];
    const std::int64_t y = i + b.size() < made.size() ? 1 : b[i + b.size() - made.size()];
    if (x != y && x != 1 && y != 1)
      throw invalid_argument("Incompatible shapes: " + brackets(shape_from(a)) + " vs. " + brackets(shape_from(b)));
    made[i] = x == 1 ? y : x;
  }
  c.set(0, integer_tensor(c.type(0), made));
}

inline slice_plan slice_of(kernel_context& c, const shape& extent, int first) {
  for (int k = first; k < first + 3; ++k)
    if (c.extent(k).rank != 1) throw invalid_argument("Expected begin, end, and strides to be 1D, but got shape " + brackets(c.extent(k)));
  const auto begin = c.numbers(first), end = c.numbers(first + 1), strides = c.numbers(first + 2);
  const slice_masks masks{c.node.integer("begin_mask"), c.node.integer("end_mask"), c.node.integer("ellipsis_mask"),
                          c.node.integer("new_axis_mask"), c.node.integer("shrink_axis_mask")};
  auto plan = plan_slice(extent, begin, end, strides, masks);
  if (!plan.problem.empty()) throw invalid_argument(plan.problem);
  return plan;
}
struct slice_steps {
  std::int64_t offset = 0;
  std::vector<std::int64_t> counts, strides;
  slice_steps(const slice_plan& plan, const shape& extent) {
    const auto all = strides_of(extent);
    for (std::size_t i = 0; i < plan.walks.size(); ++i) {
      offset += plan.walks[i].begin * all[i];
      counts.push_back(plan.walks[i].count);
      strides.push_back(plan.walks[i].stride * all[i]);
    }
  }
};
inline void run_strided_slice(kernel_context& c) {
  const tensor_value in = c.input(0);
  const auto plan = slice_of(c, in.extent(), 1);
  const slice_steps steps(plan, in.extent());
  tensor_value made(in.type(), plan.result);
  if (made.elements() > 0)
    with_storage(in.type(), [&]<class S>(S) {
      gather_walk(stored<S>(made), stored<S>(in) + steps.offset, steps.counts.data(), steps.strides.data(), steps.counts.size());
    });
  c.set(0, std::move(made));
}
inline void run_strided_slice_grad(kernel_context& c) {
  const shape extent = shape_from(c.numbers(0));
  const auto plan = slice_of(c, extent, 1);
  const slice_steps steps(plan, extent);
  const tensor_value dy = c.input(4);
  if (!(dy.extent() == plan.result))
    throw invalid_argument("shape of dy was " + brackets(dy.extent()) + " instead of " + brackets(plan.result));
  tensor_value made = filled_number(dy.type(), extent, 0);
  if (dy.elements() > 0)
    with_storage(dy.type(), [&]<class S>(S) {
      scatter_walk(stored<S>(made) + steps.offset, stored<S>(dy), steps.counts.data(), steps.strides.data(), steps.counts.size());
    });
  c.set(0, std::move(made));
}

/// Concatenates the first inputs of a node: each of the `rows` rows takes `widths[k]` elements from input k.
inline auto concatenate(kernel_context& c, const shape& extent, std::int64_t rows, const std::vector<std::int64_t>& widths) {
  tensor_value made(c.type(0), extent);
  if (made.elements() == 0) rows = 0;  // with width 0, it may be any number
  const auto done = with_storage(made.type(), [&]<class S>(S) {
    constexpr int most = kernels::concat_kernel<S>::most;
    const int count = static_cast<int>(widths.size());
    const std::int64_t whole = rows == 0 ? 0 : made.elements() / rows;
    S* to = stored<S>(made);
    const auto some = [&](int first) {
      const S* from[most];
      const int inputs = std::min(most, count - first);
      for (int k = 0; k < inputs; ++k) from[k] = stored<S>(c.input(first + k));
      return computed_by<concat_op>::run<S>(std::data(from), widths.data() + first, inputs, to, rows, whole);
    };
    auto all = some(0);
    for (int first = most; first < count; first += most) {
      for (int k = first - most; k < first; ++k) to += widths[static_cast<std::size_t>(k)];
      all = some(first);
    }
    return all;
  });
  c.set(0, std::move(made));
  return done;
}
inline auto run_pack(kernel_context& c) {
  const shape part = c.extent(0);
  const int axis = axis_of(c.node.integer("axis"), part.rank + 1);
  if (part.rank == max_rank) throw unimplemented("more than 8 dimensions");
  for (int k = 0; k < c.input_count(); ++k)
    if (!(c.extent(k) == part))
      throw invalid_argument("Shapes of all inputs must match: values[0].shape = " + brackets(part) + " != values[" + std::to_string(k) +
                             "].shape = " + brackets(c.extent(k)));
  shape extent;
  for (int i = 0; i <= part.rank; ++i) {
    if (i == axis) extent.push(c.input_count());
    if (i < part.rank) extent.push(part[i]);
  }
  const std::int64_t rows = product(part, 0, axis), width = product(part, axis, part.rank);
  return concatenate(c, extent, rows, std::vector<std::int64_t>(static_cast<std::size_t>(c.input_count()), width));
}
inline auto run_concat(kernel_context& c) {
  const int count = c.input_count() - 1;
  const std::int64_t given = c.number(count);
  const shape base = c.extent(0);
  if (base.rank == 0)
    throw invalid_argument("ConcatOp : Expected concatenating dimensions in the range [0, 0), but got " + std::to_string(given));
  const int axis = axis_of(given, base.rank, "ConcatOp : concatenating dimension");
  shape extent = base;
  extent.dim[axis] = 0;
  std::vector<std::int64_t> widths(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) {
    const shape& s = c.extent(k);
    if (s.rank != base.rank)
      throw invalid_argument("ConcatOp : Ranks of all input tensors should match: shape[0] = " + brackets(base) + " vs. shape[" +
                             std::to_string(k) + "] = " + brackets(s));
    for (int i = 0; i < s.rank; ++i)
      if (i != axis && s[i] != base[i])
        throw invalid_argument("ConcatOp : Dimension " + std::to_string(i) + " in both shapes must be equal: shape[0] = " + brackets(base) +
                               " vs. shape[" + std::to_string(k) + "] = " + brackets(s));
    extent.dim[axis] += s[axis];
    widths[static_cast<std::size_t>(k)] = product(s, axis, s.rank);
  }
  return concatenate(c, extent, product(base, 0, axis), widths);
}

/// Concatenates rows to an array of the shape that the node names.
inline auto run_parallel_concat(kernel_context& c) {
  const shape whole = to_shape(c.node.attribute<tensor_shape_proto>("shape", {}));
  shape row = whole;
  if (row.rank > 0) row.dim[0] = 1;
  for (int k = 0; k < c.input_count(); ++k)
    if (row.rank == 0 || !(c.extent(k) == row))
      throw invalid_argument("input " + std::to_string(k) + " has the shape " + brackets(c.extent(k)) + ", where the attribute shape " +
                             brackets(whole) + " takes rows of 1 in the first dimension");
  if (whole[0] != c.input_count())
    throw invalid_argument("the attribute shape " + brackets(whole) + " takes " + std::to_string(whole[0]) + " inputs, not " +
                           std::to_string(c.input_count()));
  return concatenate(c, whole, 1, std::vector<std::int64_t>(static_cast<std::size_t>(c.input_count()), product(row, 0, row.rank)));
}

/// Splits an array along an axis into slices of these sizes; with `drop`, slices of size 1 without that axis.
inline void cut(kernel_context& c, int input, int axis, const std::vector<std::int64_t>& sizes, bool drop) {
  const tensor_value in = c.input(input);
  const shape& s = in.extent();
  const std::int64_t rows = product(s, 0, axis), inner = product(s, axis + 1, s.rank), whole = inner * s[axis];
  std::int64_t begin = 0;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    shape extent;
    for (int i = 0; i < s.rank; ++i)
      if (i != axis) extent.push(s[i]);
      else if (!drop) extent.push(sizes[k]);
    tensor_value part(in.type(), extent);
    const std::int64_t width = sizes[k] * inner;
    if (width > 0)
      with_storage(in.type(), [&]<class S>(S) {
        for (std::int64_t r = 0; r < rows; ++r) std::copy_n(stored<S>(in) + r * whole + begin, width, stored<S>(part) + r * width);
      });
    begin += width;
    c.set(static_cast<int>(k), std::move(part));
  }
}
inline void run_split(kernel_context& c) {
  const shape& s = c.extent(1);
  const int axis = axis_of(c.number(0), s.rank, "split_dim");
  const int count = c.result_count();
  if (count < 1) throw invalid_argument("num_split must be at least 1");
  if (s[axis] % count != 0)
    throw invalid_argument("Number of ways to split should evenly divide the split dimension, but got split_dim " + std::to_string(axis) +
                           " (size = " + std::to_string(s[axis]) + ") and num_split " + std::to_string(count));
  cut(c, 1, axis, std::vector<std::int64_t>(static_cast<std::size_t>(count), s[axis] / count), false);
}
inline void run_split_sizes(kernel_context& c) {
  const shape& s = c.extent(0);
  const int axis = axis_of(c.number(2), s.rank, "split_dim");
  auto sizes = c.numbers(1);
  std::int64_t known = 0;
  int open = -1;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    if (sizes[k] == -1 && open < 0) open = static_cast<int>(k);
    else if (sizes[k] < 0 || sizes[k] > s[axis])
      throw invalid_argument("Split size at index " + std::to_string(k) + " must be >= 0 and at most " + std::to_string(s[axis]) +
                             ". Got: " + std::to_string(sizes[k]));
    else known = std::min(known + sizes[k], s[axis] + 1);  // limited: one more than the dimension is enough to fail
  }
  if (open >= 0) sizes[static_cast<std::size_t>(open)] = s[axis] - known;
  if (static_cast<int>(sizes.size()) != c.result_count() || (open < 0 ? known != s[axis] : known > s[axis]))
    throw invalid_argument(
        "Determined shape must either match input shape along split_dim exactly if fully specified, or be less than the size of the input "
        "along split_dim if not fully specified. Got: " +
        std::to_string(known));
  cut(c, 0, axis, sizes, false);
}
inline void run_unpack(kernel_context& c) {
  const shape& s = c.extent(0);
  const int axis = axis_of(c.node.integer("axis"), s.rank);
  if (s[axis] != c.result_count())
    throw invalid_argument("Input shape axis " + std::to_string(axis) + " must equal " + std::to_string(c.result_count()) + ", got shape " +
                           brackets(s));
  cut(c, 0, axis, std::vector<std::int64_t>(static_cast<std::size_t>(c.result_count()), 1), true);
}

/// How often each axis is repeated: input 1, a number for each.
inline std::vector<std::int64_t> repetitions(kernel_context& c, int axes) {
  auto times = c.numbers(1);
  if (times.size() != static_cast<std::size_t>(axes))
    throw invalid_argument("Expected multiples argument to be a vector of length " + std::to_string(axes) + " but got length " +
                           std::to_string(times.size()));
  return times;
}
/// The sums of the repetitions that `Tile` made along each axis.
inline void run_tile_back(kernel_context& c) {
  const tensor_value in = c.input(0);
  const shape& s = in.extent();
  const auto times = repetitions(c, s.rank);
  shape extent;
  for (int i = 0; i < s.rank; ++i) {
    const std::int64_t n = times[static_cast<std::size_t>(i)];
    if (n <= 0) throw invalid_argument("Expected multiples[" + std::to_string(i) + "] > 0, but got " + std::to_string(n));
    if (s[i] % n != 0)
      throw invalid_argument("Expected input_dim[" + std::to_string(i) + "] to be a multiple of " + std::to_string(n) + ", but it is " +
                             std::to_string(s[i]));
    extent.push(s[i] / n);
  }
  tensor_value made = filled_number(in.type(), extent, 0);
  const auto own = strides_of(extent);
  const auto add = [&]<class T>(T, auto self, const T* from, T* to, int axis) -> const T* {
    if (axis == s.rank) {
      *to = arithmetic<T>::add(*to, *from);
      return from + 1;
    }
    for (std::int64_t i = 0; i < s[axis]; ++i)
      from = self(T(), self, from, to + i % extent[axis] * own[static_cast<std::size_t>(axis)], axis + 1);
    return from;
  };
  if (in.elements() > 0) with_number(in.type(), [&]<class T>(T) { add(T(), add, in.values<T>().data(), made.values<T>().data(), 0); });
  c.set(0, std::move(made));
}
inline void run_tile(kernel_context& c) {
  const tensor_value in = c.input(0);
  const shape& s = in.extent();
  const auto times = repetitions(c, s.rank);
  shape extent;
  std::vector<std::int64_t> counts, strides;
  const auto own = strides_of(s);
  for (int i = 0; i < s.rank; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (times[at] < 0) throw invalid_argument("Expected multiples[" + std::to_string(i) + "] >= 0, but got " + std::to_string(times[at]));
    std::int64_t size = 0;
    if (!multiplies(s[i], times[at], size))
      throw resource_exhausted("multiples[" + std::to_string(i) + "] = " + std::to_string(times[at]) + " of " + std::to_string(s[i]) +
                               " is more than 2^63");
    extent.push(size);
    counts.insert(counts.end(), {times[at], s[i]});
    strides.insert(strides.end(), {0, own[at]});
  }
  tensor_value made(in.type(), extent);
  if (made.elements() > 0)
    with_storage(in.type(), [&]<class S>(S) { gather_walk(stored<S>(made), stored<S>(in), counts.data(), strides.data(), counts.size()); });
  c.set(0, std::move(made));
}
// The reversed axes: a list of axes, or one flag per axis (`Reverse`).
inline std::vector<std::int64_t> reversed_axes(kernel_context& c, const shape& s) {
  const tensor_value list = c.input(1);
  if (list.type() != dtype::boolean) return c.numbers(1);
  const auto flags = list.values<bool>();
  if (list.extent().rank != 1 || static_cast<int>(flags.size()) != s.rank)
    throw invalid_argument("'dims' must have the same number of values as 'input' has dimensions. 'input' has " + std::to_string(s.rank) +
                           ", 'dims' has shape " + brackets(list.extent()));
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < flags.size(); ++i)
    if (flags[i]) axes.push_back(static_cast<std::int64_t>(i));
  return axes;
}
inline auto run_reverse(kernel_context& c) {
  const tensor_value in = c.input(0);
  const shape& s = in.extent();
  bool turned[max_rank]{};
  for (const std::int64_t a : reversed_axes(c, s)) {
    const int at = axis_of(a, s.rank);
    if (turned[at]) throw invalid_argument("axis " + std::to_string(at) + " specified more than once.");
    turned[at] = true;
  }
  tensor_value made(in.type(), s);
  const auto done = with_storage(in.type(), [&]<class S>(S) {
    return computed_by<reverse_op>::run<S>(stored<S>(in), stored<S>(made), s, std::data(turned));
  });
  c.set(0, std::move(made));
  return done;
}

LEAT_FILL(fill_shape_kernels) {
  register_kernels({"Shape", "ShapeN"}, [](kernel_context& c) {
    for (int k = 0; k < c.result_count(); ++k) c.set(k, sizes_tensor(c.node.type_of("out_type", dtype::int32), c.extent(k)));
  });
  register_kernel("Rank", [](kernel_context& c) { c.set(0, tensor_value(static_cast<std::int32_t>(c.extent(0).rank))); });
  register_kernel("Size", [](kernel_context& c) {
    c.set(0, integer_tensor(c.node.type_of("out_type", dtype::int32), {c.input(0).elements()}, true));
  });
  register_kernel("ZerosLike", [](kernel_context& c) {
    c.set(0, c.type(0) == resource_dtype ? zeros_of_list(c.input(0)) : filled_number(c.type(0), c.extent(0), 0));
  });
  register_kernel("OnesLike", [](kernel_context& c) { c.set(0, filled_number(c.type(0), c.extent(0), 1)); });
  register_kernel("Fill", run_fill);
  register_kernel("Range", run_range);
  register_kernel("Reshape", run_reshape);
  register_kernel("Squeeze", run_squeeze);
  register_kernel("ExpandDims", run_expand_dims);
  register_kernel("BroadcastGradientArgs", run_broadcast_gradient_args);
  register_kernel("BroadcastArgs", run_broadcast_args);
  // TensorFlow leaves the elements as they are in memory, unless `init` is set.
  register_kernel("Empty", [](kernel_context& c) {
    c.set(0, filled_number(c.node.type_of("dtype", dtype::float32), shape_from(c.numbers(0)), 0));
  });
  register_kernel("DeepCopy", [](kernel_context& c) { c.set(0, c.take(0)); });
  register_kernel("StridedSlice", run_strided_slice);
  register_kernel("StridedSliceGrad", run_strided_slice_grad);
  register_class_kernel("Pack", counting_texts(run_pack));
  register_kernel("Unpack", counting_texts(run_unpack));
  register_class_kernel("ConcatV2", counting_texts(run_concat));
  register_class_kernel("ParallelConcat", counting_texts(run_parallel_concat));
  register_kernel("Split", counting_texts(run_split));
  register_kernel("SplitV", counting_texts(run_split_sizes));
  register_kernel("Tile", counting_texts(run_tile));
  register_kernel("TileGrad", run_tile_back);
  for (const char* type : {"ReverseV2", "Reverse"}) register_class_kernel(type, counting_texts(run_reverse));
  register_kernel("ConcatOffset", [](kernel_context& c) {
    const auto first = c.numbers(1);
    const int axis = axis_of(c.number(0), static_cast<int>(first.size()), "concat_dim");
    std::int64_t begin = 0;
    for (int k = 1; k < c.input_count(); ++k) {
      const auto sizes = c.numbers(k);
      if (sizes.size() != first.size()) throw invalid_argument("ConcatOffset: shapes of different lengths");
      std::vector<std::int64_t> offset(sizes.size(), 0);
      offset[static_cast<std::size_t>(axis)] = begin;
      begin = arithmetic<std::int64_t>::add(begin, sizes[static_cast<std::size_t>(axis)]);
      c.set(k - 1, integer_tensor(c.type(k), offset));
    }
  });
  register_kernel("InvertPermutation", [](kernel_context& c) {
    const auto x = c.numbers(0);
    std::vector<std::int64_t> y(x.size(), -1);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i] < 0 || static_cast<std::size_t>(x[i]) >= x.size())
        throw invalid_argument(std::to_string(x[i]) + " is not between 0 and " + std::to_string(x.size()));
      if (y[static_cast<std::size_t>(x[i])] >= 0) throw invalid_argument(std::to_string(x[i]) + " is duplicated in the input.");
      y[static_cast<std::size_t>(x[i])] = static_cast<std::int64_t>(i);
    }
    c.set(0, integer_tensor(c.type(0), y));
  });
}

}  // namespace leat::runtime
