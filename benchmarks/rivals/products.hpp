#pragma once
// One product c = alpha op(a) op(b) + beta c of row-major matrices, by the two libraries that are fast at it. A policy
// for the hand-written programs below and a rival by itself.

#include "data.hpp"

#include <Eigen/Core>
#include <cblas.h>
#include <dnnl.h>

#include <cstddef>
#include <vector>

namespace bench {

enum class transposed : bool { no, yes };

struct onednn_product {
  static constexpr bool on_openmp = true;  // its threads are OpenMP's, which the loops around it can use as well
  static void multiply(transposed a_form, transposed b_form, long m, long n, long k, float alpha, const float* a,
                       const float* b, float beta, float* c) {
    const bool ta = a_form == transposed::yes, tb = b_form == transposed::yes;
    dnnl_sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', m, n, k, alpha, a, ta ? m : k, b, tb ? k : n, beta, c, n);
  }
};

struct openblas_product {
  static constexpr bool on_openmp = false;  // threads of its own: a second pool beside them makes both slower
  static void multiply(transposed a_form, transposed b_form, long m, long n, long k, float alpha, const float* a,
                       const float* b, float beta, float* c) {
    const bool ta = a_form == transposed::yes, tb = b_form == transposed::yes;
    const auto i = [](long size) { return static_cast<blasint>(size); };
    cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, i(m), i(n), i(k), alpha,
                a, i(ta ? m : k), b, i(tb ? k : n), beta, c, i(n));
  }
};

struct matmul_data {
  explicit matmul_data(long size)
      : n(size),
        a(uniform(static_cast<std::size_t>(size * size), -1, 1, 1)),
        b(uniform(static_cast<std::size_t>(size * size), -1, 1, 2)) {}
  long n;
  buffer a, b;
};

template <class Product>
class matmul_library {
 public:
  explicit matmul_library(const matmul_data& data) : data_(data), out_(data.a.size()) {}
  void reset() {}
  void step() {
    Product::multiply(transposed::no, transposed::no, data_.n, data_.n, data_.n, 1, data_.a.data(), data_.b.data(), 0,
                      out_.data());
  }
  std::vector<float> result() const { return joined(out_); }

 private:
  const matmul_data& data_;
  buffer out_;
};

class matmul_eigen {
 public:
  explicit matmul_eigen(const matmul_data& data) : data_(data), out_(data.a.size()) {}
  void reset() {}
  void step() {
    using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Eigen::Map<const matrix, Eigen::Aligned64> a(data_.a.data(), data_.n, data_.n),
        b(data_.b.data(), data_.n, data_.n);
    Eigen::Map<matrix, Eigen::Aligned64>(out_.data(), data_.n, data_.n).noalias() = a * b;
  }
  std::vector<float> result() const { return joined(out_); }

 private:
  const matmul_data& data_;
  buffer out_;
};

}  // namespace bench
