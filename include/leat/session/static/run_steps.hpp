#pragma once
// Runs a program's steps for a static session: element by element, on one thread, without the heap, with all sizes as constants. The
// loops and kernels are those of all devices (kernels/).

#include <leat/kernels/cluster.hpp>
#include <leat/kernels/item_kernels.hpp>
#include <leat/kernels/product.hpp>
#include <leat/session/static/static_program.hpp>
#include <leat/session/static/status.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <utility>

namespace leat::detail {

template <class Op>
inline constexpr bool is_product_op = std::is_same_v<Op, matmul_op> || std::is_same_v<Op, passes::matmul_update_op>;
// Whether static sessions can run an operator of whole arrays: it has a kernel, and nothing that the host does first but a check.
template <class Op>
constexpr bool runs_statically() {
  if constexpr (is_product_op<Op>) return true;
  else if constexpr (!kernels::has_kernel<Op>) return false;
  else if constexpr (kernels::looks_first<Op>)
    return requires(void* const* p, const kernels::step_numbers& n) { kernels::kernel_of<Op>::template accepts<std::int32_t>(p, n); };
  else return true;
}

template <class Program, int Step>
struct static_cluster_step {
  static constexpr auto info = Program::view.step_at(Step);
  using type = kernels::cluster_of<kernels::scalar_lanes, Program, Step>;

  struct loop_sizes {
    std::array<std::int64_t, static_cast<std::size_t>(info.loop_count) + 1> extents{};
    std::array<std::int64_t, static_cast<std::size_t>(info.operand_count * info.loop_count) + 1> strides{};
    std::int64_t rows = 1, inner = 1;
  };
  static constexpr loop_sizes sizes = [] {
    loop_sizes s;
    constexpr int loops = info.loop_count;
    for (int l = 0; l < loops; ++l) {
      s.extents[static_cast<std::size_t>(l)] = info.loop(l).factor;
      (l + 1 < loops ? s.rows : s.inner) *= info.loop(l).factor;
    }
    for (int o = 0; o < info.operand_count; ++o)
      for (int l = 0; l < loops; ++l) s.strides[static_cast<std::size_t>(o * loops + l)] = info.operand_stride(o, l).factor;
    return s;
  }();

  template <int K>
  [[gnu::always_inline]] static void start([[maybe_unused]] void* const* base) {
    constexpr int operand = type::accumulating_operand(K);
    if constexpr (!kernels::finishes_all<type>(operand)) {
      using T = element_of<type::accumulating_type(K)>;
      constexpr auto elements = [] {
        std::ptrdiff_t n = 1;
        for (int l = 0; l < info.loop_count; ++l)
          if (info.operand_stride(operand, l).factor != 0) n *= static_cast<std::ptrdiff_t>(info.loop(l).factor);
        return n;
      }();
      for (std::ptrdiff_t i = 0; i < elements; ++i)
        static_cast<T*>(base[operand])[i] = operator_with<type::accumulating_code(K)>::template identity<T>();
    }
  }
  template <std::size_t... K>
  [[gnu::always_inline]] static void start_all([[maybe_unused]] void* const* base, std::index_sequence<K...>) {
    (start<static_cast<int>(K)>(base), ...);
  }
  template <int O>
  [[gnu::always_inline]] static void* place(void* const* buffers) {
    constexpr int buffer = info.operand_buffer(O);
    constexpr auto offset = static_cast<std::ptrdiff_t>(info.operand_offset(O).factor * size_of(Program::view.buffer_at(buffer).type));
    return static_cast<std::byte*>(buffers[buffer]) + offset;
  }

  template <std::size_t... O>
  [[gnu::always_inline]] static status run(void* const* buffers, std::byte* arena, std::index_sequence<O...>) {
    void* base[sizeof...(O) + 1]{place<static_cast<int>(O)>(buffers)..., nullptr};
    const auto extents = sizes.extents;  // local copies, which the compiler propagates through the references
    const auto strides = sizes.strides;
    kernels::cluster_arguments a{.base = base, .extents = extents.data(), .strides = strides.data()};
    if constexpr (type::spills > 0) {
      a.scratch = arena + static_cast<std::ptrdiff_t>(Program::number(Step, plan_scratch));
      a.scratch_row = Program::number(Step, plan_scratch_row);
    }
    start_all(base, std::make_index_sequence<static_cast<std::size_t>(type::accumulating)>{});
    type::run(a, {0, sizes.rows, 0, sizes.inner});
    return status::ok;
  }
};

template <class Kernel>
status run_items_statically(const Kernel& kernel) {
  if constexpr (Kernel::may_refuse)
    if (kernels::find_out_of_range(kernel.indices, kernel.count, kernel.rows, kernels::drops_negative(kernel)) >= 0)
      return status::invalid_argument;
  if constexpr (kernels::of_matrices<Kernel>) {
    bool are_fine = true;
    for (std::int64_t k = 0; k < kernel.count; ++k) are_fine = kernel.decompose(k, kernel.n) && are_fine;
    if (!are_fine && kernel.is_checked) return status::invalid_argument;
  } else if constexpr (requires { kernel.run_all(); } && !requires { Kernel::run_all_allocates; }) {
    kernel.run_all();
  } else {
    for (std::int64_t k = 0, n = kernel.items(); k < n; ++k) kernel(k);
  }
  return status::ok;
}

template <class Program, int Step>
struct static_kernel_step {
  static constexpr auto info = Program::view.step_at(Step);
  using op = operator_with<info.code>;
  template <int O>
  using element = element_of<Program::view.buffer_at(info.operand_buffer(O < info.operand_count ? O : 0)).type>;
  static constexpr auto numbers = [] {
    std::array<std::int64_t, static_cast<std::size_t>(info.attribute_count) + 1> all{};
    for (int k = 0; k < info.attribute_count; ++k) all[static_cast<std::size_t>(k)] = Program::number(Step, plan_numbers + k);
    return all;
  }();

  [[gnu::always_inline]] static void multiply(void* const* p) {
    using T = element<0>;
    constexpr kernels::step_numbers n(numbers.data());
    constexpr bool ta = n.attribute(0) != 0, tb = n.attribute(1) != 0, adds = std::is_same_v<op, passes::matmul_update_op>;
    using size = std::ptrdiff_t;
    constexpr size rows = size(n.size(0, ta ? 1 : 0)), columns = size(n.size(1, tb ? 0 : 1)), inner = size(n.size(0, ta ? 0 : 1));
    T alpha(1);
    const T* scale = nullptr;
    if constexpr (adds) alpha = static_cast<T>(std::bit_cast<double>(n.attribute(2)));
    if constexpr (adds && info.operand_count > 3) scale = static_cast<const T*>(p[3]);
    const auto items =
        kernels::product_of<T, size>(ta, tb, columns, inner, alpha, scale, static_cast<const T*>(p[0]), size(n.size(0, 1)),
                                     static_cast<const T*>(p[1]), size(n.size(1, 1)), adds ? T(1) : T(0), static_cast<T*>(p[2]), columns);
    // Four elements at once, so that what they share is loaded once.
    constexpr bool down = columns < 4;
    constexpr size lines = down ? columns : rows, length = down ? rows : columns, whole = length / 4 * 4;
    const auto run = [&](auto these, size line, size at) __attribute__((always_inline)) {
      items.template elements<down>(down ? at : line, down ? line : at, these);
    };
    for (size line = 0; line < lines; ++line) {
      for (size at = 0; at < whole; at += 4) run(std::make_integer_sequence<int, 4>{}, line, at);
      if constexpr (length > whole) run(std::make_integer_sequence<int, static_cast<int>(length - whole)>{}, line, whole);
    }
  }

  template <std::size_t... O>
  [[gnu::always_inline]] static status run(void* const* buffers, std::byte*, std::index_sequence<O...>) {
    void* p[]{buffers[info.operand_buffer(static_cast<int>(O))]...};
    if constexpr (is_product_op<op>) {
      multiply(p);
      return status::ok;
    } else {
      const kernels::step_numbers n(numbers.data());
      using T = element<0>;
      using its = kernels::kernel_of<op>;
      if constexpr (kernels::looks_first<op>)
        if (!its::template accepts<T>(p, n)) return status::invalid_argument;
      using kernel = typename its::template type<T, element<kernels::index_operand_of<op>()>>;
      return run_items_statically(kernels::kernel_for<kernel>(p, n, info.operand_count - 1));
    }
  }
};

template <class Program, int Step>
[[gnu::always_inline]] inline status run_static_step(void* const* buffers, std::byte* arena) {
  constexpr auto info = Program::view.step_at(Step);
  using step = std::conditional_t<info.is_cluster, static_cluster_step<Program, Step>, static_kernel_step<Program, Step>>;
  return step::run(buffers, arena, std::make_index_sequence<static_cast<std::size_t>(info.operand_count)>{});
}
/// Runs all steps, up to the first that rejects its operands.
template <class Program, std::size_t... Step>
[[gnu::always_inline]] inline status run_static_steps(void* const* buffers, std::byte* arena, std::index_sequence<Step...>) {
  status found = status::ok;
  static_cast<void>((((found = run_static_step<Program, static_cast<int>(Step)>(buffers, arena)) == status::ok) && ...));
  return found;
}

}  // namespace leat::detail
