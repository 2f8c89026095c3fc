#pragma once
// Runs a program's steps on the CPU: fused clusters in SIMD batches, cut into chunks that threads share, and kernels of whole arrays. Small
// clusters of static shape are compiled in place, with their sizes as constants; large ones call code that all clusters with the same
// instructions share.

#include <leat/core/memory.hpp>
#include <leat/cpu/chunks.hpp>
#include <leat/cpu/float_mode.hpp>
#include <leat/cpu/image_steps.hpp>
#include <leat/cpu/local_response.hpp>
#include <leat/cpu/lanes.hpp>
#include <leat/cpu/matmul.hpp>
#include <leat/cpu/matrices.hpp>
#include <leat/cpu/parallel.hpp>
#include <leat/cpu/random.hpp>
#include <leat/cpu/resize.hpp>
#include <leat/cpu/stacked_matmul.hpp>
#include <leat/kernels/library.hpp>
#include <leat/kernels/program_plan.hpp>

#include <cstring>
#include <new>
#include <vector>

namespace leat::cpu {

namespace detail {

template <class Cluster, std::size_t... I>
constexpr auto combined_results(std::index_sequence<I...>) {
  return std::array<combined_result, sizeof...(I)>{
      combined_result{Cluster::accumulating_operand(I), !kernels::finishes_all<Cluster>(Cluster::accumulating_operand(I)),
                      &fill_identity<Cluster::accumulating_code(I), Cluster::accumulating_type(I)>,
                      &combine_chunks<Cluster::accumulating_code(I), Cluster::accumulating_type(I)>}...};
}

// The length of the rows of a cluster that is cut only between rows, if it is known and so short that a loop over a row costs more than its
// elements; otherwise 0. A lookup with several loops counts, too: it is cut within rows only if it has a single row, which is then long.
template <class Cluster>
constexpr std::int64_t short_row(const program_view::step& s) {
  const bool whole = static_cast<cut_rule>(s.chunked) == cut_rule::rows || (Cluster::looks_up && s.loop_count > 1);
  if (s.loop_count == 0 || !whole) return 0;
  const term row = s.loop(s.loop_count - 1);
  return row.powers == 0 && row.factor <= 64 ? row.factor : 0;
}

// There is one copy per instruction list and length of short rows, which all programs share. The arguments are copied, so that the compiler
// knows that no store changes them, and does not read them again after each store.
template <class Cluster, std::int64_t ShortRow>
[[gnu::noinline]] void run_shared(const kernels::cluster_arguments& a, const kernels::cluster_range& all) {
  const kernels::cluster_range r = ShortRow > 0 ? kernels::cluster_range{all.row_begin, all.row_end, 0, ShortRow} : all;
  constexpr int operands = Cluster::operands, loops = Cluster::loops;
  if constexpr (Cluster::stage_count < 2 || operands > 16) {
    Cluster::run(a, r);
  } else {
    void* base[operands + 1];
    std::int64_t extents[loops + 1];
    std::int64_t strides[operands * loops + 1];
    for (int k = 0; k < operands; ++k) base[k] = a.base[k];
    for (int l = 0; l < loops; ++l) extents[l] = a.extents[l];
    for (int k = 0; k < operands * loops; ++k) strides[k] = a.strides[k];
    kernels::cluster_arguments mine = a;
    mine.base = base;
    mine.extents = extents;
    mine.strides = strides;
    Cluster::run(mine, r);
  }
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

  // Whether the cluster is small and of static shape, so that its sizes become constants.
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
    constexpr int bytes = size_of(Program::view.buffer_at(buffer).type);
    if constexpr (offset.factor == 0) {
      return base;
    } else if constexpr (offset.powers == 0) {
      return static_cast<std::byte*>(base) + bytes * offset.factor;
    } else {
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
      // Local copies of the constants let the compiler propagate them through the references.
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
      if constexpr (type::accumulating == 0) {
        a.stream = plan[plan_stores] == stores_past_caches;
        a.fetches = plan[plan_stores] == stores_fetched;
      }
      if (plan[plan_chunks] == 1) {
        start(results, a, plan, w);
        run_shared<type, short_row<type>(info)>(a, {0, plan[plan_rows], 0, plan[plan_inner]});
      } else {
        static constexpr auto table = combined_results<type>(std::make_index_sequence<static_cast<std::size_t>(type::accumulating)>{});
        const chunked_run c{&run_shared<type, short_row<type>(info)>, table.data(), type::accumulating, info.operand_count, type::spills};
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

  // The number of elements of a combined result: the product of the loop sizes along which its strides are not 0.
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

// All items, where the indices are known to be in range.
template <class Kernel>
void run_checked_items(const Kernel& kernel) {
  if constexpr (has_loops<Kernel>) loops_of<Kernel>::run(kernel);
  else if constexpr (requires { kernel.run_all(); }) kernel.run_all();
  else
    for (std::int64_t k = 0, n = kernel.items(); k < n; ++k) kernel(k);
}
template <class Kernel>
void run_items(const Kernel& kernel) {
  if constexpr (Kernel::may_refuse) {
    const bool drops_negative = kernels::drops_negative(kernel);
    if (const std::int64_t k = kernels::find_out_of_range(kernel.indices, kernel.count, kernel.rows, drops_negative); k >= 0) [[unlikely]]
      throw invalid_argument(kernels::out_of_range_text(kernel, kernel.indices[k], k));
  }
  run_checked_items(kernel);
}

// An operator's kernel, for the dtypes of its first operand and of its indices.
template <class Op, class T, class Index>
[[gnu::always_inline]] inline void run_kernel(void* const* p, const kernels::step_numbers& n, int inputs) {
  if constexpr (kernels::looks_first<Op>) kernels::kernel_of<Op>::template look<T>(p, n, inputs);
  run_items(kernels::kernel_for<typename kernels::kernel_of<Op>::template type<T, Index>>(p, n, inputs));
}

// ---- products -------------------------------------------------------------------------------------------------------

template <class T, std::int64_t M, std::int64_t N, std::int64_t K, bool TransposeA>
[[gnu::noinline]] void run_product(const kernels::step_numbers& n, void* const* p, T* out, T alpha, T beta) {
  constexpr bool ta = TransposeA;
  const bool tb = n.attribute(1) != 0;
  const std::int64_t m = n.size(0, ta ? 1 : 0);
  const std::int64_t k = n.size(0, ta ? 0 : 1);
  const std::int64_t columns = n.size(1, tb ? 0 : 1);
  if constexpr (N == 1) {  // a matrix and a vector: uses the kernel for this layout directly
    if (is_tiny_product(m, 1, k))
      multiply_tiny(ta, tb, m, columns, k, alpha, static_cast<const T*>(p[0]), n.size(0, 1), static_cast<const T*>(p[1]), n.size(1, 1),
                    beta, out, columns);
    else if constexpr (ta)
      multiply_columns(m, k, alpha, static_cast<const T*>(p[0]), n.size(0, 1), static_cast<const T*>(p[1]), std::int64_t{1}, beta, out);
    else
      multiply_rows(m, k, alpha, static_cast<const T*>(p[0]), n.size(0, 1), static_cast<const T*>(p[1]), beta, out, std::int64_t{1});
    return;
  }
  matmul<T, M, N, K>(ta, tb, m, columns, k, alpha, static_cast<const T*>(p[0]), n.size(0, 1), static_cast<const T*>(p[1]), n.size(1, 1),
                     beta, out, columns);
}

// An operator's kernel for whole arrays. First, Second and Third are the dtypes of its first operands; M, N and K are the static sizes of a
// matrix product.
template <int Code, dtype First, dtype Second, dtype Third, std::int64_t M, std::int64_t N, std::int64_t K, bool TransposeA, int Operands>
struct kernel_call {
  [[gnu::always_inline]] static void run(void* const* p, const kernels::step_numbers& numbers) {
    using op = operator_with<Code>;
    using T = element_of<First>;
    if constexpr (std::is_same_v<op, matmul_op>) {
      run_product<T, M, N, K, TransposeA>(numbers, p, static_cast<T*>(p[2]), T(1), T(0));
    } else if constexpr (std::is_same_v<op, passes::matmul_update_op>) {
      T alpha = static_cast<T>(std::bit_cast<double>(numbers.attribute(2)));
      if constexpr (Operands > 3) alpha *= *static_cast<const T*>(p[3]);
      run_product<T, M, N, K, TransposeA>(numbers, p, static_cast<T*>(p[2]), alpha, T(1));
    } else if constexpr (kernels::has_kernel<op>) {
      run_kernel<op, T, std::conditional_t<kernels::index_operand_of<op>() == 2, element_of<Third>, element_of<Second>>>(p, numbers,
                                                                                                                         Operands - 1);
    } else if constexpr (requires { &op::run_on_host; }) {
      op::run_on_host(p, numbers, First, Operands - 1);
    } else {
      static_assert(!sizeof(op), "this operator has no kernel on the CPU");
    }
  }
  static void run_apart(void* const* p, const kernels::step_numbers& numbers) { run(p, numbers); }
};

// A step that runs a program of its own, once or many times (cpu/loops.hpp): the operator's class has `body`.
template <class Op, class Program, int Step>
struct body_call;
template <class Op, class Program, int Step, class Plain>
struct call_of_kernel {
  using type = Plain;
};
template <class Op, class Program, int Step, class Plain>
  requires requires { typename Op::body; }
struct call_of_kernel<Op, Program, Step, Plain> {
  using type = body_call<Op, Program, Step>;
};

template <class Program, int Step>
struct kernel_step {
  static constexpr auto info = Program::view.step_at(Step);
  static constexpr dtype type_of(int operand) { return Program::view.buffer_at(info.operand_buffer(operand)).type; }
  static constexpr bool is_product =
      info.code == operator_record<matmul_op>::code || info.code == operator_record<passes::matmul_update_op>::code;

  // A size of a matrix product if it is static and at most 16, or -1. Such sizes select kernels at compile time.
  static constexpr std::int64_t fixed(int input, int axis) {
    if (!is_product) return -1;
    int at = 1 + static_cast<int>(info.attributes[0]);
    for (int i = 0; i < input; ++i) at += 1 + static_cast<int>(info.attributes[at]);
    const auto d = info.attributes[at + 1 + axis];
    return d < 0 || d > 16 ? -1 : d;
  }
  static constexpr bool ta = is_product && info.attributes[1] != 0;
  static constexpr bool tb = is_product && info.attributes[2] != 0;
  using plain_call = kernel_call<info.code, type_of(0), type_of(info.operand_count > 1 ? 1 : 0), type_of(info.operand_count > 2 ? 2 : 0),
                           fixed(0, ta ? 1 : 0), fixed(1, tb ? 0 : 1), fixed(0, ta ? 0 : 1), ta, info.operand_count>;
  using call = typename call_of_kernel<operator_with<info.code>, Program, Step, plain_call>::type;

  template <std::size_t... O>
  [[gnu::always_inline]] static void run(const workspace& w, std::index_sequence<O...>) {
    constexpr int plan_begin = leat::detail::plan_at(Program::view, Step);
    void* p[]{w.buffers[info.operand_buffer(static_cast<int>(O))]...};
    call::run(p, kernels::step_numbers(w.numbers + plan_begin + plan_numbers));
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

// ---- many steps -----------------------------------------------------------------------------------------------------

// A program with more steps than this runs a loop over a table of calls, because separate code for each step would take the compiler longer
// than everything else, and would save only a few nanoseconds per step.
inline constexpr int most_steps_in_place = 48;

// The call of a step: the shared code of a cluster's instructions, or a kernel of whole arrays. Equal steps have equal entries.
struct step_call {
  chunked_run cluster;  // if the step is a cluster
  const dtype* types;   // the dtypes of its combined results
  void (*kernel)(void* const*, const kernels::step_numbers&);
};

template <class Cluster, std::size_t... I>
constexpr auto combined_types(std::index_sequence<I...>) {
  return std::array<dtype, sizeof...(I) + 1>{Cluster::accumulating_type(static_cast<int>(I))..., dtype::invalid};
}
template <class Cluster>
inline constexpr auto combined_types_of =
    combined_types<Cluster>(std::make_index_sequence<static_cast<std::size_t>(Cluster::accumulating)>{});
template <class Cluster>
inline constexpr auto combined_results_of =
    combined_results<Cluster>(std::make_index_sequence<static_cast<std::size_t>(Cluster::accumulating)>{});

template <class Program, int Step>
constexpr step_call call_of_step() {
  if constexpr (Program::view.step_at(Step).is_cluster) {
    using cluster = typename cluster_step<Program, Step>::type;
    return {{&run_shared<cluster, short_row<cluster>(Program::view.step_at(Step))>, combined_results_of<cluster>.data(),
             cluster::accumulating, Program::view.step_at(Step).operand_count, cluster::spills},
            combined_types_of<cluster>.data(),
            nullptr};
  } else {
    return {{}, nullptr, &kernel_step<Program, Step>::call::run_apart};
  }
}

template <class Program>
struct step_table {
  template <std::size_t... Step>
  static constexpr auto make(std::index_sequence<Step...>) {
    return std::array<step_call, sizeof...(Step)>{call_of_step<Program, static_cast<int>(Step)>()...};
  }
  static constexpr auto calls = make(std::make_index_sequence<static_cast<std::size_t>(Program::view.steps())>{});
  static constexpr int most_operands = [] {
    int most = 0;
    for (int k = 0; k < Program::view.steps(); ++k) most = std::max(most, Program::view.step_at(k).operand_count);
    return most;
  }();
  static constexpr int most_results = [] {
    int most = 0;
    for (const step_call& c : calls) most = std::max(most, c.cluster.result_count);
    return most;
  }();

  // Runs step `k`; `plan` points to its numbers in the plan.
  static void run(int k, const std::int64_t* plan, const workspace& w) {
    const step_call& call = calls[static_cast<std::size_t>(k)];
    const auto info = Program::view.step_at(k);
    void* base[most_operands + 1];
    for (int o = 0; o < info.operand_count; ++o) base[o] = w.buffers[info.operand_buffer(o)];
    if (!info.is_cluster) return call.kernel(base, kernels::step_numbers(plan + plan_numbers));
    const int loops = info.loop_count;
    const std::int64_t* const offsets = plan + plan_numbers + loops + info.operand_count * loops;
    for (int o = 0; o < info.operand_count; ++o)
      if (info.operand_offset(o).factor != 0)
        base[o] = static_cast<std::byte*>(base[o]) + size_of(Program::view.buffer_at(info.operand_buffer(o)).type) * offsets[o];
    const chunked_run& c = call.cluster;
    kernels::cluster_arguments a{.base = base};
    if (c.spills > 0) {
      a.scratch = w.arena + plan[plan_scratch];
      a.scratch_row = plan[plan_scratch_row];
    }
    a.extents = plan + plan_numbers;
    a.strides = plan + plan_numbers + loops;
    if (c.result_count == 0) {
      a.stream = plan[plan_stores] == stores_past_caches;
      a.fetches = plan[plan_stores] == stores_fetched;
    }
    std::int64_t elements[most_results + 1];
    int bytes[most_results + 1];
    for (int i = 0; i < c.result_count; ++i) {
      elements[i] = 1;
      for (int l = 0; l < loops; ++l)
        if (info.operand_stride(c.results[i].operand, l).factor != 0) elements[i] *= plan[plan_numbers + l];
      bytes[i] = size_of(call.types[i]);
    }
    if (plan[plan_chunks] != 1) return run_chunks(c, a, plan, elements, bytes, w.arena);
    for (int i = 0; i < c.result_count; ++i)
      if (c.results[i].starts) c.results[i].fill(base[c.results[i].operand], elements[i]);
    c.run(a, {0, plan[plan_rows], 0, plan[plan_inner]});
  }
  // Calls `each(k, plan)` for each step, where `plan` points to its numbers in the plan.
  template <class Each>
  static void for_each(const workspace& w, Each each) {
    const std::int64_t* plan = w.numbers;
    for (int k = 0; k < Program::view.steps(); ++k) {
      each(k, plan);
      plan += leat::detail::plan_size(Program::view.step_at(k));
    }
  }
};

}  // namespace detail

/// The CPU as a device: memory for arrays, and execution of a program's steps.
struct device {
  static constexpr bool shares_memory = true;  // the host accesses the device's arrays directly
  using workspace = leat::workspace;
  static constexpr chunk_limits chunks{};
  using mode = flush_denormals;  // the processor's mode during a step

  static void* allocate(std::size_t bytes) { return allocate_aligned(bytes); }
  static void release(void* p) { ::operator delete(p, std::align_val_t{64}); }
  static void copy_in(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
  static void copy_out(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
  static void finish() {}  // copies are complete when they return

  /// Runs all steps. `Program` has the packed program as `data` and its reader as `view`.
  template <class Program, std::size_t... Step>
  [[gnu::always_inline]] static void run(const workspace& w, std::index_sequence<Step...>) {
    if constexpr (sizeof...(Step) > detail::most_steps_in_place)
      detail::step_table<Program>::for_each(w, [&](int k, const std::int64_t* plan) { detail::step_table<Program>::run(k, plan, w); });
    else
      (detail::run_step<Program, static_cast<int>(Step)>(w), ...);
  }
  /// `run` that also calls `observer.before(k)` and `observer.after(k)` around the k-th step.
  template <class Program, class Observer, std::size_t... Step>
  static void run_observed(const workspace& w, Observer& observer, std::index_sequence<Step...>) {
    if constexpr (sizeof...(Step) > detail::most_steps_in_place) {
      detail::step_table<Program>::for_each(w, [&](int k, const std::int64_t* plan) {
        observer.before(k);
        detail::step_table<Program>::run(k, plan, w);
        observer.after(k);
      });
    } else {
      const auto one = [&]<int K>(std::integral_constant<int, K>) {
        observer.before(K);
        detail::run_step<Program, K>(w);
        observer.after(K);
      };
      (one(std::integral_constant<int, static_cast<int>(Step)>{}), ...);
    }
  }
};

}  // namespace leat::cpu
