#pragma once
// Gradients of lookups, and optimizer steps that change only the rows that were looked up. The gradient of `gather` is a sum of rows by
// index, an array of the variable's shape. `rows_of` recognizes such an array, also as a term of a sum and multiplied by a number, as
// clipping writes it, and returns indices and rows instead. A rule's formula is applied to the rows of the variable and its slots
// (passes/rows.hpp) as it would be to all elements. Source: TensorFlow `IndexedSlices`.

#include <leat/core/list.hpp>
#include <leat/ops/array.hpp>
#include <leat/passes/rows.hpp>


namespace leat::train {

using leat::detail::list;

/// A gradient that is 0 except in the rows with these indices, to which `rows` are added. Shapes: indices [i…], rows [i…, d…] for a
/// variable [n, d…]. Empty indices mean that the gradient is not of this form.
struct row_gradient {
  output indices, rows;
};

namespace detail {

// Collects the sums of rows by index that add up to an array, each scaled by `factors`; returns false if the array is anything else.
constexpr bool collect_rows(graph& g, int at, const list<int>& factors, list<row_gradient>& found) {
  const node n = g.at(at);
  if (is_operator<segment_sum_op>(*n.op)) {
    output rows(g, g.input(n, 0));
    for (const int f : factors) {
      const node scaling = g.at(f);
      const int a = g.input(scaling, 0), b = g.input(scaling, 1);
      if (is_operator<real_div_op>(*scaling.op)) rows = rows / output(g, b);
      else rows = rows * output(g, g.at(a).result.extent.rank == 0 ? a : b);
    }
    found.push_back({output(g, g.input(n, 1)), rows});
    return true;
  }
  if (n.input_count != 2) return false;
  const int a = g.input(n, 0), b = g.input(n, 1);
  if (is_operator<add_op>(*n.op)) return collect_rows(g, a, factors, found) && collect_rows(g, b, factors, found);
  const bool by_second = g.at(b).result.extent.rank == 0, by_first = g.at(a).result.extent.rank == 0;
  const bool multiplied = is_operator<mul_op>(*n.op) && by_first != by_second;
  if (!multiplied && !(is_operator<real_div_op>(*n.op) && by_second && !by_first)) return false;
  list<int> more{at};
  for (const int f : factors) more.push_back(f);
  return collect_rows(g, by_second ? a : b, more, found);
}

// Joins several row gradients into one: stacked if they have one shape, otherwise concatenated, if the sizes are known.
constexpr row_gradient joined(graph& g, const list<row_gradient>& parts) {
  if (parts.size() == 1) return parts[0];
  if (parts.empty() || parts.size() > 32) return {};
  const output& indices = parts[0].indices;
  bool equal = true, known = true;
  for (const row_gradient& p : parts) {
    if (p.indices.type() != indices.type()) return {};
    equal = equal && p.indices.extent() == indices.extent();
    known = known && p.indices.extent().is_static();
  }
  if (!known && (!equal || parts[0].rows.extent().rank == max_rank)) return {};
  list<int> all_indices, all_rows;
  for (const row_gradient& p : parts) {
    const shape ids = p.indices.extent(), rows = p.rows.extent();
    shape flat_ids, flat_rows;
    flat_ids.push(known ? ids.elements() : 1);
    flat_rows.push(flat_ids[0]);
    for (int a = 0; !known && a < ids.rank; ++a) flat_ids.push(ids[a]);
    for (int a = known ? ids.rank : 0; a < rows.rank; ++a) flat_rows.push(rows[a]);
    all_indices.push_back(reshape_to(p.indices, flat_ids).index());
    all_rows.push_back(reshape_to(p.rows, flat_rows).index());
  }
  const std::int64_t axis[]{0};
  return {output(g, g.add(info_of<concat_op>, all_indices, axis)), output(g, g.add(info_of<concat_op>, all_rows, axis))};
}

}  // namespace detail

/// The rows of a gradient; empty if it is not a sum of rows by index. Several lookups of one variable must have indices of one dtype, and
/// either of one shape or of known sizes.
constexpr row_gradient rows_of(const output& gradient) {
  graph& g = gradient.owner();
  list<row_gradient> found;
  return detail::collect_rows(g, gradient.index(), {}, found) ? detail::joined(g, found) : row_gradient{};
}

/// An optimizer's step on the rows of one gradient, or, without rows, on all elements. If the step `is_linear` in the gradient, rows with
/// equal indices are not summed first: the change for each row is subtracted, in order, as TensorFlow's `ScatterSub` does.
class row_step {
 public:
  constexpr row_step(const output& variable, const row_gradient& given, bool is_linear) : repeats_(is_linear) {
    if (!static_cast<bool>(given.indices)) return;
    indices_ = given.indices;
    const std::int64_t rows[]{variable.extent()[0], repeats_ ? 1 : 0};
    first_ = make_node<passes::first_rows_op>(rows, indices_);
    sum_ = repeats_ ? given.rows : make_node<passes::sum_equal_rows_op>({}, given.rows, first_);
    read_ = maximum(indices_, constant_like(indices_, 0));  // negative indices denote no rows, as `first_` records
  }
  constexpr explicit operator bool() const { return static_cast<bool>(indices_); }
  /// The gradient's rows, summed by index; for a linear step, the rows as they are.
  constexpr const output& gradient() const { return sum_; }
  /// The values of a variable from which the step is computed.
  constexpr output values_of(const output& variable) const { return *this ? make<gather_op>(variable, read_) : variable; }
  constexpr output write(const output& variable, const output& rows, bool subtract) const {
    const std::int64_t attribute[]{subtract ? 1 : 0, repeats_ ? 1 : 0};
    return make_node<passes::write_rows_op>(attribute, variable, rows, indices_, first_);
  }

 private:
  output indices_, first_, sum_, read_;
  bool repeats_;
};

}  // namespace leat::train
