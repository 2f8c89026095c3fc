#pragma once
// Discrete Fourier transforms of any length n in O(n log n) operations. A plan holds the roots of unity of one length. Several arrays are
// transformed side by side: element j of array q lies at j * lanes + q, real and imaginary parts apart, so that the inner loops run over
// lanes and earlier factors, a register at a time. Lengths with small prime factors go through one stage for each factor, which
// writes its results in order (Stockham), so that nothing is permuted afterwards; a length with a large prime factor becomes a convolution
// of a power of two (Bluestein). All is computed in float64: complex64 results are rounded once, and their error is below that of a
// transform in float32.
// Source: P. N. Swarztrauber, "FFT algorithms for vector computers" (1984); L. Bluestein, "A linear filtering approach to the computation
// of the discrete Fourier transform" (1970).

#include <leat/core/memory.hpp>
#include <leat/cpu/batch.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <tuple>
#include <utility>
#include <vector>

namespace leat::runtime {

/// Real and imaginary parts of complex numbers.
struct complex_planes {
  double* re = nullptr;
  double* im = nullptr;
  /// The planes exchanged: the transform of these is the inverse transform, without its division by n.
  complex_planes exchanged() const { return {im, re}; }
};

/// e^(-2πi k / n) for 0 ≤ k < n. The angle is reduced to an eighth of the circle by integers, so that both parts are accurate.
inline std::pair<double, double> unit_root(std::int64_t k, std::int64_t n) {
  const std::int64_t quarter = 4 * k / n, rest = 4 * k - quarter * n;  // the angle is (quarter + rest / n) π / 2
  const bool is_upper = 2 * rest > n;
  const double angle = std::numbers::pi / 2 * (static_cast<double>(is_upper ? n - rest : rest) / static_cast<double>(n));
  double c = std::cos(angle), s = std::sin(angle);
  if (is_upper) std::swap(c, s);
  switch (quarter) {
    case 0: return {c, -s};
    case 1: return {-s, -c};
    case 2: return {-c, s};
    default: return {s, c};
  }
}

/// The transform of complex numbers.
class fourier_plan {
 public:
  /// A plan for arrays of n > 0 elements. Errors: resource_exhausted if the session's memory limit is reached.
  explicit fourier_plan(std::int64_t n) : n_(n) {
    std::int64_t rest = n;
    const auto take = [&](std::int64_t factor) {
      for (; rest % factor == 0; rest /= factor) factors_.push_back(static_cast<int>(factor));
    };
    // Stages run faster the more lanes and factors come before them: factors with specialized stages go first, the largest of them first.
    take(4);
    for (const std::int64_t factor : {2, 3, 5}) take(factor);
    for (std::int64_t factor = 7; factor <= most_factor && rest > 1; factor += 2) take(factor);
    if (rest > 1) {
      factors_.clear();
      begin_convolution();
      return;
    }
    taken_.take(static_cast<std::size_t>(n) * 2 * sizeof(double));
    roots_re_.resize(static_cast<std::size_t>(n));
    roots_im_.resize(static_cast<std::size_t>(n));
    for (std::int64_t k = 0; k < n; ++k) std::tie(roots_re_[at(k)], roots_im_[at(k)]) = unit_root(k, n);
  }

  std::int64_t size() const { return n_; }
  /// The number of float64 that `run` needs as work memory, for each lane.
  std::int64_t work_size() const { return convolution_ == nullptr ? 2 * n_ : 2 * convolution_->n_ + convolution_->work_size(); }

  /// Transforms `lanes` arrays. The result is in the planes that are returned: those given, or others in the work memory.
  complex_planes run(complex_planes x, double* work, std::int64_t lanes) const {
    if (convolution_ != nullptr) return convolve(x, work, lanes);
    complex_planes y{work, work + n_ * lanes};
    std::int64_t before = lanes;  // lanes and factors of earlier stages: the length of the inner loops
    std::int64_t rest = n_;
    for (const int factor : factors_) {
      rest /= factor;
      switch (factor) {
        case 2: stage_of_2(x, y, rest, before, lanes); break;
        case 3: stage_of_3(x, y, rest, before, lanes); break;
        case 4: stage_of_4(x, y, rest, before, lanes); break;
        case 5: stage_of_5(x, y, rest, before, lanes); break;
        default: stage_of(factor, x, y, rest, before, lanes); break;
      }
      std::swap(x, y);
      before *= factor;
    }
    return x;
  }

 private:
  static constexpr std::int64_t most_factor = 43;  // of a stage: beyond it, a convolution is faster
  static std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

  struct root {
    double re, im;
  };
  /// The root of a stage's position p and result j: e^(-2πi pj / (rest * factor)).
  root root_of(std::int64_t p, int j, std::int64_t before, std::int64_t lanes) const {
    const std::int64_t k = p * j * (before / lanes);
    return {roots_re_[at(k)], roots_im_[at(k)]};
  }

  // A complex number for each element of a register, or one.
  template <class V>
  struct number {
    V re, im;
    friend number operator+(const number& a, const number& b) { return {a.re + b.re, a.im + b.im}; }
    friend number operator-(const number& a, const number& b) { return {a.re - b.re, a.im - b.im}; }
    friend number operator*(double a, const number& b) { return {V(a) * b.re, V(a) * b.im}; }
    friend number operator*(root a, const number& b) { return {V(a.re) * b.re - V(a.im) * b.im, V(a.re) * b.im + V(a.im) * b.re}; }
  };
  template <class V>
  static number<V> by_minus_i(const number<V>& a) {
    return {a.im, -a.re};
  }
  struct single {
    using value = double;
    static double load(const double* p) { return *p; }
    static void store(double* p, double x) { *p = x; }
  };
  struct several {
    using value = cpu::batch<double>;
    static value load(const double* p) { return cpu::load(p); }
    static void store(double* p, const value& x) { cpu::store(p, x); }
  };
  template <class K>
  static auto get(complex_planes x, std::int64_t i) {
    return number<typename K::value>{K::load(x.re + i), K::load(x.im + i)};
  }
  template <class K>
  static void put(complex_planes y, std::int64_t i, const number<typename K::value>& x) {
    K::store(y.re + i, x.re);
    K::store(y.im + i, x.im);
  }
  /// Calls `f` for the positions from 0 to `count`, as many at once as a register holds.
  template <class F>
  static void for_all(std::int64_t count, F f) {
    std::int64_t q = 0;
    for (; q + cpu::lanes<double> <= count; q += cpu::lanes<double>) f(several{}, q);
    for (; q < count; ++q) f(single{}, q);
  }

  // A stage reads element k of each group at x[q + before (p + rest k)] and writes result j to y[q + before (factor p + j)].
  void stage_of_2(complex_planes x, complex_planes y, std::int64_t rest, std::int64_t before, std::int64_t lanes) const {
    for (std::int64_t p = 0; p < rest; ++p) {
      const root w1 = root_of(p, 1, before, lanes);
      const std::int64_t from = before * p, step = before * rest, to = before * 2 * p;
      for_all(before, [&]<class K>(K, std::int64_t q) {
        const auto a = get<K>(x, from + q), b = get<K>(x, from + step + q);
        put<K>(y, to + q, a + b);
        put<K>(y, to + before + q, w1 * (a - b));
      });
    }
  }
  void stage_of_3(complex_planes x, complex_planes y, std::int64_t rest, std::int64_t before, std::int64_t lanes) const {
    constexpr double sine = 0.86602540378443864676;  // of π / 3
    for (std::int64_t p = 0; p < rest; ++p) {
      const root w1 = root_of(p, 1, before, lanes), w2 = root_of(p, 2, before, lanes);
      const std::int64_t from = before * p, step = before * rest, to = before * 3 * p;
      for_all(before, [&]<class K>(K, std::int64_t q) {
        const auto a = get<K>(x, from + q), b = get<K>(x, from + step + q), c = get<K>(x, from + 2 * step + q);
        const auto sum = b + c, middle = a - 0.5 * sum, off = sine * by_minus_i(b - c);
        put<K>(y, to + q, a + sum);
        put<K>(y, to + before + q, w1 * (middle + off));
        put<K>(y, to + 2 * before + q, w2 * (middle - off));
      });
    }
  }
  void stage_of_4(complex_planes x, complex_planes y, std::int64_t rest, std::int64_t before, std::int64_t lanes) const {
    for (std::int64_t p = 0; p < rest; ++p) {
      const root w1 = root_of(p, 1, before, lanes), w2 = root_of(p, 2, before, lanes), w3 = root_of(p, 3, before, lanes);
      const std::int64_t from = before * p, step = before * rest, to = before * 4 * p;
      for_all(before, [&]<class K>(K, std::int64_t q) {
        const auto a = get<K>(x, from + q), b = get<K>(x, from + step + q), c = get<K>(x, from + 2 * step + q),
                   d = get<K>(x, from + 3 * step + q);
        const auto even = a + c, odd = b + d, even_off = a - c, odd_off = by_minus_i(b - d);
        put<K>(y, to + q, even + odd);
        put<K>(y, to + before + q, w1 * (even_off + odd_off));
        put<K>(y, to + 2 * before + q, w2 * (even - odd));
        put<K>(y, to + 3 * before + q, w3 * (even_off - odd_off));
      });
    }
  }
  void stage_of_5(complex_planes x, complex_planes y, std::int64_t rest, std::int64_t before, std::int64_t lanes) const {
    constexpr double c1 = 0.30901699437494742410, c2 = -0.80901699437494742410;  // cosines of 2π / 5 and 4π / 5
    constexpr double s1 = 0.95105651629515357212, s2 = 0.58778525229247312917;   // their sines
    for (std::int64_t p = 0; p < rest; ++p) {
      const root w1 = root_of(p, 1, before, lanes), w2 = root_of(p, 2, before, lanes), w3 = root_of(p, 3, before, lanes),
                 w4 = root_of(p, 4, before, lanes);
      const std::int64_t from = before * p, step = before * rest, to = before * 5 * p;
      for_all(before, [&]<class K>(K, std::int64_t q) {
        const auto a = get<K>(x, from + q), b = get<K>(x, from + step + q), c = get<K>(x, from + 2 * step + q),
                   d = get<K>(x, from + 3 * step + q), e = get<K>(x, from + 4 * step + q);
        const auto outer = b + e, inner = c + d, outer_off = by_minus_i(b - e), inner_off = by_minus_i(c - d);
        const auto m1 = a + c1 * outer + c2 * inner, m2 = a + c2 * outer + c1 * inner;
        const auto o1 = s1 * outer_off + s2 * inner_off, o2 = s2 * outer_off - s1 * inner_off;
        put<K>(y, to + q, a + outer + inner);
        put<K>(y, to + before + q, w1 * (m1 + o1));
        put<K>(y, to + 2 * before + q, w2 * (m2 + o2));
        put<K>(y, to + 3 * before + q, w3 * (m2 - o2));
        put<K>(y, to + 4 * before + q, w4 * (m1 - o1));
      });
    }
  }
  /// A stage of any factor, by its definition.
  void stage_of(int factor, complex_planes x, complex_planes y, std::int64_t rest, std::int64_t before, std::int64_t lanes) const {
    const std::int64_t turn = n_ / factor, step = before * rest;
    for (std::int64_t p = 0; p < rest; ++p)
      for (int j = 0; j < factor; ++j) {
        const root w = root_of(p, j, before, lanes);
        const std::int64_t from = before * p, to = before * (factor * p + j);
        for_all(before, [&]<class K>(K, std::int64_t q) {
          auto sum = get<K>(x, from + q);
          std::int64_t power = 0;  // jk modulo the factor
          for (int k = 1; k < factor; ++k) {
            power += j;
            if (power >= factor) power -= factor;
            sum = sum + root{roots_re_[at(power * turn)], roots_im_[at(power * turn)]} * get<K>(x, from + k * step + q);
          }
          put<K>(y, to + q, w * sum);
        });
      }
  }

  // With jk = (j² + k² - (k - j)²) / 2, the transform is a convolution with e^(πi j² / n). Its length is a power of two that holds it
  // without wrapping around.
  void begin_convolution() {
    const auto length = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * n_ - 1)));
    convolution_ = std::make_unique<fourier_plan>(length);
    taken_.take(static_cast<std::size_t>(n_ + length) * 2 * sizeof(double));
    roots_re_.resize(static_cast<std::size_t>(n_));
    roots_im_.resize(static_cast<std::size_t>(n_));
    std::vector<double> filter(static_cast<std::size_t>(4 * length));
    const complex_planes planes{filter.data(), filter.data() + length};
    std::int64_t square = 0;  // j² modulo 2n
    for (std::int64_t j = 0; j < n_; ++j) {
      std::tie(roots_re_[at(j)], roots_im_[at(j)]) = unit_root(square, 2 * n_);
      planes.re[j] = planes.re[(length - j) % length] = roots_re_[at(j)];
      planes.im[j] = planes.im[(length - j) % length] = -roots_im_[at(j)];
      square = (square + 2 * j + 1) % (2 * n_);
    }
    const complex_planes made = convolution_->run(planes, filter.data() + 2 * length, 1);
    filter_re_.resize(static_cast<std::size_t>(length));
    filter_im_.resize(static_cast<std::size_t>(length));
    for (std::int64_t k = 0; k < length; ++k) {  // with the division of the inverse transform
      filter_re_[at(k)] = made.re[k] / static_cast<double>(length);
      filter_im_[at(k)] = made.im[k] / static_cast<double>(length);
    }
  }
  complex_planes convolve(complex_planes x, double* work, std::int64_t lanes) const {
    const std::int64_t length = convolution_->n_;
    const complex_planes padded{work, work + length * lanes};
    double* const inner = work + 2 * length * lanes;
    const auto turn = [&](complex_planes from, complex_planes to, const double* re, const double* im, std::int64_t count) {
      for (std::int64_t j = 0; j < count; ++j) {
        const root w{re[j], im[j]};
        for_all(lanes, [&]<class K>(K, std::int64_t q) { put<K>(to, j * lanes + q, w * get<K>(from, j * lanes + q)); });
      }
    };
    turn(x, padded, roots_re_.data(), roots_im_.data(), n_);
    std::fill(padded.re + n_ * lanes, padded.re + length * lanes, 0.0);
    std::fill(padded.im + n_ * lanes, padded.im + length * lanes, 0.0);
    complex_planes spectrum = convolution_->run(padded, inner, lanes);
    turn(spectrum, spectrum, filter_re_.data(), filter_im_.data(), length);
    double* const free = spectrum.re == padded.re ? inner : work;
    const complex_planes back = convolution_->run(spectrum.exchanged(), free, lanes).exchanged();
    turn(back, x, roots_re_.data(), roots_im_.data(), n_);
    return x;
  }

  std::int64_t n_;
  std::vector<int> factors_;
  std::vector<double> roots_re_, roots_im_;    // e^(-2πi k / n); for a convolution e^(-πi k² / n)
  std::unique_ptr<fourier_plan> convolution_;  // the transform of a convolution
  std::vector<double> filter_re_, filter_im_;  // its filter, transformed
  metered_bytes taken_;
};

/// The transform of real numbers to the frequencies from 0 to n / 2, and back. An even number of them are half as many complex ones.
class real_fourier_plan {
 public:
  explicit real_fourier_plan(std::int64_t n) : n_(n), halves_(n % 2 == 0), plan_(n % 2 == 0 ? n / 2 : n) {
    if (!halves_) return;
    const std::int64_t count = n / 4 + 1;
    taken_.take(static_cast<std::size_t>(count) * 2 * sizeof(double));
    for (std::int64_t k = 0; k < count; ++k) roots_.push_back(unit_root(k, n));
  }

  std::int64_t size() const { return n_; }
  std::int64_t frequencies() const { return n_ / 2 + 1; }
  /// The number of float64 that `forward` and `back` need, for each lane.
  std::int64_t memory_size() const { return 2 * (n_ + 1) + plan_.work_size(); }

  /// Transforms `lanes` arrays of real numbers: `load(j, to)` writes element j of each to `to`, `store(k, re, im)` takes frequency k of
  /// each.
  template <class Load, class Store>
  void forward(Load load, Store store, double* memory, std::int64_t lanes) const {
    const std::int64_t m = plan_.size();
    complex_planes x{memory, memory + (m + 1) * lanes};
    double* const work = memory + 2 * (m + 1) * lanes;
    if (!halves_) {
      for (std::int64_t j = 0; j < n_; ++j) load(j, x.re + j * lanes);
      std::fill_n(x.im, n_ * lanes, 0.0);
      const complex_planes y = plan_.run(x, work, lanes);
      for (std::int64_t k = 0; k < frequencies(); ++k) store(k, y.re + k * lanes, y.im + k * lanes);
      return;
    }
    for (std::int64_t j = 0; j < m; ++j) {
      load(2 * j, x.re + j * lanes);
      load(2 * j + 1, x.im + j * lanes);
    }
    const complex_planes z = plan_.run(x, work, lanes);
    // Frequencies k and m - k follow from those of the pairs; the spare element of `x` holds the last one.
    double* const re = memory + m * lanes;
    double* const im = memory + (2 * m + 1) * lanes;
    for (std::int64_t q = 0; q < lanes; ++q) {
      re[q] = z.re[q] - z.im[q];
      im[q] = 0;
      z.re[q] += z.im[q];
      z.im[q] = 0;
    }
    for (std::int64_t k = 1; k <= m / 2; ++k) {
      const auto [c, s] = roots_[static_cast<std::size_t>(k)];
      combine(z, k, m - k, c, s, lanes);
    }
    for (std::int64_t k = 0; k < m; ++k) store(k, z.re + k * lanes, z.im + k * lanes);
    store(m, re, im);
  }

  /// Transforms `lanes` arrays of frequencies back to real numbers, divided by their count: `load(k, re, im)` writes frequency k of each,
  /// `store(j, from)` takes element j of each. The imaginary parts of the first frequency and, of an even count, the last are not looked
  /// at.
  template <class Load, class Store>
  void back(Load load, Store store, double* memory, std::int64_t lanes) const {
    const std::int64_t m = plan_.size();
    complex_planes x{memory, memory + (m + 1) * lanes};
    double* const work = memory + 2 * (m + 1) * lanes;
    const std::int64_t count = frequencies();
    for (std::int64_t k = 0; k < count; ++k) load(k, x.re + k * lanes, x.im + k * lanes);
    std::fill_n(x.im, lanes, 0.0);
    const double share = 1.0 / static_cast<double>(m);
    if (!halves_) {
      for (std::int64_t k = count; k < n_; ++k)
        for (std::int64_t q = 0; q < lanes; ++q) {
          x.re[k * lanes + q] = x.re[(n_ - k) * lanes + q];
          x.im[k * lanes + q] = -x.im[(n_ - k) * lanes + q];
        }
    } else {
      for (std::int64_t q = 0; q < lanes; ++q) {
        const double first = x.re[q], last = x.re[m * lanes + q];
        x.re[q] = 0.5 * (first + last);
        x.im[q] = 0.5 * (first - last);
      }
      for (std::int64_t k = 1; k <= m / 2; ++k) {
        const auto [c, s] = roots_[static_cast<std::size_t>(k)];
        combine(x, k, m - k, -c, s, lanes);
      }
    }
    const complex_planes y = plan_.run(x.exchanged(), work, lanes).exchanged();
    for (std::int64_t j = 0; j < m * lanes; ++j) y.re[j] *= share;
    if (!halves_) {
      for (std::int64_t j = 0; j < n_; ++j) store(j, y.re + j * lanes);
      return;
    }
    for (std::int64_t j = 0; j < m * lanes; ++j) y.im[j] *= share;
    for (std::int64_t j = 0; j < m; ++j) {
      store(2 * j, y.re + j * lanes);
      store(2 * j + 1, y.im + j * lanes);
    }
  }

 private:
  // Replaces elements a and b of z by E - i w O and conj(E + i w O), where E = (z[a] + conj z[b]) / 2 and O = (z[a] - conj z[b]) / 2, for
  // w = c + i s: from the transform of pairs to that of the numbers; with -conj w, back.
  static void combine(complex_planes z, std::int64_t a, std::int64_t b, double c, double s, std::int64_t lanes) {
    for (std::int64_t q = 0; q < lanes; ++q) {
      const std::int64_t i = a * lanes + q, j = b * lanes + q;
      const double er = 0.5 * (z.re[i] + z.re[j]), ei = 0.5 * (z.im[i] - z.im[j]);
      const double dr = 0.5 * (z.re[i] - z.re[j]), di = 0.5 * (z.im[i] + z.im[j]);
      const double tr = c * di + s * dr, ti = s * di - c * dr;  // -i w O
      z.re[i] = er + tr;
      z.im[i] = ei + ti;
      z.re[j] = er - tr;
      z.im[j] = ti - ei;
    }
  }

  std::int64_t n_;
  bool halves_;
  fourier_plan plan_;
  std::vector<std::pair<double, double>> roots_;  // e^(-2πi k / n), up to a quarter of the circle
  metered_bytes taken_;
};

}  // namespace leat::runtime
