#pragma once
// Kernels of operators that have no typed form: adding a bias, batched matrix products.

#include <leat/core/fill.hpp>
#include <leat/cpu/stacked_matmul.hpp>
#include <leat/graph/older_spellings.hpp>
#include <leat/named/definitions/nn.hpp>
#include <leat/ops/arithmetic.hpp>
#include <leat/runtime/kernels/array_steps.hpp>
#include <leat/runtime/kernels/class_kernel.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <algorithm>

namespace leat::runtime {

inline void run_bias_add(kernel_context& c) {
  if (c.type(0) == dtype::boolean) throw unimplemented("no kernel for dtype bool");
  const tensor_value bias = c.input(1);
  const tensor_value x = c.input(0);
  const shape& s = x.extent();
  const int at = leat::detail::channel_axis(c.node.record->attributes, s.rank);
  if (s.rank < 2) throw invalid_argument("Input tensor must be at least 2D: " + brackets(s));
  if (bias.extent().rank != 1) throw invalid_argument("Biases must be 1D: " + brackets(bias.extent()));
  if (bias.extent()[0] != s[at])
    throw invalid_argument("Must provide as many biases as the last dimension of the input tensor: " + brackets(bias.extent()) + " vs. " +
                           brackets(s));
  const std::int64_t rows = product(s, 0, at), inner = product(s, at + 1, s.rank);
  tensor_value made(x.type(), s);
  with_number(x.type(), [&]<class T>(T) {
    using list = array_steps<T>;
    const T* const b = bias.values<T>().data();
    list steps(inner == 1 ? rows : rows * s[at], inner == 1 ? s[at] : inner);
    steps.template add<add_op>(inner == 1 ? list::by_column(b) : list::by_row(b, s[at]));
    steps.run(x.values<T>().data(), made.template values<T>().data());
  });
  c.set(0, std::move(made));
}
// Whether a node broadcasts stacks of matrices.
inline bool may_broadcast(const kernel_node& n) {
  const older_spelling* const s = find_older_spelling(n.type);
  return s == nullptr || !s->refuses_broadcasts;
}
inline auto run_product_of(kernel_context& c, const tensor_value& a, const tensor_value& b) {
  const shape &x = a.extent(), &y = b.extent();
  const bool ta = c.node.flag("adj_x"), tb = c.node.flag("adj_y");
  if (x.rank < 2 || y.rank < 2) throw invalid_argument("In[0] and In[1] ndims must be >= 2: " + brackets(x) + ", " + brackets(y));
  shape outer_x, outer_y;
  for (int i = 0; i + 2 < x.rank; ++i) outer_x.push(x[i]);
  for (int i = 0; i + 2 < y.rank; ++i) outer_y.push(y[i]);
  const auto outer = broadcast(outer_x, outer_y);
  const std::int64_t m = x[x.rank - (ta ? 1 : 2)], k = x[x.rank - (ta ? 2 : 1)], n = y[y.rank - (tb ? 2 : 1)];
  if (!outer.ok || y[y.rank - (tb ? 1 : 2)] != k || (!(outer_x == outer_y) && !may_broadcast(c.node)))
    throw invalid_argument("Matrix size-incompatible: In[0]: " + brackets(x) + ", In[1]: " + brackets(y));
  shape extent = outer.extent;
  extent.push(m);
  extent.push(n);
  tensor_value made(a.type(), extent);
  const kernels::matrix_stacks stacks(x.dim, x.rank, y.dim, y.rank, ta, tb);
  using computed = computed_by<stacked_products_op>;
  const auto done = with_number(a.type(), [&]<class T>(T) -> computed {
    if constexpr (std::is_same_v<T, std::uint8_t>) throw unimplemented("no kernel for dtype uint8");
    else return computed::run<T>(a.values<T>().data(), b.values<T>().data(), made.values<T>().data(), stacks);
  });
  c.set(0, std::move(made));
  return done;
}
inline auto run_batch_product(kernel_context& c) { return run_product_of(c, tensor_value(c.input(0)), tensor_value(c.input(1))); }
/// The product of matrices of two dtypes in a third one, which holds the elements of both exactly.
inline auto run_mixed_product(kernel_context& c) {
  const tensor_value a = c.input(0), b = c.input(1);
  const dtype to = c.node.type_of("Tout");
  const auto in_result = [&](const tensor_value& v) {
    if (v.type() == to) return v;
    const bool is_small = v.type() == dtype::uint8 || v.type() == dtype::int32;  // int8 runs as int32
    const bool one_is_given = a.type() == to || b.type() == to;
    if (!is_small || !(to == dtype::int32 || (to == dtype::float32 && one_is_given)))
      throw unimplemented("no kernel for the product of " + dtype_name(a.type()) + " and " + dtype_name(b.type()) + " as " +
                          dtype_name(to));
    tensor_value made(to, v.extent());
    with_number(v.type(), [&]<class From>(From) {
      with_number(to, [&]<class To>(To) {
        std::ranges::transform(v.values<From>(), made.values<To>().begin(), [](From x) { return static_cast<To>(x); });
      });
    });
    return made;
  };
  return run_product_of(c, in_result(a), in_result(b));
}

LEAT_FILL(fill_network_kernels) {
  register_kernel("BiasAdd", run_bias_add);
  register_class_kernel("BatchMatMulV2", run_batch_product);
  register_class_kernel("BatchMatMulV3", run_mixed_product);
}

}  // namespace leat::runtime
