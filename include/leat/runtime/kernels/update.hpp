#pragma once
// Kernels of optimizers' updates, "Apply..." for a dense gradient and "SparseApply..." for rows: the formulas of ops/updates.hpp on single
// elements, with the interpreter's scalar math.

#include <leat/core/fill.hpp>
#include <leat/kernels/math/scalar_math.hpp>
#include <leat/ops/updates.hpp>
#include <leat/runtime/kernels/state.hpp>

#include <cstring>
#include <utility>

namespace leat::runtime {

/// The inputs of an optimizer's update: variables that change together, a gradient of their shape, and rates.
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
  /// Like `run`, for some rows: calls `change(pointers to the row, gradient's row, width)` for one row after the other.
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
  /// Changes the rows that input `indices` selects, or all elements if it is -1.
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

// The value of an update's only flag, "update_slots: bool = true".
inline bool flag_of(const kernel_context& c, std::string_view flags) {
  return !flags.empty() && c.node.flag(flags.substr(0, flags.find(':')), flags.ends_with("true"));
}

/// An element as an operand of formulas; functions are the operators' own element functions.
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
  friend update_number exp(update_number a) { return {exp_op::apply<math>(a.value)}; }
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

/// Computes an update at one position of the variables: `values` holds their elements before it, `after` those after it.
template <class T, std::size_t Inputs, bool Flag>
struct update_writer {
  using number = update_number<T>;
  const std::array<number, Inputs>& values;
  std::array<number, Inputs>& after;

  number input(int k) const { return values[static_cast<std::size_t>(k)]; }
  template <int N>
  std::array<number, N> inputs() const {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return std::array<number, N>{values[K]...};
    }(std::make_index_sequence<static_cast<std::size_t>(N)>{});
  }
  bool flag(std::string_view, bool) const { return Flag; }  // an update has at most one flag
  void assign(int k, number to) { after[static_cast<std::size_t>(k)] = to; }
  void assign_sub(int k, number by) { after[static_cast<std::size_t>(k)] = values[static_cast<std::size_t>(k)] - by; }
  number negative_power(number x, number power) const {
    using math = typename number::math;
    return {power.value == T(-0.5) ? sqrt_op::apply<math>(x.value) : pow_op::apply<math>(x.value, -power.value)};
  }
};

/// Applies an update to arrays, in blocks of a known length that are copied, for the reason given in element_blocks.hpp.
template <class Update, bool Flag, class T>
class update_loop {
  static constexpr update::layout inputs = update::inputs_of<Update>;
  static constexpr auto count = static_cast<std::size_t>(inputs.count);
  static constexpr auto variables = static_cast<std::size_t>(inputs.variables());
  static constexpr std::int64_t block = 256 / static_cast<std::int64_t>(sizeof(T));
  static constexpr auto slot_of = [] {  // indexed by input: its number among the variables
    std::array<std::size_t, count> all{};
    std::size_t slots = 0;
    for (std::size_t k = 0; k < count; ++k)
      if (inputs.roles[k] == update::role::variable) all[k] = slots++;
    return all;
  }();

 public:
  using numbers = std::array<update_number<T>, count>;

  static void run(const numbers& scalars, T* const* variable, const T* gradient, std::int64_t elements) {
    std::int64_t i = 0;
    for (; i + block <= elements; i += block) run_block<true>(scalars, variable, gradient, i, block);
    if (i < elements) run_block<false>(scalars, variable, gradient, i, elements - i);
  }

 private:
  template <bool Whole>
  static void run_block(const numbers& scalars, T* const* variable, const T* gradient, std::int64_t from, std::int64_t left) {
    const std::int64_t n = Whole ? block : left;
    const auto bytes = static_cast<std::size_t>(n) * sizeof(T);
    T at[variables][block];
    T slopes[block];
    for (std::size_t v = 0; v < variables; ++v) std::memcpy(at[v], variable[v] + from, bytes);
    std::memcpy(slopes, gradient + from, bytes);
    for (std::int64_t i = 0; i < n; ++i) change(scalars, at, slopes, i, std::make_index_sequence<count>{});
    for (std::size_t v = 0; v < variables; ++v) std::memcpy(variable[v] + from, at[v], bytes);
  }
  template <std::size_t... K>
  [[gnu::always_inline]] static void change(const numbers& scalars, T (&at)[variables][block], const T (&slopes)[block], std::int64_t i,
                                            std::index_sequence<K...>) {
    const numbers values{(inputs.roles[K] == update::role::variable   ? update_number<T>{at[slot_of[K]][i]}
                          : inputs.roles[K] == update::role::gradient ? update_number<T>{slopes[i]}
                                                                      : scalars[K])...};
    numbers after = values;
    update_writer<T, count, Flag> w{values, after};
    Update::expand(w);
    ((inputs.roles[K] == update::role::variable ? static_cast<void>(at[slot_of[K]][i] = after[K].value) : void()), ...);
  }
};

/// Runs an update on all elements or, if indices follow the gradient, on rows.
template <class Update>
void run_update(kernel_context& c, bool of_rows) {
  constexpr const update::layout& inputs = update::inputs_of<Update>;
  const auto at = [&](int k) { return of_rows && k > inputs.gradient ? k + 1 : k; };
  apply_call call(c, inputs.variables(), inputs.gradient);
  const bool flag = flag_of(c, Update::flags);
  with_fraction(c.type(inputs.gradient), [&]<class T>(T) {
    std::array<update_number<T>, static_cast<std::size_t>(inputs.count)> scalars{};
    for (int k = 0; k < inputs.count; ++k)
      if (inputs.roles[k] == update::role::scalar) scalars[static_cast<std::size_t>(k)].value = call.template rate<T>(at(k));
    call.template run_at<T>(of_rows ? inputs.gradient + 1 : -1, [&](T* const* variables, const T* gradient, std::int64_t elements) {
      if constexpr (!Update::flags.empty())
        if (flag) return update_loop<Update, true, T>::run(scalars, variables, gradient, elements);
      update_loop<Update, false, T>::run(scalars, variables, gradient, elements);
    });
  });
}

LEAT_FILL(fill_update_kernels) {
  const auto add = []<class Update>(std::type_identity<Update>) {
    for (const std::string by : {"", "Resource"}) {
      if (by.empty() && !update::has_references<Update>) continue;
      register_kernel(by + "Apply" + std::string(Update::name), [](kernel_context& c) { run_update<Update>(c, false); });
      if (Update::of_rows)
        register_kernel(by + "SparseApply" + std::string(Update::name), [](kernel_context& c) { run_update<Update>(c, true); });
    }
  };
  [&]<class... Updates>(std::type_identity<std::tuple<Updates...>>) {
    (add(std::type_identity<Updates>{}), ...);
  }(std::type_identity<update::operators<std::tuple>>{});
}

}  // namespace leat::runtime
