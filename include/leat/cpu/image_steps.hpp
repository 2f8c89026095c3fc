#pragma once
// The loops of the CPU for operators on images, in the place of the kernels for any device (kernels/images.hpp), from which they take the
// operands.

#include <leat/cpu/images.hpp>
#include <leat/cpu/kernel_loops.hpp>
#include <leat/cpu/pools.hpp>
#include <leat/kernels/images.hpp>

namespace leat::cpu {

template <class Op, class T>
struct loops_of<kernels::convolution_kernel<Op, T>> {
  static void run(const kernels::convolution_kernel<Op, T>& k) { convolve(k.c, k.images, k.filters, k.out); }
};
template <class Op, class T>
struct loops_of<kernels::convolution_input_grad_kernel<Op, T>> {
  static void run(const kernels::convolution_input_grad_kernel<Op, T>& k) { convolve_back_to_images(k.c, k.filters, k.dy, k.out); }
};
template <class Op, class T>
struct loops_of<kernels::convolution_filter_grad_kernel<Op, T>> {
  static void run(const kernels::convolution_filter_grad_kernel<Op, T>& k) { convolve_back_to_filters(k.c, k.images, k.dy, k.out); }
};
template <int Axes, bool Largest, bool OfThird, class T>
struct loops_of<kernels::pool_kernel<Axes, Largest, OfThird, T>> {
  static void run(const kernels::pool_kernel<Axes, Largest, OfThird, T>& k) {
    if constexpr (OfThird) max_pool_back_back(k.in, k.images, k.taken, k.out);
    else if constexpr (Largest) max_pool(k.in, k.images, k.out);
    else average_pool(k.in, k.images, k.out);
  }
};
template <int Axes, bool Largest, class T>
struct loops_of<kernels::pool_grad_kernel<Axes, Largest, T>> {
  static void run(const kernels::pool_grad_kernel<Axes, Largest, T>& k) {
    if constexpr (Largest && Axes == 3) max_pool_back_to_equals(k.in, k.images, k.results, k.dy, k.out);
    else if constexpr (Largest) max_pool_back(k.in, k.images, k.dy, k.out);
    else average_pool_back(k.in, k.dy, k.out);
  }
};

}  // namespace leat::cpu
