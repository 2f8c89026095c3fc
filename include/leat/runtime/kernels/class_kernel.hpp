#pragma once
// Runs the kernel of an operator's class, which typed programs have as well, on the values of a node.

#include <leat/cpu/execute.hpp>
#include <leat/runtime/kernels/kernel.hpp>

#include <initializer_list>
#include <vector>

namespace leat::runtime {

/// Runs a kernel with these attributes and operands, as a step of a program would.
template <class Kernel>
void run_class_kernel(const std::vector<std::int64_t>& attributes, std::initializer_list<const tensor_value*> operands,
                      tensor_value& result) {
  std::vector<std::int64_t> numbers{static_cast<std::int64_t>(attributes.size())};
  numbers.insert(numbers.end(), attributes.begin(), attributes.end());
  const auto push = [&](const shape& s) {
    numbers.push_back(s.rank);
    numbers.insert(numbers.end(), s.dim, s.dim + s.rank);
  };
  std::vector<void*> all;
  for (const tensor_value* v : operands) {
    push(v->extent());
    all.push_back(const_cast<std::byte*>(v->data()));  // kernels only read their operands
  }
  push(result.extent());
  all.push_back(result.data());
  cpu::detail::run_items(kernels::kernel_for<Kernel>(all.data(), kernels::step_numbers(numbers.data()), static_cast<int>(operands.size())));
}

}  // namespace leat::runtime
