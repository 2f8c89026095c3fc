#pragma once
// What random graphs are made of: numbers that are the same everywhere, and tensors of which we know the sizes they will have
// when the graph runs, and a bound of their elements. So an operator can be given operands that fit, and results stay finite.

#include "run_plan.hpp"

#include <leat/graphs.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace interop {

using sizes = std::vector<std::int64_t>;

/// Random numbers by splitmix64 (Steele, Lea and Flood 2014): the same from a seed with every compiler.
class dice {
 public:
  explicit dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// 0 ... n - 1.
  int below(int n) { return static_cast<int>(next() % static_cast<std::uint64_t>(n)); }
  int between(int low, int high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  /// In [low, high), in steps that float32 holds.
  double real(double low, double high) { return low + (high - low) * static_cast<double>(below(4096)) / 4096; }
  template <class T>
  const T& one_of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
  }

 private:
  std::uint64_t state_;
};

/// A tensor of the graph.
struct value {
  leat::output tensor;
  sizes actual;          // when the graph runs
  double bound = 1;      // no element is larger
  bool smooth = true;    // whether the library has gradients of all operators that lead here
  bool repeats = true;   // whether it is the same in every run: no random numbers
};

inline std::int64_t count_of(const sizes& s) {
  std::int64_t n = 1;
  for (auto d : s) n *= d;
  return n;
}
inline std::optional<sizes> broadcast(const sizes& a, const sizes& b) {
  sizes result(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const auto y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    result[result.size() - 1 - i] = x == 1 ? y : x;
  }
  return result;
}
inline leat::shape shape_of(const sizes& s) {
  leat::shape result;
  for (auto d : s) result.push(d);
  return result;
}

/// The values of a graph that grows, and leaves for it.
class pool {
 public:
  pool(leat::graph& g, std::uint64_t seed) : random(seed), graph_(&g) {}

  dice random;
  run_plan plan;
  int drawn = 0;  // variables that start from random numbers; scopes by one name would give them one name
  std::vector<value> values;
  std::vector<value> leaves;  // placeholders and variables of floating point, for gradients
  int refused = 0;            // gradients that the library refused

  leat::graph& graph() { return *graph_; }

  value keep(value v) {
    values.push_back(v);
    return v;
  }
  /// A value that exists and of which `fits` holds.
  template <class F>
  std::optional<value> find(F fits) {
    std::vector<const value*> found;
    for (const value& v : values)
      if (fits(v)) found.push_back(&v);
    if (found.empty()) return std::nullopt;
    // rather a late one, so that graphs grow deep
    const int n = static_cast<int>(found.size());
    return *found[static_cast<std::size_t>(std::max(random.below(n), random.below(n)))];
  }
  value any(leat::dtype type, int least_rank = 0, int most_rank = 4) {
    if (random.chance(92))
      if (auto v = find([&](const value& x) {
            return x.tensor.type() == type && static_cast<int>(x.actual.size()) >= least_rank &&
                   static_cast<int>(x.actual.size()) <= most_rank;
          }))
        return *v;
    return leaf(type, some_sizes(least_rank, std::min(most_rank, 3)));
  }
  /// One with these sizes.
  value sized(leat::dtype type, const sizes& s) {
    if (auto v = find([&](const value& x) { return x.tensor.type() == type && x.actual == s; })) return *v;
    return leaf(type, s);
  }
  /// One that broadcasts with these sizes, to at most 512 elements.
  value beside(leat::dtype type, const sizes& s) {
    if (random.chance(80))
      if (auto v = find([&](const value& x) {
            if (x.tensor.type() != type) return false;
            const auto both = broadcast(x.actual, s);
            return both && count_of(*both) <= 512;
          }))
        return *v;
    sizes part(s.begin() + random.below(static_cast<int>(s.size()) + 1), s.end());
    for (auto& d : part)
      if (random.chance(25)) d = 1;
    return leaf(type, part);
  }
  sizes some_sizes(int least_rank = 0, int most_rank = 3) {
    sizes s(static_cast<std::size_t>(random.between(least_rank, std::max(least_rank, most_rank))));
    for (auto& d : s) d = random.between(1, 4);
    return s;
  }

  /// Elements in the range that `bound_of` says: integers from -5 to 5 (uint8 from 0), others in [-2, 2).
  std::vector<double> elements(leat::dtype type, std::int64_t count) {
    std::vector<double> list;
    for (std::int64_t i = 0; i < count; ++i) {
      if (type == leat::dtype::boolean) list.push_back(random.below(2));
      else if (type == leat::dtype::uint8) list.push_back(random.between(0, 5));
      else if (leat::is_floating(type)) list.push_back(random.real(-2, 2));
      else list.push_back(random.between(-5, 5));
    }
    return list;
  }
  static double bound_of(leat::dtype type) { return type == leat::dtype::boolean ? 1 : leat::is_floating(type) ? 2 : 5; }

  leat::tensor_literal literal(leat::dtype type, const sizes& s) { return literal(type, s, elements(type, count_of(s))); }
  static leat::tensor_literal literal(leat::dtype type, const sizes& s, const std::vector<double>& list) {
    const auto as = [&]<class T>(T) { return leat::tensor_literal(shape_of(s), std::vector<T>(list.begin(), list.end())); };
    switch (type) {
      case leat::dtype::float32: return as(float{});
      case leat::dtype::float64: return as(double{});
      case leat::dtype::int32: return as(std::int32_t{});
      case leat::dtype::int64: return as(std::int64_t{});
      case leat::dtype::uint8: return as(std::uint8_t{});
      default: return as(bool{});
    }
  }

  /// A constant, a placeholder with its feed, or a variable.
  value leaf(leat::dtype type, const sizes& s) {
    const int kind = random.below(10);
    if (kind < 3) return constant(type, s);
    if (kind < 7) return placeholder(type, s);
    return variable(type, s);
  }
  value constant(leat::dtype type, const sizes& s) {
    if (random.chance(20)) {
      const double number = elements(type, 1)[0];
      return keep(
          {leat::constant(leat::tensor_literal(type, {}, number), leat::shape_value(shape_of(s)), name("filled")), s, bound_of(type)});
    }
    return keep({leat::constant(literal(type, s), name("c")), s, bound_of(type)});
  }
  value placeholder(leat::dtype type, const sizes& s) {
    leat::shape known = shape_of(s);
    if (random.chance(10)) known = leat::shape::unknown();
    else
      for (int i = 0; i < known.rank; ++i)
        if (random.chance(25)) known.dim[i] = leat::unknown_dimension;
    const auto tensor = leat::placeholder(type, known, name("x"));
    plan.feeds.push_back({tensor.name(), type, s, elements(type, count_of(s))});
    const value made = keep({tensor, s, bound_of(type), known.has_rank()});
    if (leat::is_floating(type) && known.has_rank()) leaves.push_back(made);
    return made;
  }
  value variable(leat::dtype type, const sizes& s) {
    const bool floating = leat::is_floating(type);
    leat::output handle;
    value made{{}, s, bound_of(type)};
    const int kind = random.below(10);
    if (floating && kind < 2) {
      auto scope = leat::variable_scope("shared_" + std::to_string(random.below(3)), {.reuse = leat::AUTO_REUSE, .type = type});
      std::string text = "v" + std::string(type == leat::dtype::float64 ? "d" : "f");
      for (auto d : s) text += "_" + std::to_string(d);
      handle = leat::get_variable(text, leat::shape_value(shape_of(s)), {.initializer = leat::constant_initializer(random.real(-2, 2))});
    } else if (floating && kind == 2) {
      handle = leat::get_variable("drawn_" + std::to_string(drawn++), leat::shape_value(shape_of(s)),
                                  {.type = type, .initializer = leat::as_variable_initializer(leat::random_uniform(-1, 1))});
      made.repeats = false;
      plan.repeatable = false;
    } else if (floating && kind == 3) {  // its first value is computed, and must not wait for other variables
      const leat::control_dependencies none(nullptr);
      handle = leat::variable(leat::multiply(leat::constant(literal(type, s), "base"), leat::tensor_literal(type, {}, 0.5)), name("w"));
    } else {
      handle = leat::variable(literal(type, s), name("w"));
    }
    made.tensor = handle;
    keep(made);
    if (floating) leaves.push_back(made);
    return made;
  }
  std::string name(std::string_view base) { return std::string(base); }

 private:
  leat::graph* graph_;
};

}  // namespace interop
