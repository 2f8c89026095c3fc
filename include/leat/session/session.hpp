#pragma once
// The compiled session: variables, and for each set of fetches one step that the C++ compiler made whole. A step has its
// buffers planned once; a warm run binds the feeds, runs straight through and allocates nothing.

#include <atomic>
#include <leat/cpu/execute.hpp>
#include <leat/session/bind.hpp>
#include <leat/session/guard.hpp>
#include <leat/session/initialize.hpp>
#include <leat/session/refusals.hpp>
#include <leat/session/step_state.hpp>
#include <leat/session/table.hpp>
#include <memory>
#include <span>

namespace leat {

/// What `session` says, on any device. A device says whether it shares the host's memory, allocates and copies, and runs a
/// program's steps; see cpu::device.
template <class Device, expression... Es>
class basic_session : detail::refused_calls_of<Es...> {
  using table = detail::session_table<Es...>;
  static constexpr auto& view = table::view;
  template <class Program>
  using step_state = detail::step_state<Program, Device>;
  template <class V>
  static constexpr int variable_index = view.find_variable(V::identity::hash);
  template <class V>
  static constexpr bool has_variable = variable_index<V> >= 0;
  static constexpr bool has_random = [] {
    for (int k = 0; k < view.variables(); ++k)
      if (view.variable(k).kind > initializer_kind::number) return true;
    return false;
  }();
  static constexpr auto carried_ids = detail::carried_union<Es...>::ids;
  static constexpr std::size_t carried_count = static_cast<std::size_t>(carried_ids.size);

 public:
  explicit basic_session(const Es&... expressions)
    requires(detail::session_check<Es...>::ok)
      : storage_(static_cast<std::size_t>(view.bytes())) {
    cpu::require_one_configuration();
    // the numbers that the expressions carry; where two carry one number, they must agree
    std::array<bool, carried_count + 1> set{};
    (take(set, expressions), ...);
    for (int k = 0; k < view.numbers(); ++k) {
      const auto row = view.number(k);
      detail::write_number(&numbers_[static_cast<std::size_t>(k)], row.type, carried_value(row.carried));
    }
    if constexpr (!Device::shares_memory) {
      device_numbers_ = detail::device_bytes<Device>(sizeof numbers_);
      device_.copy_in(device_numbers_.data(), numbers_.data(), sizeof numbers_);
    }
  }
  template <class Refusal = typename detail::session_check<Es...>::refusal::problem>
    requires(!detail::session_check<Es...>::ok)
  explicit basic_session(const Es&..., Refusal* = nullptr) = delete;
  basic_session(const basic_session&) = delete;
  basic_session& operator=(const basic_session&) = delete;

  // ---- variables ----------------------------------------------------------------------------------------------------

  /// Gives every variable its first value; a variable that had one starts anew.
  void initialize() {
    const guard g(busy_);
    for (int k = 0; k < view.variables(); ++k) initialize_one(k);
  }
  /// Gives some variables their first value.
  template <tensor_expression... Vs>
    requires(sizeof...(Vs) > 0 && (has_variable<Vs> && ...))
  void initialize(const Vs&...) {
    const guard g(busy_);
    (initialize_one(variable_index<Vs>), ...);
  }
  /// Whether a variable has a value.
  template <tensor_expression V>
    requires has_variable<V>
  bool is_initialized(const V&) const {
    return initialized_[static_cast<std::size_t>(variable_index<V>)];
  }
  /// The names of the variables without a value.
  std::vector<std::string> uninitialized() const {
    std::vector<std::string> names;
    for (int k = 0; k < view.variables(); ++k)
      if (!initialized_[static_cast<std::size_t>(k)]) names.emplace_back(view.name_of(k).view());
    return names;
  }

  /// The value of a variable: a number for a scalar, else an `xt::xtensor`. Errors: failed_precondition without a value.
  template <tensor_expression V>
    requires has_variable<V>
  array_of<V> value(const V&) const {
    constexpr int k = variable_index<V>;
    if (!initialized_[k]) without_value(k);
    const void* from = storage_.data() + view.variable(k).offset;
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
  using detail::refused_calls_of<Es...>::initialize;
  using detail::refused_calls_of<Es...>::is_initialized;
  using detail::refused_calls_of<Es...>::value;
  using detail::refused_calls_of<Es...>::assign;

  /// Gives a variable a value from the host. Errors: invalid_argument if the array has another shape.
  template <tensor_expression V, class Array>
    requires(has_variable<V> && detail::value_check<V, Array>::ok)
  void assign(const V&, const Array& array) {
    const guard g(busy_);
    constexpr int k = variable_index<V>;
    using T = typename V::element;
    write_variable(view.variable(k), [&](std::byte* to) { detail::copy_in<V>(static_cast<T*>(static_cast<void*>(to)), array); });
    initialized_[k] = true;
    all_initialized_ = uninitialized_count() == 0;
  }
  /// Gives a parameter another value, for all following runs.
  template <tensor_expression P, number N>
    requires(view.find_number(P::identity::hash) >= 0)
  void assign(const P&, N value) {
    const guard g(busy_);
    constexpr auto k = static_cast<std::size_t>(view.find_number(P::identity::hash));
    detail::write_number(&numbers_[k], P::type, detail::number_bits<typename P::element>(value));
    if constexpr (!Device::shares_memory) device_.copy_in(device_numbers_.data() + k * sizeof numbers_[k], &numbers_[k], sizeof numbers_[k]);
  }

  /// Calls `f(name, dtype, shape, bytes)` for each variable that has a value; its bytes are row-major and valid during the call.
  /// What is left out is in `uninitialized()`. For what keeps variables by name, such as saved models.
  template <class F>
  void for_each_value(F f) const {
    const guard g(busy_);
    for (int k = 0; k < view.variables(); ++k) {
      const auto row = view.variable(k);
      if (!initialized_[static_cast<std::size_t>(k)]) continue;
      std::vector<std::byte> host(static_cast<std::size_t>(row.extent.elements() * size_of(row.type)));
      device_.copy_out(host.data(), storage_.data() + row.offset, host.size());
      device_.finish();
      f(std::string(view.name_of(k).view()), row.type, row.extent, std::span<const std::byte>(host));
    }
  }
  /// Calls `f(id, bits, is_parameter)` for each number that the session's expressions carry; parameters are as they are now.
  template <class F>
  void for_each_number(F f) const {
    for (int i = 0; i < carried_ids.size; ++i) f(carried_ids.id[static_cast<std::size_t>(i)], carried_[static_cast<std::size_t>(i)], false);
    for (int k = 0; k < view.numbers(); ++k)
      if (const auto row = view.number(k); row.carried == row.id)
        f(row.id, detail::read_number(&numbers_[static_cast<std::size_t>(k)], row.type), true);
  }

  // ---- runs ---------------------------------------------------------------------------------------------------------

  /// Runs what is asked for, each node once, and gives the values of the fetched expressions as a tuple; operations and
  /// fetches `into` an array give none.
  /// Errors, at compile time: a placeholder that is needed and not fed, a fetch or feed that the session does not have, two
  /// writes to one variable without an order. At run time: invalid_argument (a feed's shape, an index out of range),
  /// failed_precondition (a variable without a value, a session entered twice).
  template <class... Fs, feed_binding... Feeds>
    requires(detail::run_check<table, detail::fetch_targets<detail::fetch_target_of<Fs>...>, typename Feeds::leaf::identity...>::ok)
  [[gnu::always_inline]] detail::fetch_results<Fs...> run(const fetch_list<Fs...>& fetches, const Feeds&... feeds) {
    using compiled = detail::program_table<detail::fetch_target_of<Fs>...>;
    const detail::session_guard<!detail::is_tiny<compiled>()> g(busy_);
    return run_in(detail::unobserved{}, state_of<compiled>(), fetches, feeds...);
  }
  using detail::refused_calls_of<Es...>::run;

  /// A run prepared once: the arrays are bound by reference, and calling it looks nothing up.
  template <class... Fs, feed_binding... Feeds>
    requires(detail::run_check<table, detail::fetch_targets<detail::fetch_target_of<Fs>...>, typename Feeds::leaf::identity...>::ok)
  auto prepare(const fetch_list<Fs...>& fetches, const Feeds&... feeds) {
    using compiled = detail::program_table<detail::fetch_target_of<Fs>...>;
    const guard g(busy_);
    return [this, &state = state_of<compiled>(), fetches, feeds...]() __attribute__((always_inline)) {
      const detail::session_guard<!detail::is_tiny<compiled>()> entered(busy_);
      return run_in(detail::unobserved{}, state, fetches, feeds...);
    };
  }
  using detail::refused_calls_of<Es...>::prepare;

  /// `run` with the time of each step told to a trace (<leat/session/trace.hpp>). The same step, compiled once more around the
  /// clock: `run` itself knows nothing of traces. For devices that run where the host does.
  template <class Trace, class... Fs, feed_binding... Feeds>
    requires(Device::shares_memory &&
             detail::run_check<table, detail::fetch_targets<detail::fetch_target_of<Fs>...>, typename Feeds::leaf::identity...>::ok)
  detail::fetch_results<Fs...> run_traced(Trace& trace, const fetch_list<Fs...>& fetches, const Feeds&... feeds) {
    using compiled = detail::program_table<detail::fetch_target_of<Fs>...>;
    const guard g(busy_);
    detail::observed<Trace> observer{trace};
    return run_in(observer, state_of<compiled>(), fetches, feeds...);
  }
  /// The program of a set of fetches and the plan of its last run, for `memory_plan_of` (<leat/session/memory_plan.hpp>).
  template <class... Fs>
  planned_program planned(const fetch_list<Fs...>&) {
    using compiled = detail::program_table<detail::fetch_target_of<Fs>...>;
    auto& state = state_of<compiled>();
    if (!state.planned) throw failed_precondition("planned: these fetches have not run yet");
    return {compiled::data.data(), state.sizes, &state.plan};
  }

  /// Bytes of intermediate results that a set of fetches needs for the shapes of its last run.
  template <class... Fs>
  std::int64_t arena_bytes(const fetch_list<Fs...>&) {
    return state_of<detail::program_table<detail::fetch_target_of<Fs>...>>().plan.arena_bytes;
  }

 private:
  using guard = detail::session_guard<>;
  [[noreturn, gnu::cold, gnu::noinline]] static void without_value(int k) {
    throw failed_precondition("variable \"" + std::string(view.name_of(k).view()) +
                              "\" is used before it has a value: call session.initialize() or assign it");
  }

  // Every number of the session is carried by one of its expressions; 0 if a rule that made one forgot it.
  std::uint64_t carried_value(std::uint64_t id) const {
    const int at = carried_ids.find(id);
    return at < 0 ? 0 : carried_[static_cast<std::size_t>(at)];
  }
  template <class E>
  void take(std::array<bool, carried_count + 1>& set, const E& e) {
    using source = structure_with<typename E::identity>;
    if constexpr (source::carried_count > 0) {
      for (int i = 0; i < source::carried_ids.size; ++i) {
        const auto at = static_cast<std::size_t>(carried_ids.find(source::carried_ids.id[static_cast<std::size_t>(i)]));
        const auto value = e.carried[static_cast<std::size_t>(i)];
        if (set[at] && carried_[at] != value) detail::two_values();
        carried_[at] = value;
        set[at] = true;
      }
    }
  }

  void initialize_one(int k) {
    const auto row = view.variable(k);
    std::uint64_t numbers[3]{};
    for (int i = 0; i < row.numbers; ++i)
      numbers[i] = carried_value(row.start != 0 ? row.start : detail::initial_number_id(row.id, i));
    write_variable(row, [&](std::byte* to) { detail::initialize_variable<has_random>(to, row, numbers, view.name_of(k).view()); });
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
    for (int k = 0; k < view.variables(); ++k) n += initialized_[static_cast<std::size_t>(k)] ? 0 : 1;
    return n;
  }

  template <class Program>
  step_state<Program>& state_of() {
    const auto number = static_cast<std::size_t>(detail::step_number<Program>());
    if (number < states_.size() && states_[number] != nullptr) [[likely]]
      return static_cast<step_state<Program>&>(*states_[number]);
    return new_state<Program>(number);
  }
  template <class Program>
  [[gnu::noinline]] step_state<Program>& new_state(std::size_t number) {
    auto state = std::make_unique<step_state<Program>>();
    for (int b = 0; b < Program::view.buffers(); ++b) {
      const auto info = Program::view.buffer_at(b);
      if constexpr (view.variables() > 0)
        if (info.where == storage::variable) state->buffers[b] = storage_.data() + view.variable(view.find_variable(info.id)).offset;
      if constexpr (view.numbers() > 0)
        if (info.where == storage::number) state->buffers[b] = &numbers_[static_cast<std::size_t>(view.find_number(info.id))];
    }
    if (states_.size() <= number) states_.resize(number + 1);
    auto& made = *state;
    states_[number] = std::move(state);
    return made;
  }

  template <class Program>
  [[gnu::noinline]] void plan(step_state<Program>& state) {
    make_plan(Program::data.data(), state.sizes, Device::chunks, state.plan);
    if (static_cast<std::size_t>(state.plan.arena_bytes) > state.arena.size())
      state.arena = detail::device_bytes<Device>(static_cast<std::size_t>(state.plan.arena_bytes));
    for (int b = 0; b < Program::view.buffers(); ++b) {
      const auto info = Program::view.buffer_at(b);
      if (info.where == storage::arena || info.where == storage::extent)
        state.buffers[b] = state.arena.data() + state.plan.offsets[static_cast<std::size_t>(b)];
      if (info.where == storage::extent) {
        std::uint64_t number = 0;
        detail::write_number(&number, info.type,
                             detail::bits_as(info.type, static_cast<double>(Program::view.elements(info.extent, state.sizes))));
        device_.copy_in(state.buffers[b], &number, static_cast<std::size_t>(size_of(info.type)));
      }
    }
    if constexpr (!Device::shares_memory) detail::place_copies(state);
    state.planned = true;
  }

  // Where the device has the number of a buffer; null where this run is fed another.
  template <class Program>
  void* number_on_device(const step_state<Program>& state, int b) const {
    if constexpr (view.numbers() > 0) {
      const int found = view.find_number(Program::view.buffer_at(b).id);
      const auto k = static_cast<std::size_t>(found < 0 ? 0 : found);
      if (found >= 0 && state.buffers[b] == &numbers_[k]) return device_numbers_.data() + k * sizeof numbers_[k];
    }
    return nullptr;
  }

  template <class Program>
  void check_variables() {
    for (int b = 0; view.variables() > 0 && b < Program::view.buffers(); ++b) {
      const auto info = Program::view.buffer_at(b);
      if (info.where != storage::variable || !info.read) continue;
      const int k = view.find_variable(info.id);
      if (!initialized_[static_cast<std::size_t>(k)]) without_value(k);
    }
  }
  template <class Program>
  void mark_written() {
    for (int b = 0; view.variables() > 0 && b < Program::view.buffers(); ++b) {
      const auto info = Program::view.buffer_at(b);
      if (info.where == storage::variable && !info.read) initialized_[static_cast<std::size_t>(view.find_variable(info.id))] = true;
    }
    all_initialized_ = uninitialized_count() == 0;
  }

  template <class Observer, class Program, class... Fs, class... Feeds>
  [[gnu::always_inline]] detail::fetch_results<Fs...> run_in([[maybe_unused]] const Observer& observer, step_state<Program>& state,
                                                            const fetch_list<Fs...>& fetches, const Feeds&... feeds) {
    constexpr int names = Program::view.names();
    // feeds: memory for each placeholder, sizes for the named dimensions
    std::int64_t sizes[names + 1];
    for (int k = 0; k < names; ++k) sizes[k] = -1;
    std::tuple<detail::bound_feed<Feeds>...> bound;
    bind_feeds<Program>(state, sizes, bound, std::index_sequence_for<Feeds...>{}, feeds...);
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
    constexpr auto steps = std::make_index_sequence<static_cast<std::size_t>(Program::view.steps())>{};
    if constexpr (Device::shares_memory) {
      const typename Device::workspace w{state.buffers, state.plan.numbers.data(), state.arena.data()};
      const typename Device::mode mode;
      if constexpr (std::is_same_v<Observer, detail::unobserved>)
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
    if constexpr ((detail::feeds_number<Program, Feeds>() || ...)) restore_numbers<Program>(state);
    finish_fetches<Program>(state, fetches, std::index_sequence_for<Fs...>{});
    return results;
  }

  template <class Program, class Bound, std::size_t... I, class... Feeds>
  [[gnu::always_inline]] void bind_feeds(step_state<Program>& state, [[maybe_unused]] std::int64_t* sizes, Bound& bound, std::index_sequence<I...>,
                                         const Feeds&... feeds) {
    (detail::bind_feed<Program>(state.buffers, sizes, std::get<I>(bound), feeds), ...);
  }
  template <class Program>
  void restore_numbers(step_state<Program>& state) {
    for (int b = 0; b < Program::view.buffers(); ++b) {
      const auto info = Program::view.buffer_at(b);
      if (info.where == storage::number) state.buffers[b] = &numbers_[static_cast<std::size_t>(view.find_number(info.id))];
    }
  }
  template <class Program, class Results, class... Fs, std::size_t... I>
  [[gnu::always_inline]] void bind_fetches(step_state<Program>& state, Results& results, const fetch_list<Fs...>& fetches,
                                           std::index_sequence<I...>) {
    (detail::bind_fetch<Program, static_cast<int>(I), detail::result_position<static_cast<int>(I), Fs...>()>(state, results,
                                                                                                          std::get<I>(fetches.targets)),
     ...);
  }
  template <class Program, class... Fs, std::size_t... I>
  [[gnu::always_inline]] void finish_fetches(step_state<Program>& state, const fetch_list<Fs...>& fetches, std::index_sequence<I...>) {
    (detail::finish_fetch<Program, static_cast<int>(I)>(state, std::get<I>(fetches.targets)), ...);
  }

  [[no_unique_address]] Device device_;
  detail::device_bytes<Device> storage_;
  std::array<std::uint64_t, carried_count + 1> carried_{};
  std::array<std::uint64_t, static_cast<std::size_t>(view.numbers()) + 1> numbers_{};
  std::array<bool, static_cast<std::size_t>(view.variables()) + 1> initialized_{};
  bool all_initialized_ = view.variables() == 0;
  mutable std::atomic<bool> busy_{false};
  std::vector<std::unique_ptr<detail::step_state_base>> states_;
  [[no_unique_address]] std::conditional_t<Device::shares_memory, detail::no_copies, detail::device_bytes<Device>> device_numbers_;
};

/// Runs expressions: `session s{loss, prediction, train}; s.initialize(); auto [l] = s.run(fetch(loss, train), x = xs);`.
/// It has the variables of the expressions that it is made of. Each distinct set of fetches is compiled once, by the C++
/// compiler. Different sessions may run in different threads at once; one session runs in one thread at a time and throws
/// failed_precondition when it is entered twice.
template <expression... Es>
class session : public basic_session<cpu::device, Es...> {
  using basic_session<cpu::device, Es...>::basic_session;
};

/// What a session of expressions that cannot stand together is: the compiler prints why.
template <detail::literal_text... Words>
class session<detail::refused_session<Words...>> {
 public:
  session(...) = delete;
};

template <expression... Es>
  requires(detail::session_check<Es...>::ok)
session(const Es&...) -> session<Es...>;
template <expression... Es>
  requires(!detail::session_check<Es...>::ok)
session(const Es&...) -> session<typename detail::session_check<Es...>::refusal::problem>;

/// A session on another device: `auto s = session_on<thrust_omp>(loss, train);`.
template <class Device, expression... Es>
basic_session<Device, Es...> session_on(const Es&... expressions) {
  return basic_session<Device, Es...>(expressions...);
}

}  // namespace leat
