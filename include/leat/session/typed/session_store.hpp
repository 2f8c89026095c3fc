#pragma once
// The variables of a typed session, and the numbers that its expressions carry, on any device: storage, initial values, and access from the
// host. basic_session.hpp adds the runs.

#include <leat/core/list.hpp>
#include <leat/cpu/execute.hpp>
#include <leat/session/typed/bind.hpp>
#include <leat/session/typed/guard.hpp>
#include <leat/session/typed/initialize.hpp>
#include <leat/session/typed/refusals.hpp>
#include <leat/session/typed/step_memory.hpp>
#include <leat/session/typed/table.hpp>

#include <atomic>
#include <span>
#include <string>
#include <vector>

namespace leat::detail {

// Whether a device's programs are planned at run time instead of by the compiler.
template <class Device>
inline constexpr bool plans_programs = requires { Device::plans_programs; };
template <class Device>
struct choose_table {
  template <class... Es>
  using type = session_table<Es...>;
  template <class Table, class... Fs>
  using program = program_table<Fs...>;
};
template <class Device, class... Es>
using table_of = typename choose_table<Device>::template type<Es...>;

// One value per variable or number of a session; their count is known to the compiler or, if `Planned`, at construction.
template <bool Planned, class T, std::size_t Size>
struct session_list : std::array<T, Size> {
  explicit session_list(int) : std::array<T, Size>{} {}
};
template <class T, std::size_t Size>
struct session_list<true, T, Size> : std::vector<T> {
  explicit session_list(int size) : std::vector<T>(static_cast<std::size_t>(size) + 1) {}
};

/// A variable of a session by name; its bytes are row-major.
struct stored_value {
  std::string name{};
  dtype type = dtype::invalid;
  shape extent{};
  std::span<const std::byte> bytes{};
  bool is_initialized = true;
};

/// A session's variables and numbers, and the operations on them between runs.
template <class Device, expression... Es>
class session_store : protected refused_calls_of<table_of<Device, Es...>> {
 protected:
  using table = table_of<Device, Es...>;
  using refused_calls = refused_calls_of<table>;
  static constexpr bool plans = plans_programs<Device>;
  // The table that the compiler has; for a session that plans its programs, only the variables that the user wrote.
  static constexpr auto& view = table::view;
  // The table of all variables and numbers.
  static constexpr auto rows() {
    if constexpr (plans) return table::plan().view();
    else return view;
  }
  template <class V>
  static constexpr bool has_variable = view.find_variable(V::identity::hash) >= 0;
  template <class V>
  static int variable_index() {
    if constexpr (plans) {
      return rows().find_variable(V::identity::hash);
    } else {
      constexpr int found = view.find_variable(V::identity::hash);
      return found;
    }
  }
  static constexpr bool has_random = [] {
    for (int k = 0; k < view.variables(); ++k)
      if (is_random(view.variable(k).kind)) return true;
    return false;
  }();
  static constexpr auto carried_ids = carried_union<Es...>::ids;
  static constexpr std::size_t carried_count = static_cast<std::size_t>(carried_ids.size);
  static constexpr bool has_arrays = carries<Es...>::carries_arrays;
  using carried_value = typename carried_kind<has_arrays>::type;
  using carried_values = std::array<carried_value, carried_count + 1>;

  explicit session_store(const Es&... expressions) : storage_(static_cast<std::size_t>(rows().bytes())) {
    cpu::require_one_configuration();
    // The numbers that the expressions carry. Two expressions that carry the same number must agree on its value.
    std::array<bool, carried_count + 1> set{};
    (take(carried_, set, expressions), ...);
    current_ = carried_;
    if constexpr (!Device::shares_memory) {
      device_numbers_ = owned_bytes<Device>(sizeof numbers_);
      device_arrays_.resize(static_cast<std::size_t>(rows().numbers()));
    }
    if constexpr (carried_count > 0)
      for (std::size_t i = 0; i < carried_count; ++i) write_numbers(carried_ids.id[i], carried_[i]);
  }
  session_store(const session_store&) = delete;
  session_store& operator=(const session_store&) = delete;

 public:
  /// Initializes all variables, including those that have a value. Errors: invalid_argument for an initializer that the variable cannot
  /// have.
  void initialize() {
    const guard g(busy_);
    const int count = rows().variables();
    for (int k = 0; k < count; ++k) check_start(k, initial_numbers(k));
    for (int k = 0; k < count; ++k) initialize_one(k, initial_numbers(k));
  }
  /// Initializes some variables. Their initializers' settings are those that the arguments carry. Errors: invalid_argument for an
  /// initializer that the variable cannot have.
  template <tensor_expression... Vs>
    requires(sizeof...(Vs) > 0 && (has_variable<Vs> && ...))
  void initialize(const Vs&... variables) {
    const guard g(busy_);
    (check_start(variable_index<Vs>(), initial_numbers_of(variables)), ...);
    (initialize_one(variable_index<Vs>(), initial_numbers_of(variables)), ...);
  }
  /// Whether a variable has a value.
  template <tensor_expression V>
    requires has_variable<V>
  bool is_initialized(const V&) const {
    return initialized_[static_cast<std::size_t>(variable_index<V>())];
  }
  /// The names of the variables without a value.
  std::vector<std::string> uninitialized() const {
    std::vector<std::string> names;
    const auto all = rows();
    for (int k = 0; k < all.variables(); ++k)
      if (!initialized_[static_cast<std::size_t>(k)]) names.emplace_back(all.name_of(k).view());
    return names;
  }

  /// The value of a variable: a number for a scalar, else an `xt::xtensor`. Errors: failed_precondition if it has none.
  template <tensor_expression V>
    requires has_variable<V>
  array_of<V> value(const V&) const {
    const int k = variable_index<V>();
    if (!initialized_[static_cast<std::size_t>(k)]) without_value(k);
    const void* from = storage_.data() + rows().variable(k).offset;
    if constexpr (V::rank == 0) {
      typename V::element result;
      device_.copy_out(&result, from, sizeof result);
      device_.finish();
      return result;
    } else {
      auto result = make_array<V>(nullptr);
      device_.copy_out(result.data(), from, sizeof(typename V::element) * static_cast<std::size_t>(V::extent.elements()));
      device_.finish();
      return result;
    }
  }
  using refused_calls::assign;
  using refused_calls::initialize;
  using refused_calls::is_initialized;
  using refused_calls::value;

  /// Sets the value of a variable from the host. Errors: invalid_argument if the array has another shape.
  template <tensor_expression V, class Array>
    requires(has_variable<V> && value_check<V, Array>::ok)
  void assign(const V&, const Array& array) {
    const guard g(busy_);
    const int k = variable_index<V>();
    using T = typename V::element;
    write_variable(rows().variable(k), [&](std::byte* to) { copy_in<V>(static_cast<T*>(static_cast<void*>(to)), array); });
    initialized_[static_cast<std::size_t>(k)] = true;
    all_initialized_ = uninitialized_count() == 0;
  }
  /// Sets a parameter for all following runs. Errors: invalid_argument for a number that its dtype does not hold.
  template <tensor_expression P, number N>
    requires(P::rank == 0 && view.find_number(P::identity::hash) >= 0)
  void assign(const P&, N value) {
    const guard g(busy_);
    write_numbers(P::identity::hash, number_bits<typename P::element>(value, number_place<P>.view()));
  }

  /// Calls `f(name, dtype, shape, bytes)` for each variable that has a value; its bytes are row-major and valid during the call. The other
  /// variables are those of `uninitialized()`. For code that stores variables by name, such as saved models.
  template <class F>
  void for_each_value(F f) const {
    with_values([&](const list<stored_value>& values) {
      for (const stored_value& v : values)
        if (v.is_initialized) f(v.name, v.type, v.extent, v.bytes);
    });
  }
  /// Calls `f` with all variables, in the order of the session; no run may begin meanwhile. A variable without a value has no bytes.
  template <class F>
  void with_values(F f) const {
    const guard g(busy_);
    const auto all = rows();
    list<stored_value> values;
    list<std::vector<std::byte>> copies;
    for (int k = 0; k < all.variables(); ++k) {
      const auto row = all.variable(k);
      stored_value v{std::string(all.name_of(k).view()), row.type, row.extent, {}, initialized_[static_cast<std::size_t>(k)] != 0};
      const auto size = static_cast<std::size_t>(row.extent.elements() * size_of(row.type));
      if constexpr (Device::shares_memory) {
        if (v.is_initialized) v.bytes = {storage_.data() + row.offset, size};
      } else if (v.is_initialized) {
        copies.push_back(std::vector<std::byte>(size));
        device_.copy_out(copies.back().data(), storage_.data() + row.offset, size);
        v.bytes = copies.back();
      }
      values.push_back(std::move(v));
    }
    if constexpr (!Device::shares_memory) device_.finish();
    f(static_cast<const list<stored_value>&>(values));
  }
  /// Sets variables, by name, from the host: all of them, or none. Errors: not_found for a name that the session does not have;
  /// invalid_argument for another dtype or shape.
  void assign_values(const list<stored_value>& values) {
    const guard g(busy_);
    const auto all = rows();
    // Starts at the next variable, because values usually come in the session's order.
    const auto place_of = [&](const stored_value& v, int from) {
      const int count = all.variables();
      for (int k = 0; k < count; ++k)
        if (const int at = from + k < count ? from + k : from + k - count; all.name_of(at).view() == v.name) return at;
      throw not_found("the session has no variable \"" + v.name + "\"");
    };
    int at = -1;
    for (const stored_value& v : values) {
      at = place_of(v, at + 1);
      const auto row = all.variable(at);
      if (row.type != v.type || !(row.extent == v.extent) ||
          v.bytes.size() != static_cast<std::size_t>(row.extent.elements() * size_of(row.type)))
        throw invalid_argument("variable \"" + v.name + "\": a value of another dtype or shape");
    }
    at = -1;
    for (const stored_value& v : values) {
      at = place_of(v, at + 1);
      write_variable(all.variable(at), [&](std::byte* to) {
        if (!v.bytes.empty()) std::memcpy(to, v.bytes.data(), v.bytes.size());
      });
      initialized_[static_cast<std::size_t>(at)] = true;
    }
    all_initialized_ = uninitialized_count() == 0;
  }
  /// Sets rows of a variable, along its first axis, from the host; other rows remain. Errors: not_found and invalid_argument as
  /// `assign_values`; out_of_range for an index.
  template <class Index>
    requires(Device::shares_memory)
  void assign_rows(const stored_value& values, std::span<const Index> indices) {
    const guard g(busy_);
    const auto all = rows();
    int at = 0;
    while (at < all.variables() && all.name_of(at).view() != values.name) ++at;
    if (at == all.variables()) throw not_found("the session has no variable \"" + values.name + "\"");
    const auto row = all.variable(at);
    const auto count = static_cast<std::size_t>(row.extent.rank > 0 ? row.extent[0] : 0);
    const std::size_t width = count == 0 ? 0 : static_cast<std::size_t>(row.extent.elements() * size_of(row.type)) / count;
    if (row.type != values.type || values.bytes.size() != indices.size() * width)
      throw invalid_argument("variable \"" + values.name + "\": rows of another dtype or shape");
    for (const Index i : indices)
      if (i < 0 || static_cast<std::size_t>(i) >= count)
        throw out_of_range("variable \"" + values.name + "\" has no row " + std::to_string(i));
    for (std::size_t k = 0; k < indices.size(); ++k)
      std::memcpy(storage_.data() + row.offset + static_cast<std::size_t>(indices[k]) * width, values.bytes.data() + k * width, width);
    initialized_[static_cast<std::size_t>(at)] = true;
    all_initialized_ = uninitialized_count() == 0;
  }
  /// Calls `f(id, value, is_parameter)` for each number and array that the session's expressions carry, numbers as their bits; then for
  /// each parameter, with its current value.
  template <class F>
  void for_each_number(F f) const {
    for (int i = 0; i < carried_ids.size; ++i) f(carried_ids.id[static_cast<std::size_t>(i)], carried_[static_cast<std::size_t>(i)], false);
    const auto all = rows();
    for (int k = 0; k < all.numbers(); ++k)
      if (const auto row = all.number(k); row.is_parameter)
        f(row.id, carried_value(read_number(&numbers_[static_cast<std::size_t>(k)], row.type)), true);
  }

 protected:
  using guard = session_guard<>;
  [[noreturn, gnu::cold, gnu::noinline]] static void without_value(int k) {
    throw failed_precondition(
        joined({"variable \"", rows().name_of(k).view(), "\" is used before it has a value: call session.initialize() or assign it"}));
  }

  // The positions of an expression's numbers among those of the session.
  template <class E>
  static constexpr auto places_of = [] {
    using source = structure_with<typename E::identity>;
    std::array<std::size_t, static_cast<std::size_t>(source::carried_count)> places{};
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::size_t>(carried_ids.find(source::carried_ids.id[i]));
    return places;
  }();
  // Every number of the session is carried by one of its expressions; 0 if the rule that made it did not record that.
  carried_value carried_under(std::uint64_t id) const {
    const int at = carried_ids.find(id);
    return at < 0 ? carried_value{} : carried_[static_cast<std::size_t>(at)];
  }
  template <class E>
  static void take(carried_values& numbers, std::array<bool, carried_count + 1>& set, const E& e) {
    if constexpr (E::carried_count > 0)
      for (std::size_t i = 0; i < places_of<E>.size(); ++i) {
        const auto at = places_of<E>[i];
        if (set[at] && !(numbers[at] == e.carried[i]))
          throw_two_values(rows(), carried_ids.id[at], bits_of_carried(numbers[at]), bits_of_carried(e.carried[i]), is_array(e.carried[i]));
        numbers[at] = e.carried[i];
        set[at] = true;
      }
  }
  // Sets all numbers whose value expressions carry under `id`, each in its dtype.
  [[gnu::cold, gnu::noinline]] void write_numbers(std::uint64_t id, const carried_value& value) {
    if constexpr (has_arrays)
      if (value.elements) return bring_array(rows().find_number(id), value.elements);
    const std::uint64_t bits = bits_of_carried(value);
    const auto all = rows();
    for (int k = 0; k < all.numbers(); ++k)
      if (const auto row = all.number(k); row.carried == id) check_number(row.type, bits);
    for (int k = 0; k < all.numbers(); ++k) {
      const auto row = all.number(k);
      if (row.carried != id) continue;
      auto& number = numbers_[static_cast<std::size_t>(k)];
      write_number(&number, row.type, bits);
      if constexpr (!Device::shares_memory)
        device_.copy_in(device_numbers_.data() + static_cast<std::size_t>(k) * sizeof number, &number, sizeof number);
    }
  }

  // On a device with memory of its own, copies a constant array's elements there. Otherwise they are used where the expression has them.
  void bring_array([[maybe_unused]] int k, [[maybe_unused]] const shared_elements& elements) {
    if constexpr (!Device::shares_memory) {
      if (k < 0) return;  // only the initial value of a variable
      auto& there = device_arrays_[static_cast<std::size_t>(k)];
      if (there.size() == 0) there = owned_bytes<Device>(elements.bytes());
      device_.copy_in(there.data(), elements.data(), elements.bytes());
    }
  }

  using first_numbers = std::array<carried_value, 3>;
  [[gnu::cold, gnu::noinline]] first_numbers initial_numbers(int k) const {
    const auto row = rows().variable(k);
    first_numbers numbers{};
    for (int i = 0; i < row.numbers; ++i)
      numbers[static_cast<std::size_t>(i)] = carried_under(row.start != 0 ? row.start : initial_number_id(row.id, i));
    return numbers;
  }
  template <class V>
  first_numbers initial_numbers_of(const V& variable) const {
    first_numbers numbers{};
    if constexpr (V::carried_count > 0)
      for (int i = 0; i < V::carried_count; ++i) {
        const int at = structure_with<typename V::identity>::carried_ids.find(initial_number_id(V::identity::hash, i));
        numbers[static_cast<std::size_t>(i)] = variable.carried[static_cast<std::size_t>(at)];
      }
    return numbers;
  }
  static std::array<std::uint64_t, 3> bits_of(const first_numbers& numbers) {
    return {bits_of_carried(numbers[0]), bits_of_carried(numbers[1]), bits_of_carried(numbers[2])};
  }
  static void check_start(int k, const first_numbers& numbers) {
    check_initializer<has_random>(rows().variable(k), bits_of(numbers).data(), rows().name_of(k).view());
  }
  void initialize_one(int k, const first_numbers& numbers) {
    const auto row = rows().variable(k);
    write_variable(row, [&](std::byte* to) {
      if constexpr (has_arrays)
        if (const auto& start = numbers[0].elements; start) {
          std::memcpy(to, start.data(), start.bytes());
          return;
        }
      initialize_variable<has_random>(to, row, bits_of(numbers).data(), rows().name_of(k).view());
    });
    initialized_[static_cast<std::size_t>(k)] = true;
    all_initialized_ = uninitialized_count() == 0;
  }
  // Lets the host write a variable's value, directly or into memory that is then copied to the device.
  template <class Write>
  void write_variable(const variable_row& row, Write write) {
    std::byte* to = storage_.data() + row.offset;
    if constexpr (Device::shares_memory) {
      write(to);
    } else {
      std::vector<std::byte> host(static_cast<std::size_t>(row.extent.elements() * size_of(row.type)));
      write(host.data());
      device_.copy_in(to, host.data(), host.size());
    }
  }
  int uninitialized_count() const {
    int n = 0;
    for (int k = 0; k < rows().variables(); ++k) n += initialized_[static_cast<std::size_t>(k)] ? 0 : 1;
    return n;
  }

  // Members that may be empty come first, because nvcc cannot lay out a class whose base class ends with them.
  struct no_arrays {};
  [[no_unique_address]] Device device_;
  [[no_unique_address]] std::conditional_t<Device::shares_memory, no_copies, owned_bytes<Device>> device_numbers_;
  [[no_unique_address]] std::conditional_t<Device::shares_memory, no_arrays, std::vector<owned_bytes<Device>>> device_arrays_;
  owned_bytes<Device> storage_;
  carried_values carried_{};  // of the expressions that the session was constructed from
  carried_values current_{};  // the same, with the plain numbers and arrays of the last run
  session_list<plans, std::uint64_t, static_cast<std::size_t>(view.numbers()) + 1> numbers_{rows().numbers()};
  session_list<plans, char, static_cast<std::size_t>(view.variables()) + 1> initialized_{rows().variables()};
  bool all_initialized_ = rows().variables() == 0;
  mutable std::atomic<bool> busy_{false};
};

}  // namespace leat::detail
