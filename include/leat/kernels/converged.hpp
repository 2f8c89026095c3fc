#pragma once
// The kernel of the check that a method has reached its result (ops/converged.hpp).

#include <leat/kernels/whole_array.hpp>
#include <leat/ops/converged.hpp>

#include <bit>
#include <sstream>

namespace leat::kernels {

/// Copies what is near enough.
template <class T>
struct check_converged_kernel {
  static constexpr bool may_refuse = false;
  const T* in;
  T* out;
  std::int64_t count;
  check_converged_kernel(void* const* p, const step_numbers& n)
      : in(static_cast<const T*>(p[0])), out(static_cast<T*>(p[2])), count(n.product(0, 0, n.rank(0))) {}
  std::int64_t items() const { return count; }
  std::int64_t work() const { return 1; }
  constexpr void operator()(std::int64_t k) const { out[k] = in[k]; }
};
template <>
struct kernel_of<check_converged_op> : kernel_without_indices<check_converged_kernel> {
  static constexpr dtype takes[]{dtype::float32, dtype::float64};
  template <class T>
  static std::int64_t bytes_to_read(const step_numbers&, int k) {
    return k == 1 ? static_cast<std::int64_t>(sizeof(T)) : 0;
  }
  template <class T>
  static void look(void* const* p, const step_numbers& n, int) {
    const double residual = static_cast<double>(*static_cast<const T*>(p[1])), tolerance = std::bit_cast<double>(n.attribute(0));
    if (residual <= tolerance) return;
    const auto which = static_cast<approach>(n.attribute(2));
    std::ostringstream text;
    if (which == approach::end_of_time) {
      text << method_of(which) << ": " << n.attribute(1) << " steps are too few: " << residual
           << " of the time is left; allow more steps, or larger errors; a slope that is NaN or infinite is never accepted";
      throw failed_precondition(text.str());
    }
    text << method_of(which) << ": no convergence in " << n.attribute(1) << " steps: the residual is " << residual << ", and at most "
         << tolerance << " is asked for; begin nearer, or allow more steps";
    throw failed_precondition(text.str());
  }
};

}  // namespace leat::kernels
