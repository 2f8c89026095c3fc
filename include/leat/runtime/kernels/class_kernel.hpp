#pragma once
// Nodes whose elements are moved or computed by the kernel of an operator's class (`kernels::kernel_of`), which typed programs run, too:
// the node checks its inputs in TensorFlow's words, with sizes that only a run knows, and calls the kernel without a program around it.

#include <leat/cpu/execute.hpp>
#include <leat/runtime/kernels/kernel.hpp>

#include <concepts>
#include <initializer_list>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace leat::runtime {

/// Proof that the kernel of the class `Op` has run: a value is made only by running it. The function of a node that returns one cannot have
/// another text for its elements (`register_class_kernel`).
template <class Op>
class computed_by {
 public:
  using op = Op;
  /// Runs the kernel for these dtypes, constructed from `arguments`. Indices must have been checked.
  template <class T, class Index = void, class... Arguments>
  static computed_by run(const Arguments&... arguments) {
    cpu::detail::run_checked_items(kernel<T, Index>(arguments...));
    return {};
  }
  /// For a result without elements, which needs no kernel. Errors: std::logic_error for another.
  static computed_by not_needed(const tensor_value& result) {
    if (result.elements() > 0) throw std::logic_error("a result with elements needs its kernel");
    return {};
  }
  /// Runs the kernel with these attributes and operands, as a step of a program would.
  template <class T, class Index>
  static computed_by run_step(const std::vector<std::int64_t>& attributes, std::initializer_list<const tensor_value*> operands,
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
    cpu::detail::run_items(
        kernels::kernel_for<kernel<T, Index>>(all.data(), kernels::step_numbers(numbers.data()), static_cast<int>(operands.size())));
    return {};
  }

 private:
  template <class T, class Index>
  using kernel = typename kernels::kernel_of<Op>::template type<T, Index>;
  computed_by() = default;
};

/// Registers the kernel of nodes of this type, whose function returns the proof that the kernel of a class has run.
template <class F>
  requires requires { typename std::invoke_result_t<F&, kernel_context&>::op; }
void register_class_kernel(std::string_view type, F f) {
  using op = typename std::invoke_result_t<F&, kernel_context&>::op;
  static_assert(std::same_as<std::invoke_result_t<F&, kernel_context&>, computed_by<op>>);
  leat::detail::enter_kernel(type, std::move(f), op::type);
}

}  // namespace leat::runtime
