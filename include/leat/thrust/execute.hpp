#pragma once
// Runs a program's steps on one of Thrust's systems. Fused clusters have the same evaluator as on the CPU; here their loops are cut into
// work items. On the host, an item is a chunk of the plan, one element at a time. On a GPU, it is an element if elements are independent,
// and otherwise a chunk, whose rows a team of threads shares; the plan makes many small chunks there. Each chunk computes its own partial
// result of a sum over rows. These are then combined in an order that depends only on shapes, and so does the result. The types of work
// items contain only integers and plain types, because nvcc prints them.

#include <leat/kernels/cluster.hpp>
#include <leat/kernels/library.hpp>
#include <leat/kernels/program_plan.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <string>
#include <vector>

namespace leat::on_thrust {

/// Chunk sizes for a GPU: many small chunks.
inline constexpr chunk_limits device_chunks{.elements = 32, .most = 1 << 16, .most_partials = 4096, .most_pieces = 4096};

/// Whether a device runs items by teams of threads.
template <class Device>
concept has_teams = requires { Device::teams; };

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

// Sums over rows by elements: about this many threads, of at least so many rows each.
inline constexpr std::int64_t summing_threads = 1 << 18, fewest_summed_rows = 8;
// Partial results are combined by teams where results are few; where they are many, by threads, first in groups if there are many parts.
inline constexpr std::int64_t few_results = 256, many_parts = 32, many_parts_for_teams = 256;

/// The threads of a team for rows of this length: as many as there are positions, or 32; 1 for the shortest rows.
constexpr int team_size(term inner) {
  if (inner.powers != 0) return 32;
  int size = 1;
  while (size < 32 && size < inner.factor) size *= 2;
  return size <= 2 ? 1 : size;
}

/// All data of a cluster, stored by value.
template <int Operands, int Loops, int Accumulating>
struct cluster_numbers {
  void* base[at_least_one(Operands)];
  std::int64_t extents[at_least_one(Loops)];
  std::int64_t strides[at_least_one(Operands * Loops)];
  std::int64_t rows, inner;
  std::int64_t chunks, rows_per_chunk, inner_per_chunk;
  bool is_small;  // whether the number of an element takes 32 bits, whose division is many times as fast
  std::byte* scratch;
  std::int64_t scratch_row, own_scratch_row;
  std::byte* parts;  // partial results, by chunk; null if there is one chunk
  std::int64_t part_bytes;
  std::int64_t part_at[at_least_one(Accumulating)];
  std::int64_t part_elements[at_least_one(Accumulating)];
};
template <class Cluster>
using cluster_data = cluster_numbers<Cluster::operands, Cluster::loops, Cluster::accumulating>;

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
    run(item, data.scratch + item * Cluster::spills * data.scratch_row, data.scratch_row);
  }
  /// Runs an item with row buffers of its own.
  constexpr void operator()(std::int64_t item, std::byte* scratch) const { run(item, scratch, data.own_scratch_row); }

 private:
  constexpr void run(std::int64_t item, std::byte* scratch, std::int64_t scratch_row) const {
    kernels::cluster_range range{0, data.rows, 0, data.inner};
    std::int64_t chunk = item;
    if constexpr (Cut == cut::elements) {
      if (Cluster::outer == 0)
        chunk = 0;
      else if (data.is_small)
        chunk = static_cast<std::uint32_t>(item) / static_cast<std::uint32_t>(data.inner);
      else
        chunk = item / data.inner;
      range.begin = item - chunk * data.inner;
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
    a.scratch = scratch;
    a.scratch_row = scratch_row;
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

/// Item i + n g: combines element i of the parts g, g + groups, …, each lane of those that are its own, in order, and writes it to the g-th
/// result.
template <class Lanes, int Code, dtype Type>
struct combine_items {
  std::byte* to;
  std::int64_t to_bytes;
  const std::byte* parts;
  std::int64_t n, chunks, groups, bytes;
  constexpr void operator()(std::int64_t item) const {
    using T = element_of<Type>;
    using op = operator_with<Code>;
    const std::int64_t g = item / n;
    const std::int64_t i = item - g * n;
    std::int64_t c = g;
    if constexpr (kernels::team_of_threads<Lanes>) c += groups * Lanes::lane();
    const auto part = [&](std::int64_t k) { return static_cast<const T*>(static_cast<const void*>(parts + k * bytes))[i]; };
    T all = c < chunks ? part(c) : op::template identity<T>();
    for (c += groups * Lanes::count; c < chunks; c += groups * Lanes::count)
      all = op::template combine<kernels::scalar_math<T>, T>(all, part(c));
    static_cast<T*>(static_cast<void*>(to + g * to_bytes))[i] = Lanes::template across<op, T>(all);
  }
};

template <class Program, int Step>
struct cluster_step {
  static constexpr auto info = Program::view.step_at(Step);
  static constexpr int plan_begin = leat::detail::plan_at(Program::view, Step);
  // In a GPU's programs, types of kernels are named by their instructions alone, because nvcc prints the names: hence functions' results,
  // where an alias would be printed as it is written.
  template <class Lanes>
  static constexpr auto cluster_on() {
#ifdef __CUDACC__
    return kernels::written_cluster_of<Lanes, Program, Step>{};
#else
    return kernels::cluster_of<Lanes, Program, Step>{};
#endif
  }
  using type = decltype(cluster_on<kernels::scalar_lanes>());
  using summing = decltype(cluster_on<kernels::position_lanes>());

  // Whether all sums over rows have one place for each position.
  static constexpr bool sums_by_position = [] {
    for (int k = 0; k < type::accumulating; ++k)
      for (int l = 0; l + 1 < info.loop_count; ++l)
        if (info.operand_stride(type::accumulating_operand(k), l).factor != 0) return false;
    return type::accumulating > 0;
  }();
  // The bytes of the widest elements in row buffers.
  static constexpr std::int64_t spilled_bytes = [] {
    std::int64_t widest = 1;
    for (int phase = 0; phase < type::phase_count; ++phase)
      for (int k = 0; k < type::phase_size(phase); ++k) {
        const int at = type::phase_at(phase) + words_per_instruction * k;
        if (type::code[at] != spill) continue;
        const auto bytes = static_cast<std::int64_t>(size_of(register_type(unpack_signature(type::code[at + 5]).x)));
        widest = bytes > widest ? bytes : widest;
      }
    return widest;
  }();

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
    std::byte* const parts = d.parts + d.part_at[K];
    std::byte* const to = static_cast<std::byte*>(d.base[type::accumulating_operand(K)]);
    const std::int64_t n = d.part_elements[K];
    std::int64_t left = d.chunks;
    if constexpr (Device::shares_memory) {
      device.for_each(n, left, combined_by<kernels::scalar_lanes, K>(to, 0, parts, n, left, 1, d.part_bytes));
    } else {
      constexpr std::int64_t groups = many_parts;  // the first results of groups replace the first parts, which only they have read
      if constexpr (has_teams<Device>) {
        if (n <= few_results) {
          using team = typename Device::template lanes<32>;
          if (left > many_parts_for_teams) {
            device.template for_each_team<32>(n * groups, combined_by<team, K>(parts, d.part_bytes, parts, n, left, groups, d.part_bytes));
            left = groups;
          }
          device.template for_each_team<32>(n, combined_by<team, K>(to, 0, parts, n, left, 1, d.part_bytes));
          return;
        }
      }
      if (left > many_parts) {
        device.for_each(n * groups, 1, combined_by<kernels::scalar_lanes, K>(parts, d.part_bytes, parts, n, left, groups, d.part_bytes));
        left = groups;
      }
      device.for_each(n, left, combined_by<kernels::scalar_lanes, K>(to, 0, parts, n, left, 1, d.part_bytes));
    }
  }
  template <class Lanes, int K>
  static constexpr auto combined_by(std::byte* to, std::int64_t to_bytes, const std::byte* parts, std::int64_t n, std::int64_t chunks,
                                    std::int64_t groups, std::int64_t bytes) {
    return combine_items<Lanes, type::accumulating_code(K), type::accumulating_type(K)>{to, to_bytes, parts, n, chunks, groups, bytes};
  }

  template <class Device>
  static void run_chunks(Device& device, const cluster_data<type>& d, std::int64_t work) {
    if constexpr (has_teams<Device> && type::has_inner) {
      constexpr int size = team_size(info.loop(info.loop_count - 1));
      if constexpr (size > 1) {
        using on_team = decltype(cluster_on<typename Device::template lanes<size>>());
        cluster_items<on_team, cut::chunks> items{d};
        if constexpr (type::spills > 0) {
          items.data.own_scratch_row = leat::detail::divide_up(d.inner * spilled_bytes, 16) * 16;
          if (device.template for_each_team_with<size>(d.chunks, type::spills * items.data.own_scratch_row, items)) return;
        }
        device.template for_each_team<size>(d.chunks, items);
        return;
      }
    }
    device.for_each(d.chunks, work, cluster_items<type, cut::chunks>{d});
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
    constexpr bool in_registers = by_element && sums_by_position;
    if constexpr (by_element) {
      if (type::accumulating == 0) {
        d.chunks = d.rows;
        d.rows_per_chunk = 1;
      } else if (d.rows_per_chunk == 0) {  // there is one row, which would be cut into chunks
        d.chunks = 1;
        d.rows_per_chunk = d.rows;
      } else if (d.chunks > 1) {
        using leat::detail::divide_up, leat::detail::larger;
        const std::int64_t chunks = divide_up(summing_threads, larger(d.inner, 1));
        d.rows_per_chunk = larger(d.rows_per_chunk, larger(divide_up(d.rows, chunks), fewest_summed_rows));
        d.chunks = divide_up(d.rows, d.rows_per_chunk);
      }
    }
    d.is_small = d.chunks * d.inner <= std::int64_t{0x7fffffff};
    if constexpr (type::accumulating > 0) {
      ((d.part_elements[K] = result_elements(type::accumulating_operand(K), plan)), ...);
      if (d.chunks > 1) {
        d.parts = w.arena + plan[plan_partials];
        ((d.part_at[K] = d.part_bytes,
          d.part_bytes += leat::detail::divide_up(d.part_elements[K] * size_of(type::accumulating_type(K)), 64) * 64),
         ...);
      }
      if constexpr (!in_registers) (start<Device, static_cast<int>(K)>(device, d), ...);
    }
    const std::int64_t work = d.rows * d.inner / (d.chunks > 0 ? d.chunks : 1) + 1;
    if constexpr (in_registers) device.for_each(d.chunks * d.inner, 1, cluster_items<summing, cut::elements>{d});
    else if constexpr (by_element) device.for_each(d.chunks * d.inner, 1, cluster_items<type, cut::elements>{d});
    else run_chunks(device, d, work);
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

template <bool Checks, class Device, class Kernel>
void run_items(Device& device, const Kernel& kernel, std::int64_t work) {
  if constexpr (Kernel::may_refuse && Checks) {
    const bool passes_negative = kernels::drops_negative(kernel);
    const std::int64_t at = device.find_out_of_range(kernel.indices, kernel.count, kernel.rows, passes_negative);
    if (at >= 0) {
      std::remove_cvref_t<decltype(*kernel.indices)> index;
      device.copy_out(&index, kernel.indices + at, sizeof index);
      device.finish();
      throw invalid_argument(kernels::out_of_range_text(kernel, index, at));
    }
  }
  if constexpr (has_teams<Device> && kernels::sums_parts<Kernel>) device.for_each_sum(kernel);
  else device.for_each(kernel.items(), work, kernel);
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
  using op = operator_with<info.code>;

  static constexpr int index_operand = [] {
    if constexpr (kernels::has_kernel<op>)
      if (kernels::index_operand_of<op>() < info.operand_count) return static_cast<int>(kernels::index_operand_of<op>());
    return 0;
  }();
  template <class Op>
  struct kernel_type_of {
    using type = typename kernels::kernel_of<Op>::template type<element<0>, element<index_operand>>;
    static constexpr bool may_refuse = type::may_refuse;
  };
  struct no_kernel {
    using type = void;
    static constexpr bool may_refuse = false;
  };
  using its_kernel = typename std::conditional_t<kernels::has_kernel<op>, kernel_type_of<op>, no_kernel>;
  using kernel_type = typename its_kernel::type;
  // Whether the step checks indices that are fed. The host does so before the steps, on a device with memory of its own.
  static constexpr bool checks_fed_indices =
      its_kernel::may_refuse && Program::view.buffer_at(info.operand_buffer(index_operand)).where == storage::feed;
  // Whether the step waits for a device with memory of its own: it looks at indices or at arrays before it starts, or computes on the host.
  static constexpr bool waits = [] {
    if (std::is_same_v<op, matmul_op> || std::is_same_v<op, passes::matmul_update_op>) return false;
    if constexpr (kernels::has_kernel<op>) return kernels::looks_first<op> || (its_kernel::may_refuse && !checks_fed_indices);
    return true;
  }();

  /// Checks fed indices, given the host's addresses.
  template <std::size_t... O>
  static void check_fed(void* const* buffers, const std::int64_t* numbers, std::index_sequence<O...>) {
    if constexpr (checks_fed_indices) {
      void* p[]{buffers[info.operand_buffer(static_cast<int>(O))]...};
      const auto kernel =
          kernels::kernel_for<kernel_type>(p, kernels::step_numbers(numbers + plan_begin + plan_numbers), static_cast<int>(sizeof...(O)) - 1);
      const std::int64_t at = kernels::find_out_of_range(kernel.indices, kernel.count, kernel.rows, kernels::drops_negative(kernel));
      if (at >= 0) throw invalid_argument(kernels::out_of_range_text(kernel, kernel.indices[at], at));
    }
  }

  template <class Device, std::size_t... O>
  static void run(Device& device, const workspace& w, std::index_sequence<O...>) {
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
      const auto kernel = kernels::kernel_for<kernel_type>(p, n, inputs);
      run_items<Device::shares_memory || !checks_fed_indices>(device, kernel, kernel.work());
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

namespace detail {

// Whether a step waits for the device, so that it cannot be recorded.
template <class Program, int Step>
constexpr bool waits() {
  if constexpr (Program::view.step_at(Step).is_cluster) return false;
  else return kernel_step<Program, Step>::waits;
}
template <class Program, int Step>
void check_fed_indices(void* const* buffers, const std::int64_t* numbers) {
  constexpr auto info = Program::view.step_at(Step);
  if constexpr (!info.is_cluster)
    kernel_step<Program, Step>::check_fed(buffers, numbers, std::make_index_sequence<static_cast<std::size_t>(info.operand_count)>{});
}
template <class Program, std::size_t... Step>
void check_all_fed_indices(void* const* buffers, const std::int64_t* numbers, std::index_sequence<Step...>) {
  (check_fed_indices<Program, static_cast<int>(Step)>(buffers, numbers), ...);
}
template <class Program, std::size_t... Step>
constexpr auto waiting_steps(std::index_sequence<Step...>) {
  return std::array<bool, sizeof...(Step) + 1>{waits<Program, static_cast<int>(Step)>()..., false};
}
// The steps of a program, cut where one waits.
template <class Program>
struct recorded_parts {
  static constexpr int steps = Program::view.steps();
  static constexpr auto waiting = waiting_steps<Program>(std::make_index_sequence<static_cast<std::size_t>(steps)>{});
  static constexpr int end_of(int begin) {
    while (begin < steps && !waiting[static_cast<std::size_t>(begin)]) ++begin;
    return begin;
  }
  static constexpr int count = [] {
    int parts = 1;
    for (int k = 0; k < steps; ++k) parts += waiting[static_cast<std::size_t>(k)] ? 1 : 0;
    return parts;
  }();

  template <int Begin, class Device, std::size_t... I>
  static void run_steps(Device& device, const workspace& w, std::index_sequence<I...>) {
    (run_step<Program, Begin + static_cast<int>(I)>(device, w), ...);
  }
  template <int Begin, class Device, class Recording, class Last>
  static void run(Device& device, const workspace& w, Recording* recording, Last last) {
    constexpr int end = end_of(Begin);
    device.repeat(*recording, w.buffers, static_cast<std::size_t>(Program::view.buffers()), [&] {
      run_steps<Begin>(device, w, std::make_index_sequence<static_cast<std::size_t>(end - Begin)>{});
      if constexpr (end == steps) last();
    });
    if constexpr (end < steps) {
      run_step<Program, end>(device, w);
      run<end + 1>(device, w, recording + 1, last);
    }
  }
};

}  // namespace detail

/// The number of recordings of a program's run.
template <class Program>
inline constexpr std::size_t recordings_of = static_cast<std::size_t>(detail::recorded_parts<Program>::count);

/// Runs all steps, and then `last`, on a device that repeats what it has recorded: `device.repeat(recording, addresses, count, steps)` calls
/// `steps`, or does again what an earlier call for these addresses did, without the host's part in it. Steps that wait for the device run
/// between the recordings. Fed indices are checked before, where the host has them: `on_host` are its addresses of the buffers.
template <class Program, class Device, class Recording, class Last>
void run_recorded(Device& device, const workspace& w, void* const* on_host, Recording* recordings, Last last) {
  detail::check_all_fed_indices<Program>(on_host, w.numbers, std::make_index_sequence<static_cast<std::size_t>(Program::view.steps())>{});
  detail::recorded_parts<Program>::template run<0>(device, w, recordings, last);
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
    return kernels::find_out_of_range(indices, count, rows, passes_negative);
  }
  /// C = alpha scale op(A) op(B) + beta C; `scale` is 1 if null.
  template <class T>
  static void multiply(bool ta, bool tb, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const T* scale,
                       const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
    Support::multiply(ta, tb, m, n, k, scale != nullptr ? alpha * *scale : alpha, a, lda, b, ldb, beta, c, ldc);
  }
};

}  // namespace leat::on_thrust
