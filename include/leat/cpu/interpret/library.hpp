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
template <dtype D>
struct check_divisor_of {
  static void run(void* const* p, const kernels::step_numbers& n, int) { run_check_divisor<element_of<D>>(p, n); }
};
// Kernels that only move elements use one type for all dtypes of the same size.
template <int Bytes>
using moved = std::conditional_t<Bytes == 1, std::uint8_t, std::conditional_t<Bytes == 4, std::int32_t, std::int64_t>>;

template <template <class...> class Kernel, class... Index>
kernel_function moving_kernel(dtype type) {
  switch (size_of(type)) {
    case 1: return &run_kernel<Kernel<moved<1>, Index...>>;
    case 4: return &run_kernel<Kernel<moved<4>, Index...>>;
    default: return &run_kernel<Kernel<moved<8>, Index...>>;
  }
}
template <class T>
struct printing_kernel : kernels::print_kernel<T> {
  printing_kernel(void* const* p, const kernels::step_numbers& n, int result) : kernels::print_kernel<T>(p, n, result) {
    kernels::print_operands(p, n);
  }
};
template <dtype D>
struct sum_equal_rows_of {
  static void run(void* const* p, const kernels::step_numbers& n, int count) {
    run_kernel<kernels::sum_equal_rows_kernel<element_of<D>>>(p, n, count);
  }
};
template <class Index>
struct write_rows_by {
  template <dtype D>
  struct of {
    static void run(void* const* p, const kernels::step_numbers& n, int count) {
      run_kernel<kernels::write_rows_kernel<element_of<D>, Index>>(p, n, count);
    }
  };
};
template <class To, bool Largest>
struct arg_by {
  template <dtype D>
  struct of {
    static void run(void* const* p, const kernels::step_numbers& n, int count) {
      run_kernel<kernels::arg_kernel<element_of<D>, To, Largest>>(p, n, count);
    }
  };
};

template <template <class> class Of, dtype... Types>
kernel_function by_dtype_and_index(dtype type, dtype index) {
  return by_index(
      index, [&] { return by_dtype<Of<std::int32_t>::template of, Types...>(type); },
      [&] { return by_dtype<Of<std::int64_t>::template of, Types...>(type); });
}
template <bool Largest>
struct arg {
  template <class To>
  using to = arg_by<To, Largest>;
};

template <class Op>
void enter_kernel(kernel_function (*find)(const dtype*, int)) {
  enter_functions(operator_record<Op>::code, {nullptr, nullptr, find});
}

inline void enter_kernels() {
  using enum dtype;
  enter_kernel<matmul_op>([](const dtype* t, int) { return by_dtype<matmul_of, float32, float64, int32, int64>(t[0]); });
  enter_kernel<passes::matmul_update_op>(
      [](const dtype* t, int) { return by_dtype<matmul_update_of, float32, float64, int32, int64>(t[0]); });
  enter_kernel<gather_op>([](const dtype* t, int) {
    return by_index(
        t[1], [&] { return moving_kernel<kernels::gather_kernel, std::int32_t>(t[0]); },
        [&] { return moving_kernel<kernels::gather_kernel, std::int64_t>(t[0]); });
  });
  enter_kernel<passes::check_rows_op>([](const dtype* t, int) {
    return by_index(
        t[0], [] { return &run_kernel<kernels::check_rows_kernel<std::int32_t>>; },
        [] { return &run_kernel<kernels::check_rows_kernel<std::int64_t>>; });
  });
  enter_kernel<passes::first_rows_op>([](const dtype* t, int) {
    return by_index(
        t[0], [] { return &run_kernel<kernels::first_rows_kernel<std::int32_t>>; },
        [] { return &run_kernel<kernels::first_rows_kernel<std::int64_t>>; });
  });
  enter_kernel<passes::sum_equal_rows_op>([](const dtype* t, int) { return by_dtype<sum_equal_rows_of, float32, float64>(t[0]); });
  enter_kernel<passes::write_rows_op>([](const dtype* t, int) { return by_dtype_and_index<write_rows_by, float32, float64>(t[0], t[2]); });
  enter_kernel<check_range_op>([](const dtype* t, int) {
    return by_index(
        t[0], [] { return &run_kernel<kernels::check_range_kernel<std::int32_t>>; },
        [] { return &run_kernel<kernels::check_range_kernel<std::int64_t>>; });
  });
  enter_kernel<passes::check_divisor_op>([](const dtype* t, int) { return by_dtype<check_divisor_of, int32, int64, uint8>(t[0]); });
  enter_kernel<print_op>([](const dtype* t, int) { return moving_kernel<printing_kernel>(t[0]); });
  enter_kernel<pad_op>([](const dtype* t, int) { return moving_kernel<kernels::pad_kernel>(t[0]); });
  enter_kernel<concat_op>([](const dtype* t, int) { return moving_kernel<kernels::concat_kernel>(t[0]); });
  enter_kernel<argmax_op>(
      [](const dtype* t, int) { return by_dtype_and_index<arg<true>::to, float32, float64, int32, int64, uint8>(t[0], t[1]); });
  enter_kernel<argmin_op>(
      [](const dtype* t, int) { return by_dtype_and_index<arg<false>::to, float32, float64, int32, int64, uint8>(t[0], t[1]); });
}

template <class... Ops>
void enter_operators(const leat::detail::operator_list<Ops...>*) {
  ([] { if constexpr (has_functions<Ops>) register_kernel<Ops>(); }(), ...);
}

LEAT_FILL(fill_library_functions) {
  enter_operators(static_cast<const leat::detail::library_operators*>(nullptr));
  register_kernel<passes::copy_op>();
  register_kernel<multiply_add_op>();
  enter_kernels();
}
LEAT_FILL(fill_ready_loops) { enter_updates(); }

}  // namespace detail

}  // namespace leat::cpu
