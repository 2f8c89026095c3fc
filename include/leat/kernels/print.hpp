#pragma once
// Printing by programs: the text that a run of `print` (ops/print.hpp) writes, and the stream that it goes to.

#include <leat/core/function_bodies.hpp>
#include <leat/kernels/whole_array.hpp>
#include <leat/ops/print.hpp>

#include <iosfwd>

namespace leat {

/// During its lifetime, typed sessions that run on this thread print to this stream, not to standard error.
class print_log {
 public:
  explicit print_log(std::ostream& to);
  ~print_log();
  print_log(const print_log&) = delete;
  print_log& operator=(const print_log&) = delete;

 private:
  std::ostream* before_;
};

namespace kernels {

/// Prints the operands of a step except the first, as one line. They must be in the host's memory.
void print_operands(void* const* operands, const step_numbers& numbers);

/// Copies the first operand to the result; `result` is the index of the latter among the operands.
template <class T>
struct print_kernel {
  static constexpr bool may_refuse = false;
  const T* in;
  T* out;
  std::int64_t count;
  print_kernel(void* const* p, const step_numbers& n, int result)
      : in(static_cast<const T*>(p[0])), out(static_cast<T*>(p[result])), count(n.product(0, 0, n.rank(0))) {}
  std::int64_t items() const { return count; }
  std::int64_t work() const { return 1; }
  constexpr void operator()(std::int64_t k) const { out[k] = in[k]; }
};
template <>
struct kernel_of<print_op> : kernel_without_indices<print_kernel> {
  static constexpr bool only_moves = true;
  template <class T>
  static std::int64_t bytes_to_read(const step_numbers& n, int k) {
    return k > 0 && k < n.attribute(1) ? n.product(k, 0, n.rank(k)) * size_of(static_cast<dtype>(n.attribute(2 + k))) : 0;
  }
  template <class T>
  static void look(void* const* p, const step_numbers& n, int) {
    print_operands(p, n);
  }
};

}  // namespace kernels

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/kernels/impl/print.hpp>
#endif
