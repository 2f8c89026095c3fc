#pragma once
// tanh(a b + c) sigmoid(d) - a / 2 over arrays of equal length: five streams, some forty operations an element. In the
// caches the arithmetic decides, in memory the streams do.

#include "data.hpp"
#include "elementary.hpp"

#include <Eigen/Core>
#include <immintrin.h>
#include <xtensor/xadapt.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xtensor.hpp>

#include <algorithm>
#include <vector>

namespace bench {

struct fused_data {
  explicit fused_data(std::size_t size)
      : a(uniform(size, -2, 2, 1)),
        b(uniform(size, -2, 2, 2)),
        c(uniform(size, -2, 2, 3)),
        d(uniform(size, -4, 4, 4)) {}
  buffer a, b, c, d;
};

/// One loop over vectors; the last one overlaps the one before it where the length is no multiple.
class fused_loop {
 public:
  explicit fused_loop(const fused_data& data) : data_(data), out_(data.a.size()) {}
  void reset() {}

  void step() {
    const auto n = static_cast<long>(out_.size());
    const float *a = data_.a.data(), *b = data_.b.data(), *c = data_.c.data(), *d = data_.d.data();
    float* out = out_.data();
    const auto lanes_at = [=](long i) {
      const lanes x = load(a + i);
      store(out + i, fast_tanh(x * load(b + i) + load(c + i)) * fast_sigmoid(load(d + i)) - 0.5f * x);
    };
    if (n < 1'000'000) {
      for (long i = 0; i + lane_count <= n; i += lane_count) lanes_at(i);
    } else {
#pragma omp parallel for schedule(static)
      for (long i = 0; i < n - lane_count + 1; i += lane_count) lanes_at(i);
    }
    if (n % lane_count != 0) lanes_at(n - lane_count);
  }

  std::vector<float> result() const { return joined(out_); }

 private:
  const fused_data& data_;
  buffer out_;
};

class fused_eigen {
 public:
  explicit fused_eigen(const fused_data& data) : data_(data), out_(data.a.size()) {}
  void reset() {}

  void step() {
    using array = Eigen::ArrayXf;
    using input = Eigen::Map<const array, Eigen::Aligned64>;
    const auto n = static_cast<Eigen::Index>(out_.size());
    const input a(data_.a.data(), n), b(data_.b.data(), n), c(data_.c.data(), n), d(data_.d.data(), n);
    Eigen::Map<array, Eigen::Aligned64>(out_.data(), n) = (a * b + c).tanh() * d.logistic() - 0.5f * a;
  }

  std::vector<float> result() const { return joined(out_); }

 private:
  const fused_data& data_;
  buffer out_;
};

// A store past the caches, which does not read the line before it writes it.
inline void stream(float* to, lanes values) {
#if defined(__AVX512F__)
  _mm512_stream_ps(to, values);
#elif defined(__AVX__)
  _mm256_stream_ps(to, values);
#else
  store(to, values);
#endif
}

class fused_xtensor {
 public:
  explicit fused_xtensor(const fused_data& data) {
    const std::array<std::size_t, 1> shape{data.a.size()};
    for (auto [array, source] : {std::pair{&a_, &data.a}, {&b_, &data.b}, {&c_, &data.c}, {&d_, &data.d}}) {
      array->resize(shape);
      std::copy(source->begin(), source->end(), array->begin());
    }
    out_.resize(shape);
  }
  void reset() {}
  void step() { xt::noalias(out_) = xt::tanh(a_ * b_ + c_) * (1.0f / (1.0f + xt::exp(-d_))) - 0.5f * a_; }
  std::vector<float> result() const { return joined(out_); }

 private:
  xt::xtensor<float, 1> a_, b_, c_, d_, out_;
};

/// Four reads and one store past the caches with an addition between them: what the memory allows.
class fused_limit {
 public:
  explicit fused_limit(const fused_data& data) : data_(data), out_(data.a.size()) {}

  void operator()() {
    const auto n = static_cast<long>(out_.size());
    const float *a = data_.a.data(), *b = data_.b.data(), *c = data_.c.data(), *d = data_.d.data();
    float* out = out_.data();
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n - lane_count + 1; i += lane_count)
      stream(out + i, (load(a + i) + load(b + i)) + (load(c + i) + load(d + i)));
#if defined(__SSE2__)
    _mm_sfence();
#endif
  }

 private:
  const fused_data& data_;
  buffer out_;
};

}  // namespace bench
