#pragma once
// Reductions of a few elements as arithmetic on scalars, in the order in which a loop over SIMD registers would combine them
// (kernels/cluster.hpp), so that both give the same bits: each lane combines every w-th element, then the lanes are combined in a balanced
// tree. A reduction whose order is not known before loops are formed stays a reduction.

#include <leat/core/list.hpp>
#include <leat/ops/reduction.hpp>
#include <leat/passes/unroll_elements.hpp>

namespace leat::passes {

/// The bytes of a SIMD register, as cpu/batch/registers.hpp has them.
#if defined(__AVX512F__)
inline constexpr std::int64_t register_bytes = 64;
#elif defined(__AVX__)
inline constexpr std::int64_t register_bytes = 32;
#else
inline constexpr std::int64_t register_bytes = 16;
#endif

}  // namespace leat::passes

namespace leat::passes::detail {

class order_of_sums {
 public:
  static constexpr std::int64_t longest = 32;  // the most elements that are combined

  constexpr explicit order_of_sums(const graph& g) : g_(g) {}

  /// Whether a reduction of static shape has an order that is known, or that makes no difference.
  constexpr bool keeps_order(const node& n) const {
    if (combining(n) == nullptr) return false;
    const shape& from = g_.at(g_.input(n, 0)).result.extent;
    const int mask = reduced(n);
    std::int64_t count = 1;
    int rank = 0;
    int reduced_axes = 0;
    for (int a = 0; a < from.rank; ++a) {
      if (from[a] == 1) continue;
      ++rank;
      if ((mask >> a & 1) == 0) continue;
      count *= from[a];
      ++reduced_axes;
    }
    if (count > longest) return false;
    if (count <= 2 || !is_rounded(n)) return true;
    if (!has_one_width()) return false;
    // Of several axes only the last one may be reduced, or the first of two, over whose few rows a loop adds one by one.
    if (reduced_axes != 1) return false;
    if (reduces_last_axis(n)) return count < 4 * lanes(n);
    return rank == 2 && count <= 3;
  }

  /// Calls `f` with the position of each element that is combined to the element of the result at `index`.
  template <class F>
  constexpr void for_each_term(const node& n, const std::int64_t* index, F f) const {
    const shape& from = g_.at(g_.input(n, 0)).result.extent;
    const int mask = reduced(n);
    const bool keeps = n.attribute_count > 0 && g_.attribute(n, 0) != 0;
    std::int64_t place[max_rank]{};
    std::int64_t count = 1;
    for (int a = 0, own = 0; a < from.rank; ++a) {
      const bool is_reduced = (mask >> a & 1) != 0;
      if (is_reduced) count *= from[a];
      else place[a] = index[own];
      if (!is_reduced || keeps) ++own;
    }
    for (std::int64_t k = 0; k < count; ++k) {
      std::int64_t rest = k, position = 0;
      for (int a = from.rank; a-- > 0;)
        if ((mask >> a & 1) != 0) {
          place[a] = rest % from[a];
          rest /= from[a];
        }
      for (int a = 0; a < from.rank; ++a) position = position * from[a] + place[a];
      f(position);
    }
  }

  /// The reduction of these elements.
  constexpr int combined(const node& n, list<int>& terms, element_writer& to) const {
    const dtype type = n.result.type;
    const op_info& op = *combining(n);
    const bool adds = is_operator<sum_op>(*n.op);
    const auto combine = [&](int a, int b) {
      const int in[]{a, b};
      const dtype types[]{type, type};
      return to.operate(op, in, types);
    };
    if (!adds)
      for (int& t : terms) t = to.present(t, type);
    const auto count = static_cast<std::int64_t>(terms.size());
    const std::int64_t width = reduces_last_axis(n) ? lanes(n) : 1;
    std::int64_t left = count < width ? count : width;
    for (std::int64_t k = left; k < count; ++k) {
      int& lane = terms[static_cast<int>(k % width)];
      lane = combine(lane, terms[static_cast<int>(k)]);
    }
    for (std::int64_t half = width / 2; half > 0; half /= 2) {
      for (int k = 0; k + half < left; ++k) terms[k] = combine(terms[k], terms[static_cast<int>(k + half)]);
      if (left > half) left = half;
    }
    return terms[0];
  }

  /// The operator that combines two elements as the reduction does, or null.
  static constexpr const op_info* combining(const node& n) {
    if (is_operator<sum_op>(*n.op)) return &info_of<add_op>;
    if (is_operator<prod_op>(*n.op)) return &info_of<mul_op>;
    if (is_operator<max_op>(*n.op)) return &info_of<maximum_op>;
    if (is_operator<min_op>(*n.op)) return &info_of<minimum_op>;
    return nullptr;
  }

 private:
  constexpr int reduced(const node& n) const {
    std::int64_t attribute[max_rank + 1]{};
    for (int k = 0; k < n.attribute_count; ++k) attribute[k] = g_.attribute(n, k);
    return rule::reduced_axes(attribute, n.attribute_count, g_.at(g_.input(n, 0)).result.extent.rank);
  }
  static constexpr bool is_rounded(const node& n) {
    return is_floating(n.result.type) && (is_operator<sum_op>(*n.op) || is_operator<prod_op>(*n.op));
  }
  constexpr std::int64_t lanes(const node& n) const {
    const std::int64_t size = size_of(n.result.type);
    return register_bytes / size;
  }
  constexpr bool reduces_last_axis(const node& n) const {
    const shape& from = g_.at(g_.input(n, 0)).result.extent;
    const int mask = reduced(n);
    for (int a = from.rank; a-- > 0;)
      if (from[a] != 1) return (mask >> a & 1) != 0;
    return true;
  }
  // Whether all arrays have elements of one size. Otherwise a loop may have elements of several, and then combines one by one.
  constexpr bool has_one_width() const {
    int width = 0;
    for (const node& n : g_.nodes) {
      if (n.op->kind == op_kind::index || n.op->kind == op_kind::group || n.result.type == dtype::boolean) continue;
      const int size = size_of(n.result.type);
      if (width != 0 && size != width) return false;
      width = size;
    }
    return true;
  }

  const graph& g_;
};

}  // namespace leat::passes::detail
