#pragma once
// Programs that a typed session plans at run time: the passes process the graph of its expressions, and the interpreter executes the
// result. This header has only declarations, so that a program that uses it does not compile the passes; the bodies are in
// impl/session_plan.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/core/list.hpp>
#include <leat/kernels/program_plan.hpp>
#include <leat/passes/program.hpp>
#include <leat/session/typed/table.hpp>

#include <memory>
#include <span>
#include <utility>

namespace leat::detail {

/// Interface that is called before and after each step of a run.
class step_listener {
 public:
  virtual ~step_listener() = default;
  virtual void before(int step) = 0;
  virtual void after(int step) = 0;
};

class session_plan;

/// The program of one set of fetches. Immutable; sessions in several threads share it.
class planned_code {
 public:
  /// Errors: invalid_argument (a user-defined operator that is not registered, a graph that the passes reject).
  planned_code(const session_plan& of, std::span<const std::uint64_t> fetches);
  ~planned_code();
  planned_code(const planned_code&) = delete;
  planned_code& operator=(const planned_code&) = delete;

  const std::int64_t* data() const { return data_; }
  program_view view() const { return program_view(data_); }
  /// The calls of a small program, resolved for one plan; null for larger programs. Opaque.
  struct direct;
  struct delete_direct {
    void operator()(direct* d) const;
  };
  using direct_calls = std::unique_ptr<direct, delete_direct>;
  direct_calls resolve(const program_plan& plan) const;

  /// Runs the program. `calls`: the result of `resolve` for the workspace's plan. The caller has set the floating-point mode.
  /// Errors: those of the operators' kernels; then no variable has been written.
  void run(const workspace& w, direct* calls) const;
  void run(const workspace& w, step_listener& listener) const;

  struct leaf {
    std::uint64_t id;
    int buffer;
  };
  /// The buffer that a placeholder or number is bound to, or -1.
  int buffer_of_leaf(std::uint64_t id) const {
    for (const leaf& l : leaves_)
      if (l.id == id) return l.buffer;
    return -1;
  }
  /// The index of a named dimension, or -1.
  int number_of_name(std::int64_t dimension) const {
    for (std::size_t k = 0; k < names_.size(); ++k)
      if (names_[k] == dimension) return static_cast<int>(k);
    return -1;
  }
  int names() const { return static_cast<int>(names_.size()); }
  list_view<leaf> numbers() const { return numbers_; }  // buffers of single numbers
  list_view<leaf> arrays() const { return arrays_; }    // buffers of constant arrays

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
  const std::int64_t* data_ = nullptr;
  list<leaf> leaves_, numbers_, arrays_;
  list<std::int64_t> names_;
};

/// The expressions of one type of session; and its variables and numbers, including those that gradients and optimizers add.
class session_plan {
 public:
  /// `rows`: the result of `pack_expressions`, which must outlive this object; `targets`: the ids of the session's expressions.
  /// Errors: invalid_argument for expressions that contradict each other.
  session_plan(const std::int64_t* rows, std::span<const std::uint64_t> targets);
  session_plan(const session_plan&) = delete;
  session_plan& operator=(const session_plan&) = delete;

  session_view view() const { return session_view(table_.data()); }
  const std::int64_t* rows() const { return rows_; }

 private:
  const std::int64_t* rows_;
  list<std::int64_t> table_;
};

}  // namespace leat::detail
