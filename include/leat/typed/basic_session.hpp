#pragma once
// What typed sessions are on any device, compiled or planned: variables, and for each set of fetches one step. A step has its
// buffers planned once; a warm run binds the feeds, runs straight through and allocates nothing.

#include <atomic>
#include <leat/cpu/execute.hpp>
#include <leat/typed/bind.hpp>
#include <leat/typed/guard.hpp>
#include <leat/typed/initialize.hpp>
#include <leat/typed/refusals.hpp>
#include <leat/typed/step_memory.hpp>
#include <leat/typed/table.hpp>
#include <memory>
#include <span>

namespace leat {

namespace detail {

// A device may say that its programs are planned when a session is made, not by the compiler.
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

template <class Program>
constexpr auto step_sequence() {
  if constexpr (Program::is_planned) return std::index_sequence<>{};
  else return std::make_index_sequence<static_cast<std::size_t>(Program::view.steps())>{};
}

// As many values as a session has variables or numbers: known to the compiler, or when it is made.
template <bool Planned, class T, std::size_t Size>
struct session_list : std::array<T, Size> {
  explicit session_list(int) : std::array<T, Size>{} {}
};
template <class T, std::size_t Size>
struct session_list<true, T, Size> : std::vector<T> {
  explicit session_list(int size) : std::vector<T>(static_cast<std::size_t>(size) + 1) {}
};

}  // namespace detail

/// What `session` says, on any device. A device says whether it shares the host's memory, allocates and copies, and runs a
/// program's steps; see cpu::device.
template <class Device, expression... Es>
class basic_session : detail::refused_calls_of<detail::table_of<Device, Es...>> {
  using table = detail::table_of<Device, Es...>;
  using check = detail::session_check<detail::choose_table<Device>::template type, Es...>;
  using refused_calls = detail::refused_calls_of<table>;
  static constexpr bool plans = detail::plans_programs<Device>;
  // What the compiler knows of the session: of one that plans its programs, the variables that the user wrote.
  static constexpr auto& view = table::view;
  // All variables and numbers.
  static constexpr auto rows() {
    if constexpr (plans) return table::plan().view();
    else return view;
  }
  template <class... Fs>
  using program_for = typename detail::choose_table<Device>::template program<table, detail::fetch_target_of<Fs>...>;
  template <class Program>
  using step_memory = detail::step_memory<Program, Device>;
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
  static constexpr auto carried_ids = detail::carried_union<Es...>::ids;
  static constexpr std::size_t carried_count = static_cast<std::size_t>(carried_ids.size);
  static constexpr bool has_arrays = detail::carries<Es...>::carries_arrays;
  using carried_value = typename detail::carried_kind<has_arrays>::type;
  using carried_values = std::array<carried_value, carried_count + 1>;

 public:
  explicit basic_session(const Es&... expressions)
    requires(check::ok)
      : storage_(static_cast<std::size_t>(rows().bytes())) {
    cpu::require_one_configuration();
    // the numbers that the expressions carry; where two carry one number, they must agree
    std::array<bool, carried_count + 1> set{};
    (take(carried_, set, expressions), ...);
    current_ = carried_;
    if constexpr (!Device::shares_memory) {
      device_numbers_ = detail::device_bytes<Device>(sizeof numbers_);
      device_arrays_.resize(static_cast<std::size_t>(rows().numbers()));
    }
    if constexpr (carried_count > 0)
      for (std::size_t i = 0; i < carried_count; ++i) write_numbers(carried_ids.id[i], carried_[i]);
  }
  template <class Refusal = typename check::refusal::problem>
    requires(!check::ok)
  explicit basic_session(const Es&..., Refusal* = nullptr) = delete;
  basic_session(const basic_session&) = delete;
  basic_session& operator=(const basic_session&) = delete;

  // ---- variables ----------------------------------------------------------------------------------------------------

  /// Gives every variable its first value; a variable that had one starts anew.
  void initialize() {
    const guard g(busy_);
    const int count = rows().variables();
    for (int k = 0; k < count; ++k) check_start(k, initial_numbers(k));
    for (int k = 0; k < count; ++k) initialize_one(k, initial_numbers(k));
  }
  /// Gives some variables their first value: the numbers of their initializers are those that the arguments carry.
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

  /// The value of a variable: a number for a scalar, else an `xt::xtensor`. Errors: failed_precondition without a value.
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
      auto result = detail::make_array<V>(nullptr);
      device_.copy_out(result.data(), from, sizeof(typename V::element) * static_cast<std::size_t>(V::extent.elements()));
      device_.finish();
      return result;
    }
  }
  using refused_calls::initialize;
  using refused_calls::is_initialized;
  using refused_calls::value;
  using refused_calls::assign;

  /// Gives a variable a value from the host. Errors: invalid_argument if the array has another shape.
  template <tensor_expression V, class Array>
    requires(has_variable<V> && detail::value_check<V, Array>::ok)
  void assign(const V&, const Array& array) {
    const guard g(busy_);
    const int k = variable_index<V>();
    using T = typename V::element;
    write_variable(rows().variable(k), [&](std::byte* to) { detail::copy_in<V>(static_cast<T*>(static_cast<void*>(to)), array); });
    initialized_[static_cast<std::size_t>(k)] = true;
    all_initialized_ = uninitialized_count() == 0;
  }
  /// Gives a parameter another value, for all following runs. Errors: invalid_argument for a number that its dtype does not hold.
  template <tensor_expression P, number N>
    requires(P::rank == 0 && view.find_number(P::identity::hash) >= 0)
  void assign(const P&, N value) {
    const guard g(busy_);
    write_numbers(P::identity::hash, detail::number_bits<typename P::element>(value, detail::number_place<P>.view()));
  }

  /// Calls `f(name, dtype, shape, bytes)` for each variable that has a value; its bytes are row-major and valid during the call.
  /// What is left out is in `uninitialized()`. For what keeps variables by name, such as saved models.
  template <class F>
  void for_each_value(F f) const {
    const guard g(busy_);
    const auto all = rows();
    for (int k = 0; k < all.variables(); ++k) {
      const auto row = all.variable(k);
      if (!initialized_[static_cast<std::size_t>(k)]) continue;
      std::vector<std::byte> host(static_cast<std::size_t>(row.extent.elements() * size_of(row.type)));
      device_.copy_out(host.data(), storage_.data() + row.offset, host.size());
      device_.finish();
      f(std::string(all.name_of(k).view()), row.type, row.extent, std::span<const std::byte>(host));
    }
  }
  /// Calls `f(id, value, is_parameter)` for each number and array that the session's expressions carry, a number as its bits; parameters
  /// are as they are now.
  template <class F>
  void for_each_number(F f) const {
    for (int i = 0; i < carried_ids.size; ++i) f(carried_ids.id[static_cast<std::size_t>(i)], carried_[static_cast<std::size_t>(i)], false);
    const auto all = rows();
    for (int k = 0; k < all.numbers(); ++k)
      if (const auto row = all.number(k); row.is_parameter)
        f(row.id, carried_value(detail::read_number(&numbers_[static_cast<std::size_t>(k)], row.type)), true);
  }

  // ---- runs ---------------------------------------------------------------------------------------------------------

  /// Runs what is asked for, each node once, and gives the values of the fetched expressions as a tuple; operations and
  /// fetches `into` an array give none.
  /// Plain numbers and constant arrays in the expressions are those of the objects that are asked for; parameters and the variables are
  /// the session's.
  /// Errors, at compile time: a placeholder that is needed and not fed, one that is fed twice, a fetch or feed that the session does
  /// not have, two writes to one variable without an order. At run time: invalid_argument (a feed's shape, a number that the dtype
  /// does not hold, an index out of range, an integer divided by zero, a parameter or an initializer with another number than the
  /// session's, two fetches into one array), failed_precondition (a variable without a value, a session entered twice). After an
  /// error the session is as it was before.
  template <class... Fs, feed_binding... Feeds>
    requires(detail::run_check<table, detail::fetch_targets<detail::fetch_target_of<Fs>...>, typename Feeds::leaf::identity...>::ok)
  [[gnu::always_inline]] detail::fetch_results<Fs...> run(const fetch_list<Fs...>& fetches, const Feeds&... feeds) {
    using its_program = program_for<Fs...>;
    const detail::session_guard<!detail::is_tiny<its_program>()> g(busy_);
    return run_in(detail::unobserved{}, state_of<its_program>(), fetches, feeds...);
  }
  using refused_calls::run;

  /// A run prepared once: calling it looks nothing up. What has a name is read, or written, where it is when the run is called, and must
  /// live as long; numbers and views without a name become part of the prepared run. It must not outlive the session.
  /// Errors, at compile time: those of `run`, and a temporary array, which would be gone at the call.
  template <class... Fs, feed_binding... Feeds>
    requires(detail::run_check<table, detail::fetch_targets<detail::fetch_target_of<Fs>...>, typename Feeds::leaf::identity...>::ok &&
             (detail::kept_check<Feeds>::ok && ...))
  [[nodiscard("a prepared run does nothing until it is called")]] auto prepare(const fetch_list<Fs...>& fetches, const Feeds&... feeds) {
    using its_program = program_for<Fs...>;
    const guard g(busy_);
    return [this, &state = state_of<its_program>(), fetches, feeds...]() __attribute__((always_inline)) {
      const detail::session_guard<!detail::is_tiny<its_program>()> entered(busy_);
      return run_in(detail::unobserved{}, state, fetches, feeds...);
    };
  }
  using refused_calls::prepare;
  using refused_calls::run_traced;
  using refused_calls::planned;
  using refused_calls::arena_bytes;

  /// `run` that records the time of each step in a trace (<leat/inspect/trace.hpp>). A compiled step is compiled once more for it, with
  /// calls of the clock, so that `run` stays free of them. Only for devices that share the host's memory.
  template <class Trace, class... Fs, feed_binding... Feeds>
    requires(Device::shares_memory &&
             detail::run_check<table, detail::fetch_targets<detail::fetch_target_of<Fs>...>, typename Feeds::leaf::identity...>::ok)
  detail::fetch_results<Fs...> run_traced(Trace& trace, const fetch_list<Fs...>& fetches, const Feeds&... feeds) {
    using its_program = program_for<Fs...>;
    const guard g(busy_);
    detail::observed<Trace> observer{trace};
    return run_in(observer, state_of<its_program>(), fetches, feeds...);
  }
  /// The program of a set of fetches and the plan of its last run, for `memory_plan_of` (<leat/inspect/memory_plan.hpp>).
  template <class... Fs>
  planned_program planned(const fetch_list<Fs...>&) {
    using its_program = program_for<Fs...>;
    auto& state = state_of<its_program>();
    if (!state.planned) throw failed_precondition("planned: these fetches have not run yet");
    return {detail::data_of<its_program>(), state.sizes, &state.plan};
  }

  /// Bytes of intermediate results that a set of fetches needs for the shapes of its last run.
  template <class... Fs>
  std::int64_t arena_bytes(const fetch_list<Fs...>&) {
    return state_of<program_for<Fs...>>().plan.arena_bytes;
  }

 private:
  using guard = detail::session_guard<>;
  [[noreturn, gnu::cold, gnu::noinline]] static void without_value(int k) {
    throw failed_precondition("variable \"" + std::string(rows().name_of(k).view()) +
                              "\" is used before it has a value: call session.initialize() or assign it");
  }

  // Where among the session's numbers those of an expression are.
  template <class E>
  static constexpr auto places_of = [] {
    using source = structure_with<typename E::identity>;
    std::array<std::size_t, static_cast<std::size_t>(source::carried_count)> places{};
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::size_t>(carried_ids.find(source::carried_ids.id[i]));
    return places;
  }();
  // Every number of the session is carried by one of its expressions; 0 if a rule that made one forgot it.
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
          detail::throw_two_values(rows(), carried_ids.id[at], detail::bits_of_carried(numbers[at]), detail::bits_of_carried(e.carried[i]),
                                   detail::is_array(e.carried[i]));
        numbers[at] = e.carried[i];
        set[at] = true;
      }
  }
  // Gives the numbers that stand for what expressions carry under `id` their value, each in its dtype.
  [[gnu::cold, gnu::noinline]] void write_numbers(std::uint64_t id, const carried_value& value) {
    if constexpr (has_arrays)
      if (value.elements) return bring_array(rows().find_number(id), value.elements);
    const std::uint64_t bits = detail::bits_of_carried(value);
    const auto all = rows();
    for (int k = 0; k < all.numbers(); ++k)
      if (const auto row = all.number(k); row.carried == id) detail::check_number(row.type, bits);
    for (int k = 0; k < all.numbers(); ++k) {
      const auto row = all.number(k);
      if (row.carried != id) continue;
      auto& number = numbers_[static_cast<std::size_t>(k)];
      detail::write_number(&number, row.type, bits);
      if constexpr (!Device::shares_memory)
        device_.copy_in(device_numbers_.data() + static_cast<std::size_t>(k) * sizeof number, &number, sizeof number);
    }
  }

  // The elements of a constant array stay where the expression has them; a device with memory of its own has a copy.
  void bring_array([[maybe_unused]] int k, [[maybe_unused]] const detail::shared_elements& elements) {
    if constexpr (!Device::shares_memory) {
      if (k < 0) return;  // a variable's first value
      auto& there = device_arrays_[static_cast<std::size_t>(k)];
      if (there.size() == 0) there = detail::device_bytes<Device>(elements.bytes());
      device_.copy_in(there.data(), elements.data(), elements.bytes());
    }
  }
  static constexpr bool is_one_number(const auto& info) { return info.where == storage::number && info.extent.rank == 0; }
  // Buffers of constant arrays are the elements of this run's expressions.
  template <class Program, int B>
  [[gnu::always_inline]] void bind_array(step_memory<Program>& state) {
    constexpr auto info = Program::view.buffer_at(B);
    if constexpr (info.where == storage::number && info.extent.rank > 0) {
      constexpr auto at = static_cast<std::size_t>(carried_ids.find(info.id));
      state.buffers[B] = current_[at].elements.data();
    }
  }
  template <class Program, std::size_t... B>
  [[gnu::always_inline]] void bind_arrays(step_memory<Program>& state, std::index_sequence<B...>) {
    (bind_array<Program, static_cast<int>(B)>(state), ...);
  }

  // The numbers of what is asked for count. As a rule they are those of the last run, which costs a look at each.
  template <class F>
  static constexpr const auto& asked_for(const F& fetch) {
    if constexpr (expression<F>)
      return fetch;
    else
      return fetch.value;
  }
  template <class E>
  [[gnu::always_inline]] bool has_numbers_of(const E& e) const {
    if constexpr (E::carried_count == 0) {
      return true;
    } else if constexpr (E::carried_count <= 8) {
      return [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
        return ((current_[places_of<E>[I]] == e.carried[I]) && ...);
      }(std::make_index_sequence<static_cast<std::size_t>(E::carried_count)>{});
    } else {
      bool same = true;
      for (std::size_t i = 0; i < places_of<E>.size(); ++i) same &= current_[places_of<E>[i]] == e.carried[i];
      return same;
    }
  }
  template <class... Fs, std::size_t... I>
  [[gnu::always_inline]] void adopt_numbers(const fetch_list<Fs...>& fetches, std::index_sequence<I...>) {
    if constexpr ((0 + ... + detail::fetch_target_of<Fs>::carried_count) > 0)
      if (!(has_numbers_of(asked_for(std::get<I>(fetches.targets))) && ...)) [[unlikely]]
        adopt_other_numbers(asked_for(std::get<I>(fetches.targets))...);
  }
  template <class... Ts>
  [[gnu::cold, gnu::noinline]] void adopt_other_numbers(const Ts&... asked) {
    carried_values next = current_;
    std::array<bool, carried_count + 1> set{};
    (take(next, set, asked), ...);
    for (std::size_t i = 0; i < carried_count; ++i)
      if (!(next[i] == current_[i])) detail::check_other_number(rows(), carried_ids.id[i], detail::bits_of_carried(next[i]));
    for (std::size_t i = 0; i < carried_count; ++i)
      if (!(next[i] == current_[i])) write_numbers(carried_ids.id[i], next[i]);
    current_ = next;
  }

  using first_numbers = std::array<carried_value, 3>;
  [[gnu::cold, gnu::noinline]] first_numbers initial_numbers(int k) const {
    const auto row = rows().variable(k);
    first_numbers numbers{};
    for (int i = 0; i < row.numbers; ++i)
      numbers[static_cast<std::size_t>(i)] = carried_under(row.start != 0 ? row.start : detail::initial_number_id(row.id, i));
    return numbers;
  }
  template <class V>
  first_numbers initial_numbers_of(const V& variable) const {
    first_numbers numbers{};
    if constexpr (V::carried_count > 0)
      for (int i = 0; i < V::carried_count; ++i) {
        const int at = structure_with<typename V::identity>::carried_ids.find(detail::initial_number_id(V::identity::hash, i));
        numbers[static_cast<std::size_t>(i)] = variable.carried[static_cast<std::size_t>(at)];
      }
    return numbers;
  }
  static std::array<std::uint64_t, 3> bits_of(const first_numbers& numbers) {
    return {detail::bits_of_carried(numbers[0]), detail::bits_of_carried(numbers[1]), detail::bits_of_carried(numbers[2])};
  }
  static void check_start(int k, const first_numbers& numbers) {
    detail::check_initializer<has_random>(rows().variable(k), bits_of(numbers).data(), rows().name_of(k).view());
  }
  void initialize_one(int k, const first_numbers& numbers) {
    const auto row = rows().variable(k);
    write_variable(row, [&](std::byte* to) {
      if constexpr (has_arrays)
        if (const auto& start = numbers[0].elements; start) {
          std::memcpy(to, start.data(), start.bytes());
          return;
        }
      detail::initialize_variable<has_random>(to, row, bits_of(numbers).data(), rows().name_of(k).view());
    });
    initialized_[static_cast<std::size_t>(k)] = true;
    all_initialized_ = uninitialized_count() == 0;
  }
  // Lets the host write a variable's value, in place or to be copied.
  template <class Write>
  void write_variable(const detail::variable_row& row, Write write) {
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

  template <class Program>
  step_memory<Program>& state_of() {
    const auto number = static_cast<std::size_t>(detail::step_number<Program>());
    if (number < states_.size() && states_[number] != nullptr) [[likely]]
      return static_cast<step_memory<Program>&>(*states_[number]);
    return new_state<Program>(number);
  }
  template <class Program>
  [[gnu::noinline]] step_memory<Program>& new_state(std::size_t number) {
    auto state = std::make_unique<step_memory<Program>>();
    const auto all = rows();
    const program_view program = detail::view_of<Program>();
    for (int b = 0; b < program.buffers(); ++b) {
      const auto info = program.buffer_at(b);
      if constexpr (plans || view.variables() > 0)
        if (info.where == storage::variable) state->buffers[b] = storage_.data() + all.variable(all.find_variable(info.id)).offset;
      if constexpr (plans || view.numbers() > 0)
        if (is_one_number(info)) state->buffers[b] = &numbers_[static_cast<std::size_t>(all.find_number(info.id))];
    }
    if (states_.size() <= number) states_.resize(number + 1);
    auto& made = *state;
    states_[number] = std::move(state);
    return made;
  }

  template <class Program>
  [[gnu::noinline]] void plan(step_memory<Program>& state) {
    state.planned = false;  // until all of it is there
    make_plan(detail::data_of<Program>(), state.sizes, Device::chunks, state.plan);
    if (static_cast<std::size_t>(state.plan.arena_bytes) > state.arena.size())
      state.arena = detail::device_bytes<Device>(static_cast<std::size_t>(state.plan.arena_bytes));
    const program_view program = detail::view_of<Program>();
    for (int b = 0; b < program.buffers(); ++b) {
      const auto info = program.buffer_at(b);
      if (info.where == storage::arena || info.where == storage::extent)
        state.buffers[b] = state.arena.data() + state.plan.offsets[static_cast<std::size_t>(b)];
      if (info.where == storage::extent) {
        std::uint64_t number = 0;
        detail::write_number(&number, info.type,
                             detail::bits_as(info.type, static_cast<double>(program.elements(info.extent, state.sizes))));
        device_.copy_in(state.buffers[b], &number, static_cast<std::size_t>(size_of(info.type)));
      }
    }
    if constexpr (!Device::shares_memory) detail::place_copies(state);
    if constexpr (plans) state.calls = state.code.resolve(state.plan);
    state.planned = true;
  }

  // Where the device has the number of a buffer; null where this run is fed another.
  template <class Program>
  void* number_on_device(const step_memory<Program>& state, int b) const {
    if constexpr (view.numbers() > 0) {
      const int found = view.find_number(Program::view.buffer_at(b).id);
      const auto k = static_cast<std::size_t>(found < 0 ? 0 : found);
      if (Program::view.buffer_at(b).extent.rank > 0) return device_arrays_[k].data();
      if (found >= 0 && state.buffers[b] == &numbers_[k]) return device_numbers_.data() + k * sizeof numbers_[k];
    }
    return nullptr;
  }

  template <class Program>
  void check_variables() {
    const program_view program = detail::view_of<Program>();
    for (int b = 0; b < program.buffers(); ++b) {
      const auto info = program.buffer_at(b);
      if (info.where != storage::variable || !info.read) continue;
      const int k = rows().find_variable(info.id);
      if (!initialized_[static_cast<std::size_t>(k)]) without_value(k);
    }
  }
  template <class Program>
  void mark_written() {
    const program_view program = detail::view_of<Program>();
    for (int b = 0; b < program.buffers(); ++b) {
      const auto info = program.buffer_at(b);
      if (info.where == storage::variable && !info.read) initialized_[static_cast<std::size_t>(rows().find_variable(info.id))] = true;
    }
    all_initialized_ = uninitialized_count() == 0;
  }

  template <class Observer, class Program, class... Fs, class... Feeds>
  [[gnu::always_inline]] detail::fetch_results<Fs...> run_in([[maybe_unused]] const Observer& observer, step_memory<Program>& state,
                                                            const fetch_list<Fs...>& fetches, const Feeds&... feeds) {
    // feeds: memory for each placeholder, sizes for the named dimensions
    std::int64_t sizes[detail::room_for_names<Program>() + 1];
    const int names = detail::view_of<Program>().names();
    for (int k = 0; k < names; ++k) sizes[k] = -1;
    adopt_numbers(fetches, std::index_sequence_for<Fs...>{});
    if constexpr (has_arrays && plans)
      for (const auto& a : state.code.arrays())
        state.buffers[a.buffer] = current_[static_cast<std::size_t>(carried_ids.find(a.id))].elements.data();
    else if constexpr (has_arrays)
      bind_arrays(state, std::make_index_sequence<static_cast<std::size_t>(Program::view.buffers())>{});
    constexpr bool into = (detail::is_into<Fs> || ...);
    std::tuple<detail::bound_feed<Feeds, into>...> bound;
    [[maybe_unused]] const fed_numbers<Program, (detail::feeds_number<Program, Feeds>() || ...)> until_the_end{*this, state};
    bind_feeds<Program>(state, sizes, bound, std::index_sequence_for<Feeds...>{}, feeds...);
    if constexpr (into) keep_apart<Program>(state, bound, fetches, std::index_sequence_for<Feeds...>{}, feeds...);
    bool replan = !state.planned;
    for (int k = 0; k < names; ++k) {
      replan = replan || sizes[k] != state.sizes[k];
      state.sizes[k] = sizes[k];
    }
    if (replan) [[unlikely]]
      plan(state);
    const bool fresh = !all_initialized_;
    if (fresh) [[unlikely]]
      check_variables<Program>();
    detail::fetch_results<Fs...> results;
    bind_fetches<Program>(state, results, fetches, std::index_sequence_for<Fs...>{});
    constexpr auto steps = detail::step_sequence<Program>();
    if constexpr (Device::shares_memory) {
      const typename Device::workspace w{state.buffers, state.plan.numbers.data(), state.arena.data()};
      const typename Device::mode mode;
      if constexpr (plans && std::is_same_v<Observer, detail::unobserved>)
        state.code.run(w, state.calls.get());
      else if constexpr (std::is_same_v<Observer, detail::unobserved>)
        device_.template run<Program>(w, steps);
      else
        observer.template run<Device, Program>(w, state, steps);
    } else {
      void* buffers[Program::view.buffers() + 1];
      detail::copy_feeds(device_, state, buffers, [&](int b) { return number_on_device(state, b); });
      device_.template run<Program>({buffers, state.plan.numbers.data(), state.arena.data()}, steps);
      detail::copy_fetches(device_, state);
    }
    if (fresh) [[unlikely]]
      mark_written<Program>();
    finish_fetches<Program>(state, fetches, std::index_sequence_for<Fs...>{});
    return results;
  }

  template <class Program, class Bound, std::size_t... I, class... Feeds>
  [[gnu::always_inline]] void bind_feeds(step_memory<Program>& state, [[maybe_unused]] std::int64_t* sizes, Bound& bound,
                                         std::index_sequence<I...>, const Feeds&... feeds) {
    (detail::bind_feed<Program>(state.buffers, sizes, std::get<I>(bound), feeds), ...);
  }
  template <class Program, class Bound, class... Fs, std::size_t... I, class... Feeds>
  [[gnu::always_inline]] void keep_apart(step_memory<Program>& state, [[maybe_unused]] Bound& bound, const fetch_list<Fs...>& fetches,
                                         std::index_sequence<I...>, const Feeds&... feeds) {
    const auto written = [&]<class F>(const F& fetch) __attribute__((always_inline)) {
      if constexpr (detail::is_into<F> && sizeof...(Feeds) > 0) {
        const auto range = detail::destination_of(*fetch.array);
        (detail::copy_where_written<Program>(state.buffers, std::get<I>(bound), feeds, range), ...);
      }
    };
    std::apply(
        [&](const Fs&... fs) {
          (written(fs), ...);
          if constexpr ((0 + ... + (detail::is_into<Fs> ? 1 : 0)) > 1) detail::refuse_same_destinations(fs...);
        },
        fetches.targets);
  }
  // Whatever becomes of a run that is fed parameters, the next one reads the session's again.
  template <class Program, bool Any>
  struct fed_numbers {
    basic_session& session;
    step_memory<Program>& state;
    ~fed_numbers() {
      if constexpr (Any) session.restore_numbers<Program>(state);
    }
  };
  template <class Program>
  void restore_numbers(step_memory<Program>& state) {
    if constexpr (plans) {
      const auto all = rows();
      for (const auto& n : state.code.numbers()) state.buffers[n.buffer] = &numbers_[static_cast<std::size_t>(all.find_number(n.id))];
    } else {
      for (int b = 0; b < Program::view.buffers(); ++b) {
        const auto info = Program::view.buffer_at(b);
        if (is_one_number(info)) state.buffers[b] = &numbers_[static_cast<std::size_t>(view.find_number(info.id))];
      }
    }
  }
  template <class Program, class Results, class... Fs, std::size_t... I>
  [[gnu::always_inline]] void bind_fetches(step_memory<Program>& state, Results& results, const fetch_list<Fs...>& fetches,
                                           std::index_sequence<I...>) {
    (detail::bind_fetch<Program, static_cast<int>(I), detail::result_position<static_cast<int>(I), Fs...>()>(state, results,
                                                                                                          std::get<I>(fetches.targets)),
     ...);
  }
  template <class Program, class... Fs, std::size_t... I>
  [[gnu::always_inline]] void finish_fetches(step_memory<Program>& state, const fetch_list<Fs...>& fetches, std::index_sequence<I...>) {
    (detail::finish_fetch<Program, static_cast<int>(I)>(state, std::get<I>(fetches.targets)), ...);
  }

  [[no_unique_address]] Device device_;
  detail::device_bytes<Device> storage_;
  carried_values carried_{};  // of the expressions that the session was made of
  carried_values current_{};  // the same, plain numbers and arrays those of the last run
  detail::session_list<plans, std::uint64_t, static_cast<std::size_t>(view.numbers()) + 1> numbers_{rows().numbers()};
  detail::session_list<plans, char, static_cast<std::size_t>(view.variables()) + 1> initialized_{rows().variables()};
  bool all_initialized_ = rows().variables() == 0;
  mutable std::atomic<bool> busy_{false};
  std::vector<std::unique_ptr<detail::step_memory_base>> states_;
  [[no_unique_address]] std::conditional_t<Device::shares_memory, detail::no_copies, detail::device_bytes<Device>> device_numbers_;
  struct no_arrays {};
  [[no_unique_address]] std::conditional_t<Device::shares_memory, no_arrays, std::vector<detail::device_bytes<Device>>> device_arrays_;
};

}  // namespace leat
