#pragma once
// Kernels of complex numbers: their parts, arithmetic, functions, sums and products. Functions of complex64 are computed as complex128 and
// rounded once. Products are (a + bi)(c + di) = (ac - bd) + (ad + bc)i, without the C standard's care for infinities, as in TensorFlow.
// Matrix products are made of four real ones. Operators that move elements, or are linear in them, run in their kernels for real numbers
// (complex_twins.hpp). Source: TensorFlow's kernels of the operators of the same names.

#include <leat/core/fill.hpp>
#include <leat/cpu/parallel.hpp>
#include <leat/runtime/kernels/complex_twins.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/shape.hpp>
#include <leat/runtime/kernels/state.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace leat::runtime {

namespace complex_numbers {

template <class T>
std::complex<T> times(const std::complex<T>& a, const std::complex<T>& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
/// a / b. Of floats it is computed in doubles, whose range holds all intermediate results.
template <class T>
std::complex<T> over(const std::complex<T>& a, const std::complex<T>& b) {
  if constexpr (std::is_same_v<T, float>) {
    const std::complex<double> x(a), y(b);
    const double norm = y.real() * y.real() + y.imag() * y.imag();
    const std::complex<double> product = times(x, std::conj(y));
    return {static_cast<float>(product.real() / norm), static_cast<float>(product.imag() / norm)};
  } else {
    return a / b;
  }
}
/// x^y; 1 for y = 0, and 0^y = 0 elsewhere.
inline std::complex<double> power(const std::complex<double>& x, const std::complex<double>& y) {
  if (y == 0.0) return 1;
  if (x == 0.0) return y.real() > 0 ? std::complex<double>(0) : std::pow(x, y);
  return std::pow(x, y);
}

template <class T>
const std::complex<T>* numbers_of(const tensor_value& v) {
  return v.values<std::complex<T>>().data();
}

/// Calls `f(begin, end)` for blocks of elements, in parallel.
template <class F>
void for_blocks_of(kernel_context& c, std::int64_t count, F f) {
  constexpr std::int64_t block = 1 << 13;
  const step_interruption stop(c.step);
  const cpu::scoped_interruption within(&stop);
  cpu::parallel_for((count + block - 1) / block, [&](std::int64_t part) { f(part * block, std::min(count, (part + 1) * block)); });
}

/// A function of each element of input 0, whose result is of dtype `made`; f takes and gives numbers of the dtypes' types.
template <class Result, class Number, class F>
void map(kernel_context& c, dtype made_type, F f) {
  tensor_value x = c.take(0);
  const Number* const from = x.values<Number>().data();
  const bool reuses = x.type() == made_type && x.is_alone();
  tensor_value made = reuses ? x : tensor_value(made_type, x.extent());
  Result* const to = reinterpret_cast<Result*>(made.data());
  for_blocks_of(c, made.elements(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) to[i] = f(from[i]);
  });
  x = {};
  c.set(0, std::move(made));
}
/// A function of complex numbers that the elements' own type computes.
template <class F>
void map_directly(kernel_context& c, F f) {
  with_part(c.type(0), [&]<class T>(T) { map<std::complex<T>, std::complex<T>>(c, c.type(0), f); });
}
/// A function of complex numbers that is computed in complex128.
template <class F>
void map_widely(kernel_context& c, F f) {
  with_part(c.type(0), [&]<class T>(T) {
    map<std::complex<T>, std::complex<T>>(
        c, c.type(0), [&](const std::complex<T>& x) { return std::complex<T>(f(std::complex<double>(x))); });
  });
}
/// A real function of complex numbers, computed in float64.
template <class F>
void map_to_real(kernel_context& c, F f) {
  with_part(c.type(0), [&]<class T>(T) {
    map<T, std::complex<T>>(c, part_dtype(c.type(0)),
                            [&](const std::complex<T>& x) { return static_cast<T>(f(std::complex<double>(x))); });
  });
}

/// Two operands that broadcast: the sizes of their result without dimensions that need no loop of their own, innermost first, and the
/// operands' steps along these.
class pair_walk {
 public:
  /// Errors: invalid_argument for shapes that do not broadcast.
  pair_walk(const shape& a, const shape& b) {
    const auto both = broadcast(a, b);
    if (!both.ok) throw invalid_argument("Incompatible shapes: " + brackets(a) + " vs. " + brackets(b));
    extent_ = both.extent;
    std::int64_t at_a = 1, at_b = 1;
    for (int k = 1; k <= extent_.rank; ++k) {
      const std::int64_t size_a = k <= a.rank ? a[a.rank - k] : 1, size_b = k <= b.rank ? b[b.rank - k] : 1;
      const std::int64_t size = extent_[extent_.rank - k];
      const axis its{size, size_a == 1 ? 0 : at_a, size_b == 1 ? 0 : at_b};
      at_a *= size_a;
      at_b *= size_b;
      if (size == 1) continue;
      axis& last = axes_[static_cast<std::size_t>(std::max(count_ - 1, 0))];
      if (count_ > 0 && its.a == last.a * last.size && its.b == last.b * last.size) last.size *= size;
      else axes_[static_cast<std::size_t>(count_++)] = its;
    }
    if (count_ == 0) axes_[static_cast<std::size_t>(count_++)] = {1, 0, 0};
  }
  const shape& extent() const { return extent_; }
  /// Calls `f(position, a, b, step of a, step of b, count)` for runs of elements from `begin` to `end`.
  template <class F>
  void for_runs(std::int64_t begin, std::int64_t end, F f) const {
    const axis& inner = axes_[0];
    while (begin < end) {
      std::int64_t rest = begin / inner.size;
      const std::int64_t within = begin % inner.size, count = std::min(inner.size - within, end - begin);
      std::int64_t a = within * inner.a, b = within * inner.b;
      for (int k = 1; k < count_; ++k) {
        const axis& outer = axes_[static_cast<std::size_t>(k)];
        a += rest % outer.size * outer.a;
        b += rest % outer.size * outer.b;
        rest /= outer.size;
      }
      f(begin, a, b, inner.a, inner.b, count);
      begin += count;
    }
  }

 private:
  struct axis {
    std::int64_t size = 1, a = 0, b = 0;
  };
  shape extent_;
  std::array<axis, static_cast<std::size_t>(max_rank)> axes_{};
  int count_ = 0;
};

inline void want_equal_dtypes(kernel_context& c) {
  if (c.type(0) != c.type(1))
    throw invalid_argument("the operands are " + dtype_name(c.type(0)) + " and " + dtype_name(c.type(1)) + "; Cast converts");
}
/// A function of two operands that broadcast; its result has the dtype `made_type`, with numbers of type Result.
template <class Result, class T, class F>
void map_pair(kernel_context& c, dtype made_type, F f) {
  want_equal_dtypes(c);
  const tensor_value x = c.input(0), y = c.input(1);
  const pair_walk walk(x.extent(), y.extent());
  tensor_value made(made_type, walk.extent());
  const std::complex<T>* const a = numbers_of<T>(x);
  const std::complex<T>* const b = numbers_of<T>(y);
  Result* const to = reinterpret_cast<Result*>(made.data());
  for_blocks_of(c, made.elements(), [&](std::int64_t begin, std::int64_t end) {
    walk.for_runs(begin, end, [&](std::int64_t at, std::int64_t i, std::int64_t j, std::int64_t di, std::int64_t dj, std::int64_t count) {
      if (di == 1 && dj == 1) {
        for (std::int64_t k = 0; k < count; ++k) to[at + k] = f(a[i + k], b[j + k]);
      } else {
        for (std::int64_t k = 0; k < count; ++k) to[at + k] = f(a[i + k * di], b[j + k * dj]);
      }
    });
  });
  c.set(0, std::move(made));
}
template <class F>
void map_pair_directly(kernel_context& c, F f) {
  with_part(c.type(0), [&]<class T>(T) { map_pair<std::complex<T>, T>(c, c.type(0), f); });
}
template <class F>
void map_pair_widely(kernel_context& c, F f) {
  with_part(c.type(0), [&]<class T>(T) {
    map_pair<std::complex<T>, T>(c, c.type(0), [&](const std::complex<T>& a, const std::complex<T>& b) {
      return std::complex<T>(f(std::complex<double>(a), std::complex<double>(b)));
    });
  });
}
template <bool IsEqual>
void compare(kernel_context& c) {
  // With incompatible_shape_error=false, shapes that do not broadcast are unequal.
  if (!c.node.flag("incompatible_shape_error", true) && !broadcast(c.extent(0), c.extent(1)).ok) return c.set(0, tensor_value(!IsEqual));
  with_part(c.type(0), [&]<class T>(T) {
    map_pair<bool, T>(c, dtype::boolean, [](const std::complex<T>& a, const std::complex<T>& b) { return (a == b) == IsEqual; });
  });
}

// ---- parts ------------------------------------------------------------------------------------------------------------

inline void run_complex(kernel_context& c) {
  want_equal_dtypes(c);
  const tensor_value x = c.input(0), y = c.input(1);
  const dtype type = complex_of(x.type());
  if (type == dtype::invalid) throw unimplemented("no kernel of Complex for dtype " + dtype_name(x.type()));
  const pair_walk walk(x.extent(), y.extent());
  tensor_value made(type, walk.extent());
  with_fraction(x.type(), [&]<class T>(T) {
    const T* const re = x.values<T>().data();
    const T* const im = y.values<T>().data();
    std::complex<T>* const to = made.values<std::complex<T>>().data();
    for_blocks_of(c, made.elements(), [&](std::int64_t begin, std::int64_t end) {
      walk.for_runs(begin, end, [&](std::int64_t at, std::int64_t i, std::int64_t j, std::int64_t di, std::int64_t dj, std::int64_t count) {
        for (std::int64_t k = 0; k < count; ++k) to[at + k] = {re[i + k * di], im[j + k * dj]};
      });
    });
  });
  c.set(0, std::move(made));
}
template <int Which>
void run_part(kernel_context& c) {
  c.set(0, complex_twins::part_of(c.input(0), Which));
}
inline void run_conj(kernel_context& c) {
  if (!is_complex(c.type(0))) return c.set(0, c.take(0));
  map_directly(c, []<class T>(const std::complex<T>& x) { return std::conj(x); });
}

/// x with permuted axes, conjugated.
inline void run_conjugate_transpose(kernel_context& c) {
  if (c.type(0) == complex64_dtype) run_by_bits(c);
  else run_by_parts(c);
  tensor_value& made = c.result(0);
  with_part(made.type(), [&]<class T>(T) {
    if (!made.is_alone()) made = made.copy();
    T* const to = reinterpret_cast<T*>(made.data());
    for (std::int64_t i = 0; i < made.elements(); ++i) to[2 * i + 1] = -to[2 * i + 1];
  });
}

/// A conversion from or to complex numbers: of a complex number to a real one it takes the real part.
inline void run_cast(kernel_context& c) {
  using complex_twins::joined;
  using complex_twins::part_of;
  tensor_value x = c.take(0);
  const dtype to = c.node.type_of("DstT");
  if (x.type() == to) return c.set(0, std::move(x));
  if (is_complex(x.type()) && is_complex(to)) {
    tensor_value made(to, x.extent());
    with_part(x.type(), [&]<class From>(From) {
      with_part(to, [&]<class To>(To) {
        const From* const from = reinterpret_cast<const From*>(std::as_const(x).data());
        std::transform(from, from + 2 * x.elements(), reinterpret_cast<To*>(made.data()), [](From v) { return static_cast<To>(v); });
      });
    });
    return c.set(0, std::move(made));
  }
  // The real parts are converted as real numbers.
  const dtype real_from = is_complex(x.type()) ? part_dtype(x.type()) : x.type(), real_to = is_complex(to) ? part_dtype(to) : to;
  tensor_value real = is_complex(x.type()) ? part_of(x, 0) : std::move(x);
  if (real_from != real_to) {
    narrow::twin& its = narrow::twin_of<complex_twins::as_parts>(c.node);
    token in{std::move(real), nullptr, false}, out;
    kernel_context converted(its.node, c.step, std::span(&in, 1), std::span(&out, 1));
    if (is_narrow(real_from) || is_narrow(real_to)) narrow::run_as_twin<narrow::widening>(converted);
    else (*its.run)(converted);
    real = std::move(out.value);
  }
  if (!is_complex(to)) return c.set(0, std::move(real));
  tensor_value zeros(real.type(), real.extent());
  std::fill_n(zeros.data(), zeros.bytes(), std::byte{0});
  c.set(0, joined(to, real, zeros));
}

// ---- sums and products ------------------------------------------------------------------------------------------------

/// The sum of several tensors of one shape, as that of twice as many real numbers.
inline void run_add_n(kernel_context& c) {
  tensor_value sum = c.take(0);
  for (int k = 1; k < c.input_count(); ++k) {
    const tensor_value& more = c.input(k);
    if (more.type() != sum.type() || !(more.extent() == sum.extent()))
      throw invalid_argument("Inputs to operation AddN must have the same dtype and shape.  Input 0: " + brackets(sum.extent()) +
                             " != input " + std::to_string(k) + ": " + brackets(more.extent()));
    add_elements(sum, more);
  }
  c.set(0, std::move(sum));
}

inline void run_ones_like(kernel_context& c) { c.set(0, filled_number(c.type(0), c.extent(0), 1)); }

/// The product along axes. Those of complex64 are multiplied as complex128.
inline void run_prod(kernel_context& c) {
  const tensor_value x = c.input(0);
  const shape& s = x.extent();
  std::array<bool, static_cast<std::size_t>(max_rank)> is_reduced{};
  for (const std::int64_t given : c.numbers(1)) {
    bool& its = is_reduced[static_cast<std::size_t>(axis_of(given, s.rank, "reduction dimension"))];
    if (its) throw invalid_argument("Invalid reduction arguments: Axes contains duplicate dimension: " + std::to_string(given));
    its = true;
  }
  const bool keeps = c.node.flag("keep_dims");
  shape made_shape;
  std::vector<std::int64_t> strides(static_cast<std::size_t>(s.rank));  // of the result
  std::int64_t step = 1;
  for (int k = s.rank - 1; k >= 0; --k) {
    const bool reduced = is_reduced[static_cast<std::size_t>(k)];
    strides[static_cast<std::size_t>(k)] = reduced ? 0 : step;
    if (!reduced) step *= s[k];
  }
  for (int k = 0; k < s.rank; ++k) {
    if (!is_reduced[static_cast<std::size_t>(k)]) made_shape.push(s[k]);
    else if (keeps) made_shape.push(1);
  }
  tensor_value made(x.type(), made_shape);
  tensor_value products(complex128_dtype, made_shape);
  const auto all = products.values<std::complex<double>>();
  std::ranges::fill(all, std::complex<double>(1));
  with_part(x.type(), [&]<class T>(T) {
    const std::complex<T>* const from = numbers_of<T>(x);
    std::vector<std::int64_t> index(static_cast<std::size_t>(s.rank));
    std::int64_t to = 0;
    for (std::int64_t i = 0; i < x.elements(); ++i) {
      if (i % 4096 == 0) c.step.check();
      auto& its = all[static_cast<std::size_t>(to)];
      its = times(its, std::complex<double>(from[i]));
      for (int k = s.rank - 1; k >= 0; --k) {
        const auto at = static_cast<std::size_t>(k);
        to += strides[at];
        if (++index[at] < s[k]) break;
        to -= strides[at] * s[k];
        index[at] = 0;
      }
    }
    std::ranges::transform(all, made.values<std::complex<T>>().begin(), [](const std::complex<double>& v) { return std::complex<T>(v); });
  });
  c.set(0, std::move(made));
}

inline void run_cumprod(kernel_context& c) {
  const tensor_value x = c.input(0);
  const shape& s = x.extent();
  const int axis = axis_of(c.number(1), s.rank);
  const bool excludes = c.node.flag("exclusive"), is_reverse = c.node.flag("reverse");
  const std::int64_t outer = s.elements(0, axis), size = s[axis], inner = s.elements(axis + 1, s.rank);
  tensor_value made(x.type(), s);
  with_part(x.type(), [&]<class T>(T) {
    const std::complex<T>* const from = numbers_of<T>(x);
    std::complex<T>* const to = made.values<std::complex<T>>().data();
    for (std::int64_t line = 0; line < outer * inner; ++line) {
      if (line % 256 == 0) c.step.check();
      const std::int64_t begin = line / inner * size * inner + line % inner;
      std::complex<double> product = 1;
      for (std::int64_t k = 0; k < size; ++k) {
        const std::int64_t at = begin + (is_reverse ? size - 1 - k : k) * inner;
        if (excludes) to[at] = std::complex<T>(product);
        product = times(product, std::complex<double>(from[at]));
        if (!excludes) to[at] = std::complex<T>(product);
      }
    }
  });
  c.set(0, std::move(made));
}

/// A product of two operands that is linear in each: four products of their parts, by the node's twin. `adjoint`: the names of attributes
/// by which an operand is also conjugated.
inline void run_product(kernel_context& c, const char* adjoint_x = nullptr, const char* adjoint_y = nullptr) {
  using complex_twins::part_of;
  if (c.input_count() > 1) want_equal_dtypes(c);
  else return run_by_parts(c);
  narrow::twin& its = narrow::twin_of<complex_twins::as_parts>(c.node);
  const tensor_value x = c.input(0), y = c.input(1);
  const dtype type = x.type();
  const auto parts = [&](const tensor_value& v, const char* adjoint) {
    std::array<tensor_value, 2> both{part_of(v, 0), part_of(v, 1)};
    if (adjoint != nullptr && c.node.flag(adjoint))
      with_fraction(part_dtype(type), [&]<class T>(T) {
        for (T& imaginary : both[1].values<T>()) imaginary = -imaginary;
      });
    return both;
  };
  const std::array<tensor_value, 2> a = parts(x, adjoint_x), b = parts(y, adjoint_y);
  const auto product = [&](const tensor_value& p, const tensor_value& q) {
    std::array<token, 2> inputs{token{p, nullptr, false}, token{q, nullptr, false}};
    std::array<token, 1> results;
    kernel_context real(its.node, c.step, inputs, results);
    (*its.run)(real);
    return std::move(results[0].value);
  };
  const tensor_value rr = product(a[0], b[0]), ii = product(a[1], b[1]), ri = product(a[0], b[1]), ir = product(a[1], b[0]);
  tensor_value made(type, rr.extent());
  with_part(type, [&]<class T>(T) {
    const auto p = rr.values<T>(), q = ii.values<T>(), r = ri.values<T>(), s = ir.values<T>();
    const auto to = made.values<std::complex<T>>();
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = {p[i] - q[i], r[i] + s[i]};
  });
  c.set(0, std::move(made));
}

// ---- variables --------------------------------------------------------------------------------------------------------

/// variable ± rate · value, element by element, where the rate is input `rate`, or 1 for -1.
template <bool Adds, int Rate, int Value>
void run_change(kernel_context& c) {
  variable_slot& v = c.variable(0);
  const tensor_value value = c.input(Value);
  with_part(v.type(), [&]<class T>(T) {
    std::complex<T> rate(Adds ? 1 : -1);
    if constexpr (Rate >= 0) rate *= c.input(Rate).as<std::complex<T>>();
    v.update(
        [&](const tensor_value& held) {
          if (value.type() != held.type())
            throw invalid_argument("the variable is " + dtype_name(held.type()) + ", the value " + dtype_name(value.type()));
          want_shape("Assign", held.extent(), value.extent());
        },
        [&](tensor_value& held) {
          const auto to = held.values<std::complex<T>>();
          const auto from = value.values<std::complex<T>>();
          for (std::size_t i = 0; i < to.size(); ++i) to[i] += Rate < 0 ? (Adds ? from[i] : -from[i]) : times(rate, from[i]);
        });
  });
  c.set_variable(0, v);
}

// ---- functions --------------------------------------------------------------------------------------------------------

using number = std::complex<double>;

inline number logistic(const number& x) {
  // Of a large negative real part, e^-x would overflow.
  if (x.real() >= 0) return 1.0 / (1.0 + std::exp(-x));
  const number e = std::exp(x);
  return e / (1.0 + e);
}
inline number hyperbolic_tangent(const number& x) { return std::tanh(x); }
/// e^x - 1, accurate near 0.
inline number exp_less_one(const number& x) {
  const double half = std::sin(x.imag() / 2), grown = std::expm1(x.real());
  return {grown - 2 * half * half * (grown + 1), (grown + 1) * std::sin(x.imag())};
}
/// log(1 + x), accurate near 0.
inline number log_of_one_more(const number& x) {
  const double a = x.real(), b = x.imag();
  return {0.5 * std::log1p(a * (2 + a) + b * b), std::atan2(b, 1 + a)};
}
inline number direction(const number& x) { return x == 0.0 ? number(0) : x / std::abs(x); }

}  // namespace complex_numbers

LEAT_FILL(fill_complex_kernels) {
  using namespace complex_numbers;
  register_kernel("Complex", run_complex);
  register_kernel("Real", run_part<0>);
  register_kernel("Imag", run_part<1>);
  register_kernel("Conj", run_conj);
  register_kernel("Angle", [](kernel_context& c) { map_to_real(c, [](const number& x) { return std::arg(x); }); });
  register_kernel("ComplexAbs", [](kernel_context& c) { map_to_real(c, [](const number& x) { return std::abs(x); }); });

  const auto directly = [](std::string_view type, auto f) {
    register_complex_kernel(type, [f](kernel_context& c) { map_directly(c, f); });
  };
  directly("Neg", []<class T>(const std::complex<T>& x) { return -x; });
  directly("Square", []<class T>(const std::complex<T>& x) { return times(x, x); });
  directly("Reciprocal", []<class T>(const std::complex<T>& x) { return over(std::complex<T>(1), x); });
  const auto widely = [](std::string_view type, number (*f)(const number&)) {
    register_complex_kernel(type, [f](kernel_context& c) { map_widely(c, f); });
  };
  widely("Sqrt", [](const number& x) { return std::sqrt(x); });
  widely("Rsqrt", [](const number& x) { return 1.0 / std::sqrt(x); });
  widely("Exp", [](const number& x) { return std::exp(x); });
  widely("Expm1", exp_less_one);
  widely("Log", [](const number& x) { return std::log(x); });
  widely("Log1p", log_of_one_more);
  widely("Sin", [](const number& x) { return std::sin(x); });
  widely("Cos", [](const number& x) { return std::cos(x); });
  widely("Tan", [](const number& x) { return std::tan(x); });
  widely("Sinh", [](const number& x) { return std::sinh(x); });
  widely("Cosh", [](const number& x) { return std::cosh(x); });
  widely("Tanh", hyperbolic_tangent);
  widely("Asin", [](const number& x) { return std::asin(x); });
  widely("Acos", [](const number& x) { return std::acos(x); });
  widely("Atan", [](const number& x) { return std::atan(x); });
  widely("Asinh", [](const number& x) { return std::asinh(x); });
  widely("Acosh", [](const number& x) { return std::acosh(x); });
  widely("Atanh", [](const number& x) { return std::atanh(x); });
  widely("Sigmoid", logistic);
  widely("Sign", direction);

  const auto pair_directly = [](std::string_view type, auto f) {
    register_complex_kernel(type, [f](kernel_context& c) { map_pair_directly(c, f); });
  };
  pair_directly("AddV2", []<class T>(const std::complex<T>& a, const std::complex<T>& b) { return a + b; });
  pair_directly("Sub", []<class T>(const std::complex<T>& a, const std::complex<T>& b) { return a - b; });
  pair_directly("Mul", []<class T>(const std::complex<T>& a, const std::complex<T>& b) { return times(a, b); });
  for (const char* type : {"Div", "RealDiv"})
    pair_directly(type, []<class T>(const std::complex<T>& a, const std::complex<T>& b) { return over(a, b); });
  pair_directly("DivNoNan", []<class T>(const std::complex<T>& a, const std::complex<T>& b) {
    return b == std::complex<T>(0) ? std::complex<T>(0) : over(a, b);
  });
  pair_directly("MulNoNan", []<class T>(const std::complex<T>& a, const std::complex<T>& b) {
    return b == std::complex<T>(0) ? std::complex<T>(0) : times(a, b);
  });
  pair_directly("SquaredDifference", []<class T>(const std::complex<T>& a, const std::complex<T>& b) {
    return std::complex<T>(std::norm(a - b));
  });
  register_complex_kernel("Pow", [](kernel_context& c) { map_pair_widely(c, power); });
  register_complex_kernel("Equal", compare<true>);
  register_complex_kernel("NotEqual", compare<false>);

  // The gradients of functions, of y and dy. They multiply by conjugates.
  pair_directly("ReciprocalGrad", []<class T>(const std::complex<T>& y, const std::complex<T>& dy) {
    const std::complex<T> conjugate = std::conj(y);
    return times(-dy, times(conjugate, conjugate));
  });
  pair_directly("SqrtGrad", []<class T>(const std::complex<T>& y, const std::complex<T>& dy) {
    return over(dy * T(0.5), std::conj(y));
  });
  pair_directly("RsqrtGrad", []<class T>(const std::complex<T>& y, const std::complex<T>& dy) {
    const std::complex<T> conjugate = std::conj(y);
    return times(dy * T(-0.5), times(conjugate, times(conjugate, conjugate)));
  });
  // These two get the conjugate of y.
  pair_directly("TanhGrad", []<class T>(const std::complex<T>& y, const std::complex<T>& dy) {
    return times(dy, std::complex<T>(1) - times(y, y));
  });
  pair_directly("SigmoidGrad", []<class T>(const std::complex<T>& y, const std::complex<T>& dy) {
    return times(dy, times(y, std::complex<T>(1) - y));
  });

  register_complex_kernel("Cast", run_cast);
  register_complex_kernel("ConjugateTranspose", run_conjugate_transpose);
  register_complex_kernel("Transpose", [](kernel_context& c) { c.type(0) == complex64_dtype ? run_by_bits(c) : run_by_parts(c); });
  register_complex_kernel("AddN", run_add_n);
  register_complex_kernel("OnesLike", run_ones_like);
  register_complex_kernel("Prod", run_prod);
  register_complex_kernel("Cumprod", run_cumprod);
  register_complex_kernel("MatMul", [](kernel_context& c) { run_product(c); });
  register_complex_kernel("Einsum", [](kernel_context& c) { run_product(c); });
  for (const char* type : {"BatchMatMulV2", "BatchMatMulV3"})
    register_complex_kernel(type, [](kernel_context& c) { run_product(c, "adj_x", "adj_y"); });
  for (const char* type : {"AssignAdd", "AssignAddVariableOp"}) register_complex_kernel(type, run_change<true, -1, 1>);
  for (const char* type : {"AssignSub", "AssignSubVariableOp"}) register_complex_kernel(type, run_change<false, -1, 1>);
  for (const char* type : {"ApplyGradientDescent", "ResourceApplyGradientDescent"})
    register_complex_kernel(type, run_change<false, 1, 2>);

  // Linear in the elements, with real coefficients, or moving them.
  for (const char* type : {"Sum",
                           "Mean",
                           "Cumsum",
                           "BiasAdd",
                           "BiasAddGrad",
                           "SegmentSum",
                           "SegmentMean",
                           "UnsortedSegmentSum",
                           "SparseSegmentSum",
                           "SparseSegmentMean",
                           "SparseSegmentSqrtN",
                           "ScatterNd",
                           "TensorScatterAdd",
                           "TensorScatterSub",
                           "TensorScatterUpdate",
                           "BroadcastTo",
                           "Fill",
                           "TileGrad",
                           "StridedSliceGrad",
                           "MirrorPadGrad",
                           "ReverseSequence",
                           "ParallelDynamicStitch",
                           "ZerosLike",
                           "MatrixDiag",
                           "MatrixDiagPart",
                           "MatrixDiagV2",
                           "MatrixDiagV3",
                           "MatrixDiagPartV2",
                           "MatrixDiagPartV3",
                           "MatrixSetDiag",
                           "MatrixSetDiagV2",
                           "MatrixSetDiagV3",
                           "MatrixBandPart",
                           "Diag",
                           "DiagPart"})
    register_complex_kernel(type, run_by_parts);
}

}  // namespace leat::runtime
