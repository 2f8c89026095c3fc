#pragma once
// The kernel of Einstein's sums: diagonals and sums of each operand, then one product of stacks of matrices, then the order of the result.
// Source: TensorFlow `Einsum`.

#include <leat/core/fill.hpp>
#include <leat/cpu/stacked_matmul.hpp>
#include <leat/named/definitions/einsum_axes.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/shape.hpp>
#include <leat/runtime/kernels/walk.hpp>

namespace leat::runtime {

using label_list = std::vector<int>;

/// An array whose axes have labels. A label that occurs several times is the diagonal of its axes.
struct labelled_array {
  tensor_value value;
  label_list labels;

  bool has(int label) const { return std::find(labels.begin(), labels.end(), label) != labels.end(); }
  std::int64_t size(int label) const {
    return value.extent()[static_cast<int>(std::find(labels.begin(), labels.end(), label) - labels.begin())];
  }
  /// The labels, each once, for which `f` holds.
  template <class F>
  label_list those(F f) const {
    label_list some;
    for (const int label : labels)
      if (f(label) && std::find(some.begin(), some.end(), label) == some.end()) some.push_back(label);
    return some;
  }
};
inline bool has_label(const label_list& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }
inline label_list joined_labels(std::initializer_list<label_list> lists) {
  label_list all;
  for (const label_list& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}
/// For each of `wanted`, the distance of neighbors along the axes with that label.
inline std::vector<std::int64_t> label_strides(const shape& s, const label_list& labels, const label_list& wanted) {
  const auto strides = strides_of(s);
  std::vector<std::int64_t> steps;
  for (const int label : wanted) {
    std::int64_t step = 0;
    for (std::size_t axis = 0; axis < labels.size(); ++axis)
      if (labels[axis] == label) step += strides[axis];
    steps.push_back(step);
  }
  return steps;
}

/// The sum of a row, in halves, so that rounding grows with the logarithm of its length.
template <class T>
T row_sum(const T* row, std::int64_t count) {
  if (count <= 32) {
    T sum = T(0);
    for (std::int64_t i = 0; i < count; ++i) sum = arithmetic<T>::add(sum, row[i]);
    return sum;
  }
  return arithmetic<T>::add(row_sum(row, count / 2), row_sum(row + count / 2, count - count / 2));
}

/// The array with its axes in this order, summed along all others.
template <class T>
tensor_value in_label_order(const labelled_array& x, const label_list& order) {
  const label_list summed = x.those([&](int label) { return !has_label(order, label); });
  const label_list all = joined_labels({order, summed});
  shape extent;
  std::vector<std::int64_t> counts;
  for (const int label : all) counts.push_back(x.size(label));
  for (std::size_t k = 0; k < order.size(); ++k) extent.push(counts[k]);
  const auto steps = label_strides(x.value.extent(), x.labels, all);
  if (x.value.elements() == 0) return filled_number(x.value.type(), extent, 0);
  tensor_value moved = x.value;
  if (all != x.labels) {
    shape whole;
    for (const std::int64_t n : counts) whole.push(n);
    moved = tensor_value(x.value.type(), whole);
    gather_walk(moved.values<T>().data(), std::as_const(x.value).template values<T>().data(), counts.data(), steps.data(), counts.size());
  }
  if (summed.empty()) return moved;
  tensor_value sums(x.value.type(), extent);
  const std::int64_t width = moved.elements() / sums.elements();
  const T* const from = std::as_const(moved).template values<T>().data();
  T* const to = sums.values<T>().data();
  for (std::int64_t i = 0; i < sums.elements(); ++i) to[i] = row_sum(from + i * width, width);
  return sums;
}

/// The array with the labels of the result; axes beside the diagonals of repeated labels are zero.
template <class T>
tensor_value in_result_order(const labelled_array& x, const label_list& result) {
  if (x.labels == result) return x.value;
  shape extent;
  for (const int label : result) extent.push(x.size(label));
  tensor_value made = filled_number(x.value.type(), extent, 0);
  const auto steps = label_strides(extent, result, x.labels);
  if (x.value.elements() > 0)
    scatter_walk(made.values<T>().data(), std::as_const(x.value).template values<T>().data(), x.value.extent().dim, steps.data(),
                 steps.size());
  return made;
}

/// Sums of products of two arrays; the axes of the result are the stacks, then those of `a` alone, then those of `b` alone.
template <class T>
labelled_array contracted(const labelled_array& a, const labelled_array& b, const label_list& result) {
  const auto in_result = [&](int label) { return has_label(result, label); };
  const label_list stacks = a.those([&](int label) { return in_result(label) && b.has(label); });
  const label_list only_a = a.those([&](int label) { return in_result(label) && !b.has(label); });
  const label_list only_b = b.those([&](int label) { return in_result(label) && !a.has(label); });
  const label_list inner = a.those([&](int label) { return !in_result(label) && b.has(label); });
  labelled_array made{{}, joined_labels({stacks, only_a, only_b})};
  shape extent;
  for (const int label : stacks) extent.push(a.size(label) == 1 ? b.size(label) : a.size(label));
  for (const int label : only_a) extent.push(a.size(label));
  for (const int label : only_b) extent.push(b.size(label));
  if (extent.elements() == 0 || a.value.elements() == 0 || b.value.elements() == 0) {
    made.value = filled_number(a.value.type(), extent, 0);
    return made;
  }
  // An operand whose matrices lie transposed is not copied for that.
  const bool ta = a.labels == joined_labels({stacks, inner, only_a}) && !only_a.empty() && !inner.empty();
  const bool tb = b.labels == joined_labels({stacks, only_b, inner}) && !only_b.empty() && !inner.empty();
  const tensor_value x = in_label_order<T>(a, ta ? a.labels : joined_labels({stacks, only_a, inner}));
  const tensor_value y = in_label_order<T>(b, tb ? b.labels : joined_labels({stacks, inner, only_b}));
  std::vector<std::int64_t> sizes_a, sizes_b;
  for (const int label : stacks) sizes_a.push_back(a.size(label)), sizes_b.push_back(b.size(label));
  const auto product_of = [](const labelled_array& of, const label_list& labels) {
    std::int64_t all = 1;
    for (const int label : labels) all *= of.size(label);
    return all;
  };
  const std::int64_t m = product_of(a, only_a), k = product_of(a, inner), n = product_of(b, only_b);
  sizes_a.push_back(ta ? k : m), sizes_a.push_back(ta ? m : k);
  sizes_b.push_back(tb ? n : k), sizes_b.push_back(tb ? k : n);
  made.value = tensor_value(a.value.type(), extent);
  const int rank = static_cast<int>(sizes_a.size());
  cpu::multiply_stacks(kernels::matrix_stacks(sizes_a.data(), rank, sizes_b.data(), rank, ta, tb), x.values<T>().data(),
                       y.values<T>().data(), made.value.values<T>().data());
  return made;
}

inline void run_einsum(kernel_context& c) {
  const std::string equation = c.node.text("equation");
  std::vector<shape> extents;
  for (int k = 0; k < c.input_count(); ++k) extents.push_back(c.extent(k));
  const auto axes = leat::detail::einsum_axes_of(leat::detail::einsum_labels_of(equation, c.input_count()), extents);
  for (int k = 1; k < c.input_count(); ++k)
    if (c.type(k) != c.type(0)) throw invalid_argument("the operands are " + dtype_name(c.type(0)) + " and " + dtype_name(c.type(k)));
  with_number(c.type(0), [&]<class T>(T) {
    if constexpr (std::is_same_v<T, std::uint8_t>) {
      throw unimplemented("no kernel for dtype uint8");
    } else {
      const labelled_array a{c.input(0), axes.operand[0]};
      labelled_array made;
      if (c.input_count() == 2) {
        made = contracted<T>(a, {c.input(1), axes.operand[1]}, axes.result);
      } else {
        for (const int label : axes.result)
          if (!has_label(made.labels, label)) made.labels.push_back(label);
        made.value = in_label_order<T>(a, made.labels);
      }
      c.set(0, in_result_order<T>(made, axes.result));
    }
  });
}

LEAT_FILL(fill_einsum_kernels) { register_kernel("Einsum", run_einsum); }

}  // namespace leat::runtime
