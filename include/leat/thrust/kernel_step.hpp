#pragma once
// The step of an operator with a kernel (kernels/library.hpp) on one of Thrust's systems, with the checks of its indices.

#include <leat/kernels/library.hpp>
#include <leat/kernels/product.hpp>
#include <leat/thrust/cluster_items.hpp>

#include <bit>
#include <cstddef>
#include <string>
#include <vector>

namespace leat::on_thrust::detail {

using kernels::product_of;

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
      const auto kernel = kernels::kernel_for<kernel_type>(p, kernels::step_numbers(numbers + plan_begin + plan_numbers),
                                                           static_cast<int>(sizeof...(O)) - 1);
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

}  // namespace leat::on_thrust::detail
