#pragma once
// Runs a program's steps on one of Thrust's systems. Fused clusters have the same evaluator as on the CPU, one element at a time; here
// their loops are cut into work items. On the host, an item is a chunk of the plan. On a GPU, it is an element if elements are independent,
// and otherwise a chunk; the plan makes many small chunks there. Each chunk computes its own partial result of a sum over rows. These are
// then combined in the order of the chunks, so that a result depends only on shapes. The types of work items contain only integers and
// plain types, because nvcc prints them.

#include <leat/kernels/cluster.hpp>
#include <leat/kernels/library.hpp>
#include <leat/kernels/program_plan.hpp>

#include <bit>
#include <cstddef>
#include <string>
#include <vector>

namespace leat::on_thrust {

/// Chunk sizes for a GPU: many small chunks.
inline constexpr chunk_limits device_chunks{.elements = 32, .most = 1 << 16, .most_partials = 256};

namespace detail {

constexpr int at_least_one(int n) { return n > 0 ? n : 1; }

/// Whether the positions of a row are independent, so that each can run the row phases by itself: nothing is carried along the row, and the
/// row phases write nothing that would then be written twice.
template <class Cluster>
constexpr bool is_divisible() {
  bool divisible = Cluster::has_inner && Cluster::spills == 0;
  for (int phase = 0; phase < Cluster::phase_count; ++phase)
    for (int k = 0; k < Cluster::phase_size(phase); ++k) {
      const auto op = Cluster::code[Cluster::phase_at(phase) + words_per_instruction * k];
      const bool lanes = phase % 2 == 0 && phase > 0 && phase < Cluster::phase_count - 1;
      if (op == reduce_lanes || op == reduce_cell || op == finish_all || (op == store && !lanes)) divisible = false;
    }
  return divisible;
}

/// Whether a combined result is written at the end, so that it needs no initialization.
template <class Cluster>
constexpr bool finishes_all(int operand) {
  constexpr int phase = Cluster::phase_count - 1;
  for (int k = 0; k < Cluster::phase_size(phase); ++k) {
    const int at = Cluster::phase_at(phase) + words_per_instruction * k;
    if (Cluster::code[at] == finish_all && Cluster::code[at + 1] == operand) return true;
  }
  return false;
}

enum class cut { chunks, elements };

/// All data of a cluster, stored by value.
template <class Cluster>
struct cluster_data {
  static constexpr int loops = Cluster::loops;
  void* base[at_least_one(Cluster::operands)];
  std::int64_t extents[at_least_one(loops)];
  std::int64_t strides[at_least_one(Cluster::operands * loops)];
  std::int64_t rows, inner;
  std::int64_t chunks, rows_per_chunk, inner_per_chunk;
  std::byte* scratch;
  std::int64_t scratch_row;
  std::byte* parts;  // partial results, by chunk; null if there is one chunk
  std::int64_t part_bytes;
  std::int64_t part_at[at_least_one(Cluster::accumulating)];
  std::int64_t part_elements[at_least_one(Cluster::accumulating)];
};

/// The items of a cluster: chunks, or single positions within the rows of each chunk.
template <class Cluster, cut Cut>
struct cluster_items {
  cluster_data<Cluster> data;

  template <int K>
  constexpr void use_part(void** base, std::int64_t chunk) const {
    constexpr int operand = Cluster::accumulating_operand(K);
    base[operand] = data.parts + chunk * data.part_bytes + data.part_at[K];
  }
  template <std::size_t... K>
  constexpr void use_parts(void** base, std::int64_t chunk, std::index_sequence<K...>) const {
    (use_part<static_cast<int>(K)>(base, chunk), ...);
  }

  constexpr void operator()(std::int64_t item) const {
    kernels::cluster_range range{0, data.rows, 0, data.inner};
    std::int64_t chunk = item;
    if constexpr (Cut == cut::elements) {
      chunk = item / data.inner;
      range.begin = item % data.inner;
      range.end = range.begin + 1;
    }
    if (Cut == cut::elements || data.rows_per_chunk > 0) {
      range.row_begin = chunk * data.rows_per_chunk;
      if (range.row_begin + data.rows_per_chunk < range.row_end) range.row_end = range.row_begin + data.rows_per_chunk;
    } else {
      range.begin = chunk * data.inner_per_chunk;
      if (range.begin + data.inner_per_chunk < range.end) range.end = range.begin + data.inner_per_chunk;
    }
    kernels::cluster_arguments a;
    a.extents = data.extents;
    a.strides = data.strides;
    a.scratch = data.scratch + chunk * Cluster::spills * data.scratch_row;
    a.scratch_row = data.scratch_row;
    if constexpr (Cluster::accumulating > 0) {
      void* base[at_least_one(Cluster::operands)];
      for (int k = 0; k < Cluster::operands; ++k) base[k] = data.base[k];
      if (data.parts != nullptr)
        use_parts(base, chunk, std::make_index_sequence<static_cast<std::size_t>(Cluster::accumulating)>{});
      a.base = base;
      Cluster::run(a, range);
    } else {
      a.base = data.base;
      Cluster::run(a, range);
    }
  }
};

/// Item i: sets element i % n of part i / n to the operator's identity.
template <int Code, dtype Type>
struct identity_items {
  std::byte* to;
  std::int64_t n, bytes;
  constexpr void operator()(std::int64_t i) const {
    using T = element_of<Type>;
    static_cast<T*>(static_cast<void*>(to + i / n * bytes))[i % n] = operator_with<Code>::template identity<T>();
  }
};

/// Item i: combines element i of all parts, in order.
template <int Code, dtype Type>
struct combine_items {
  void* to;
  const std::byte* parts;
  std::int64_t chunks, bytes;
  constexpr void operator()(std::int64_t i) const {
    using T = element_of<Type>;
    T all = static_cast<const T*>(static_cast<const void*>(parts))[i];
    for (std::int64_t c = 1; c < chunks; ++c)
      all = operator_with<Code>::template combine<typename kernels::scalar_lanes::template math<T>, T>(
          all, static_cast<const T*>(static_cast<const void*>(parts + c * bytes))[i]);
    static_cast<T*>(to)[i] = all;
  }
};

template <class Program, int Step>
struct cluster_step {
  static constexpr auto info = Program::view.step_at(Step);
  static constexpr int plan_begin = leat::detail::plan_at(Program::view, Step);
#ifdef __CUDACC__
  using type = kernels::written_cluster_of<kernels::scalar_lanes, Program, Step>;
#else
  using type = kernels::cluster_of<kernels::scalar_lanes, Program, Step>;
#endif

  template <int O>
  static void* operand_pointer(const workspace& w, const std::int64_t* plan) {
    constexpr int buffer = info.operand_buffer(O);
    constexpr int bytes = size_of(Program::view.buffer_at(buffer).type);
    return static_cast<std::byte*>(w.buffers[buffer]) +
           bytes * plan[plan_numbers + info.loop_count + info.operand_count * info.loop_count + O];
  }
  // The number of elements of a combined result: the product of the loop sizes along which its strides are not 0.
  static std::int64_t result_elements(int operand, const std::int64_t* plan) {
    std::int64_t n = 1;
    for (int l = 0; l < info.loop_count; ++l)
      if (info.operand_stride(operand, l).factor != 0) n *= plan[plan_numbers + l];
    return n;
  }

  template <class Device, int K>
  static void start(Device& device, const cluster_data<type>& d) {
    constexpr int operand = type::accumulating_operand(K);
    if constexpr (!finishes_all<type>(operand)) {
      const bool apart = d.parts != nullptr;
      const identity_items<type::accumulating_code(K), type::accumulating_type(K)> items{
          apart ? d.parts + d.part_at[K] : static_cast<std::byte*>(d.base[operand]), d.part_elements[K], d.part_bytes};
      device.for_each(d.part_elements[K] * (apart ? d.chunks : 1), 1, items);
    }
  }
  template <class Device, int K>
  static void combine(Device& device, const cluster_data<type>& d) {
    const combine_items<type::accumulating_code(K), type::accumulating_type(K)> items{
        d.base[type::accumulating_operand(K)], d.parts + d.part_at[K], d.chunks, d.part_bytes};
    device.for_each(d.part_elements[K], d.chunks, items);
  }

  template <class Device, std::size_t... O, std::size_t... K>
  static void run(Device& device, const workspace& w, std::index_sequence<O...>, std::index_sequence<K...>) {
    const std::int64_t* plan = w.numbers + plan_begin;
    constexpr int loops = info.loop_count;
    cluster_data<type> d{};
    ((d.base[O] = operand_pointer<static_cast<int>(O)>(w, plan)), ...);
    for (int l = 0; l < loops; ++l) d.extents[l] = plan[plan_numbers + l];
    for (int k = 0; k < info.operand_count * loops; ++k) d.strides[k] = plan[plan_numbers + loops + k];
    d.rows = plan[plan_rows];
    d.inner = plan[plan_inner];
    d.chunks = plan[plan_chunks];
    d.rows_per_chunk = plan[plan_rows_per_chunk];
    d.inner_per_chunk = plan[plan_inner_per_chunk];
    if constexpr (type::spills > 0) {
      d.scratch = w.arena + plan[plan_scratch];
      d.scratch_row = plan[plan_scratch_row];
    }
    constexpr bool by_element = !Device::shares_memory && is_divisible<type>();
    if constexpr (by_element) {
      if (type::accumulating == 0) {
        d.chunks = d.rows;
        d.rows_per_chunk = 1;
      } else if (d.rows_per_chunk == 0) {  // there is one row, which would be cut into chunks
        d.chunks = 1;
        d.rows_per_chunk = d.rows;
      }
    }
    if constexpr (type::accumulating > 0) {
      ((d.part_elements[K] = result_elements(type::accumulating_operand(K), plan)), ...);
      if (d.chunks > 1) {
        d.parts = w.arena + plan[plan_partials];
        ((d.part_at[K] = d.part_bytes,
          d.part_bytes += leat::detail::divide_up(d.part_elements[K] * size_of(type::accumulating_type(K)), 64) * 64),
         ...);
      }
      (start<Device, static_cast<int>(K)>(device, d), ...);
    }
    const std::int64_t work = d.rows * d.inner / (d.chunks > 0 ? d.chunks : 1) + 1;
    if constexpr (by_element) device.for_each(d.chunks * d.inner, 1, cluster_items<type, cut::elements>{d});
    else device.for_each(d.chunks, work, cluster_items<type, cut::chunks>{d});
    if constexpr (type::accumulating > 0)
      if (d.chunks > 1) (combine<Device, static_cast<int>(K)>(device, d), ...);
  }
};

// ---- kernels --------------------------------------------------------------------------------------------------------

template <class Index>
struct is_out_of_range {
  const Index* indices;
  std::int64_t rows;
  bool passes_negative;
  constexpr bool operator()(std::int64_t k) const {
    const auto i = static_cast<std::int64_t>(indices[k]);
    return i >= rows || (i < 0 && !passes_negative);
  }
};

template <class Device, class Kernel>
void run_items(Device& device, const Kernel& kernel, std::int64_t work) {
  if constexpr (Kernel::may_refuse) {
    const bool passes_negative = kernels::drops_negative(kernel);
    const std::int64_t at = device.find_out_of_range(kernel.indices, kernel.count, kernel.rows, passes_negative);
    if (at >= 0) {
      std::remove_cvref_t<decltype(*kernel.indices)> index;
      device.copy_out(&index, kernel.indices + at, sizeof index);
      device.finish();
      throw invalid_argument(kernels::out_of_range_text(kernel, index, at));
    }
  }
  device.for_each(kernel.items(), work, kernel);
}

/// Item i: one element of C = alpha scale op(A) op(B) + beta C, summed in order.
template <class T>
struct product_items {
  const T* a;
  const T* b;
  T* c;
  const T* scale;
  std::int64_t n, k, a_row, a_column, b_row, b_column, ldc;
  T alpha, beta;
  constexpr void operator()(std::int64_t item) const {
    using math = typename kernels::scalar_lanes::template math<T>;
    const std::int64_t row = item / n;
    const std::int64_t column = item % n;
    T sum = T(0);
    for (std::int64_t i = 0; i < k; ++i)
      sum = math::add(sum, math::multiply(a[row * a_row + i * a_column], b[i * b_row + column * b_column]));
    sum = math::multiply(sum, scale != nullptr ? math::multiply(alpha, *scale) : alpha);
    T& to = c[row * ldc + column];
    to = beta == T(0) ? sum : math::add(sum, math::multiply(beta, to));
  }
};

template <class T>
product_items<T> product_of(bool ta, bool tb, std::int64_t n, std::int64_t k, T alpha, const T* scale, const T* a,
                            std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
  return {a, b, c, scale, n, k, ta ? 1 : lda, ta ? lda : 1, tb ? 1 : ldb, tb ? ldb : 1, ldc, alpha, beta};
}

template <class Program, int Step>
struct kernel_step {
  static constexpr auto info = Program::view.step_at(Step);
  static constexpr int plan_begin = leat::detail::plan_at(Program::view, Step);
  template <int O>
  using element = element_of<Program::view.buffer_at(info.operand_buffer(O)).type>;

  template <class Device, std::size_t... O>
  static void run(Device& device, const workspace& w, std::index_sequence<O...>) {
    using op = operator_with<info.code>;
    const kernels::step_numbers n(w.numbers + plan_begin + plan_numbers);
    void* p[]{w.buffers[info.operand_buffer(static_cast<int>(O))]...};
    using T = element<0>;
    if constexpr (std::is_same_v<op, matmul_op> || std::is_same_v<op, passes::matmul_update_op>) {
      const bool ta = n.attribute(0) != 0;
      const bool tb = n.attribute(1) != 0;
      T alpha = T(1);
      T beta = T(0);
      const T* scale = nullptr;
      if constexpr (std::is_same_v<op, passes::matmul_update_op>) {
        alpha = static_cast<T>(std::bit_cast<double>(n.attribute(2)));
        beta = T(1);
        if constexpr (sizeof...(O) > 3) scale = static_cast<const T*>(p[3]);
      }
      const std::int64_t columns = n.size(1, tb ? 0 : 1);
      device.multiply(ta, tb, n.size(0, ta ? 1 : 0), columns, n.size(0, ta ? 0 : 1), alpha, scale,
                      static_cast<const T*>(p[0]), n.size(0, 1), static_cast<const T*>(p[1]), n.size(1, 1), beta,
                      static_cast<T*>(p[2]), columns);
    } else if constexpr (kernels::has_kernel<op>) {
      constexpr int inputs = static_cast<int>(sizeof...(O)) - 1;
      using its = kernels::kernel_of<op>;
      if constexpr (kernels::looks_first<op>) {
        std::vector<std::byte> copies[sizeof...(O)];
        void* readable[sizeof...(O)]{};
        for (int k = 0; k < inputs; ++k) {
          copies[k].resize(static_cast<std::size_t>(its::template bytes_to_read<T>(n, k)));
          if (!copies[k].empty()) device.copy_out(copies[k].data(), p[k], copies[k].size());
          readable[k] = copies[k].data();
        }
        device.finish();
        its::template look<T>(readable, n, inputs);
      }
      constexpr int at = kernels::index_operand_of<op>() <= inputs ? kernels::index_operand_of<op>() : 0;
      const auto kernel = kernels::kernel_for<typename its::template type<T, element<at>>>(p, n, inputs);
      run_items(device, kernel, kernel.work());
    } else if constexpr (requires { op::template run_on_device<T>(device, p, n, 0); }) {
      op::template run_on_device<T>(device, p, n, static_cast<int>(sizeof...(O)) - 1);
    } else if constexpr (requires { &op::run_on_host; }) {
      constexpr int result = static_cast<int>(sizeof...(O)) - 1;
      std::vector<std::byte> copies[sizeof...(O)];
      void* readable[sizeof...(O)]{};
      for (int k = 0; k <= result; ++k) {
        copies[k].resize(static_cast<std::size_t>(n.product(k, 0, n.rank(k))) * sizeof(T));
        if (k < result && !copies[k].empty()) device.copy_out(copies[k].data(), p[k], copies[k].size());
        readable[k] = copies[k].data();
      }
      device.finish();
      op::run_on_host(readable, n, dtype_of<T>, result);
      if (!copies[result].empty()) device.copy_in(p[result], copies[result].data(), copies[result].size());
      device.finish();
    } else {
      static_assert(!sizeof(op), "this operator has no kernel on Thrust");
    }
  }
};

template <class Program, int Step, class Device>
void run_step(Device& device, const workspace& w) {
  constexpr auto info = Program::view.step_at(Step);
  constexpr auto operands = std::make_index_sequence<static_cast<std::size_t>(info.operand_count)>{};
  if constexpr (info.is_cluster) {
    using step = cluster_step<Program, Step>;
    step::run(device, w, operands, std::make_index_sequence<static_cast<std::size_t>(step::type::accumulating)>{});
  } else {
    kernel_step<Program, Step>::run(device, w, operands);
  }
}

}  // namespace detail

/// Runs all steps on a device, which provides for_each, find_out_of_range, multiply, copy_in, copy_out and finish.
template <class Program, class Device, std::size_t... Step>
void run_program(Device& device, const workspace& w, std::index_sequence<Step...>) {
  (detail::run_step<Program, static_cast<int>(Step)>(device, w), ...);
}

/// One of Thrust's host systems as a session's device. `Support` supplies the matrix products of other layers, and the processor's
/// floating-point mode during a step.
template <class System, class Support>
struct host_device : System {
  using workspace = leat::workspace;
  using mode = typename Support::mode;
  static constexpr chunk_limits chunks{};

  template <class Program, std::size_t... Step>
  void run(const workspace& w, std::index_sequence<Step...> steps) {
    run_program<Program>(*this, w, steps);
  }
  template <class Index>
  static std::int64_t find_out_of_range(const Index* indices, std::int64_t count, std::int64_t rows,
                                        bool passes_negative) {
    for (std::int64_t k = 0; k < count; ++k) {
      const auto i = static_cast<std::int64_t>(indices[k]);
      if (i >= rows || (i < 0 && !passes_negative)) return k;
    }
    return -1;
  }
  /// C = alpha scale op(A) op(B) + beta C; `scale` is 1 if null.
  template <class T>
  static void multiply(bool ta, bool tb, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const T* scale,
                       const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
    Support::multiply(ta, tb, m, n, k, scale != nullptr ? alpha * *scale : alpha, a, lda, b, ldb, beta, c, ldc);
  }
};

}  // namespace leat::on_thrust
