#pragma once
// Kernels of operators that have no typed form: adding a bias, batched matrix products.

#include <leat/core/fill.hpp>
#include <leat/cpu/matmul.hpp>
#include <leat/named/definitions/nn.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <cmath>

namespace leat::runtime {

inline void run_bias_add(kernel_context& c) {
  if (c.type(0) == dtype::boolean) throw unimplemented("no kernel for dtype bool");
  const tensor_value bias = c.input(1);
  tensor_value made = c.input(0).copy();
  const shape& s = made.extent();
  const int at = leat::detail::channel_axis(c.node.record->attributes, s.rank);
  if (s.rank < 2) throw invalid_argument("Input tensor must be at least 2D: " + brackets(s));
  if (bias.extent().rank != 1) throw invalid_argument("Biases must be 1D: " + brackets(bias.extent()));
  if (bias.extent()[0] != s[at])
    throw invalid_argument("Must provide as many biases as the last dimension of the input tensor: " + brackets(bias.extent()) + " vs. " +
                           brackets(s));
  const std::int64_t rows = product(s, 0, at), inner = product(s, at + 1, s.rank);
  if (made.elements() == 0) return c.set(0, std::move(made));
  with_number(made.type(), [&]<class T>(T) {
    T* to = made.values<T>().data();
    const T* b = bias.values<T>().data();
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t k = 0; k < s[at]; ++k)
        for (std::int64_t i = 0; i < inner; ++i, ++to) *to = arithmetic<T>::add(*to, b[k]);
  });
  c.set(0, std::move(made));
}
inline void run_batch_product(kernel_context& c, bool broadcasts) {
  const tensor_value a = c.input(0), b = c.input(1);
  const shape &x = a.extent(), &y = b.extent();
  const bool ta = c.node.flag("adj_x"), tb = c.node.flag("adj_y");
  if (x.rank < 2 || y.rank < 2) throw invalid_argument("In[0] and In[1] ndims must be >= 2: " + brackets(x) + ", " + brackets(y));
  shape outer_x, outer_y;
  for (int i = 0; i + 2 < x.rank; ++i) outer_x.push(x[i]);
  for (int i = 0; i + 2 < y.rank; ++i) outer_y.push(y[i]);
  const auto outer = broadcast(outer_x, outer_y);
  const std::int64_t m = x[x.rank - (ta ? 1 : 2)], k = x[x.rank - (ta ? 2 : 1)], n = y[y.rank - (tb ? 2 : 1)];
  if (!outer.ok || y[y.rank - (tb ? 1 : 2)] != k || (!broadcasts && !(outer_x == outer_y)))
    throw invalid_argument("Matrix size-incompatible: In[0]: " + brackets(x) + ", In[1]: " + brackets(y));
  shape extent = outer.extent;
  extent.push(m);
  extent.push(n);
  tensor_value made(a.type(), extent);
  const auto place = [&](const shape& own, std::int64_t at) {  // index of the matrix at a batch index
    std::int64_t found = 0, step = 1;
    for (int i = outer.extent.rank - 1, j = own.rank - 1; j >= 0; --i, --j) {
      const std::int64_t index = at % outer.extent[i];
      at /= outer.extent[i];
      if (own[j] != 1) found += index * step;
      step *= own[j];
    }
    return found;
  };
  with_number(a.type(), [&]<class T>(T) {
    if constexpr (std::is_same_v<T, std::uint8_t>) {
      throw unimplemented("no kernel for dtype uint8");
    } else {
      const std::int64_t count = outer.extent.elements();
      for (std::int64_t at = 0; at < count && m * n > 0; ++at) {
        T* to = made.values<T>().data() + at * m * n;
        if (k == 0) std::fill_n(to, m * n, T(0));
        else
          cpu::matmul<T>(ta, tb, m, n, k, T(1), a.values<T>().data() + place(outer_x, at) * m * k, x[x.rank - 1],
                         b.values<T>().data() + place(outer_y, at) * k * n, y[y.rank - 1], T(0), to, n);
      }
    }
  });
  c.set(0, std::move(made));
}

LEAT_FILL(fill_network_kernels) {
  register_kernels({"BiasAdd", "BiasAddV1"}, run_bias_add);
  register_kernel("BatchMatMulV2", [](kernel_context& c) { run_batch_product(c, true); });
  register_kernel("BatchMatMul", [](kernel_context& c) { run_batch_product(c, false); });
}

}  // namespace leat::runtime
