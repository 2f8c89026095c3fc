#pragma once
// Runs a program's steps on the CPU: fused clusters in SIMD batches, cut into chunks that threads share, and kernels of whole arrays.
// Small clusters of static shape are compiled in place with their sizes as constants; large ones call the shared code of their
// instruction list.

#include <leat/core/memory.hpp>
#include <leat/cpu/chunks.hpp>
#include <leat/cpu/float_mode.hpp>
#include <leat/cpu/lanes.hpp>
#include <leat/cpu/matmul.hpp>
#include <leat/cpu/parallel.hpp>
#include <leat/kernels/program_plan.hpp>
#include <leat/kernels/whole_array.hpp>

#include <cstring>
#include <new>
#include <vector>

namespace leat::cpu {

namespace detail {

template <class Cluster>
constexpr bool finishes_all(int operand) {
  constexpr int phase = 2 + 2 * Cluster::stage_count;
  for (int k = 0; k < Cluster::phase_size(phase); ++k) {
    const int at = Cluster::phase_at(phase) + words_per_instruction * k;
    if (Cluster::code[at] == finish_all && Cluster::code[at + 1] == operand) return true;
  }
  return false;
}

template <class Cluster, std::size_t... I>
constexpr auto combined_results(std::index_sequence<I...>) {
  return std::array<combined_result, sizeof...(I)>{
      combined_result{Cluster::accumulating_operand(I), !finishes_all<Cluster>(Cluster::accumulating_operand(I)),
                      &fill_identity<Cluster::accumulating_code(I), Cluster::accumulating_type(I)>,
                      &combine_chunks<Cluster::accumulating_code(I), Cluster::accumulating_type(I)>}...};
}

// One copy per instruction list, shared by all programs.
template <class Cluster>
[[gnu::noinline]] void run_shared(const kernels::cluster_arguments& a, const kernels::cluster_range& r) {
  Cluster::run(a, r);
}

template <std::int64_t Width>
struct lanes_of_width {
  using type = kernels::scalar_lanes;
};
template <>
struct lanes_of_width<4> {
  using type = batch_lanes<4>;
};
template <>
struct lanes_of_width<8> {
  using type = batch_lanes<8>;
};

template <class Program, int Step>
struct cluster_step {
  static constexpr auto info = Program::view.step_at(Step);
  static constexpr int plan_begin = leat::detail::plan_at(Program::view, Step);
  using width = lanes_of_width<Program::data[static_cast<std::size_t>(info.instructions) + lane_width]>;
  using type = kernels::cluster_of<typename width::type, Program, Step>;

  // Small and of static shape: sizes become constants.
  static constexpr bool is_small = [] {
    std::int64_t total = 1;
    for (int l = 0; l < info.loop_count; ++l) {
      if (info.loop(l).powers != 0) return false;
      total *= info.loop(l).factor;
    }
    return total <= 1024;
  }();

  template <int O>
  [[gnu::always_inline]] static void* operand_pointer(const workspace& w, const std::int64_t* plan) {
    constexpr int buffer = info.operand_buffer(O);
    constexpr term offset = info.operand_offset(O);
    void* base = w.buffers[buffer];
    if constexpr (offset.factor == 0) {
      return base;
    } else {
      constexpr int bytes = size_of(Program::view.buffer_at(buffer).type);
      return static_cast<std::byte*>(base) + bytes * plan[plan_numbers + info.loop_count + info.operand_count * info.loop_count + O];
    }
  }

  template <std::size_t... O>
  [[gnu::always_inline]] static void run(const workspace& w, std::index_sequence<O...>) {
    const std::int64_t* plan = w.numbers + plan_begin;
    void* base[sizeof...(O) + 1]{operand_pointer<static_cast<int>(O)>(w, plan)..., nullptr};
    kernels::cluster_arguments a{.base = base};
    constexpr auto results = combined_results<type>(std::make_index_sequence<static_cast<std::size_t>(type::accumulating)>{});
    constexpr int loops = info.loop_count;
    if constexpr (type::spills > 0) {
      a.scratch = w.arena + plan[plan_scratch];
      a.scratch_row = plan[plan_scratch_row];
    }
    if constexpr (is_small) {
      // Local copies of constants, which the compiler can propagate through the references.
      std::int64_t extents[loops + 1]{};
      std::int64_t strides[info.operand_count * loops + 1]{};
      std::int64_t rows = 1;
      for (int l = 0; l < loops; ++l) {
        extents[l] = info.loop(l).factor;
        if (l + 1 < loops) rows *= extents[l];
      }
      for (int o = 0; o < info.operand_count; ++o)
        for (int l = 0; l < loops; ++l) strides[o * loops + l] = info.operand_stride(o, l).factor;
      a.extents = extents;
      a.strides = strides;
      start(results, a);
      type::run(a, {0, rows, 0, loops > 0 ? extents[loops - 1] : 1});
    } else {
      a.extents = plan + plan_numbers;
      a.strides = plan + plan_numbers + loops;
      if constexpr (type::accumulating == 0) a.stream = plan[plan_stream] != 0;
      if (plan[plan_chunks] == 1) {
        start(results, a, plan, w);
        run_shared<type>(a, {0, plan[plan_rows], 0, plan[plan_inner]});
      } else {
        static constexpr auto table = combined_results<type>(std::make_index_sequence<static_cast<std::size_t>(type::accumulating)>{});
        const chunked_run c{&run_shared<type>, table.data(), type::accumulating, info.operand_count, type::spills};
        std::int64_t elements[type::accumulating + 1]{};
        int bytes[type::accumulating + 1]{};
        for (int k = 0; k < type::accumulating; ++k) {
          elements[k] = result_elements(results[static_cast<std::size_t>(k)].operand, plan);
          bytes[k] = size_of(type::accumulating_type(k));
        }
        run_chunks(c, a, plan, elements, bytes, w.arena);
      }
    }
  }

  // Elements of a combined result: the extents along which its strides are not 0.
  static std::int64_t result_elements(int operand, const std::int64_t* plan) {
    std::int64_t n = 1;
    for (int l = 0; l < info.loop_count; ++l)
      if (info.operand_stride(operand, l).factor != 0) n *= plan[plan_numbers + l];
    return n;
  }
  template <class Results>
  [[gnu::always_inline]] static void start(const Results& results, const kernels::cluster_arguments& a) {
    for (const auto& r : results) {
      if (!r.starts) continue;
      std::int64_t n = 1;
      for (int l = 0; l < info.loop_count; ++l)
        if (info.operand_stride(r.operand, l).factor != 0) n *= info.loop(l).factor;
      r.fill(a.base[r.operand], n);
    }
  }
  template <class Results>
  [[gnu::always_inline]] static void start(const Results& results, const kernels::cluster_arguments& a, const std::int64_t* plan,
                                           const workspace&) {
    for (const auto& r : results)
      if (r.starts) r.fill(a.base[r.operand], result_elements(r.operand, plan));
  }
};

template <class Kernel>
void run_items(const Kernel& kernel) {
  const std::int64_t n = kernel.items();
  if constexpr (Kernel::may_refuse) {
    for (std::int64_t k = 0; k < kernel.count; ++k) {
      const auto i = static_cast<std::int64_t>(kernel.indices[k]);
      if (i >= kernel.rows || (i < 0 && !requires { Kernel::drops_negative; }))
        throw invalid_argument("index " + std::to_string(i) + " at position " + std::to_string(k) + " is out of range [0, " +
                               std::to_string(kernel.rows) + ")");
    }
  }
  for (std::int64_t k = 0; k < n; ++k) kernel(k);
}

template <class T>
void run_check_divisor(void* const* p, const kernels::step_numbers& n) {
  const kernels::check_divisor_kernel<T> kernel(p, n);
  if (kernel.divides) kernels::refuse_zero(kernel.divisors, kernel.count);
  run_items(kernel);
}

// ---- products -------------------------------------------------------------------------------------------------------

template <class T, std::int64_t M, std::int64_t N, std::int64_t K, bool TransposeA>
[[gnu::noinline]] void run_product(const kernels::step_numbers& n, void* const* p, T* out, T alpha, T beta) {
  constexpr bool ta = TransposeA;
  const bool tb = n.attribute(1) != 0;
  const std::int64_t m = n.size(0, ta ? 1 : 0);
  const std::int64_t k = n.size(0, ta ? 0 : 1);
  const std::int64_t columns = n.size(1, tb ? 0 : 1);
  if constexpr (N == 1) {  // a matrix and a vector: the one kernel for its layout
    if constexpr (ta)
      multiply_columns(m, k, alpha, static_cast<const T*>(p[0]), n.size(0, 1), static_cast<const T*>(p[1]), std::int64_t{1}, beta, out);
    else
      multiply_rows(m, k, alpha, static_cast<const T*>(p[0]), n.size(0, 1), static_cast<const T*>(p[1]), beta, out, std::int64_t{1});
    return;
  }
  matmul<T, M, N, K>(ta, tb, m, columns, k, alpha, static_cast<const T*>(p[0]), n.size(0, 1), static_cast<const T*>(p[1]), n.size(1, 1),
                     beta, out, columns);
}

template <class Program, int Step>
struct kernel_step {
  static constexpr auto info = Program::view.step_at(Step);
  static constexpr int plan_begin = leat::detail::plan_at(Program::view, Step);
  template <int O>
  using element = element_of<Program::view.buffer_at(info.operand_buffer(O)).type>;

  static constexpr std::int64_t fixed(int input, int axis) {  // a static extent, or -1
    int at = 1 + static_cast<int>(info.attributes[0]);
    for (int i = 0; i < input; ++i) at += 1 + static_cast<int>(info.attributes[at]);
    const auto d = info.attributes[at + 1 + axis];
    return d < 0 ? -1 : d;
  }

  template <std::size_t... O>
  [[gnu::always_inline]] static void run(const workspace& w, std::index_sequence<O...>) {
    using op = operator_with<info.code>;
    const kernels::step_numbers numbers(w.numbers + plan_begin + plan_numbers);
    void* p[]{w.buffers[info.operand_buffer(static_cast<int>(O))]...};
    using T = element<0>;
    if constexpr (std::is_same_v<op, matmul_op> || std::is_same_v<op, passes::matmul_update_op>) {
      constexpr bool ta = info.attributes[1] != 0;
      constexpr bool tb = info.attributes[2] != 0;
      // Static extents select small kernels at compile time; only 1 and small sizes matter.
      constexpr auto small = [](std::int64_t d) { return d > 16 ? -1 : d; };
      constexpr std::int64_t m = small(fixed(0, ta ? 1 : 0));
      constexpr std::int64_t n = small(fixed(1, tb ? 0 : 1));
      constexpr std::int64_t k = small(fixed(0, ta ? 0 : 1));
      if constexpr (std::is_same_v<op, matmul_op>) {
        run_product<T, m, n, k, ta>(numbers, p, static_cast<T*>(p[2]), T(1), T(0));
      } else {
        T alpha = static_cast<T>(std::bit_cast<double>(numbers.attribute(2)));
        if constexpr (sizeof...(O) > 3) alpha *= *static_cast<const T*>(p[3]);
        run_product<T, m, n, k, ta>(numbers, p, static_cast<T*>(p[2]), alpha, T(1));
      }
    } else if constexpr (std::is_same_v<op, gather_op>) {
      run_items(kernels::gather_kernel<T, element<1>>(p, numbers));
    } else if constexpr (std::is_same_v<op, segment_sum_op>) {
      run_items(kernels::segment_sum_kernel<T, element<1>>(p, numbers));
    } else if constexpr (std::is_same_v<op, check_range_op>) {
      run_items(kernels::check_range_kernel<T>(p, numbers));
    } else if constexpr (std::is_same_v<op, passes::check_divisor_op>) {
      run_check_divisor<T>(p, numbers);
    } else if constexpr (std::is_same_v<op, pad_op>) {
      run_items(kernels::pad_kernel<T>(p, numbers));
    } else if constexpr (std::is_same_v<op, concat_op>) {
      run_items(kernels::concat_kernel<T>(p, numbers, static_cast<int>(sizeof...(O)) - 1));
    } else if constexpr (std::is_same_v<op, argmax_op> || std::is_same_v<op, argmin_op>) {
      run_items(kernels::arg_kernel<T, element<1>, std::is_same_v<op, argmax_op>>(p, numbers));
    } else {
      static_assert(!sizeof(op), "this operator has no kernel on the CPU");
    }
  }
};

template <class Program, int Step>
[[gnu::always_inline]] inline void run_step(const workspace& w) {
  constexpr auto info = Program::view.step_at(Step);
  constexpr auto operands = std::make_index_sequence<static_cast<std::size_t>(info.operand_count)>{};
  if constexpr (info.is_cluster)
    cluster_step<Program, Step>::run(w, operands);
  else
    kernel_step<Program, Step>::run(w, operands);
}

}  // namespace detail

/// The CPU as a device: memory for arrays, and execution of a program's steps.
struct device {
  static constexpr bool shares_memory = true;  // the host accesses the device's arrays directly
  using workspace = leat::workspace;
  static constexpr chunk_limits chunks{};
  using mode = flush_denormals;  // of the processor, around a step

  static void* allocate(std::size_t bytes) { return allocate_aligned(bytes); }
  static void release(void* p) { ::operator delete(p, std::align_val_t{64}); }
  static void copy_in(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
  static void copy_out(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
  static void finish() {}  // waits for copies

  /// Runs all steps. `Program` has the packed program as `data` and its reader as `view`.
  template <class Program, std::size_t... Step>
  [[gnu::always_inline]] static void run(const workspace& w, std::index_sequence<Step...>) {
    (detail::run_step<Program, static_cast<int>(Step)>(w), ...);
  }
  /// The same; calls `observer.before(k)` and `after(k)` around the k-th step.
  template <class Program, class Observer, std::size_t... Step>
  static void run_observed(const workspace& w, Observer& observer, std::index_sequence<Step...>) {
    const auto one = [&]<int K>(std::integral_constant<int, K>) {
      observer.before(K);
      detail::run_step<Program, K>(w);
      observer.after(K);
    };
    (one(std::integral_constant<int, static_cast<int>(Step)>{}), ...);
  }
};

}  // namespace leat::cpu
