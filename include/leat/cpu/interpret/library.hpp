#pragma once
// The library's operators as functions of the interpreter.

#include <leat/core/fill.hpp>
#include <leat/cpu/execute.hpp>
#include <leat/cpu/interpret/registry.hpp>
#include <leat/cpu/interpret/update_loops.hpp>
#include <leat/ops/known.hpp>
#include <leat/passes/simplify.hpp>

namespace leat::cpu {

namespace detail {

template <class T>
void multiply(void* const* p, const kernels::step_numbers& n, T* out, T alpha, T beta) {
  const bool ta = n.attribute(0) != 0;
  const bool tb = n.attribute(1) != 0;
  const std::int64_t columns = n.size(1, tb ? 0 : 1);
  matmul<T>(ta, tb, n.size(0, ta ? 1 : 0), columns, n.size(0, ta ? 0 : 1), alpha, static_cast<const T*>(p[0]), n.size(0, 1),
            static_cast<const T*>(p[1]), n.size(1, 1), beta, out, columns);
}
template <class T>
void run_matmul(void* const* p, const kernels::step_numbers& n, int) {
  multiply(p, n, static_cast<T*>(p[2]), T(1), T(0));
}
template <class T>
void run_matmul_update(void* const* p, const kernels::step_numbers& n, int count) {
  T alpha = static_cast<T>(std::bit_cast<double>(n.attribute(2)));
  if (count > 3) alpha *= *static_cast<const T*>(p[3]);
  multiply(p, n, static_cast<T*>(p[2]), alpha, T(1));
}
// The function for `type`, which must be among the given dtypes, or null.
template <template <dtype> class Of, dtype... Types>
kernel_function by_dtype(dtype type) {
  kernel_function found = nullptr;
  ((found = type == Types ? &Of<Types>::run : found), ...);
  return found;
}

template <dtype D>
struct matmul_of {
  static void run(void* const* p, const kernels::step_numbers& n, int count) { run_matmul<element_of<D>>(p, n, count); }
};
template <dtype D>
struct matmul_update_of {
  static void run(void* const* p, const kernels::step_numbers& n, int count) { run_matmul_update<element_of<D>>(p, n, count); }
};
template <class Op>
void enter_kernel(kernel_function (*find)(const dtype*, int)) {
  enter_functions(operator_record<Op>::code, {nullptr, nullptr, find});
}

inline void enter_products() {
  using enum dtype;
  enter_kernel<matmul_op>([](const dtype* t, int) { return by_dtype<matmul_of, float32, float64, int32, int64>(t[0]); });
  enter_kernel<passes::matmul_update_op>(
      [](const dtype* t, int) { return by_dtype<matmul_update_of, float32, float64, int32, int64>(t[0]); });
}

template <class... Ops>
void enter_operators(const leat::detail::operator_list<Ops...>*) {
  ([] { if constexpr (has_functions<Ops>) register_kernel<Ops>(); }(), ...);
}

LEAT_FILL(fill_library_functions) {
  enter_operators(static_cast<const leat::detail::library_operators*>(nullptr));
  register_kernel<passes::copy_op>();
  register_kernel<multiply_add_op>();
  register_kernel<check_range_op>();
  register_kernel<check_converged_op>();
  register_kernel<print_op>();
  register_kernel<stacked_products_op>();
  enter_operators(static_cast<const leat::detail::image_operators*>(nullptr));
  enter_operators(static_cast<const leat::detail::random_operators*>(nullptr));
  enter_operators(static_cast<const leat::detail::array_operators*>(nullptr));
  enter_operators(static_cast<const leat::detail::matrix_operators*>(nullptr));
  register_kernel<passes::check_divisor_op>();
  register_kernel<passes::check_rows_op>();
  register_kernel<passes::first_rows_op>();
  register_kernel<passes::sum_equal_rows_op>();
  register_kernel<passes::write_rows_op>();
  enter_products();
}
LEAT_FILL(fill_ready_loops) { enter_updates(); }

}  // namespace detail

}  // namespace leat::cpu
