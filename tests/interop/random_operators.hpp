#pragma once
// The operators of graphs with names, each as a function that picks operands that fit and makes one node, or a few. Arguments
// are kept where functions are smooth and finite: logarithms of positive numbers, arcsines below 1, divisors away from 0.

#include "random_values.hpp"

#include <cmath>
#include <functional>
#include <span>

namespace interop {

/// Makes something of the values of a pool, and keeps it there.
using maker = std::function<void(pool&)>;
struct named_maker {
  std::string_view name;
  maker make;
};

namespace detail {

using leat::dtype;
using leat::output;

inline dtype float_type(pool& p) { return p.random.chance(80) ? dtype::float32 : dtype::float64; }
inline dtype integer_type(pool& p) { return p.random.chance(65) ? dtype::int32 : dtype::int64; }
inline dtype number_type(pool& p) {
  if (p.random.chance(70)) return float_type(p);
  return p.random.chance(85) ? integer_type(p) : dtype::uint8;
}
inline dtype some_type(pool& p) { return p.random.chance(15) ? dtype::boolean : number_type(p); }

/// Keeps a result, and brings its elements back into a range of which many more functions are finite.
inline value finish(pool& p, const output& tensor, const sizes& actual, double bound, std::initializer_list<value> operands,
                    bool known_to_gradients = true) {
  value v{tensor, actual, bound};
  v.smooth = known_to_gradients && tensor.extent().has_rank();
  for (const value& o : operands) {
    v.smooth = v.smooth && o.smooth;
    v.repeats = v.repeats && o.repeats;
  }
  p.keep(v);
  const bool floating = leat::is_floating(tensor.type());
  if ((floating && bound <= 30) || bound <= 1000 || tensor.type() == dtype::boolean) return v;
  if (tensor.type() == dtype::uint8) return v;
  v.tensor = floating ? leat::tanh(tensor, "tame") : leat::floor_mod(tensor, leat::constant(leat::tensor_literal(tensor.type(), {}, 7)));
  v.bound = floating ? 1 : 7;
  return p.keep(v);
}
inline output number(const value& like, double x) { return leat::constant(leat::tensor_literal(like.tensor.type(), {}, x)); }

// ---- of one operand -------------------------------------------------------------------------------------------------

enum class domain { any, small, below_one, positive };
using unary = output (*)(const output&);

inline maker single(unary f, domain d, double (*bound)(double), bool integers = false) {
  return [=](pool& p) {
    const value x = p.any(integers ? (p.random.chance(60) ? float_type(p) : integer_type(p)) : float_type(p));
    output in = x.tensor;
    double size = x.bound;
    if (d == domain::small || d == domain::below_one) {
      in = leat::tanh(in, p.random.chance(50) ? "" : "squash");
      size = 1;
    }
    if (d == domain::below_one) {
      in = leat::multiply(in, leat::tensor_literal(x.tensor.type(), {}, 0.875), "inside");
      size = 0.875;
    }
    if (d == domain::positive) {
      in = leat::add(leat::abs(in), leat::tensor_literal(x.tensor.type(), {}, 0.5), "positive");
      size += 0.5;
    }
    finish(p, f(in), x.actual, bound(size), {x});
  };
}

// ---- of two ---------------------------------------------------------------------------------------------------------

struct operands {
  value x, y;
  sizes actual;
};
inline operands pair(pool& p, dtype type) {
  const value x = p.any(type);
  const value y = p.beside(type, x.actual);
  const auto both = broadcast(x.actual, y.actual);
  if (p.random.chance(50)) return {y, x, *both};
  return {x, y, *both};
}
using binary = output (*)(const output&, const output&);
inline maker two(binary f, dtype (*types)(pool&), double (*bound)(double, double), bool divides = false) {
  return [=](pool& p) {
    const operands o = pair(p, types(p));
    output y = o.y.tensor;
    if (divides) y = leat::add(leat::abs(y), leat::tensor_literal(y.type(), {}, leat::is_floating(y.type()) ? 0.5 : 1), "divisor");
    finish(p, f(o.x.tensor, y), o.actual, bound(o.x.bound, o.y.bound), {o.x, o.y});
  };
}
inline maker compare(binary f, dtype (*types)(pool&)) {
  return [=](pool& p) {
    const operands o = pair(p, types(p));
    finish(p, f(o.x.tensor, o.y.tensor), o.actual, 1, {o.x, o.y});
  };
}
inline dtype truth(pool&) { return dtype::boolean; }

// ---- shapes ---------------------------------------------------------------------------------------------------------

inline std::vector<std::int32_t> narrow(const sizes& s) { return {s.begin(), s.end()}; }

/// A list of numbers as a constant, or as a tensor that is known only when the graph runs.
inline leat::index_list numbers(pool& p, const std::vector<std::int32_t>& list, bool& known) {
  if (p.random.chance(90)) return list;
  known = false;
  const std::vector<double> values(list.begin(), list.end());
  const auto tensor = leat::placeholder(dtype::int32, {static_cast<std::int64_t>(list.size())}, "numbers");
  p.plan.feeds.push_back({tensor.name(), dtype::int32, {static_cast<std::int64_t>(list.size())}, values});
  return tensor;
}
inline std::vector<std::int32_t> some_axes(pool& p, int rank, sizes& left, bool keep) {
  std::vector<std::int32_t> axes;
  const sizes before = left;
  left.clear();
  for (int i = 0; i < rank; ++i) {
    const bool reduced = p.random.chance(50);
    if (reduced) axes.push_back(p.random.chance(20) ? i - rank : i);
    if (!reduced) left.push_back(before[static_cast<std::size_t>(i)]);
    else if (keep) left.push_back(1);
  }
  return axes;
}

template <class All, class Some>
void reduce(pool& p, const value& x, All all, Some some, double bound) {
  const bool keep = p.random.chance(40);
  const auto keeps = keep ? leat::keep_dims::yes : leat::keep_dims::no;
  if (p.random.chance(30)) {
    const bool known = x.tensor.extent().has_rank();
    finish(p, all(x.tensor, keeps), keep ? sizes(x.actual.size(), 1) : sizes{}, bound, {x}, known && x.tensor.extent().rank > 0);
    return;
  }
  sizes left = x.actual;
  bool known = true;
  const auto axes = some_axes(p, static_cast<int>(x.actual.size()), left, keep);
  finish(p, some(x.tensor, numbers(p, axes, known), keeps), left, bound, {x}, known);
}
#define INTEROP_REDUCTION(function, types, bound)                                                                                         \
  named_maker{#function, [](pool& p) {                                                                                                    \
                const value x = p.any(types(p));                                                                                          \
                [[maybe_unused]] const double n = static_cast<double>(count_of(x.actual));                                                \
                reduce(                                                                                                                   \
                    p, x, [](const output& t, leat::keep_dims k) { return leat::function(t, leat::all_axes, k); },                        \
                    [](const output& t, const leat::index_list& a, leat::keep_dims k) { return leat::function(t, a, k); }, bound);        \
              }}

inline void reshape_any(pool& p) {
  const value x = p.any(some_type(p));
  std::int64_t left = count_of(x.actual);
  sizes to;
  while (left > 1 && to.size() < 4) {
    std::int64_t factor = 2;
    while (left % factor != 0) ++factor;
    if (p.random.chance(40)) factor = left;
    to.push_back(factor);
    left /= factor;
  }
  if (left > 1) to.back() *= left;
  if (p.random.chance(30)) to.insert(to.begin() + p.random.below(static_cast<int>(to.size()) + 1), 1);
  auto list = narrow(to);
  bool known = true;
  if (!list.empty() && p.random.chance(40)) list[static_cast<std::size_t>(p.random.below(static_cast<int>(list.size())))] = -1;
  finish(p, leat::reshape(x.tensor, numbers(p, list, known)), to, x.bound, {x}, known);
}
inline void transpose_any(pool& p) {
  const value x = p.any(some_type(p), 1);
  const int rank = static_cast<int>(x.actual.size());
  std::vector<std::int32_t> order;
  for (int i = 0; i < rank; ++i) order.insert(order.begin() + p.random.below(i + 1), i);
  sizes to;
  for (auto axis : order) to.push_back(x.actual[static_cast<std::size_t>(axis)]);
  bool known = true;
  finish(p, leat::transpose(x.tensor, numbers(p, order, known)), to, x.bound, {x}, known);
}
inline void expand_any(pool& p) {
  const value x = p.any(some_type(p), 0, 3);
  const int at = p.random.below(static_cast<int>(x.actual.size()) + 1);
  sizes to = x.actual;
  to.insert(to.begin() + at, 1);
  bool known = true;
  const std::int32_t axis = p.random.chance(30) ? at - static_cast<int>(x.actual.size()) - 1 : at;
  finish(p, leat::expand_dims(x.tensor, axis), to, x.bound, {x}, known);
}
inline void squeeze_any(pool& p) {
  const auto x = p.find([](const value& v) {
    return v.tensor.extent().has_rank() && std::find(v.actual.begin(), v.actual.end(), 1) != v.actual.end();
  });
  if (!x) return;
  std::vector<std::int64_t> axes;
  sizes to;
  const bool all = x->tensor.extent().is_static() && p.random.chance(30);
  for (std::size_t i = 0; i < x->actual.size(); ++i) {
    const bool gone = x->actual[i] == 1 && (all || p.random.chance(60));
    if (gone) axes.push_back(static_cast<std::int64_t>(i));
    else to.push_back(x->actual[i]);
  }
  if (axes.empty()) return;
  if (all) axes.clear();
  finish(p, leat::squeeze(x->tensor, axes), to, x->bound, {*x});
}
inline void broadcast_any(pool& p) {
  const value x = p.any(number_type(p), 0, 3);
  sizes to = x.actual;
  for (auto& d : to)
    if (d == 1) d = p.random.between(1, 3);
  if (to.size() < 3 && p.random.chance(50)) to.insert(to.begin(), p.random.between(1, 3));
  bool known = true;
  finish(p, leat::broadcast_to(x.tensor, numbers(p, narrow(to), known), ""), to, x.bound, {x}, known);
}
inline void slice_any(pool& p) {
  const value x = p.any(some_type(p), 1);
  std::vector<std::int32_t> begin, size;
  sizes to;
  for (auto d : x.actual) {
    const int from = p.random.below(static_cast<int>(d));
    const int n = p.random.between(1, static_cast<int>(d) - from);
    begin.push_back(from);
    to.push_back(n);
    size.push_back(from + n == d && p.random.chance(50) ? -1 : n);
  }
  bool known = true;
  const auto first = numbers(p, begin, known);
  finish(p, leat::slice(x.tensor, first, numbers(p, size, known)), to, x.bound, {x}, known);
}
inline void pad_any(pool& p) {
  const value x = p.any(number_type(p), 1, 3);
  std::vector<std::int32_t> rows;
  sizes to;
  for (auto d : x.actual) {
    rows.push_back(p.random.below(3));
    rows.push_back(p.random.below(2));
    to.push_back(d + rows[rows.size() - 2] + rows.back());
  }
  leat::shape extent;
  extent.push(static_cast<std::int64_t>(x.actual.size()));
  extent.push(2);
  finish(p, leat::pad(x.tensor, leat::tensor_literal(extent, rows)), to, x.bound, {x});
}
inline void concat_any(pool& p) {
  const value x = p.any(some_type(p), 1);
  const int rank = static_cast<int>(x.actual.size());
  const int axis = p.random.below(rank);
  std::vector<output> parts{x.tensor};
  value all = x;
  for (int n = p.random.between(1, 3); n > 0; --n) {
    const auto y = p.find([&](const value& v) {
      if (v.tensor.type() != x.tensor.type() || v.actual.size() != x.actual.size()) return false;
      for (int i = 0; i < rank; ++i)
        if (i != axis && v.actual[static_cast<std::size_t>(i)] != x.actual[static_cast<std::size_t>(i)]) return false;
      return true;
    });
    if (!y || all.actual[static_cast<std::size_t>(axis)] > 12) break;
    parts.push_back(y->tensor);
    all.actual[static_cast<std::size_t>(axis)] += y->actual[static_cast<std::size_t>(axis)];
    all.bound = std::max(all.bound, y->bound);
    all.smooth = all.smooth && y->smooth;
    all.repeats = all.repeats && y->repeats;
  }
  if (parts.size() < 2) parts.push_back(x.tensor), all.actual[static_cast<std::size_t>(axis)] *= 2;
  finish(p, leat::concat(parts, p.random.chance(30) ? axis - rank : axis), all.actual, all.bound, {all});
}
/// Whole numbers below a limit, of any integer that there is.
inline value positions(pool& p, const sizes& s, std::int64_t limit, dtype type) {
  if (p.random.chance(50)) {
    std::vector<double> list;
    for (std::int64_t i = 0; i < count_of(s); ++i) list.push_back(p.random.below(static_cast<int>(limit)));
    if (p.random.chance(50)) return {leat::constant(pool::literal(type, s, list), "positions"), s};
    const auto tensor = leat::placeholder(type, leat::shape_value(shape_of(s)), "positions");
    p.plan.feeds.push_back({tensor.name(), type, s, list});
    return {tensor, s};
  }
  value x = p.sized(type, s);
  x.tensor = leat::floor_mod(x.tensor, leat::constant(leat::tensor_literal(type, {}, static_cast<double>(limit))));
  return x;
}
inline void gather_any(pool& p) {
  const value x = p.any(some_type(p), 1, 3);
  const sizes of = p.some_sizes(0, 2);
  const value at = positions(p, of, x.actual[0], integer_type(p));
  sizes to = of;
  to.insert(to.end(), x.actual.begin() + 1, x.actual.end());
  finish(p, leat::gather(x.tensor, at.tensor, ""), to, x.bound, {x, at});
}
inline void segments_any(pool& p) {
  const value x = p.any(float_type(p), 1, 3);
  const value at = positions(p, {x.actual[0]}, 3, integer_type(p));
  const std::int64_t three[]{3};
  sizes to = x.actual;
  to[0] = 3;
  const output both[]{x.tensor, at.tensor};
  const output made = p.graph().named().build(p.graph(), leat::info_of<leat::segment_sum_op>, both, three, "");
  finish(p, made, to, x.bound * static_cast<double>(x.actual[0]), {x, at});
}
inline void one_hot_any(pool& p) {
  const sizes of = p.some_sizes(0, 2);
  const value at = positions(p, of, 4, integer_type(p));
  const dtype type = float_type(p);
  const int axis = p.random.below(static_cast<int>(of.size()) + 2) - 1;
  const std::int64_t all[]{4, static_cast<std::int64_t>(type), leat::detail::bits_of(type, 2), leat::detail::bits_of(type, -1), axis};
  sizes to = of;
  to.insert(axis < 0 ? to.end() : to.begin() + axis, 4);
  const output one[]{at.tensor};
  finish(p, p.graph().named().build(p.graph(), leat::info_of<leat::one_hot_op>, one, all, ""), to, 2, {at});
}
inline void arg_any(pool& p, bool most) {
  const value x = p.any(p.random.chance(70) ? float_type(p) : integer_type(p), 1);
  const int axis = p.random.below(static_cast<int>(x.actual.size()));
  sizes to = x.actual;
  to.erase(to.begin() + axis);
  finish(p, most ? leat::argmax(x.tensor, axis) : leat::argmin(x.tensor, axis), to, 64, {x});
}

// ---- products, losses -----------------------------------------------------------------------------------------------

inline void product(pool& p) {
  const dtype type = p.random.chance(85) ? float_type(p) : dtype::int32;
  const value a = p.any(type, 2, 2);
  const bool ta = p.random.chance(25), tb = p.random.chance(25);
  const std::int64_t inner = a.actual[ta ? 0 : 1];
  const std::size_t at = tb ? 1 : 0;
  auto b = p.find([&](const value& v) { return v.tensor.type() == type && v.actual.size() == 2 && v.actual[at] == inner; });
  if (!b) b = p.leaf(type, tb ? sizes{p.random.between(1, 4), inner} : sizes{inner, p.random.between(1, 4)});
  finish(p, leat::matmul(a.tensor, b->tensor, leat::matmul_options{ta, tb}), {a.actual[ta ? 1 : 0], b->actual[tb ? 0 : 1]},
         a.bound * b->bound * static_cast<double>(inner), {a, *b});
}
inline void entropy(pool& p) {
  const value logits = p.any(float_type(p), 2, 2);
  const value other = p.sized(logits.tensor.type(), logits.actual);
  const output labels = leat::softmax(other.tensor, "labels");
  finish(p, leat::softmax_cross_entropy_with_logits(labels, logits.tensor), {logits.actual[0]}, 2 * logits.bound + 4, {logits, other});
}
inline void sparse_entropy(pool& p) {
  const value logits = p.any(float_type(p), 2, 2);
  const value labels = positions(p, {logits.actual[0]}, logits.actual[1], integer_type(p));
  finish(p, leat::sparse_softmax_cross_entropy_with_logits(labels.tensor, logits.tensor), {logits.actual[0]}, 2 * logits.bound + 4,
         {logits, labels});
}
inline void select_any(pool& p) {
  const value c = p.any(dtype::boolean);
  const value x = p.beside(some_type(p), c.actual);
  const auto first = broadcast(c.actual, x.actual);
  const value y = p.beside(x.tensor.type(), *first);
  const auto all = broadcast(*first, y.actual);
  value known = c;
  known.smooth = c.tensor.extent().has_rank();
  finish(p, leat::select(c.tensor, x.tensor, y.tensor, ""), *all, std::max(x.bound, y.bound), {known, x, y});
}
inline void cast_any(pool& p) {
  const value x = p.any(some_type(p));
  const dtype to = p.random.one_of(std::vector{dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::boolean});
  if (to == x.tensor.type()) return;
  finish(p, leat::cast(x.tensor, to), x.actual, std::max(1.0, x.bound), {x});
}
inline void clip_any(pool& p) {
  const value x = p.any(float_type(p));
  const double low = p.random.real(-2, 0), high = p.random.real(0.5, 2);
  if (p.random.chance(50)) {
    finish(
        p,
        leat::clip_by_value(x.tensor, leat::tensor_literal(x.tensor.type(), {}, low), leat::tensor_literal(x.tensor.type(), {}, high), ""),
        x.actual, 2, {x});
    return;
  }
  const output all[]{x.tensor, number(x, low), number(x, high)};
  finish(p, p.graph().named().build(p.graph(), leat::info_of<leat::clip_by_value_op>, all, {}, ""), x.actual, 2, {x});
}

// ---- that the passes do not know ------------------------------------------------------------------------------------

inline void stack_any(pool& p) {
  const value x = p.any(some_type(p), 0, 3);
  const value y = p.sized(x.tensor.type(), x.actual);
  const int axis = p.random.below(static_cast<int>(x.actual.size()) + 1);
  sizes to = x.actual;
  to.insert(to.begin() + axis, 2);
  finish(p, leat::stack({x.tensor, y.tensor}, axis), to, std::max(x.bound, y.bound), {x, y}, false);
}
inline void unstack_any(pool& p) {
  const auto x = p.find([](const value& v) { return v.tensor.extent().is_static() && v.tensor.extent().rank > 0; });
  if (!x) return;
  const int axis = p.random.below(static_cast<int>(x->actual.size()));
  sizes to = x->actual;
  to.erase(to.begin() + axis);
  for (const output& part : leat::unstack(x->tensor, axis)) finish(p, part, to, x->bound, {*x}, false);
}
inline void split_any(pool& p) {
  const value x = p.any(some_type(p), 1);
  const int axis = p.random.below(static_cast<int>(x.actual.size()));
  const std::int64_t n = x.actual[static_cast<std::size_t>(axis)];
  sizes to = x.actual;
  const std::int64_t parts = n % 2 == 0 ? 2 : n;
  to[static_cast<std::size_t>(axis)] = n / parts;
  for (const output& part : leat::split(x.tensor, parts, axis)) finish(p, part, to, x.bound, {x}, false);
}
inline void tile_any(pool& p) {
  const value x = p.any(number_type(p), 1, 3);
  std::vector<std::int32_t> times;
  sizes to;
  for (auto d : x.actual) {
    times.push_back(p.random.between(1, 2));
    to.push_back(d * times.back());
  }
  finish(p, leat::tile(x.tensor, times), to, x.bound, {x}, false);
}
inline void sum_of_several(pool& p) {
  const value x = p.any(number_type(p));
  if (x.tensor.type() == dtype::uint8) return;
  const value y = p.sized(x.tensor.type(), x.actual), z = p.sized(x.tensor.type(), x.actual);
  finish(p, leat::add_n({x.tensor, y.tensor, z.tensor}), x.actual, x.bound + y.bound + z.bound, {x, y, z});
}
inline void measures(pool& p) {
  const value x = p.any(some_type(p));
  const auto rank = static_cast<std::int64_t>(x.actual.size());
  switch (p.random.below(4)) {
    case 0:  // that of a scalar has no elements, of which not everything has a maximum
      if (rank > 0) finish(p, leat::shape_of(x.tensor), {rank}, 64, {x}, false);
      break;
    case 1: finish(p, leat::rank_of(x.tensor), {}, 8, {x}, false); break;
    case 2: finish(p, leat::element_count_of(x.tensor), {}, 512, {x}, false); break;
    default: finish(p, leat::zeros_like(x.tensor), x.actual, 0, {x}, false);
  }
}
inline void made_of_nothing(pool& p) {
  const sizes s = p.some_sizes(0, 3);
  const leat::shape_value extent{shape_of(s)};
  if (p.random.chance(40)) {
    const int first = p.random.below(4), n = p.random.between(1, 4), step = p.random.between(1, 2);
    finish(p, leat::range(first, first + n * step, step), {n}, 16, {}, false);
  } else if (p.random.chance(60)) {
    finish(p, leat::fill(extent, leat::tensor_literal(number_type(p), {}, 2)), s, 2, {}, false);
  } else {
    finish(p, p.random.chance(50) ? leat::zeros_of(extent, float_type(p)) : leat::ones_of(extent, float_type(p)), s, 1, {});
  }
}
inline void chance_numbers(pool& p) {
  if (!p.random.chance(25)) return;
  const sizes s = p.some_sizes(0, 3);
  const leat::shape_value extent{shape_of(s)};
  const dtype type = float_type(p);
  const auto seed = static_cast<std::uint64_t>(p.random.below(1000));
  output made;
  switch (p.random.below(4)) {
    case 0: made = leat::random_normal_of(extent, 0, 1, type, seed); break;
    case 1: made = leat::truncated_normal_of(extent, 0, 1, type, seed); break;
    case 2: made = leat::random_uniform_of(extent, type, seed); break;
    default: made = leat::random_uniform_between(extent, -1, 1, type, seed);
  }
  value v{made, s, 8, false, false};
  p.plan.repeatable = false;
  p.keep(v);
}
inline void together(pool& p) {
  const value x = p.any(some_type(p)), y = p.any(some_type(p));
  const auto both = leat::tuple({x.tensor, y.tensor});
  finish(p, both[0], x.actual, x.bound, {x, y});
  finish(p, both[1], y.actual, y.bound, {x, y});
}

#define INTEROP_SINGLE(function, where, bound)                                                                        \
  named_maker{#function, single([](const output& x) { return leat::function(x); }, domain::where,                     \
                                []([[maybe_unused]] double b) -> double { return bound; })}
#define INTEROP_INTEGER(function, bound)                                                                              \
  named_maker{#function, single([](const output& x) { return leat::function(x); }, domain::any,                       \
                                []([[maybe_unused]] double b) -> double { return bound; }, true)}
#define INTEROP_PAIR(function, types, bound, ...)                                                                     \
  named_maker{#function, two([](const output& x, const output& y) { return leat::function(x, y); }, types,            \
                             []([[maybe_unused]] double a, [[maybe_unused]] double b) -> double { return bound; }     \
                                 __VA_OPT__(, ) __VA_ARGS__)}
#define INTEROP_COMPARE(function, types) \
  named_maker{#function, compare([](const output& x, const output& y) { return leat::function(x, y); }, types)}

inline dtype float_or_integer(pool& p) { return p.random.chance(65) ? float_type(p) : integer_type(p); }

}  // namespace detail

/// All of them.
inline const std::vector<named_maker>& all_makers() {
  using namespace detail;
  static const std::vector<named_maker> list{
      INTEROP_INTEGER(negative, b),
      INTEROP_INTEGER(square, b * b),
      INTEROP_INTEGER(abs, b),
      INTEROP_INTEGER(sign, 1),
      INTEROP_SINGLE(floor, any, b + 1),
      INTEROP_SINGLE(ceil, any, b + 1),
      INTEROP_SINGLE(round, any, b + 1),
      INTEROP_SINGLE(exp, small, 3 * b),
      INTEROP_SINGLE(expm1, small, 2 * b),
      INTEROP_SINGLE(log, positive, b + 1),
      INTEROP_SINGLE(log1p, positive, b + 1),
      INTEROP_SINGLE(sqrt, positive, b + 1),
      INTEROP_SINGLE(rsqrt, positive, 2),
      INTEROP_SINGLE(reciprocal, positive, 2),
      INTEROP_SINGLE(tanh, any, 1),
      INTEROP_SINGLE(sigmoid, any, 1),
      INTEROP_SINGLE(softplus, any, b + 1),
      INTEROP_SINGLE(sin, any, 1),
      INTEROP_SINGLE(cos, any, 1),
      INTEROP_SINGLE(tan, small, 2 * b),
      INTEROP_SINGLE(asin, below_one, 2 * b),
      INTEROP_SINGLE(acos, below_one, 4 * b),
      INTEROP_SINGLE(atan, any, 2),
      INTEROP_SINGLE(sinh, small, 2 * b),
      INTEROP_SINGLE(cosh, small, 2 * b),
      INTEROP_SINGLE(erf, any, 1),
      INTEROP_SINGLE(relu, any, b),
      INTEROP_SINGLE(relu6, any, 6),
      INTEROP_SINGLE(elu, any, b + 1),
      INTEROP_SINGLE(leaky_relu, any, b),
      INTEROP_SINGLE(stop_gradient, any, b),
      named_maker{"identity", single([](const output& x) { return leat::identity(x, ""); }, domain::any, [](double b) { return b; }, true)},
      INTEROP_PAIR(add, number_type, a + b),
      INTEROP_PAIR(operator+, number_type, a + b),
      INTEROP_PAIR(subtract, float_or_integer, a + b),
      INTEROP_PAIR(operator-, float_or_integer, a + b),
      INTEROP_PAIR(multiply, float_or_integer, a * b),
      INTEROP_PAIR(operator*, float_or_integer, a * b),
      INTEROP_PAIR(maximum, number_type, std::max(a, b)),
      INTEROP_PAIR(minimum, number_type, std::max(a, b)),
      INTEROP_PAIR(squared_difference, float_or_integer, (a + b) * (a + b)),
      INTEROP_PAIR(divide, float_type, 2 * a, true),
      INTEROP_PAIR(operator/, float_or_integer, 2 * a, true),
      INTEROP_PAIR(floordiv, float_or_integer, 2 * a + 1, true),
      INTEROP_PAIR(floor_mod, float_or_integer, b + 1, true),
      INTEROP_PAIR(truncate_divide, integer_type, a, true),
      INTEROP_PAIR(truncate_mod, float_or_integer, b + 1, true),
      named_maker{"pow",
                  [](pool& p) {
                    const operands o = pair(p, float_type(p));
                    const output x = leat::add(leat::abs(o.x.tensor), leat::tensor_literal(o.x.tensor.type(), {}, 0.5));
                    finish(p, leat::pow(x, leat::tanh(o.y.tensor)), o.actual, o.x.bound + 2, {o.x, o.y});
                  }},
      INTEROP_COMPARE(equal, some_type),
      INTEROP_COMPARE(not_equal, some_type),
      INTEROP_COMPARE(less, number_type),
      INTEROP_COMPARE(less_equal, number_type),
      INTEROP_COMPARE(greater, number_type),
      INTEROP_COMPARE(greater_equal, number_type),
      INTEROP_COMPARE(operator<, float_type),
      INTEROP_COMPARE(logical_and, truth),
      INTEROP_COMPARE(logical_or, truth),
      named_maker{"logical_not",
                  [](pool& p) {
                    const value x = p.any(dtype::boolean);
                    finish(p, leat::logical_not(x.tensor, ""), x.actual, 1, {x});
                  }},
      INTEROP_SINGLE(is_nan, any, 1),
      INTEROP_SINGLE(is_inf, any, 1),
      INTEROP_SINGLE(is_finite, any, 1),
      INTEROP_REDUCTION(reduce_sum, float_or_integer, x.bound * n),
      INTEROP_REDUCTION(reduce_mean, float_type, x.bound),
      INTEROP_REDUCTION(reduce_max, float_or_integer, x.bound),
      INTEROP_REDUCTION(reduce_min, float_or_integer, x.bound),
      INTEROP_REDUCTION(reduce_prod, float_type, std::pow(std::max(1.0, x.bound), n)),
      INTEROP_REDUCTION(reduce_all, truth, 1),
      INTEROP_REDUCTION(reduce_any, truth, 1),
      named_maker{"argmax", [](pool& p) { arg_any(p, true); }},
      named_maker{"argmin", [](pool& p) { arg_any(p, false); }},
      named_maker{"reshape", reshape_any},
      named_maker{"transpose", transpose_any},
      named_maker{"expand_dims", expand_any},
      named_maker{"squeeze", squeeze_any},
      named_maker{"broadcast_to", broadcast_any},
      named_maker{"slice", slice_any},
      named_maker{"pad", pad_any},
      named_maker{"concat", concat_any},
      named_maker{"gather", gather_any},
      named_maker{"unsorted_segment_sum", segments_any},
      named_maker{"one_hot", one_hot_any},
      named_maker{"matmul", product},
      named_maker{"matmul again", product},
      named_maker{"softmax",
                  [](pool& p) {
                    const value x = p.any(float_type(p), 1);
                    finish(p, leat::softmax(x.tensor, ""), x.actual, 1, {x});
                  }},
      named_maker{"log_softmax",
                  [](pool& p) {
                    const value x = p.any(float_type(p), 1);
                    finish(p, leat::log_softmax(x.tensor, ""), x.actual, 2 * x.bound + 4, {x});
                  }},
      named_maker{"softmax_cross_entropy_with_logits", entropy},
      named_maker{"sparse_softmax_cross_entropy_with_logits", sparse_entropy},
      named_maker{"l2_loss",
                  [](pool& p) {
                    const value x = p.any(float_type(p));
                    finish(p, leat::l2_loss(x.tensor, ""), {}, x.bound * x.bound * static_cast<double>(count_of(x.actual)), {x});
                  }},
      named_maker{"select", select_any},
      named_maker{"cast", cast_any},
      named_maker{"clip_by_value", clip_any},
      named_maker{"stack", stack_any},
      named_maker{"unstack", unstack_any},
      named_maker{"split", split_any},
      named_maker{"tile", tile_any},
      named_maker{"add_n", sum_of_several},
      named_maker{"shape and kin", measures},
      named_maker{"fill, range", made_of_nothing},
      named_maker{"random numbers", chance_numbers},
      named_maker{"tuple", together}};
  return list;
}
#undef INTEROP_SINGLE
#undef INTEROP_INTEGER
#undef INTEROP_PAIR
#undef INTEROP_COMPARE
#undef INTEROP_REDUCTION

}  // namespace interop
