#pragma once
// Kernels of decompositions with several results, which lie one behind the other in the result of one node together with the memory that
// the decomposition needs; of each matrix, as work items for any device.

#include <leat/kernels/linalg/eigen.hpp>
#include <leat/kernels/linalg/exponential.hpp>
#include <leat/kernels/linalg/qr.hpp>
#include <leat/kernels/linalg/svd.hpp>
#include <leat/kernels/matrices.hpp>
#include <leat/ops/matrix_functions.hpp>
#include <leat/ops/spectra.hpp>

namespace leat::kernels {

/// The operand and result of a node that decomposes each matrix of operand 0.
template <class T>
struct packed_kernel : matrices_kernel {
  static constexpr bool unrolls = false;
  const T* a;
  T* out;
  std::int64_t elements = 0, line = 0;  // of a matrix, and of its results
  packed_kernel(void* const* p, const step_numbers& s) : a(static_cast<const T*>(p[0])), out(static_cast<T*>(p[1])) {
    const int rank = s.rank(0);
    n = s.size(0, rank - 1);
    elements = s.size(0, rank - 2) * n;
    line = s.product(1, rank - 2, s.rank(1));
    count = line == 0 ? 0 : s.product(0, 0, rank - 2);
  }
  static const char* problem() { return ""; }
};

template <class T>
struct qr_kernel : packed_kernel<T> {
  qr_sizes sizes;
  qr_kernel(void* const* p, const step_numbers& s)
      : packed_kernel<T>(p, s), sizes{s.size(0, s.rank(0) - 2), s.size(0, s.rank(0) - 1), s.attribute(0) != 0} {}
  std::int64_t work() const { return 2 * cubic_work(sizes.least(), sizes.m + sizes.n); }
  template <class N>
  constexpr bool decompose(std::int64_t k, N) const {
    T* const q = this->out + k * this->line;
    T* const r = q + sizes.m * sizes.between();
    decompose_qr(this->a + k * this->elements, sizes, q, r, q + sizes.results());
    return true;
  }
  constexpr void operator()(std::int64_t k) const { decompose(k, 0); }
};
template <>
struct kernel_of<qr_op> : kernel_of_matrices<qr_kernel> {};

template <class T>
struct symmetric_eigen_kernel : packed_kernel<T> {
  bool has_vectors;
  symmetric_eigen_kernel(void* const* p, const step_numbers& s) : packed_kernel<T>(p, s), has_vectors(s.attribute(0) != 0) {}
  std::int64_t work() const { return 8 * cubic_work(this->n, this->n); }
  template <class N>
  constexpr bool decompose(std::int64_t k, N) const {
    const std::int64_t size = this->n;
    T* const vectors = this->out + k * this->line;
    T* const turned = vectors + size * size;
    T* const values = turned + size * size;
    return decompose_symmetric(this->a + k * this->elements, size, values, vectors, has_vectors ? turned : nullptr, values + size);
  }
  constexpr void operator()(std::int64_t k) const { decompose(k, 0); }
};
template <>
struct kernel_of<symmetric_eigen_op> : kernel_of_matrices<symmetric_eigen_kernel> {};

template <class T>
struct svd_kernel : packed_kernel<T> {
  svd_sizes sizes;
  svd_kernel(void* const* p, const step_numbers& s)
      : packed_kernel<T>(p, s),
        sizes{s.size(0, s.rank(0) - 2), s.size(0, s.rank(0) - 1), s.attribute(0) != 0 && s.attribute(1) != 0, s.attribute(0) != 0} {}
  std::int64_t work() const { return 16 * cubic_work(sizes.least(), sizes.m + sizes.n); }
  template <class N>
  constexpr bool decompose(std::int64_t k, N) const {
    T* const s = this->out + k * this->line;
    return decompose_svd(this->a + k * this->elements, sizes, s, s + sizes.begin_of_u(), s + sizes.begin_of_v(),
                         s + sizes.begin_of_scratch());
  }
  constexpr void operator()(std::int64_t k) const { decompose(k, 0); }
};
template <>
struct kernel_of<svd_op> : kernel_of_matrices<svd_kernel> {};

template <class T>
struct exponential_kernel : packed_kernel<T> {
  exponential_kernel(void* const* p, const step_numbers& s) : packed_kernel<T>(p, s) {}
  std::int64_t work() const { return 10 * cubic_work(this->n, this->n); }
  template <class N>
  constexpr bool decompose(std::int64_t k, N) const {
    T* const result = this->out + k * this->line;
    return exponential(this->a + k * this->elements, this->n, result, result + this->elements);
  }
  constexpr void operator()(std::int64_t k) const { decompose(k, 0); }
};
template <>
struct kernel_of<exponential_op> : kernel_of_matrices<exponential_kernel> {};

}  // namespace leat::kernels
