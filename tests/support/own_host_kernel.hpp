#pragma once
// An operator outside of the library, which runs in host memory: a vector backward. A first element that is negative it refuses.

#include <leat/cpu/interpret/registry.hpp>
#include <leat/expr/tensor.hpp>
#include <leat/kernels/whole_array.hpp>

namespace leat_test {

struct backward_op {
  static constexpr std::string_view type = "test.Backward";
  static constexpr leat::op_kind kind = leat::op_kind::kernel;
  static constexpr bool may_refuse = true;
  static constexpr leat::inference infer(const leat::operand_list& x) { return {x.type(0), x.extent(0)}; }
  static void run_on_host(void* const* p, const leat::kernels::step_numbers& n, leat::dtype dtype, int inputs) {
    if (dtype != leat::dtype::float32 || inputs != 1) throw leat::invalid_argument("one vector of float32");
    const auto* const in = static_cast<const float*>(p[0]);
    auto* const out = static_cast<float*>(p[1]);
    const std::int64_t count = n.size(0, 0);
    if (count > 0 && in[0] < 0) throw leat::invalid_argument("a negative beginning");
    for (std::int64_t k = 0; k < count; ++k) out[k] = in[count - 1 - k];
  }
};
inline leat::cpu::kernel_function find_backward(const leat::dtype*, int) {
  return [](void* const* p, const leat::kernels::step_numbers& n, int count) {
    backward_op::run_on_host(p, n, leat::dtype::float32, count - 1);
  };
}

}  // namespace leat_test
