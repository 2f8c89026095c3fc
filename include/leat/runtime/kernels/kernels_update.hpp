#pragma once
// Kernels of optimizers' steps, "Apply..." of a whole gradient and "SparseApply..." of rows: the formulas of ops/updates.hpp over single
// numbers, in the math of the interpreter's scalars.

#include <leat/core/early.hpp>
#include <leat/kernels/math/scalar_math.hpp>
#include <leat/ops/updates.hpp>
#include <leat/runtime/kernels/kernels_state.hpp>

namespace leat::runtime {

/// The inputs of an optimizer's update: variables that change together, a gradient of their shape, rates.
class apply_call {
 public:
  apply_call(kernel_context& c, int variables, int gradient) : c_(c), gradient_(c.input(gradient)) {
    for (int k = 0; k < variables; ++k) slots_.push_back(&c.variable(k));
    for (int k = 0; k < variables; ++k)
      for (int j = 0; j < k; ++j)
        if (slots_[static_cast<std::size_t>(k)] == slots_[static_cast<std::size_t>(j)])
          throw invalid_argument("one variable twice: '" + slots_[static_cast<std::size_t>(k)]->name() + "'");
  }
  template <class T>
  T rate(int input) {
    const tensor_value& v = c_.input(input);
    if (v.extent().rank != 0) throw invalid_argument("input " + std::to_string(input) + " is not a scalar: " + brackets(v.extent()));
    return v.type() == dtype::int64 ? static_cast<T>(v.as<std::int64_t>()) : v.as<T>();
  }
  /// Calls `change(pointers, gradient, elements)` with all variables locked and their elements unshared.
  template <class T, class Change>
  void run(Change change) {
    std::vector<variable_slot*> order = slots_;
    std::sort(order.begin(), order.end());
    std::vector<std::unique_lock<std::mutex>> locks;
    for (auto* s : order) locks.emplace_back(s->guard());
    for (auto* s : slots_) {
      const tensor_value& held = s->locked_value();
      if (!held) s->fail();
      if (held.type() != gradient_.type() || !(held.extent() == gradient_.extent()))
        throw invalid_argument("var and grad do not have the same shape or dtype: '" + s->name() + "' " + dtype_name(held.type()) + " " +
                               brackets(held.extent()) + " and " + dtype_name(gradient_.type()) + " " + brackets(gradient_.extent()));
    }
    std::vector<T*> at;
    for (auto* s : slots_) {
      tensor_value& held = s->locked_value();
      if (!held.is_alone()) held = held.copy();
      at.push_back(held.values<T>().data());
    }
    change(at.data(), gradient_.values<T>().data(), gradient_.elements());
    c_.set_variable(0, *slots_[0]);
  }
  /// The same for some rows: `change(pointers to the row, gradient's row, width)`, row after row.
  template <class T, class Change>
  void run_rows(const std::vector<std::int64_t>& indices, Change change) {
    std::vector<variable_slot*> order = slots_;
    std::sort(order.begin(), order.end());
    std::vector<std::unique_lock<std::mutex>> locks;
    for (auto* s : order) locks.emplace_back(s->guard());
    std::int64_t width = 1;
    for (auto* s : slots_) {
      const tensor_value& held = s->locked_value();
      if (!held) s->fail();
      const shape& e = held.extent();
      if (e.rank < 1 || !(e == slots_[0]->locked_value().extent())) throw invalid_argument("var and its slots must have the same shape");
      width = e[0] == 0 ? 0 : held.elements() / e[0];
      if (gradient_.elements() != static_cast<std::int64_t>(indices.size()) * width)
        throw invalid_argument("grad must have a row for each index: " + brackets(gradient_.extent()));
      check_indices(indices, e[0], "Index ");
    }
    std::vector<T*> at;
    for (auto* s : slots_) {
      tensor_value& held = s->locked_value();
      if (!held.is_alone()) held = held.copy();
      at.push_back(held.values<T>().data());
    }
    const T* gradient = gradient_.values<T>().data();
    for (std::size_t k = 0; k < indices.size(); ++k) {
      std::vector<T*> row;
      for (T* p : at) row.push_back(p + indices[k] * width);
      change(row.data(), gradient + static_cast<std::int64_t>(k) * width, width);
    }
    c_.set_variable(0, *slots_[0]);
  }
  /// On the rows that input `indices` selects, or on all elements if it is -1.
  template <class T, class F>
  void run_at(int indices, F change) {
    if (indices < 0) run<T>(change);
    else run_rows<T>(c_.numbers(indices), change);
  }

 private:
  kernel_context& c_;
  tensor_value gradient_;
  std::vector<variable_slot*> slots_;
};

// The value of the one flag of an update, "update_slots: bool = true".
inline bool flag_of(const kernel_context& c, std::string_view flags) {
  return !flags.empty() && c.node.flag(flags.substr(0, flags.find(':')), flags.ends_with("true"));
}

/// A number as an operand of formulas, by the operators' own element functions.
template <class T>
struct update_number {
  T value;
  using math = kernels::scalar_math<T>;
  friend update_number operator+(update_number a, update_number b) { return {a.value + b.value}; }
  friend update_number operator-(update_number a, update_number b) { return {a.value - b.value}; }
  friend update_number operator*(update_number a, update_number b) { return {a.value * b.value}; }
  friend update_number operator/(update_number a, update_number b) { return {a.value / b.value}; }
  friend update_number operator+(int a, update_number b) { return {static_cast<T>(a) + b.value}; }
  friend update_number operator-(int a, update_number b) { return {static_cast<T>(a) - b.value}; }
  friend update_number operator*(int a, update_number b) { return {static_cast<T>(a) * b.value}; }
  friend update_number square(update_number a) { return {square_op::apply<math>(a.value)}; }
  friend update_number sqrt(update_number a) { return {sqrt_op::apply<math>(a.value)}; }
  friend update_number abs(update_number a) { return {abs_op::apply<math>(a.value)}; }
  friend update_number sign(update_number a) { return {sign_op::apply<math>(a.value)}; }
  friend update_number maximum(update_number a, update_number b) { return {maximum_op::apply<math>(a.value, b.value)}; }
  friend bool greater(update_number a, update_number b) { return a.value > b.value; }
  friend update_number select(bool condition, update_number a, update_number b) { return condition ? a : b; }
  template <int Value>
  friend update_number constant_beside(const update_number&) {
    return {static_cast<T>(Value)};
  }
};

/// Writes an update over the numbers at one place of the variables.
template <class T, std::size_t Inputs>
struct update_writer {
  using number = update_number<T>;
  const std::array<number, Inputs>& values;
  const std::array<T*, Inputs>& places;  // of the variables among the inputs
  bool its_flag;                         // an update has at most one

  number input(int k) const { return values[static_cast<std::size_t>(k)]; }
  template <int N>
  std::array<number, N> inputs() const {
    std::array<number, N> all;
    for (std::size_t k = 0; k < N; ++k) all[k] = values[k];
    return all;
  }
  bool flag(std::string_view, bool) const { return its_flag; }
  void assign(int k, number to) { *places[static_cast<std::size_t>(k)] = to.value; }
  void assign_sub(int k, number by) { *places[static_cast<std::size_t>(k)] = values[static_cast<std::size_t>(k)].value - by.value; }
  number negative_power(number x, number power) const {
    using math = typename number::math;
    return {power.value == T(-0.5) ? sqrt_op::apply<math>(x.value) : pow_op::apply<math>(x.value, -power.value)};
  }
};

/// Runs an update on all elements, or, with indices behind the gradient, on rows.
template <class Update>
void run_update(kernel_context& c, bool of_rows) {
  constexpr const update::layout& inputs = update::inputs_of<Update>;
  static constexpr auto count = static_cast<std::size_t>(inputs.count);
  const auto at = [&](int k) { return of_rows && k > inputs.gradient ? k + 1 : k; };
  apply_call call(c, inputs.variables(), inputs.gradient);
  const bool flag = flag_of(c, Update::flags);
  with_fraction(c.type(inputs.gradient), [&]<class T>(T) {
    std::array<update_number<T>, count> scalars{};
    for (int k = 0; k < inputs.count; ++k)
      if (inputs.roles[k] == update::role::scalar) scalars[static_cast<std::size_t>(k)].value = call.template rate<T>(at(k));
    const auto change = [&](T** variables, const T* gradient, std::int64_t elements) {
      for (std::int64_t i = 0; i < elements; ++i) {
        std::array<update_number<T>, count> values = scalars;
        std::array<T*, count> places{};
        for (std::size_t k = 0, slot = 0; k < count; ++k) {
          if (inputs.roles[k] == update::role::variable) {
            places[k] = variables[slot++] + i;
            values[k].value = *places[k];
          }
        }
        values[static_cast<std::size_t>(inputs.gradient)].value = gradient[i];
        update_writer<T, count> w{values, places, flag};
        Update::expand(w);
      }
    };
    call.template run_at<T>(of_rows ? inputs.gradient + 1 : -1, change);
  });
}

LEAT_EARLY inline const leat::detail::filled_early update_kernels_known{[] {
  const auto add = []<class Update>(std::type_identity<Update>) {
    register_kernel("Apply" + std::string(Update::name), [](kernel_context& c) { run_update<Update>(c, false); });
    if (Update::of_rows) register_kernel("SparseApply" + std::string(Update::name), [](kernel_context& c) { run_update<Update>(c, true); });
  };
  [&]<class... Updates>(std::type_identity<std::tuple<Updates...>>) {
    (add(std::type_identity<Updates>{}), ...);
  }(std::type_identity<update::operators<std::tuple>>{});
}};

}  // namespace leat::runtime
