#pragma once
// Python's x[1:5, :, None, 0, ::-2] of typed expressions: `index<along::between(1, 5), along::all(), along::new_axis(), 0,
// along::all(-2)>(x)`. It is made of slices, reshapes and, for negative steps, `reverse`. Errors: rules.hpp.

#include <leat/ops/axis_index.hpp>
#include <leat/ops/lookups.hpp>

namespace leat {

namespace detail {

/// What `index` takes of an axis of its operand: `count` elements from `begin` on, each `step` after or before the one before it.
struct index_part {
  std::int64_t begin = 0, count = 0, step = 1;
  bool backwards = false;
  bool is_whole = false;    // all elements, in either direction; the only choice for a named dimension but a position
  bool is_lookup = false;   // a position along a named dimension, which only a run knows to exist
  bool is_removed = false;  // a position: the result lacks the axis

  /// The length of the slice that holds them. It ends with whole steps if the axis has as many elements.
  constexpr std::int64_t length(std::int64_t size) const {
    const std::int64_t all = count * step, most = backwards ? begin + 1 : size - begin;
    return all < most ? all : most;
  }
  constexpr std::int64_t first(std::int64_t size) const { return backwards ? begin + 1 - length(size) : begin; }
};

struct index_parts {
  std::string_view problem{};
  index_part part[max_rank]{};
  number_list result;
};

constexpr std::int64_t from_end(std::int64_t at, std::int64_t size) { return at < 0 ? at + size : at; }
constexpr std::int64_t within(std::int64_t at, std::int64_t least, std::int64_t most) { return at < least ? least : at > most ? most : at; }

/// The elements of a range, by Python's rules. Returns the problem.
constexpr std::string_view take_range(const axis_index& e, std::int64_t size, index_part& part) {
  if (e.step == 0) return "a step of 0";
  part.backwards = e.step < 0;
  part.step = part.backwards ? -std::int64_t{e.step} : e.step;
  if (size < 0) {
    if ((e.has_begin && (e.begin != 0 || part.backwards)) || e.has_end || part.step != 1)
      return "of a named dimension all elements are taken, along::all() or along::all(-1), or one at a position";
    part.is_whole = true;
    return {};
  }
  const std::int64_t least = part.backwards ? -1 : 0, most = part.backwards ? size - 1 : size;
  const std::int64_t begin = e.has_begin ? within(from_end(e.begin, size), least, most) : part.backwards ? most : least;
  const std::int64_t end = e.has_end ? within(from_end(e.end, size), least, most) : part.backwards ? least : most;
  const std::int64_t distance = part.backwards ? begin - end : end - begin;
  part.count = distance > 0 ? (distance - 1) / part.step + 1 : 0;
  part.begin = part.count == 0 ? 0 : begin;
  if (part.count < 2) {
    part.step = 1;
    part.backwards = false;
  }
  part.is_whole = part.count == size && part.step == 1;
  return {};
}

constexpr index_parts index_parts_of(const shape& from, const axis_index* entries, int count) {
  index_parts all;
  int named = 0, rests = 0, axis = 0;
  for (int k = 0; k < count; ++k) {
    named += entries[k].what == axis_index::kind::position || entries[k].what == axis_index::kind::range;
    rests += entries[k].what == axis_index::kind::rest;
  }
  if (rests > 1) all.problem = "more than one along::rest()";
  else if (named > from.rank) all.problem = "more entries than axes";
  else if (count > 2 * max_rank) all.problem = "more than 8 dimensions";
  if (!all.problem.empty()) return all;
  const auto whole = [&] {
    if (const auto problem = take_range(along::all(), from[axis], all.part[axis]); !problem.empty()) all.problem = problem;
    all.result.push(from[axis]);
    ++axis;
  };
  for (int k = 0; k < count; ++k) {
    const axis_index& e = entries[k];
    if (e.what == axis_index::kind::new_axis) {
      all.result.push(1);
    } else if (e.what == axis_index::kind::rest) {
      for (int i = named; i < from.rank; ++i) whole();
    } else {
      index_part& part = all.part[axis];
      const std::int64_t size = from[axis++];
      if (e.what == axis_index::kind::range) {
        if (const auto problem = take_range(e, size, part); !problem.empty()) all.problem = problem;
        all.result.push(size < 0 ? size : part.count);
      } else if (size < 0) {
        part.is_lookup = true;
        part.begin = e.begin;
      } else {
        part.begin = from_end(e.begin, size);
        part.count = 1;
        part.is_removed = true;
        if (part.begin < 0 || part.begin >= size) all.problem = "a position is out of range";
      }
    }
  }
  while (axis < from.rank) whole();
  int rank = 0;
  for (int i = 0; i < from.rank; ++i) rank += all.part[i].is_lookup ? 0 : all.part[i].step > 1 ? 2 : 1;
  if (all.problem.empty() && (all.result.count > max_rank || rank > max_rank))
    all.problem = "more than 8 dimensions, where each one with a step counts twice";
  return all;
}

// The operators' numbers. Axes of lookups are gone when they apply.
template <class X, axis_index... Entries>
struct index_plan {
  static constexpr std::string_view function = "index";
  static constexpr axis_index entries[sizeof...(Entries) + 1]{Entries..., axis_index(0)};
  static constexpr index_parts parts = index_parts_of(X::extent, entries, sizeof...(Entries));
  static constexpr std::string_view problem() { return parts.problem; }

  /// The last axis before `end` along which a position is looked up, or -1.
  static constexpr int lookup_before(int end) {
    for (int i = end - 1; i >= 0; --i)
      if (parts.part[i].is_lookup) return i;
    return -1;
  }
  /// Calls `f(part, size)` for each axis that is left.
  template <class F>
  static constexpr number_list by_axis(F f) {
    number_list numbers;
    for (int i = 0; i < X::rank; ++i)
      if (!parts.part[i].is_lookup) f(numbers, parts.part[i], X::extent[i]);
    return numbers;
  }
  static constexpr number_list slice() {
    number_list numbers =
        by_axis([](number_list& to, const index_part& p, std::int64_t size) { to.push(p.is_whole ? 0 : p.first(size)); });
    const number_list sizes =
        by_axis([](number_list& to, const index_part& p, std::int64_t size) { to.push(p.is_whole ? -1 : p.length(size)); });
    for (int i = 0; i < sizes.count; ++i) numbers.push(sizes[i]);
    return numbers;
  }
  static constexpr bool is_sliced() {
    return by_axis([](number_list& to, const index_part& p, std::int64_t) {
             if (!p.is_whole) to.push(1);
           }).count > 0;
  }
  static constexpr number_list reversed() {
    number_list axes;
    int axis = 0;
    for (int i = 0; i < X::rank; ++i) {
      if (parts.part[i].is_lookup) continue;
      if (parts.part[i].backwards) axes.push(axis);
      ++axis;
    }
    return axes;
  }
  /// Zeros, so that the last step is whole, too.
  static constexpr number_list padding() {
    number_list numbers = by_axis([](number_list& to, const index_part&, std::int64_t) { to.push(0); });
    const number_list behind = by_axis([](number_list& to, const index_part& p, std::int64_t size) {
      to.push(p.is_whole ? 0 : p.count * p.step - p.length(size));
    });
    for (int i = 0; i < behind.count; ++i) numbers.push(behind[i]);
    return numbers;
  }
  static constexpr bool is_padded() {
    const number_list numbers = padding();
    for (int i = 0; i < numbers.count; ++i)
      if (numbers[i] != 0) return true;
    return false;
  }
  /// The steps as an axis of their own, and the slice of their first elements.
  static constexpr number_list apart() {
    return by_axis([](number_list& to, const index_part& p, std::int64_t size) {
      to.push(p.is_whole ? size : p.count);
      if (p.step > 1) to.push(p.step);
    });
  }
  static constexpr number_list step_begins() {
    number_list numbers = apart();
    const int rank = numbers.count;
    for (int i = 0; i < rank; ++i) numbers.data[i] = 0;
    const number_list sizes = by_axis([](number_list& to, const index_part& p, std::int64_t) {
      to.push(-1);
      if (p.step > 1) to.push(1);
    });
    for (int i = 0; i < rank; ++i) numbers.push(sizes[i]);
    return numbers;
  }
  static constexpr bool has_steps() {
    for (int i = 0; i < X::rank; ++i)
      if (parts.part[i].step > 1) return true;
    return false;
  }
  static constexpr number_list result() { return parts.result; }
};

// Positions along named dimensions, from the last axis on. One that counts from the end is looked up in reversed order.
template <class Plan, int End, tensor_expression X>
constexpr auto looked_up(const X& x) {
  constexpr int axis = Plan::lookup_before(End);
  if constexpr (axis < 0) {
    return x;
  } else {
    constexpr std::int64_t at = Plan::parts.part[axis].begin;
    if constexpr (at < 0) return looked_up<Plan, axis>(gather<axis>(reverse<axis>(x), constant<static_cast<std::int64_t>(-1 - at)>()));
    else return looked_up<Plan, axis>(gather<axis>(x, constant<at>()));
  }
}
template <class Plan, tensor_expression X>
constexpr auto sliced_by(const X& x) {
  if constexpr (Plan::is_sliced()) return make_from<slice_op, Plan::slice>(x);
  else return x;
}
template <class Plan, tensor_expression X>
constexpr auto reversed_by(const X& x) {
  if constexpr (Plan::reversed().count > 0) return make_from<reverse_op, Plan::reversed>(x);
  else return x;
}
template <class Plan, tensor_expression X>
constexpr auto padded_by(const X& x) {
  if constexpr (Plan::is_padded()) return make_from<pad_op, Plan::padding>(x);
  else return x;
}
template <class Plan, tensor_expression X>
constexpr auto stepped_by(const X& x) {
  if constexpr (Plan::has_steps()) return make_from<slice_op, Plan::step_begins>(reshaped_from<Plan::apart>(padded_by<Plan>(x)));
  else return x;
}

}  // namespace detail

/// What the entries take along each axis, as Python's x[entries]: `index<0>(x)` is x[0], `index<along::all(), along::between(1, 5),
/// along::rest(), -1>(x)` is x[:, 1:5, ..., -1]. An entry is a position, which removes its axis, `along::all()`, `from(b)`, `until(e)` or
/// `between(b, e)`, each with a step if one more number is given, `along::new_axis()`, or `along::rest()`. Shapes: x [d0, …, dn]; result as
/// the entries say; axes without an entry are whole, and a named dimension is taken whole or at a position. Dtypes: any. Errors: more
/// entries than axes; a position out of range, which for a named dimension is invalid_argument in a run; a step of 0. Source: TensorFlow
/// `StridedSlice`.
template <axis_index... Entries, tensor_expression X>
  requires(sizeof...(Entries) > 0 && detail::fits_plan<detail::index_plan<X, Entries...>>)
constexpr auto index(const X& x) {
  using plan = detail::index_plan<X, Entries...>;
  const auto found = detail::looked_up<plan, X::rank>(x);
  return detail::reshaped_from<plan::result>(detail::stepped_by<plan>(detail::reversed_by<plan>(detail::sliced_by<plan>(found))));
}
template <axis_index... Entries, tensor_expression X>
  requires(sizeof...(Entries) > 0 && !detail::fits_plan<detail::index_plan<X, Entries...>>)
detail::why_not<detail::index_plan<X, Entries...>, X> index(const X&) = delete;
#define LEAT_INDEX_WORDS \
  "index<entries...>(x) takes one tensor; entries are template arguments: index<0, along::between(1, 5)>(x) is x[0, 1:5]; " LEAT_TENSORS
LEAT_OTHERWISE(LEAT_INDEX_WORDS) index(...) LEAT_DELETED;
template <axis_index First, axis_index... Rest>
LEAT_OTHERWISE(LEAT_INDEX_WORDS) index(...) LEAT_DELETED;
#undef LEAT_INDEX_WORDS

}  // namespace leat
