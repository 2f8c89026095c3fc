#pragma once
// The step of a fused cluster on one of Thrust's systems: how its loops are cut into work items (cluster_items.hpp).

#include <leat/thrust/cluster_items.hpp>

namespace leat::on_thrust::detail {

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

  // Whether the cluster reads no array that it writes.
  static constexpr bool reads_apart = [] {
    const auto each = [](bool written, auto f) {
      for (int phase = 0; phase < type::phase_count; ++phase)
        for (int k = 0; k < type::phase_size(phase); ++k) {
          const int at = type::phase_at(phase) + words_per_instruction * k;
          const auto op = type::code[at];
          if (written && (op == store || op == reduce_array || op == reduce_cell || op == finish_all))
            f(static_cast<int>(type::code[at + 1]));
          if (!written && op == load) f(static_cast<int>(type::code[at + 2]));
        }
    };
    bool apart = true;
    each(true, [&](int to) {
      each(false, [&](int from) { apart = apart && info.operand_buffer(to) != info.operand_buffer(from); });
    });
    return apart;
  }();
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
          using team = typename Device::template lanes<32, false>;
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
  static void run_sums(Device& device, const cluster_data<type>& d) {
    if constexpr (has_teams<Device>) {
      using summing = decltype(cluster_on<typename Device::template one_lane<kernels::position_lanes, reads_apart>>());
      device.for_each_position(d.chunks, d.inner, cluster_items<summing, cut::elements>{d});
    } else {
      using summing = decltype(cluster_on<kernels::position_lanes>());
      device.for_each(d.chunks * d.inner, 1, cluster_items<summing, cut::elements>{d});
    }
  }
  template <class Device>
  static void run_chunks(Device& device, const cluster_data<type>& d, std::int64_t work) {
    if constexpr (has_teams<Device> && type::has_inner) {
      constexpr int size = team_size(info.loop(info.loop_count - 1));
      if constexpr (size > 1) {
        constexpr bool apart = reads_apart && type::spills == 0;  // row buffers are written and read
        using on_team = decltype(cluster_on<typename Device::template lanes<size, apart>>());
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
    if constexpr (in_registers) run_sums(device, d);
    else if constexpr (by_element) device.for_each(d.chunks * d.inner, 1, cluster_items<type, cut::elements>{d});
    else run_chunks(device, d, work);
    if constexpr (type::accumulating > 0)
      if (d.chunks > 1) (combine<Device, static_cast<int>(K)>(device, d), ...);
  }
};

}  // namespace leat::on_thrust::detail
