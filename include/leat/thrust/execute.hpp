#pragma once
// Runs a program's steps on one of Thrust's systems. Fused clusters have the same evaluator as on the CPU; here their loops are cut into
// work items. On the host, an item is a chunk of the plan, one element at a time. On a GPU, it is an element if elements are independent,
// and otherwise a chunk, whose rows a team of threads shares; the plan makes many small chunks there. Each chunk computes its own partial
// result of a sum over rows. These are then combined in an order that depends only on shapes, and so does the result. The types of work
// items contain only integers and plain types, because nvcc prints them.

#include <leat/thrust/recordings.hpp>
#include <leat/thrust/run_steps.hpp>

namespace leat::on_thrust {

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
